//! A figure as plain marks on white paper: shapes and lines of text, with nothing left to look up.
//! What is written as PDF and as PNG is drawn from them, so that both show the same as the SVG.

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

/// A path that is filled, stroked or both; ends are cut straight, corners are mitred.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub path: Vec<Step>,
    pub fill: Option<Rgb>,
    pub line: Option<Line>,
}

/// How a path is stroked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub rgb: Rgb,
    pub width: f32,
    /// Lengths drawn and left out in turns; none for a whole line.
    pub dashes: Vec<f32>,
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

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// Where its base line begins.
    pub at: At,
    pub size: f32,
    pub bold: bool,
    pub rgb: Rgb,
    pub content: String,
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

    /// The same curve with two control points, each two thirds of the way to the one.
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
