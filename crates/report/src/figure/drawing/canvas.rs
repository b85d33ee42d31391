//! A plain sheet for what has no axes of its own: tables of cells, rows of marks, small charts,
//! drawings.

use super::{Align, Ink, Stroke, TICK};
use crate::figure::font::Fonts;
use crate::figure::picture::Mark;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;

/// How wide a text is.
pub(in crate::figure) fn width_of(text: &str, bold: bool) -> f64 {
    f64::from(Fonts::default().of(bold).width(text, TICK as f32))
}

/// A sheet as wide as a figure; places are in its units, from its upper left corner.
#[derive(Default)]
pub(in crate::figure) struct Canvas {
    marks: Vec<Mark>,
}

impl From<Canvas> for Vec<Mark> {
    fn from(canvas: Canvas) -> Vec<Mark> {
        canvas.marks
    }
}

impl Canvas {
    /// A filled rectangle, given by its upper left corner and its size.
    pub(in crate::figure) fn fill(&mut self, at: (f64, f64), size: (f64, f64), ink: Ink) {
        self.marks.push(super::rectangle(at, size, ink));
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
        at: (f64, f64),
        text: &str,
        align: Align,
        ink: Ink,
        bold: bool,
    ) {
        self.marks.push(super::text(at, text, align, ink, bold));
    }

    pub(in crate::figure) fn stroke(
        &mut self,
        a: (f64, f64),
        b: (f64, f64),
        ink: Ink,
        width: f64,
        stroke: Stroke,
    ) {
        self.marks.push(super::stroke(a, b, ink, width, stroke));
    }

    /// A line through points.
    pub(in crate::figure) fn line(&mut self, points: &[(f64, f64)], ink: Ink, stroke: Stroke) {
        self.marks.push(super::polyline(points, ink, 2.0, stroke));
    }

    /// A value of an arm: a hollow circle for the first, a filled diamond for the second.
    pub(in crate::figure) fn value(&mut self, at: (f64, f64), arm: Arm, size: f64) {
        self.marks.push(super::value(arm, at, size));
    }

    /// A small triangle that points down for worse and up for better; nothing else has one.
    pub(in crate::figure) fn triangle(&mut self, (x, y): (f64, f64), verdict: Verdict) {
        let down = match verdict {
            Verdict::Worse => 1.0,
            Verdict::Better => -1.0,
            Verdict::Same | Verdict::CannotTell | Verdict::None => return,
        };
        let base = y - 3.5 * down;
        let corners = [(x - 4.0, base), (x + 4.0, base), (x, base + 7.0 * down)];
        self.marks.push(super::polygon(&corners, Ink::Verdict(verdict), None));
    }

    /// A box with round corners around what is put into it.
    pub(in crate::figure) fn node(&mut self, at: (f64, f64), size: (f64, f64), r: f64, ink: Ink) {
        self.marks.push(super::rounded(at, size, r, Ink::Card, (ink, 1.6)));
    }
}
