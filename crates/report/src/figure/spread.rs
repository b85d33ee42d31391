//! Spread of the single delays: the share that was finished within a time, for both arms.

use super::drawing::{self, Frame, Ink, Panel, Stroke};
use super::series;
use super::{Figure, Kind, Paint, Table};
use crate::number::{self, Unit};
use crate::words;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Histogram;
use v6gap_core::unit::format_share;
use v6gap_judge::analysis::{Analysis, Question};

const HEIGHT: f64 = 260.0;
const MOST: usize = 4;
/// Points of a curve: more than its width can show are not drawn.
const POINTS: usize = 160;
/// Shares whose times are listed, and how many delays it takes to say each.
const PERCENTILES: [(f64, u64); 4] = [(0.5, 20), (0.9, 100), (0.99, 1000), (0.999, 10_000)];

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let first = series::groups(analysis).into_iter().filter_map(|group| {
        group.questions.into_iter().find(|q| {
            is_delay(q.metric) && total(&q.histograms.a) > 1 && total(&q.histograms.b) > 1
        })
    });
    first.filter_map(|q| draw(analysis, q, paint)).take(MOST).collect()
}

/// Variation of delay is no delay: a curve of it would be read as one.
fn is_delay(metric: Metric) -> bool {
    matches!(metric, Metric::Rtt | Metric::Connect | Metric::FirstByte)
}

fn total(histogram: &Histogram) -> u64 {
    histogram.iter().map(|(_, n)| *n).fold(0, u64::saturating_add)
}

/// The time within which a share of all delays was finished, in s.
fn quantile(histogram: &Histogram, share: f64) -> Option<f64> {
    let wanted = (total(histogram) as f64 * share).ceil() as u64;
    let mut seen: u64 = 0;
    histogram
        .iter()
        .find(|(_, n)| {
            seen = seen.saturating_add(*n);
            seen >= wanted
        })
        .map(|(ns, _)| *ns as f64 / 1e9)
}

fn draw(analysis: &Analysis, q: &Question, paint: Paint) -> Option<Figure> {
    // A cell may ask for more than the times that it is named after.
    let of = match q.cell.starts_with(q.metric.name()) {
        true => q.cell.clone(),
        false => format!("{}-{}", q.metric, q.cell),
    };
    let id: String = format!("spread-{of}")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let title = format!("{}, spread of the single delays", q.label);
    let ends = [&q.histograms.a, &q.histograms.b]
        .map(|h| [quantile(h, 0.001), quantile(h, 0.995)])
        .into_iter()
        .flatten()
        .flatten()
        .collect::<Vec<f64>>();
    let unit = number::unit(q.metric, &ends);
    let x = series::span(ends.iter().map(|v| v / unit.size), 0.04)?;
    let names = &analysis.arm_names;
    let medians = PerArm::from_fn(|arm| quantile(q.histograms.get(arm), 0.5));
    let desc = format!(
        "Half of all delays were shorter than {} {} ({}) and {} {} ({}).",
        series::cell(medians.a, unit),
        unit.symbol,
        names.a,
        series::cell(medians.b, unit),
        unit.symbol,
        names.b
    );
    let panel = panel(analysis, q, unit, x);
    let drawn = drawing::draw(&id, &title, &desc, HEIGHT, paint, vec![panel]);
    Some(Figure {
        kind: Kind::Spread,
        height: HEIGHT,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, q, unit),
        foot: format!(
            "Share of delays finished within a time, in {}. The longest 0.5 % are not drawn.",
            unit.symbol
        ),
        id,
        title,
        desc,
    })
}

fn panel(analysis: &Analysis, q: &Question, unit: Unit, x: (f64, f64)) -> Panel {
    let ticks: Vec<(f64, String)> =
        drawing::ticks(x).into_iter().map(|v| (v, series::number_tick(v))).collect();
    let frame = Frame {
        top: 0.0,
        height: HEIGHT,
        x,
        y: (0.0, 100.0),
        log_y: false,
        x_ticks: &ticks,
        y_tick: &|v| format!("{v:.0} %"),
        y_title: format!("share finished, by time in {}", unit.symbol),
    };
    let mut panel = Panel::new(&frame);
    for arm in Arm::BOTH {
        let curve = curve(q.histograms.get(arm), unit, x);
        panel.line(&curve, Ink::Arm(arm), Stroke::of(arm), 2.0);
    }
    // Both curves end at the top: the names stand below each other.
    panel.end_label(96.0, &analysis.arm_names.a, Ink::ArmText(Arm::A), 0.0);
    panel.end_label(96.0, &analysis.arm_names.b, Ink::ArmText(Arm::B), 17.0);
    for arm in Arm::BOTH {
        if let Some(median) = quantile(q.histograms.get(arm), 0.5) {
            panel.value((median / unit.size, 50.0), arm, 4.5);
        }
    }
    panel
}

/// Points at least a step apart; each is exact, those between are left out.
fn curve(histogram: &Histogram, unit: Unit, x: (f64, f64)) -> Vec<(f64, f64)> {
    let all = total(histogram) as f64;
    let mut points: Vec<(f64, f64)> = vec![(x.0, 0.0)];
    let mut seen: u64 = 0;
    let step = (x.1 - x.0) / POINTS as f64;
    for (ns, n) in histogram {
        seen = seen.saturating_add(*n);
        let at = (*ns as f64 / 1e9 / unit.size, seen as f64 / all * 100.0);
        match points.last() {
            _ if at.0 > x.1 => break,
            _ if at.0 < x.0 => points[0].1 = at.1,
            Some(last) if at.0 - last.0 < step => {}
            _ => points.push(at),
        }
    }
    points
}

fn table(analysis: &Analysis, q: &Question, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let heads = vec![
        "share finished".to_owned(),
        format!("{}, {}", names.a, unit.symbol),
        format!("{}, {}", names.b, unit.symbol),
        "difference".to_owned(),
    ];
    let row = |(share, least): (f64, u64)| {
        let of = |arm| {
            let histogram = q.histograms.get(arm);
            quantile(histogram, share).filter(|_| total(histogram) >= least)
        };
        let (a, b) = (of(Arm::A), of(Arm::B));
        let text = |v: Option<f64>| match v {
            Some(_) => series::cell(v, unit),
            None => "too few".to_owned(),
        };
        let difference = match (a, b) {
            (Some(a), Some(b)) => words::effect(q.metric, b / a - 1.0),
            _ => "–".to_owned(),
        };
        vec![format_share(share), text(a), text(b), difference]
    };
    Table { heads, rows: PERCENTILES.map(row).to_vec() }
}
