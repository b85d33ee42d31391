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
            let several = |arm| total(q.histograms.get(arm)) > 1;
            is_delay(q.metric) && q.exchanges_each == 1 && Arm::BOTH.into_iter().all(several)
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

/// The delays of an arm. What was lost took longer than any, and has no time.
#[derive(Clone, Copy)]
struct Delays<'a> {
    histogram: &'a Histogram,
    lost: u64,
}

impl<'a> Delays<'a> {
    fn of(q: &'a Question, arm: Arm) -> Self {
        Delays { histogram: q.histograms.get(arm), lost: *q.lost.get(arm) }
    }

    fn count(self) -> u64 {
        total(self.histogram).saturating_add(self.lost)
    }

    /// The time within which a share of all was finished, in s; `None` if that never was.
    fn quantile(self, share: f64) -> Option<f64> {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen: u64 = 0;
        let mut buckets = self.histogram.iter();
        let found = buckets.find(|(_, n)| {
            seen = seen.saturating_add(*n);
            seen >= wanted
        });
        found.map(|(ns, _)| *ns as f64 / 1e9)
    }

    fn longest(self) -> Option<f64> {
        self.histogram.last().map(|(ns, _)| *ns as f64 / 1e9)
    }
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
    let ends = Arm::BOTH
        .map(|arm| Delays::of(q, arm))
        .map(|delays| [delays.quantile(0.001), delays.quantile(0.995).or(delays.longest())])
        .into_iter()
        .flatten()
        .flatten()
        .collect::<Vec<f64>>();
    let unit = number::unit(q.metric, &ends);
    let x = series::span(ends.iter().map(|v| v / unit.size), 0.04)?;
    let names = &analysis.arm_names;
    let medians = PerArm::from_fn(|arm| Delays::of(q, arm).quantile(0.5));
    let desc = halves(names, &medians, unit);
    let panel = panel(analysis, q, unit, x);
    let drawn = drawing::draw(&id, &title, &desc, HEIGHT, paint, vec![panel]);
    Some(Figure {
        kind: Kind::Spread,
        height: HEIGHT,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, q, unit),
        foot: format!(
            "Share of delays finished within a time, in {}.{}{}",
            unit.symbol,
            beyond(q, unit, x),
            lost(analysis, q)
        ),
        id,
        title,
        desc,
    })
}

/// Within which time half of all was finished, if it ever was.
fn halves(names: &PerArm<String>, medians: &PerArm<Option<f64>>, unit: Unit) -> String {
    let said = |median: f64| format!("{} {}", series::cell(Some(median), unit), unit.symbol);
    if let (Some(a), Some(b)) = (medians.a, medians.b) {
        let (a, b) = (said(a), said(b));
        return format!(
            "Half of all delays were shorter than {a} ({}) and {b} ({}).",
            names.a, names.b
        );
    }
    let of = |arm: Arm| {
        let said = match *medians.get(arm) {
            Some(median) => format!("half of all delays were shorter than {}", said(median)),
            None => "more than half were lost".to_owned(),
        };
        format!("{said} ({})", names.get(arm))
    };
    words::sentence(&words::capital(&Arm::BOTH.map(of).join("; ")))
}

/// What lies beyond the end of the axis, if anything does.
fn beyond(q: &Question, unit: Unit, x: (f64, f64)) -> &'static str {
    let all = Arm::BOTH.map(|arm| Delays::of(q, arm));
    let is_beyond = |delays: &Delays<'_>| delays.longest().is_some_and(|s| s / unit.size > x.1);
    // The axis of an arm that lost more ends with the longest that came.
    let is_share = all.iter().all(|delays| delays.quantile(0.995).is_some());
    match (all.iter().any(is_beyond), is_share) {
        (false, _) => "",
        (true, true) => " The longest 0.5 % are not drawn.",
        (true, false) => " Longer delays than the axis has are not drawn.",
    }
}

/// How many were lost, where any were.
fn lost(analysis: &Analysis, q: &Question) -> String {
    let names = &analysis.arm_names;
    let of = |arm: Arm| {
        let delays = Delays::of(q, arm);
        let (lost, all) = (number::count(delays.lost), number::count(delays.count()));
        format!("{lost} of {all} over {}", names.get(arm))
    };
    match q.lost.a.saturating_add(q.lost.b) {
        0 => String::new(),
        _ => format!(" Lost, and longer than any: {}.", Arm::BOTH.map(of).join(", ")),
    }
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
        let curve = curve(Delays::of(q, arm), unit, x);
        panel.line(&curve, Ink::Arm(arm), Stroke::of(arm), 2.0);
    }
    // Both curves end at the top: the names stand below each other.
    panel.end_label(96.0, &analysis.arm_names.a, Ink::ArmText(Arm::A), 0.0);
    panel.end_label(96.0, &analysis.arm_names.b, Ink::ArmText(Arm::B), 17.0);
    for arm in Arm::BOTH {
        if let Some(median) = Delays::of(q, arm).quantile(0.5) {
            panel.value((median / unit.size, 50.0), arm, 4.5);
        }
    }
    panel
}

/// Points at least a step apart; each is exact, those between are left out.
fn curve(delays: Delays<'_>, unit: Unit, x: (f64, f64)) -> Vec<(f64, f64)> {
    let all = delays.count() as f64;
    let mut points: Vec<(f64, f64)> = vec![(x.0, 0.0)];
    let mut seen: u64 = 0;
    let step = (x.1 - x.0) / POINTS as f64;
    let mut left_out = None;
    for (ns, n) in delays.histogram {
        seen = seen.saturating_add(*n);
        let at = (*ns as f64 / 1e9 / unit.size, seen as f64 / all * 100.0);
        match points.last() {
            _ if at.0 > x.1 => break,
            _ if at.0 < x.0 => points[0].1 = at.1,
            Some(last) if at.0 - last.0 < step => {
                left_out = Some(at);
                continue;
            }
            _ => points.push(at),
        }
        left_out = None;
    }
    // A curve that ends below the top is one of lost packets.
    points.extend(left_out);
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
            let delays = Delays::of(q, arm);
            let is_known = delays.count() >= least;
            (is_known, delays.quantile(share).filter(|_| is_known))
        };
        let (a, b) = (of(Arm::A), of(Arm::B));
        let text = |(is_known, v): (bool, Option<f64>)| match v {
            Some(_) => series::cell(v, unit),
            None if is_known => "lost".to_owned(),
            None => "too few".to_owned(),
        };
        let difference = match (a.1, b.1) {
            (Some(a), Some(b)) => words::effect(q.metric, b / a - 1.0),
            _ => "–".to_owned(),
        };
        vec![format_share(share), text(a), text(b), difference]
    };
    Table { heads, rows: PERCENTILES.map(row).to_vec() }
}
