//! A figure as plain marks: shapes and lines of text, the lowest first. SVG, PDF and PNG are all
//! written from this list, so that they show the same.

use super::drawing::{Ink, Stroke};
use super::font::Fonts;
use std::borrow::Cow;

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// A point in the units of the figure, from its upper left corner.
pub(crate) type At = [f32; 2];

/// Everything that is drawn, the lowest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Picture {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) marks: Vec<Mark>,
}

/// One thing drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mark {
    Shape(Shape),
    Text(Text),
}

/// A form that is filled, stroked or both; ends are cut straight, corners are mitred.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub form: Form,
    pub fill: Option<Ink>,
    pub line: Option<Line>,
}

/// The outline of a shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    Path(Vec<Step>),
    /// Centre and radius.
    Circle(At, f32),
}

impl Form {
    pub(crate) fn steps(&self) -> Cow<'_, [Step]> {
        match self {
            Form::Path(steps) => Cow::Borrowed(steps),
            Form::Circle(centre, r) => Cow::Owned(Path::circle(*centre, *r).steps),
        }
    }
}

/// How a form is stroked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub ink: Ink,
    pub width: f32,
    pub stroke: Stroke,
}

/// A part of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Move(At),
    Line(At),
    /// Two control points and the end.
    Curve([At; 3]),
    Close,
}

/// Which point of a text stands where it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// Where the point of its base line stands that `align` names.
    pub at: At,
    pub align: Align,
    pub size: f32,
    pub bold: bool,
    pub ink: Ink,
    pub content: String,
}

impl Text {
    /// Where its base line begins.
    pub(crate) fn start(&self, fonts: &Fonts) -> At {
        let width = || fonts.of(self.bold).width(&self.content, self.size);
        let [x, y] = self.at;
        match self.align {
            Align::Start => [x, y],
            Align::Middle => [x - width() / 2.0, y],
            Align::End => [x - width(), y],
        }
    }
}

impl Picture {
    /// The texts, in the order in which they are drawn.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.marks.iter().filter_map(|mark| match mark {
            Mark::Text(text) => Some(text),
            Mark::Shape(_) => None,
        })
    }
}

/// A path as it grows, of quadratic curves too.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub steps: Vec<Step>,
    start: At,
    now: At,
}

impl Path {
    pub(crate) fn move_to(&mut self, to: At) {
        (self.start, self.now) = (to, to);
        self.steps.push(Step::Move(to));
    }

    pub(crate) fn line_to(&mut self, to: At) {
        self.now = to;
        self.steps.push(Step::Line(to));
    }

    /// A curve with one control point, as one with two, each two thirds of the way to it.
    pub(crate) fn quad_to(&mut self, control: At, to: At) {
        let towards = |end: At| [0, 1].map(|i| end[i] + (control[i] - end[i]) * 2.0 / 3.0);
        self.curve_to(towards(self.now), towards(to), to);
    }

    pub(crate) fn curve_to(&mut self, first: At, second: At, to: At) {
        self.now = to;
        self.steps.push(Step::Curve([first, second, to]));
    }

    pub(crate) fn close(&mut self) {
        self.now = self.start;
        self.steps.push(Step::Close);
    }

    /// A whole circle.
    pub(crate) fn circle([x, y]: At, r: f32) -> Self {
        // The control points of a quarter of a circle (4/3 (√2 - 1)).
        let k = 0.552_284_8 * r;
        let mut path = Self::default();
        path.move_to([x + r, y]);
        path.curve_to([x + r, y + k], [x + k, y + r], [x, y + r]);
        path.curve_to([x - k, y + r], [x - r, y + k], [x - r, y]);
        path.curve_to([x - r, y - k], [x - k, y - r], [x, y - r]);
        path.curve_to([x + k, y - r], [x + r, y - k], [x + r, y]);
        path.close();
        path
    }
}
