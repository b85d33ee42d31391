//! Throughput by the amount of data: above both arms from 0 on with what the line could carry,
//! below their difference.

use super::drawing::{self, Frame, Ink, Panel, Stroke};
use super::size::{self, Axis, LOWER, UPPER};
use super::{Figure, Kind, Paint, Table, series};
use crate::number::{self, Unit};
use crate::words;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::{Direction, TcpBulk, Workload};
use v6gap_judge::analysis::{Analysis, Question};

/// Transfers that differ in their amount alone, the smallest first.
struct Group<'a> {
    kind: TcpBulk,
    questions: Vec<(&'a Question, u64)>,
}

fn groups(analysis: &Analysis) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for q in analysis.questions.iter().filter(|q| q.metric == Metric::Throughput) {
        let cell = analysis.run.plan.cell(&q.cell).map(|(_, cell)| &cell.workload);
        let Some(Workload::TcpBulk(bulk)) = cell else { continue };
        // Where windows vary too, a map shows both.
        let Some(bytes) = bulk.bytes.filter(|_| bulk.settings.buffer_bytes.is_none()) else {
            continue;
        };
        // How long it may take tells nothing apart.
        let duration_ns = 0;
        let kind = TcpBulk { bytes: None, duration_ns, ..bulk.clone() };
        let found = (q, bytes);
        match groups.iter_mut().find(|group| group.kind == kind) {
            Some(group) => group.questions.push(found),
            None => groups.push(Group { kind, questions: vec![found] }),
        }
    }
    for group in &mut groups {
        group.questions.retain(|(q, _)| q.effect.is_some());
        group.questions.sort_by_key(|(_, bytes)| *bytes);
    }
    groups.retain(|group| group.questions.len() > 1);
    groups
}

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let groups = groups(analysis);
    let draw = |(at, group): (usize, &Group<'_>)| draw(analysis, group, at + 1, paint);
    groups.iter().enumerate().filter_map(draw).collect()
}

fn draw(analysis: &Analysis, group: &Group<'_>, number: usize, paint: Paint) -> Option<Figure> {
    let questions: Vec<&Question> = group.questions.iter().map(|(q, _)| *q).collect();
    let all: Vec<f64> = questions.iter().flat_map(|q| [q.values.a, q.values.b]).flatten().collect();
    let unit = number::unit(Metric::Throughput, &all);
    let place = |q: &Question| {
        let own = group.questions.iter().find(|(other, _)| other.cell == q.cell);
        own.map_or(0.0, |(_, bytes)| (*bytes as f64).log2())
    };
    let ticks = ticks(group);
    let x = series::span(questions.iter().map(|q| place(q)), 0.07)?;
    let effect = size::effect_span(analysis, questions.iter().copied())?;
    let axis = Axis { at: &place, ticks: &ticks, x, effect };
    let panels = vec![
        values(analysis, &questions, &axis, unit),
        size::differences(analysis, &questions, &axis),
    ];
    let id = format!("amount-{number}");
    let way = match group.kind.direction {
        Direction::Send => "",
        Direction::Receive => ", receiving",
        Direction::Both => ", both ways",
    };
    let found = series::finding(analysis, &questions);
    let title = format!("TCP throughput by amount of data{way}: {found}");
    let said: Vec<String> = questions.iter().map(|q| format!("{}: {}", q.label, q.text)).collect();
    let desc = format!("Difference {}: {}.", words::over(analysis), said.join("; "));
    let drawn = drawing::draw(&id, &title, &desc, UPPER + LOWER, paint, panels);
    let ceiling = match ceilings(&questions, Arm::A, unit).is_empty() {
        true => "no rate of the line is known, so no ceiling is drawn",
        false => "the dotted lines are what the line carries with these headers",
    };
    Some(Figure {
        kind: Kind::Amount,
        height: UPPER + LOWER,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, group, unit),
        foot: format!(
            "Above: medians, from 0 on; {ceiling}. Below: the difference with its 95 % range; the \
             grey band is too small to matter."
        ),
        id,
        title,
        desc,
    })
}

/// A mark at each amount, and words where there is room for them.
fn ticks(group: &Group<'_>) -> Vec<(f64, String)> {
    let place = |bytes: u64| (bytes as f64).log2();
    let (Some(first), Some(last)) = (group.questions.first(), group.questions.last()) else {
        return Vec::new();
    };
    let apart = (place(last.1) - place(first.1)) / 6.5;
    let mut before = f64::NEG_INFINITY;
    let tick = |(_, bytes): &(&Question, u64)| {
        let at = place(*bytes);
        let shown = at - before >= apart;
        before = if shown { at } else { before };
        (at, if shown { format_bytes(*bytes) } else { String::new() })
    };
    group.questions.iter().map(tick).collect()
}

/// What the wire model says that each transfer could reach.
fn ceilings(questions: &[&Question], arm: Arm, unit: Unit) -> Vec<Option<f64>> {
    let of = |q: &&Question| Some(q.prediction.as_ref()?.values.as_ref()?.get(arm) / unit.size);
    let all: Vec<Option<f64>> = questions.iter().map(of).collect();
    if all.iter().any(Option::is_some) { all } else { Vec::new() }
}

fn values(analysis: &Analysis, questions: &[&Question], axis: &Axis<'_>, unit: Unit) -> Panel {
    let own = questions.iter().flat_map(|q| [q.values.a, q.values.b]).flatten();
    let lines = PerArm::from_fn(|arm| ceilings(questions, arm, unit));
    let top = own
        .map(|v| v / unit.size)
        .chain(lines.a.iter().chain(&lines.b).flatten().copied())
        .fold(0.0, f64::max);
    let frame = Frame {
        top: 0.0,
        height: UPPER,
        x: axis.x,
        y: (0.0, top * 1.08),
        log_y: false,
        x_ticks: axis.ticks,
        y_tick: &series::number_tick,
        y_title: format!("throughput, {}", unit.symbol),
    };
    let mut panel = Panel::new(&frame);
    for arm in Arm::BOTH {
        let ceiling = questions.iter().zip(lines.get(arm));
        let ceiling: Vec<(f64, f64)> =
            ceiling.filter_map(|(q, value)| Some(((axis.at)(q), (*value)?))).collect();
        panel.line(&ceiling, Ink::Arm(arm), Stroke::Dotted, 1.4);
        let point = |q: &&Question| Some(((axis.at)(q), (*q.values.get(arm))? / unit.size));
        let points: Vec<(f64, f64)> = questions.iter().filter_map(point).collect();
        panel.line(&points, Ink::Arm(arm), Stroke::of(arm), 2.0);
        points.iter().for_each(|at| panel.value(*at, arm, 4.5));
    }
    let names = &analysis.arm_names;
    panel.key(&[
        (Ink::ArmText(Arm::A), &format!("○ {}", names.a)),
        (Ink::ArmText(Arm::B), &format!("◆ {}", names.b)),
    ]);
    panel
}

fn table(analysis: &Analysis, group: &Group<'_>, unit: Unit) -> Table {
    let names = &analysis.arm_names;
    let heads = vec![
        "amount".to_owned(),
        format!("{}, {}", names.a, unit.symbol),
        format!("{}, {}", names.b, unit.symbol),
        format!("line, {}, {}", names.a, unit.symbol),
        format!("line, {}, {}", names.b, unit.symbol),
        words::over(analysis),
        "95 % range".to_owned(),
        "verdict".to_owned(),
    ];
    let row = |(q, bytes): &(&Question, u64)| {
        let ceiling = |arm| {
            let values = q.prediction.as_ref().and_then(|p| p.values.as_ref());
            series::cell(values.map(|values| *values.get(arm)), unit)
        };
        vec![
            format_bytes(*bytes),
            series::cell(q.values.a, unit),
            series::cell(q.values.b, unit),
            ceiling(Arm::A),
            ceiling(Arm::B),
            q.text.clone(),
            if q.range_text.is_empty() { "–".to_owned() } else { q.range_text.clone() },
            words::marked_answer(q),
        ]
    };
    Table { heads, rows: group.questions.iter().map(row).collect() }
}
