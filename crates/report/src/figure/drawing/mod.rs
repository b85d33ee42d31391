//! How figures are drawn: panels with axes and plain sheets make marks, and these become SVG.

mod canvas;
mod ink;
mod panel;
mod svg;
mod ticks;

pub(super) use crate::figure::picture::Align;
pub(super) use canvas::{Canvas, width_of};
pub(crate) use ink::{Ink, Stroke};
pub(super) use panel::{Frame, LEFT, Panel};
pub(crate) use svg::escape;
pub(super) use ticks::ticks;

use super::Paint;
use super::picture::{At, Form, Line, Mark, Path, Picture, Shape, Step, Text};
use v6gap_core::arm::Arm;

/// Width of every figure, in its own units.
pub(super) const WIDTH: f64 = 520.0;
/// Height of all text.
pub(super) const TICK: u32 = 12;

/// A figure drawn: as an SVG element and, on paper, as plain marks.
pub(super) struct Drawn {
    pub svg: String,
    pub picture: Option<Picture>,
}

/// The parts as one picture, with title and description.
pub(super) fn draw<P: Into<Vec<Mark>>>(
    id: &str,
    title: &str,
    desc: &str,
    height: f64,
    paint: Paint,
    parts: Vec<P>,
) -> Drawn {
    let marks = parts.into_iter().flat_map(P::into).collect();
    let picture = Picture { width: WIDTH as f32, height: height as f32, marks };
    let svg = svg::element(&picture, id, [title, desc], paint);
    Drawn { svg, picture: (paint == Paint::Paper).then_some(picture) }
}

fn at((x, y): (f64, f64)) -> At {
    [x as f32, y as f32]
}

/// A straight line.
fn stroke(a: (f64, f64), b: (f64, f64), ink: Ink, width: f64, stroke: Stroke) -> Mark {
    polyline(&[a, b], ink, width, stroke)
}

/// A line through points.
fn polyline(points: &[(f64, f64)], ink: Ink, width: f64, stroke: Stroke) -> Mark {
    let line = Some(Line { ink, width: width as f32, stroke });
    Mark::Shape(Shape { form: Form::Path(through(points)), fill: None, line })
}

fn through(points: &[(f64, f64)]) -> Vec<Step> {
    let step = |(i, point): (usize, &(f64, f64))| match i {
        0 => Step::Move(at(*point)),
        _ => Step::Line(at(*point)),
    };
    points.iter().enumerate().map(step).collect()
}

/// A filled form between corners; with an edge where that has a width.
fn polygon(corners: &[(f64, f64)], fill: Ink, edge: Option<(Ink, f64)>) -> Mark {
    let mut path = through(corners);
    path.push(Step::Close);
    outlined(Form::Path(path), fill, edge)
}

fn outlined(form: Form, fill: Ink, edge: Option<(Ink, f64)>) -> Mark {
    let line = edge.map(|(ink, width)| Line { ink, width: width as f32, stroke: Stroke::Solid });
    Mark::Shape(Shape { form, fill: Some(fill), line })
}

/// A filled rectangle, given by its upper left corner and its size.
fn rectangle((x, y): (f64, f64), (width, height): (f64, f64), fill: Ink) -> Mark {
    let (right, low) = (x + width, y + height);
    polygon(&[(x, y), (right, y), (right, low), (x, low)], fill, None)
}

/// A box with round corners.
fn rounded((x, y): (f64, f64), (w, h): (f64, f64), r: f64, fill: Ink, edge: (Ink, f64)) -> Mark {
    let (right, low) = (x + w, y + h);
    let mut path = Path::default();
    path.move_to(at((x + r, y)));
    // From corner to corner, clockwise: where it begins, its point and where it ends.
    for [from, corner, to] in [
        [(right - r, y), (right, y), (right, y + r)],
        [(right, low - r), (right, low), (right - r, low)],
        [(x + r, low), (x, low), (x, low - r)],
        [(x, y + r), (x, y), (x + r, y)],
    ] {
        path.line_to(at(from));
        path.quad_to(at(corner), at(to));
    }
    path.close();
    outlined(Form::Path(path.steps), fill, Some(edge))
}

/// The mark of an arm's value: a hollow circle for the first, a filled diamond for the second.
fn value(arm: Arm, (x, y): (f64, f64), size: f64) -> Mark {
    match arm {
        Arm::A => circle((x, y), size, Ink::Card, Ink::Arm(arm)),
        Arm::B => {
            let s = size * 1.25;
            let corners = [(x, y - s), (x + s, y), (x, y + s), (x - s, y)];
            polygon(&corners, Ink::Arm(arm), Some((Ink::Card, 0.8)))
        }
    }
}

fn circle(centre: (f64, f64), r: f64, fill: Ink, edge: Ink) -> Mark {
    outlined(Form::Circle(at(centre), r as f32), fill, Some((edge, 2.0)))
}

fn text(point: (f64, f64), content: &str, align: Align, ink: Ink, bold: bool) -> Mark {
    let (at, size) = (at(point), TICK as f32);
    Mark::Text(Text { at, align, size, bold, ink, content: content.to_owned() })
}
