//! What the library draws, as plain marks.

use crate::figure::font::Fonts;
use crate::figure::picture::{At, Line, Mark, Path, Picture, Rgb, Shape, Step, Text};
use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, TextAnchor};
use zeno::{Command, PathData as _};

/// A picture under way.
pub(super) struct Paper {
    fonts: Fonts,
    /// Of text that names none.
    ink: Rgb,
    picture: Picture,
}

impl Paper {
    pub(super) fn new(width: f64, height: f64, ink: &str) -> Self {
        let (width, height) = (width as f32, height as f32);
        let picture = Picture { width, height, marks: Vec::new() };
        Self { fonts: Fonts::default(), ink: rgb(&Color::from(ink)).unwrap_or_default(), picture }
    }

    pub(super) fn finish(self) -> Picture {
        self.picture
    }

    /// Adds what is drawn of a panel whose upper edge stands at `top`.
    pub(super) fn draw(&mut self, element: &Primitive, top: f64) {
        let at = |x: f64, y: f64| -> At { [x as f32, (y + top) as f32] };
        match element {
            Primitive::Circle { cx, cy, r, fill, stroke, stroke_width, .. } => {
                let path = Path::circle(at(*cx, *cy), *r as f32);
                self.shape(path.steps, Some(fill), line(stroke.as_ref(), *stroke_width, None));
            }
            Primitive::Text { x, y, content, size, anchor, bold, color, .. } => {
                let content = content.replace("\\$", "$");
                let size = *size as f32;
                let width = self.fonts.of(*bold).width(&content, size);
                let [x, y] = at(*x, *y);
                let x = match anchor {
                    TextAnchor::Start => x,
                    TextAnchor::Middle => x - width / 2.0,
                    TextAnchor::End => x - width,
                };
                let rgb = color.as_ref().and_then(rgb).unwrap_or(self.ink);
                let text = Text { at: [x, y], size, bold: *bold, rgb, content };
                self.picture.marks.push(Mark::Text(text));
            }
            Primitive::Line { x1, y1, x2, y2, stroke, stroke_width, stroke_dasharray } => {
                let steps = vec![Step::Move(at(*x1, *y1)), Step::Line(at(*x2, *y2))];
                let line = line(Some(stroke), Some(*stroke_width), stroke_dasharray.as_deref());
                self.shape(steps, None, line);
            }
            Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray } => {
                let step = |(i, (x, y)): (usize, &(f64, f64))| match i {
                    0 => Step::Move(at(*x, *y)),
                    _ => Step::Line(at(*x, *y)),
                };
                let steps = points.iter().enumerate().map(step).collect();
                let line = line(Some(stroke), Some(*stroke_width), stroke_dasharray.as_deref());
                self.shape(steps, None, line);
            }
            Primitive::Path(drawn) => {
                let PathData { d, fill, stroke, stroke_width, stroke_dasharray, .. } = &**drawn;
                let line = line(Some(stroke), Some(*stroke_width), stroke_dasharray.as_deref());
                self.shape(steps(d, top as f32), fill.as_ref(), line);
            }
            Primitive::Rect { x, y, width, height, fill, stroke, stroke_width, .. } => {
                let (left, right, low, high) = (*x, x + width, y + height, *y);
                let mut path = Path::default();
                path.move_to(at(left, high));
                for (x, y) in [(right, high), (right, low), (left, low)] {
                    path.line_to(at(x, y));
                }
                path.close();
                self.shape(path.steps, Some(fill), line(stroke.as_ref(), *stroke_width, None));
            }
            // Groups here only hold what belongs together; clips are taken out before.
            Primitive::GroupStart { .. } | Primitive::GroupEnd => {}
            Primitive::ClipStart { .. } | Primitive::ClipEnd => {}
            // None of our plots has them: a test counts what the SVG has and the picture has not.
            Primitive::RichText { .. }
            | Primitive::CircleBatch { .. }
            | Primitive::RectBatch { .. } => {}
        }
    }

    fn shape(&mut self, path: Vec<Step>, fill: Option<&Color>, line: Option<Line>) {
        let fill = fill.and_then(rgb);
        self.picture.marks.push(Mark::Shape(Shape { path, fill, line }));
    }
}

fn rgb(color: &Color) -> Option<Rgb> {
    match color {
        Color::Rgb(r, g, b) => Some([*r, *g, *b]),
        Color::None | Color::Css(_) => None,
    }
}

fn line(color: Option<&Color>, width: Option<f64>, dashes: Option<&str>) -> Option<Line> {
    let rgb = color.and_then(rgb)?;
    let lengths = dashes.unwrap_or_default().split([' ', ',']);
    let dashes = lengths.filter_map(|length| length.parse().ok()).collect();
    Some(Line { rgb, width: width.unwrap_or(1.0) as f32, dashes })
}

/// The steps of a path in the words of SVG.
fn steps(d: &str, top: f32) -> Vec<Step> {
    let mut path = Path::default();
    for command in d.commands() {
        let at = |point: zeno::Point| -> At { [point.x, point.y + top] };
        match command {
            Command::MoveTo(to) => path.move_to(at(to)),
            Command::LineTo(to) => path.line_to(at(to)),
            Command::QuadTo(control, to) => path.quad_to(at(control), at(to)),
            Command::CurveTo(one, two, to) => path.curve_to(at(one), at(two), at(to)),
            Command::Close => path.close(),
        }
    }
    path.steps
}
