//! A plain sheet for what has no axes of its own: tables of cells, rows of marks, small charts,
//! drawings.

use super::{Ink, Part, Stroke, TICK, mark_of, path};
use crate::figure::Paint;
use crate::figure::font::Fonts;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, TextAnchor};
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;

/// Which point of a text stands where it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::figure) enum Align {
    Start,
    Middle,
    End,
}

/// How wide a text is.
pub(in crate::figure) fn width_of(text: &str, bold: bool) -> f64 {
    f64::from(Fonts::default().of(bold).width(text, TICK as f32))
}

/// A sheet as wide as a figure; places are in its units, from its upper left corner.
pub(in crate::figure) struct Canvas {
    paint: Paint,
    marks: Vec<Primitive>,
}

impl From<Canvas> for Part {
    fn from(canvas: Canvas) -> Part {
        Part { top: 0.0, paint: canvas.paint, elements: canvas.marks }
    }
}

impl Canvas {
    pub(in crate::figure) fn new(paint: Paint) -> Self {
        Canvas { paint, marks: Vec::new() }
    }

    fn colour(&self, ink: Ink) -> Color {
        Color::from(ink.css(self.paint))
    }

    /// A filled rectangle, given by its upper left corner and its size.
    pub(in crate::figure) fn fill(&mut self, at: (f64, f64), size: (f64, f64), ink: Ink) {
        self.marks.push(Primitive::Rect {
            x: at.0,
            y: at.1,
            width: size.0,
            height: size.1,
            fill: self.colour(ink),
            stroke: None,
            stroke_width: None,
            opacity: None,
        });
    }

    /// A box with an edge and nothing in it.
    pub(in crate::figure) fn edge(
        &mut self,
        at: (f64, f64),
        size: (f64, f64),
        ink: Ink,
        stroke: Stroke,
    ) {
        let ((x, y), (right, low)) = (at, (at.0 + size.0, at.1 + size.1));
        let corners = [(x, y), (right, y), (right, low), (x, low), (x, y)];
        for ends in corners.windows(2) {
            self.stroke(ends[0], ends[1], ink, 1.2, stroke);
        }
    }

    pub(in crate::figure) fn text(
        &mut self,
        (x, y): (f64, f64),
        text: &str,
        align: Align,
        ink: Ink,
        bold: bool,
    ) {
        let anchor = match align {
            Align::Start => TextAnchor::Start,
            Align::Middle => TextAnchor::Middle,
            Align::End => TextAnchor::End,
        };
        self.marks.push(Primitive::Text {
            x,
            y,
            content: text.replace('$', "\\$"),
            size: TICK,
            anchor,
            rotate: None,
            bold,
            color: Some(self.colour(ink)),
        });
    }

    pub(in crate::figure) fn stroke(
        &mut self,
        a: (f64, f64),
        b: (f64, f64),
        ink: Ink,
        width: f64,
        stroke: Stroke,
    ) {
        self.marks.push(Primitive::Line {
            x1: a.0,
            y1: a.1,
            x2: b.0,
            y2: b.1,
            stroke: self.colour(ink),
            stroke_width: width,
            stroke_dasharray: (stroke != Stroke::Solid).then(|| stroke.dashes().to_owned()),
        });
    }

    /// A line through points.
    pub(in crate::figure) fn line(&mut self, points: &[(f64, f64)], ink: Ink, stroke: Stroke) {
        self.marks.push(Primitive::PolyLine {
            points: points.to_vec(),
            stroke: self.colour(ink),
            stroke_width: 2.0,
            stroke_dasharray: (stroke != Stroke::Solid).then(|| stroke.dashes().to_owned()),
        });
    }

    /// A value of an arm: a hollow circle for the first, a filled diamond for the second.
    pub(in crate::figure) fn value(&mut self, at: (f64, f64), arm: Arm, size: f64) {
        self.marks.push(mark_of(arm, at, size, self.paint));
    }

    /// A small triangle that points down for worse and up for better; nothing else has one.
    pub(in crate::figure) fn triangle(&mut self, (x, y): (f64, f64), verdict: Verdict) {
        let d = match verdict {
            Verdict::Worse => format!("M{:.1} {:.1}h8l-4 7z", x - 4.0, y - 3.5),
            Verdict::Better => format!("M{:.1} {:.1}h8l-4 -7z", x - 4.0, y + 3.5),
            _ => return,
        };
        self.marks.push(path(d, Ink::Verdict(verdict), Ink::Card, 0.0, self.paint));
    }

    /// A box with round corners around what is put into it.
    pub(in crate::figure) fn node(&mut self, at: (f64, f64), size: (f64, f64), r: f64, ink: Ink) {
        let (w, h) = (size.0 - 2.0 * r, size.1 - 2.0 * r);
        let (x, y) = (at.0 + r, at.1);
        let d = format!(
            "M{x} {y}h{w}q{r} 0 {r} {r}v{h}q0 {r} -{r} {r}h-{w}q-{r} 0 -{r} -{r}v-{h}\
             q0 -{r} {r} -{r}z"
        );
        self.marks.push(path(d, Ink::Card, ink, 1.6, self.paint));
    }
}
