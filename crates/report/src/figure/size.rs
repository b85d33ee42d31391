//! Values and differences by message size: above the medians of both arms, below the effect with
//! its ranges, the margin and what the headers alone predict.

use super::drawing::{self, Frame, Ink, Panel, Stroke};
use super::series::{self, Group, hundredfold};
use super::{Figure, Kind, Paint, Table};
use crate::number::{self, Unit};
use crate::words;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::published::Kind as Said;
use v6gap_judge::analysis::{Analysis, Question};

pub(super) const UPPER: f64 = 220.0;
pub(super) const LOWER: f64 = 210.0;

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let groups = groups(analysis);
    (0..groups.len()).filter_map(|at| draw(analysis, at, &groups, paint)).collect()
}

/// Questions that differ in their size alone, at least two of them, by size.
pub(super) fn groups(analysis: &Analysis) -> Vec<Group<'_>> {
    let mut groups = series::by_size(analysis);
    for group in &mut groups {
        group.questions.retain(|q| q.level_bytes.is_some() && q.effect.is_some());
        group.questions.sort_by_key(|q| q.level_bytes);
    }
    groups.retain(|g| g.questions.len() >= 2);
    groups
}

/// The name of a group's figure, and what tells it from others of its metric.
pub(super) fn named(groups: &[Group<'_>], at: usize) -> (String, String) {
    let group = &groups[at];
    let transport = group.transport.name().to_lowercase();
    let like = |g: &&Group<'_>| (g.metric, g.transport) == (group.metric, group.transport);
    let variants = groups.iter().filter(like).count();
    // The first keeps the plain name.
    let number = match groups[..at].iter().filter(like).count() {
        0 => String::new(),
        before => format!("-{}", before + 1),
    };
    let which = if variants > 1 { variant(group) } else { String::new() };
    (format!("size-{}-{transport}{number}", group.metric), which)
}

/// Scales that all groups of the metric share.
fn scale(analysis: &Analysis, groups: &[Group<'_>], group: &Group<'_>) -> Option<Scales> {
    let like: Vec<&&Question> =
        groups.iter().filter(|g| g.metric == group.metric).flat_map(|g| &g.questions).collect();
    let values = |q: &&&Question| [q.values.a, q.values.b];
    let all: Vec<f64> = like.iter().flat_map(values).flatten().collect();
    let unit = number::unit(group.metric, &all);
    let said = |q: &Question, kind| {
        let of = published(analysis, q, kind);
        of.flat_map(|(_, low, high)| [low, high]).collect::<Vec<f64>>()
    };
    let old = like.iter().flat_map(|q| said(q, Said::Value));
    let all: Vec<f64> = all.iter().copied().chain(old).map(|v| v / unit.size).collect();
    // A scale by factors has no place for none.
    let log_y = group.metric.scale() == Scale::Ratio && all.iter().all(|v| *v > 0.0);
    let value = match log_y {
        true => series::log_span(all.into_iter(), 0.08),
        false => from_zero(&all),
    }?;
    let effect = effect_span(analysis, like.iter().map(|q| **q))?;
    let levels = like.iter().filter_map(|q| q.level_bytes).map(|n| f64::from(n).log2());
    let x = series::span(levels, 0.07)?;
    Some(Scales { unit, value, log_y, effect, x })
}

/// From 0 to beyond the greatest value; nothing where all are 0, of which there is nothing to see.
fn from_zero(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    (low < high).then_some((low, high + 0.08 * (high - low)))
}

/// Differences that share a scale, in per cent or points.
pub(super) fn effect_span<'a>(
    analysis: &Analysis,
    questions: impl Iterator<Item = &'a Question>,
) -> Option<(f64, f64)> {
    let effects = questions.flat_map(|q| {
        let ends = q.effect.as_ref().map(series::ends);
        let predicted = q.prediction.as_ref().map(|p| p.effect);
        let old = published(analysis, q, Said::Effect).flat_map(|(_, low, high)| [low, high]);
        let old: Vec<f64> = old.collect();
        let wide = [q.margin * 1.2, -q.margin * 1.2];
        ends.into_iter().flatten().chain(predicted).chain(wide).chain(old)
    });
    series::span(effects.map(hundredfold), 0.08)
}

struct Scales {
    unit: Unit,
    value: (f64, f64),
    /// Whether values stand by factors, and not from 0 on.
    log_y: bool,
    effect: (f64, f64),
    x: (f64, f64),
}

fn draw(analysis: &Analysis, at: usize, groups: &[Group<'_>], paint: Paint) -> Option<Figure> {
    let group = &groups[at];
    let scales = scale(analysis, groups, group)?;
    let name = words::group(group.metric, group.transport);
    let (id, which) = named(groups, at);
    let title = format!("{name}, by size{which}");
    let desc = describe(analysis, group);
    let panels = vec![values(analysis, group, &scales), effects(analysis, group, &scales)];
    let drawn = drawing::draw(&id, &title, &desc, UPPER + LOWER, paint, panels);
    Some(Figure {
        kind: Kind::Size,
        height: UPPER + LOWER,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, group, scales.unit),
        foot: foot(analysis, group, scales.log_y),
        id,
        title,
        desc,
    })
}

/// How to read it.
fn foot(analysis: &Analysis, group: &Group<'_>, log_y: bool) -> String {
    let scale = if log_y { "on a scale by factors" } else { "from 0 on" };
    let mut text = format!(
        "Above: medians, {scale}. Below: the difference with its 95 % range; the grey band is too \
         small to matter, the dotted line is what the headers alone predict."
    );
    let any = |q: &&Question| {
        [Said::Value, Said::Effect].iter().any(|kind| published(analysis, q, *kind).count() > 0)
    };
    if group.questions.iter().any(any) {
        text.push_str(" Strokes across mark what was published: from the lowest to the highest.");
    }
    text
}

/// What was published of a question: of which arm, and both ends.
fn published<'a>(
    analysis: &'a Analysis,
    q: &Question,
    kind: Said,
) -> impl Iterator<Item = (Arm, f64, f64)> + use<'a> {
    let (cell, metric) = (q.cell.clone(), q.metric);
    let all = analysis.published.iter().flat_map(|published| &published.values);
    all.filter_map(move |beside| {
        let value = &beside.published;
        let same = beside.cell.as_ref() == Some(&cell) && value.metric == Some(metric);
        let arm = if value.family == Some(Family::V4) { Arm::A } else { Arm::B };
        let (low, high) = value.low.zip(value.high)?;
        (same && value.kind == kind).then_some((arm, low, high))
    })
}

/// What tells the group from others of its metric, in the words of its smallest size.
fn variant(group: &Group<'_>) -> String {
    let named = format!(", {}", group.transport.name());
    let label = group.questions.first().and_then(|q| q.label.split_once(&named));
    label.map_or_else(String::new, |(_, rest)| rest.to_owned())
}

fn describe(analysis: &Analysis, group: &Group<'_>) -> String {
    let over = words::over(analysis);
    let of = |q: &Question| q.level_bytes.map(series::size).unwrap_or_default();
    let parts: Vec<String> =
        group.questions.iter().map(|q| format!("{}: {}", of(q), q.text)).collect();
    format!("{}. Difference {over}: {}.", series::tally(&group.questions), parts.join("; "))
}

fn x_of(q: &Question) -> f64 {
    f64::from(q.level_bytes.unwrap_or(1)).log2()
}

fn ticks(group: &Group<'_>) -> Vec<(f64, String)> {
    let every = group.questions.len().div_ceil(6);
    let text = |(i, q): (usize, &&Question)| {
        let size = q.level_bytes.map(series::size).unwrap_or_default();
        (x_of(q), if i % every == 0 { size } else { String::new() })
    };
    group.questions.iter().enumerate().map(text).collect()
}

fn values(analysis: &Analysis, group: &Group<'_>, scales: &Scales) -> Panel {
    let frame = Frame {
        top: 0.0,
        height: UPPER,
        x: scales.x,
        y: scales.value,
        log_y: scales.log_y,
        x_ticks: &ticks(group),
        y_tick: &series::number_tick,
        y_title: format!("{}, {}", group.metric.noun(), scales.unit.symbol),
    };
    let mut panel = Panel::new(&frame);
    let points = PerArm::from_fn(|arm| -> Vec<(f64, f64)> {
        let point = |q: &&Question| Some((x_of(q), q.values.get(arm).as_ref()? / scales.unit.size));
        group.questions.iter().filter_map(point).collect()
    });
    for arm in Arm::BOTH {
        panel.line(points.get(arm), Ink::Arm(arm), Stroke::of(arm), 2.0);
    }
    for q in &group.questions {
        for (arm, low, high) in published(analysis, q, Said::Value) {
            let (low, high) = (low / scales.unit.size, high / scales.unit.size);
            panel.published(x_of(q), low, high, Ink::Arm(arm));
        }
    }
    for arm in Arm::BOTH {
        points.get(arm).iter().for_each(|at| panel.value(*at, arm, 4.5));
    }
    if let (Some(a), Some(b)) = (points.a.last(), points.b.last()) {
        // Labels need a line of their own even where the values meet.
        let gap = panel.height_of(a.1) - panel.height_of(b.1);
        let apart = (16.0 - gap.abs()).max(0.0) / 2.0 * if gap < 0.0 { -1.0 } else { 1.0 };
        panel.end_label(a.1, &analysis.arm_names.a, Ink::ArmText(Arm::A), apart);
        panel.end_label(b.1, &analysis.arm_names.b, Ink::ArmText(Arm::B), -apart);
    }
    panel
}

/// The axis on which the differences of questions stand.
pub(super) struct Axis<'a> {
    /// Where a question stands.
    pub at: &'a dyn Fn(&Question) -> f64,
    pub ticks: &'a [(f64, String)],
    pub x: (f64, f64),
    /// Differences in per cent or points.
    pub effect: (f64, f64),
}

fn effects(analysis: &Analysis, group: &Group<'_>, scales: &Scales) -> Panel {
    let axis = Axis { at: &x_of, ticks: &ticks(group), x: scales.x, effect: scales.effect };
    differences(analysis, &group.questions, &axis)
}

/// The lower panel: differences with their ranges, the margin, and what the headers predict.
pub(super) fn differences(analysis: &Analysis, questions: &[&Question], axis: &Axis<'_>) -> Panel {
    let metric = questions.first().map_or(Metric::Throughput, |q| q.metric);
    let frame = Frame {
        top: UPPER,
        height: LOWER,
        x: axis.x,
        y: axis.effect,
        log_y: false,
        x_ticks: axis.ticks,
        y_tick: &series::effect_tick(metric),
        y_title: "difference".to_owned(),
    };
    let x_of = axis.at;
    let mut panel = Panel::new(&frame);
    let margin = questions.iter().map(|q| q.margin).fold(0.0, f64::max);
    panel.zone(metric.scale().within(margin).map(hundredfold));
    panel.level(0.0, Ink::Axis, Stroke::Solid);
    let predicted: Vec<(f64, f64)> = questions
        .iter()
        .filter_map(|q| Some((x_of(q), hundredfold(q.prediction.as_ref()?.effect))))
        .collect();
    if predicted.len() > 1 {
        panel.line(&predicted, Ink::Faint, Stroke::Dotted, 1.8);
    }
    if let Some(last) = predicted.last() {
        panel.end_label(last.1, "predicted", Ink::Faint, 0.0);
    }
    for q in questions {
        for (_, low, high) in published(analysis, q, Said::Effect) {
            panel.published(x_of(q), hundredfold(low), hundredfold(high), Ink::Faint);
        }
        if let Some(effect) = &q.effect {
            let (low, high) = (hundredfold(effect.range95.low), hundredfold(effect.range95.high));
            panel.range(x_of(q), low, high, Ink::Verdict(q.verdict));
            panel.verdict((x_of(q), hundredfold(effect.estimate)), q.verdict);
        }
    }
    panel
}

fn table(analysis: &Analysis, group: &Group<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let heads = vec![
        "size".to_owned(),
        format!("{}, {}", names.a, unit.symbol),
        format!("{}, {}", names.b, unit.symbol),
        words::over(analysis),
        "95 % range".to_owned(),
        "predicted".to_owned(),
        "verdict".to_owned(),
    ];
    let row = |q: &&Question| {
        vec![
            q.level_bytes.map(series::size).unwrap_or_default(),
            series::cell(q.values.a, unit),
            series::cell(q.values.b, unit),
            q.text.clone(),
            if q.range_text.is_empty() { "–".to_owned() } else { q.range_text.clone() },
            words::predicted(q).unwrap_or_else(|| "–".to_owned()),
            words::marked_answer(q),
        ]
    };
    Table { heads, rows: group.questions.iter().map(row).collect() }
}
