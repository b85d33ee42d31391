//! One pair of axes and what is drawn on it.

use super::{Align, Ink, Stroke, TICK, WIDTH, ticks};
use crate::figure::picture::Mark;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;

/// Where a panel stands and what its axes span.
pub(in crate::figure) struct Frame<'a> {
    pub top: f64,
    pub height: f64,
    pub x: (f64, f64),
    pub y: (f64, f64),
    pub log_y: bool,
    /// Positions and texts of the marks on the x axis; texts may be empty.
    pub x_ticks: &'a [(f64, String)],
    /// Text of a mark on the y axis.
    pub y_tick: &'a dyn Fn(f64) -> String,
    /// What the y axis shows, above its upper end.
    pub y_title: String,
}

/// Where the axes begin.
pub(in crate::figure) const LEFT: f64 = 100.0;
/// Where they end.
const END: f64 = WIDTH - 68.0;
const ABOVE: f64 = 26.0;
const BELOW: f64 = 26.0;

/// One pair of axes and what is drawn on it: lines above the grid, and marks above these.
pub(in crate::figure) struct Panel {
    top: f64,
    height: f64,
    x: (f64, f64),
    y: (f64, f64),
    log_y: bool,
    below: Vec<Mark>,
    lines: Vec<Mark>,
    marks: Vec<Mark>,
}

impl From<Panel> for Vec<Mark> {
    fn from(panel: Panel) -> Vec<Mark> {
        [panel.below, panel.lines, panel.marks].concat()
    }
}

impl Panel {
    pub(in crate::figure) fn new(frame: &Frame<'_>) -> Self {
        let Frame { top, height, x, y, log_y, .. } = *frame;
        let (below, lines, marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut panel = Panel { top, height, x, y, log_y, below, lines, marks };
        let grid = if log_y { ticks::log_ticks(y) } else { ticks::ticks(y) };
        for value in grid {
            let height = panel.map_y(value);
            let ends = [(LEFT, height), (END, height)];
            panel.below.push(super::stroke(ends[0], ends[1], Ink::Grid, 1.0, Stroke::Solid));
            // A third of its height below the middle of the text is its base line.
            let at = (LEFT - 3.0, height + f64::from(TICK) * 0.36);
            panel.label(at, &(frame.y_tick)(value), Align::End, Ink::Faint, false);
        }
        let (upper, foot) = (top + ABOVE, panel.foot());
        panel.stroke((LEFT, foot), (END, foot), Ink::Axis, 1.0, Stroke::Solid);
        panel.stroke((LEFT, upper), (LEFT, foot), Ink::Axis, 1.0, Stroke::Solid);
        // Axes lie below what is drawn between them.
        panel.below.append(&mut panel.marks);
        for (x, text) in frame.x_ticks {
            let at = panel.map_x(*x);
            panel.stroke((at, foot), (at, foot + 4.0), Ink::Axis, 1.0, Stroke::Solid);
            panel.label((at, foot + 18.0), text, Align::Middle, Ink::Faint, false);
        }
        panel.label((12.0, top + 14.0), &frame.y_title, Align::Start, Ink::Text, true);
        panel
    }

    /// A band between two values: differences in it are too small to matter.
    pub(in crate::figure) fn zone(&mut self, [low, high]: [f64; 2]) {
        let (bottom, top) = self.y;
        let (high, low) = (self.map_y(high.min(top)), self.map_y(low.max(bottom)));
        let zone = super::rectangle((LEFT, high), (END - LEFT, low - high), Ink::Zone);
        self.below.insert(0, zone);
    }

    /// A line through points.
    pub(in crate::figure) fn line(
        &mut self,
        points: &[(f64, f64)],
        ink: Ink,
        stroke: Stroke,
        width: f64,
    ) {
        let drawable =
            |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite() && (*y > 0.0 || !self.log_y);
        let points = points.iter().filter(drawable);
        let points: Vec<(f64, f64)> =
            points.map(|(x, y)| (self.map_x(*x), self.map_y(*y))).collect();
        if points.len() > 1 {
            self.lines.push(super::polyline(&points, ink, width, stroke));
        }
    }

    /// A straight line between two points of the data.
    pub(in crate::figure) fn link(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        ink: Ink,
        width: f64,
    ) {
        if let (Some(from), Some(to)) = (self.at(from), self.at(to)) {
            self.stroke(from, to, ink, width, Stroke::Solid);
        }
    }

    /// A straight line between two points of the data, as far as it lies in the panel.
    pub(in crate::figure) fn link_inside(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        ink: Ink,
        width: f64,
    ) {
        let (bottom, top) = self.y;
        let inside = |end: (f64, f64), other: (f64, f64)| {
            let y = end.1.clamp(bottom, top);
            let share = if y == end.1 { 0.0 } else { (y - end.1) / (other.1 - end.1) };
            (end.0 + share * (other.0 - end.0), y)
        };
        if from.1.min(to.1) < top && from.1.max(to.1) > bottom {
            self.link(inside(from, to), inside(to, from), ink, width);
        }
    }

    /// A line across the panel.
    pub(in crate::figure) fn level(&mut self, y: f64, ink: Ink, stroke: Stroke) {
        if let Some((_, y)) = self.at((self.x.0, y)) {
            self.stroke((LEFT, y), (END, y), ink, 1.5, stroke);
        }
    }

    /// A dotted line from the top of the panel to its foot.
    pub(in crate::figure) fn upright(&mut self, x: f64, ink: Ink) {
        let (bottom, top) = self.y;
        if let (Some(from), Some(to)) = (self.at((x, bottom)), self.at((x, top))) {
            self.stroke(from, to, ink, 1.2, Stroke::Dotted);
        }
    }

    /// A value of an arm: a hollow circle for the first, a filled diamond for the second.
    pub(in crate::figure) fn value(&mut self, at: (f64, f64), arm: Arm, size: f64) {
        let Some(place) = self.at(at) else { return };
        self.marks.push(super::value(arm, place, size));
    }

    /// A small dot.
    pub(in crate::figure) fn dot(&mut self, at: (f64, f64), ink: Ink) {
        let Some((x, y)) = self.at(at) else { return };
        self.square((x, y), 2.5, ink);
    }

    fn square(&mut self, (x, y): (f64, f64), half: f64, ink: Ink) {
        let [left, right, high, low] = [x - half, x + half, y - half, y + half];
        let corners = [(left, high), (right, high), (right, low), (left, low)];
        self.marks.push(super::polygon(&corners, ink, Some((Ink::Card, 0.8))));
    }

    /// The shape of a verdict.
    pub(in crate::figure) fn verdict(&mut self, at: (f64, f64), verdict: Verdict) {
        let Some((x, y)) = self.at(at) else { return };
        let ink = Ink::Verdict(verdict);
        let down = match verdict {
            Verdict::Worse => 1.0,
            Verdict::Better => -1.0,
            Verdict::Same => return self.square((x, y), 5.0, ink),
            Verdict::CannotTell | Verdict::None => {
                return self.marks.push(super::circle((x, y), 5.0, Ink::Card, ink));
            }
        };
        let base = y - 5.0 * down;
        let corners = [(x - 6.5, base), (x + 6.5, base), (x, base + 11.5 * down)];
        self.marks.push(super::polygon(&corners, ink, Some((Ink::Card, 0.8))));
    }

    /// A range: a thick bar between two values, cut at the ends of the axis.
    pub(in crate::figure) fn range(&mut self, x: f64, low: f64, high: f64, ink: Ink) {
        let (bottom, top) = self.y;
        let within = |y: f64| if y.is_nan() { bottom } else { y.clamp(bottom, top) };
        self.link((x, within(low)), (x, within(high)), ink, 3.2);
    }

    /// What somebody else published: short strokes at both ends of what was said, and a thin line
    /// between them.
    pub(in crate::figure) fn published(&mut self, x: f64, low: f64, high: f64, ink: Ink) {
        const HALF: f64 = 7.0;
        let (bottom, top) = self.y;
        let within = |y: f64| y.clamp(bottom, top);
        let ends = (self.at((x, within(low))), self.at((x, within(high))));
        let (Some((x, low)), Some((_, high))) = ends else { return };
        for y in [low, high] {
            self.stroke((x - HALF, y), (x + HALF, y), ink, 2.0, Stroke::Solid);
        }
        self.stroke((x, low), (x, high), ink, 1.0, Stroke::Solid);
    }

    /// A bar from nothing up to a value, between two places of the x axis.
    pub(in crate::figure) fn bar(&mut self, (left, right): (f64, f64), y: f64, arm: Arm) {
        let Some((left, top)) = self.at((left, y)) else { return };
        let (right, foot) = (self.map_x(right), self.map_y(0.0));
        let corners = [(left, foot), (left, top), (right, top), (right, foot)];
        self.marks.push(super::polygon(&corners, Ink::Arm(arm), Some((Ink::Card, 1.0))));
    }

    /// Marks of a second scale at the right edge: heights on the panel's own axis, and their texts.
    pub(in crate::figure) fn right_axis(&mut self, ticks: &[(f64, String)]) {
        for (y, text) in ticks {
            self.end_label(*y, text, Ink::Text, 0.0);
        }
    }

    /// What is drawn in which ink, above the right end of the panel.
    pub(in crate::figure) fn key(&mut self, entries: &[(Ink, &str)]) {
        // A letter is about as wide as 0.6 of its height.
        let width = |text: &str| f64::from(TICK) * (0.6 * text.chars().count() as f64 + 1.2);
        let mut x = WIDTH - 4.0 - entries.iter().map(|(_, text)| width(text)).sum::<f64>();
        for (ink, text) in entries {
            self.label((x, self.top + 14.0), text, Align::Start, *ink, true);
            x += width(text);
        }
    }

    /// Words to the right of the last point of a line.
    pub(in crate::figure) fn end_label(&mut self, y: f64, text: &str, ink: Ink, shift: f64) {
        if let Some((_, y)) = self.at((self.x.1, y)) {
            self.label((END + 8.0, y + 4.0 + shift), text, Align::Start, ink, true);
        }
    }

    /// Words beside a point, moved down by `shift`; with `inside` not beyond the axes.
    pub(in crate::figure) fn end_mark(
        &mut self,
        point: (f64, f64),
        text: &str,
        ink: Ink,
        shift: f64,
        inside: bool,
    ) {
        if let Some((x, y)) = self.at(point) {
            let end = END - f64::from(TICK);
            let x = if inside { (x + 8.0).min(end) } else { x + 8.0 };
            self.label((x, y + 4.0 + shift), text, Align::Start, ink, true);
        }
    }

    /// Words at a place of the panel, in its own units.
    pub(in crate::figure) fn note(&mut self, (x, y): (f64, f64), text: &str, bold: bool) {
        self.label((x, self.top + y), text, Align::Start, Ink::Text, bold);
    }

    /// Where a value stands from the top of the figure.
    pub(in crate::figure) fn height_of(&self, y: f64) -> f64 {
        self.map_y(y)
    }

    /// Where a point of the data is drawn; nowhere if it is not finite or beyond the axis.
    fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let (bottom, top) = self.y;
        let at = (self.map_x(x), self.map_y(y));
        (y >= bottom && y <= top && at.0.is_finite() && at.1.is_finite()).then_some(at)
    }

    fn foot(&self) -> f64 {
        self.top + self.height - BELOW
    }

    fn map_x(&self, x: f64) -> f64 {
        LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * (END - LEFT)
    }

    fn map_y(&self, y: f64) -> f64 {
        let scale = |value: f64| if self.log_y { value.log10() } else { value };
        let (bottom, top) = (scale(self.y.0), scale(self.y.1));
        let share = (scale(y) - bottom) / (top - bottom);
        self.foot() - share * (self.height - BELOW - ABOVE)
    }

    fn label(&mut self, at: (f64, f64), text: &str, align: Align, ink: Ink, bold: bool) {
        self.marks.push(super::text(at, text, align, ink, bold));
    }

    fn stroke(&mut self, a: (f64, f64), b: (f64, f64), ink: Ink, width: f64, stroke: Stroke) {
        self.marks.push(super::stroke(a, b, ink, width, stroke));
    }
}
