//! Stages one after the other as bars on one axis of time, both arms one below the other.

use super::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use super::series;
use crate::number::{self, Unit};
use v6gap_core::arm::Arm;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::{Analysis, Range};

const LEFT: f64 = 128.0;
const RIGHT: f64 = 64.0;
const ROW: f64 = 26.0;
/// Above the rows of an arm: its name.
const HEAD: f64 = 24.0;
const BELOW: f64 = 34.0;

/// A stage over one arm, from when to when, in s since the beginning.
pub(super) struct Stage {
    pub name: &'static str,
    pub from: f64,
    pub to: f64,
    /// Where its end may lie, if that is known.
    pub range: Option<Range>,
}

/// The stages of each arm, in order.
pub(super) type Stages = [(Arm, Vec<Stage>); 2];

/// Stages drawn.
pub(super) struct Bars {
    pub canvas: Canvas,
    pub height: f64,
    /// What the axis counts in.
    pub unit: Unit,
}

/// The bars, with `since` for what the axis begins with; none where an arm has no stage.
pub(super) fn bars(analysis: &Analysis, arms: &Stages, since: &str) -> Option<Bars> {
    let ends = || arms.iter().flat_map(|(_, stages)| stages);
    let top = ends().map(|s| s.range.map_or(s.to, |r| r.high.max(s.to))).fold(0.0, f64::max) * 1.03;
    let longest = ends().map(|s| s.to).fold(0.0, f64::max);
    let unit = number::unit(Metric::Connect, &[longest]);
    if top <= 0.0 || arms.iter().any(|(_, stages)| stages.is_empty()) {
        return None;
    }
    let rows: usize = arms.iter().map(|(_, stages)| stages.len()).sum();
    let height = 2.0 * HEAD + rows as f64 * ROW + BELOW + 8.0;
    let mut canvas = Canvas::default();
    let x = |time: f64| LEFT + time / top * (WIDTH - LEFT - RIGHT);
    let foot = height - BELOW;
    for tick in drawing::ticks((0.0, top / unit.size)) {
        let at = x(tick * unit.size);
        canvas.stroke((at, 8.0), (at, foot), Ink::Grid, 1.0, Stroke::Solid);
        let text = series::number_tick(tick);
        canvas.text((at, foot + 16.0), &text, Align::Middle, Ink::Faint, false);
    }
    canvas.stroke((LEFT, 8.0), (LEFT, foot), Ink::Axis, 1.0, Stroke::Solid);
    let axis = format!("{} since {since}", unit.symbol);
    canvas.text((WIDTH, foot + 30.0), &axis, Align::End, Ink::Faint, false);
    let mut y = 0.0;
    for (arm, stages) in arms {
        canvas.text(
            (0.0, y + 16.0),
            analysis.arm_names.get(*arm),
            Align::Start,
            Ink::ArmText(*arm),
            true,
        );
        y += HEAD;
        for stage in stages {
            bar(&mut canvas, stage, *arm, y, x, unit);
            y += ROW;
        }
        y += 4.0;
    }
    Some(Bars { canvas, height, unit })
}

fn bar(canvas: &mut Canvas, stage: &Stage, arm: Arm, y: f64, x: impl Fn(f64) -> f64, unit: Unit) {
    canvas.text((LEFT - 10.0, y + 16.0), stage.name, Align::End, Ink::Text, false);
    let (from, to) = (x(stage.from), x(stage.to.max(stage.from)));
    let size = ((to - from).max(1.5), 14.0);
    match arm {
        // Hollow and filled, as the marks of values are.
        Arm::A => canvas.edge((from, y + 5.0), size, Ink::Arm(arm), Stroke::Solid),
        Arm::B => canvas.fill((from, y + 5.0), size, Ink::Arm(arm)),
    }
    let mut end = to;
    if let Some(range) = stage.range {
        let (low, high) = (x(range.low), x(range.high));
        let middle = y + 12.0;
        canvas.stroke((low, middle), (high, middle), Ink::Text, 2.0, Stroke::Solid);
        for at in [low, high] {
            canvas.stroke((at, middle - 4.0), (at, middle + 4.0), Ink::Text, 1.5, Stroke::Solid);
        }
        end = end.max(high);
    }
    let text = format!("{} {}", series::cell(Some(stage.to - stage.from), unit), unit.symbol);
    canvas.text((end + 7.0, y + 16.0), &text, Align::Start, Ink::Text, false);
}

/// What a reader would see of them.
pub(super) fn describe(analysis: &Analysis, arms: &Stages, unit: Unit) -> String {
    let of_arm = |(arm, stages): &(Arm, Vec<Stage>)| {
        let stage = |s: &Stage| {
            format!("{} {} {}", s.name, series::cell(Some(s.to - s.from), unit), unit.symbol)
        };
        let stages: Vec<String> = stages.iter().map(stage).collect();
        format!("{}: {}", analysis.arm_names.get(*arm), stages.join(", "))
    };
    arms.iter().map(of_arm).collect::<Vec<_>>().join(". ") + "."
}
