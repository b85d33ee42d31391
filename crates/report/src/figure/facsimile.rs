//! Figures as five studies printed theirs, from what was measured here: dual axes with linear
//! averages, lines on linear scales, grouped bars. For holding page and paper side by side; the
//! other figures say more.

mod charts;
pub mod joint;
mod paper;

use super::drawing::{self, Frame, Ink, Panel, Stroke};
use super::series::{self, hundredfold};
use super::{Figure, Kind, Paint, Table};
use crate::number::{self, Unit};
use crate::words;
use charts::{Chart, Form, Point};
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Analysis;

const HEIGHT: f64 = 280.0;

/// Share of the distance between two sizes that a bar takes.
const BAR_SHARE: f64 = 0.36;

/// The figures of the study that the plan repeats; none if it repeats none, or one that printed no
/// figure of what was measured. `others` are the figures of the report before them.
pub fn figures(analysis: &Analysis, paint: Paint, others: &[Figure]) -> Vec<Figure> {
    let charts = paper::charts(analysis);
    charts.iter().map(|chart| draw(analysis, chart, paint, others)).collect()
}

/// Whether there are any.
pub fn any(analysis: &Analysis) -> bool {
    !paper::charts(analysis).is_empty()
}

fn draw(analysis: &Analysis, chart: &Chart<'_>, paint: Paint, others: &[Figure]) -> Figure {
    let all: Vec<f64> = chart.points.iter().flat_map(|p| [p.values.a, p.values.b]).collect();
    let unit = number::unit(chart.metric, &all);
    let title = format!("As printed: {}", chart.title);
    let desc = describe(analysis, chart, unit);
    let panel = match chart.form {
        Form::Bars => bars(analysis, chart, unit),
        Form::Lines => lines(analysis, chart, unit),
        Form::Dual => dual(analysis, chart, unit),
    };
    let drawn = drawing::draw(&chart.id, &title, &desc, HEIGHT, paint, vec![panel]);
    Figure {
        kind: Kind::Facsimile,
        height: HEIGHT,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, chart, unit),
        foot: foot(chart, others),
        id: chart.id.clone(),
        title,
        desc,
    }
}

/// The line that every facsimile carries.
fn foot(chart: &Chart<'_>, others: &[Figure]) -> String {
    let see = others.iter().position(|figure| figure.id == chart.instead);
    let see = see.map_or(String::new(), |at| format!("; see figure {}", at + 1));
    let warning = match chart.form {
        Form::Dual => "Two scales in one chart can mislead, and straight averages hide the shape",
        Form::Lines | Form::Bars => "It has no ranges",
    };
    format!("Drawn as in the paper, from {}. {warning}{see}.", chart.rule)
}

fn describe(analysis: &Analysis, chart: &Chart<'_>, unit: Unit) -> String {
    let names = &analysis.arm_names;
    let of = |p: &Point| {
        let value = |v: f64| series::cell(Some(v), unit);
        let (a, b) = (value(p.values.a), value(p.values.b));
        format!("{}: {} {a}, {} {b} {}", p.name, names.a, names.b, unit.symbol)
    };
    chart.points.iter().map(of).collect::<Vec<_>>().join("; ") + "."
}

/// The axes of a chart: from nothing to the greatest value.
fn panel(chart: &Chart<'_>, unit: Unit) -> (Panel, f64) {
    let values = chart.points.iter().flat_map(|p| [p.values.a, p.values.b]);
    let top = values.fold(0.0, f64::max) / unit.size * 1.1;
    let frame = Frame {
        top: 0.0,
        height: HEIGHT,
        x: chart.span,
        y: (0.0, top),
        log_y: false,
        x_ticks: &chart.ticks,
        y_tick: &series::number_tick,
        y_title: format!("{}, {}", chart.metric.noun(), unit.symbol),
    };
    (Panel::new(&frame), top)
}

fn key(panel: &mut Panel, analysis: &Analysis, arms: &[Arm], more: &[(Ink, &str)]) {
    let name = |arm: &Arm| (Ink::ArmText(*arm), analysis.arm_names.get(*arm).as_str());
    let own: Vec<(Ink, &str)> = arms.iter().map(name).collect();
    panel.key(&[own.as_slice(), more].concat());
}

fn lines(analysis: &Analysis, chart: &Chart<'_>, unit: Unit) -> Panel {
    let (mut panel, _) = panel(chart, unit);
    key(&mut panel, analysis, &Arm::BOTH, &[]);
    for arm in Arm::BOTH {
        let points = chart.line(arm, unit.size);
        panel.line(&points, Ink::Arm(arm), Stroke::of(arm), 2.0);
        points.iter().for_each(|at| panel.value(*at, arm, 4.0));
    }
    panel
}

/// Values at the left, the difference in per cent at the right, and a straight line through each.
fn dual(analysis: &Analysis, chart: &Chart<'_>, unit: Unit) -> Panel {
    let (mut panel, top) = panel(chart, unit);
    key(&mut panel, analysis, &Arm::BOTH, &[(Ink::Text, "difference, %")]);
    for arm in Arm::BOTH {
        let points = chart.line(arm, unit.size);
        panel.line(&points, Ink::Arm(arm), Stroke::of(arm), 2.0);
        average(&mut panel, &points, Ink::Arm(arm));
        points.iter().for_each(|at| panel.value(*at, arm, 4.0));
    }
    let Some(scale) = scale_of(&[chart], top) else { return panel };
    panel.right_axis(&scale.ticks);
    let points = scale.points(chart);
    panel.line(&points, Ink::Text, Stroke::Dotted, 2.0);
    average(&mut panel, &points, Ink::Text);
    points.iter().for_each(|at| panel.dot(*at, Ink::Text));
    panel
}

/// The second scale of a chart, of differences in per cent, laid over the first.
struct Second {
    low: f64,
    /// Of the first scale for one of the second.
    factor: f64,
    /// Heights on the first scale, and their texts.
    ticks: Vec<(f64, String)>,
}

impl Second {
    fn to_first(&self, per_cent: f64) -> f64 {
        (per_cent - self.low) * self.factor
    }

    /// The differences of a chart.
    fn points(&self, chart: &Chart<'_>) -> Vec<(f64, f64)> {
        chart.points.iter().map(|p| (p.x, self.to_first(difference(p)))).collect()
    }
}

fn difference(p: &Point) -> f64 {
    hundredfold(p.values.b / p.values.a - 1.0)
}

/// A second scale that holds the differences of all these charts; `top` is the end of the first.
fn scale_of(charts: &[&Chart<'_>], top: f64) -> Option<Second> {
    let effects = charts.iter().flat_map(|chart| &chart.points).map(difference).chain([0.0]);
    let (low, high) = series::span(effects, 0.08)?;
    let mut scale = Second { low, factor: top / (high - low), ticks: Vec::new() };
    let tick = |at: f64| (scale.to_first(at), format!("{} %", series::number_tick(at)));
    scale.ticks = drawing::ticks((low, high)).into_iter().map(tick).collect();
    Some(scale)
}

/// The "linear average" of a line: the straight line of least squares, from end to end.
fn average(panel: &mut Panel, points: &[(f64, f64)], ink: Ink) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if let Some((base, slope)) = charts::straight(points) {
        let ends = [first.0, last.0].map(|x| (x, base + slope * x));
        panel.link_inside(ends[0], ends[1], ink, 1.0);
    }
}

fn bars(analysis: &Analysis, chart: &Chart<'_>, unit: Unit) -> Panel {
    let (mut panel, _) = panel(chart, unit);
    key(&mut panel, analysis, &Arm::BOTH, &[]);
    for p in &chart.points {
        panel.bar((p.x - BAR_SHARE, p.x), p.values.a / unit.size, Arm::A);
        panel.bar((p.x, p.x + BAR_SHARE), p.values.b / unit.size, Arm::B);
    }
    panel
}

/// The numbers: with the deviation of one run where the study gives it (Manford's Tables I and II).
fn table(analysis: &Analysis, chart: &Chart<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let head = |name: &str, what: &str| format!("{name}{what}, {}", unit.symbol);
    let with_sd = chart.points.iter().any(|p| p.sds.is_some());
    let mut heads = vec!["size".to_owned(), head(&names.a, ""), head(&names.b, "")];
    if with_sd {
        heads.extend([head(&names.a, " SD"), head(&names.b, " SD")]);
    }
    heads.push("difference".to_owned());
    let row = |p: &Point| {
        let cell = |value: f64| series::cell(Some(value), unit);
        let mut row = vec![p.name.clone(), cell(p.values.a), cell(p.values.b)];
        if with_sd {
            row.extend(Arm::BOTH.map(|arm| series::cell(p.sds.map(|sds| *sds.get(arm)), unit)));
        }
        row.push(format!("{} %", words::sign(p.values.b / p.values.a - 1.0)));
        row
    };
    Table { heads, rows: chart.points.iter().map(row).collect() }
}
