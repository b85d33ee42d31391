//! Every pair in the order of time: above both values with a link between them, below their
//! difference. It shows drift, and that taking turns removed it.

use super::drawing::{self, Frame, Ink, Panel, Stroke};
use super::series::{self, hundredfold};
use super::{Figure, Kind, Paint, Table};
use crate::number;
use crate::words;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_judge::analysis::{Analysis, Pair, Question};

const UPPER: f64 = 200.0;
const LOWER: f64 = 180.0;
/// More figures of this kind say little more and make the page heavy; all pairs are in the CSV.
const MOST: usize = 4;
/// More pairs than this cannot be told apart in the width of a figure.
const PAIRS_MOST: usize = 100;

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let first = series::groups(analysis)
        .into_iter()
        .filter_map(|group| group.questions.into_iter().find(|q| q.effect.is_some() && differ(q)));
    first.filter_map(|q| draw(analysis, q, paint)).take(MOST).collect()
}

/// Nothing lost in any trial needs no figure.
fn differ(q: &Question) -> bool {
    let pairs = valid(q);
    let same = |p: &&Pair| p.values == pairs[0].values;
    !pairs.iter().all(same)
}

fn valid(q: &Question) -> Vec<&Pair> {
    q.pairs.iter().filter(|p| p.valid).take(PAIRS_MOST).collect()
}

fn draw(analysis: &Analysis, q: &Question, paint: Paint) -> Option<Figure> {
    let pairs = valid(q);
    let id: String = format!("trials-{}-{}", q.metric, q.cell);
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let left_out = q.pairs.iter().filter(|p| p.valid).count() - pairs.len();
    let which = match left_out {
        0 => "every pair".to_owned(),
        _ => format!("the first {} pairs", pairs.len()),
    };
    let title = format!("{}, {which} in order", q.label);
    let over = words::over(analysis);
    let desc = format!("{} pairs; the difference {over} is {}.", pairs.len(), q.text);
    let every = pairs.len().div_ceil(6);
    let ticks: Vec<(f64, String)> = (0..pairs.len())
        .step_by(every)
        .map(|i| (i as f64, format!("{}", pairs[i].round)))
        .collect();
    let x = (-0.7, pairs.len() as f64 - 0.3);
    let values = values(analysis, q, &pairs, x, &ticks)?;
    let effects = effects(q, &pairs, x, &ticks)?;
    let more = match left_out {
        0 => String::new(),
        1 => " The last pair is not drawn.".to_owned(),
        n => format!(" The last {n} pairs are not drawn."),
    };
    let drawn = drawing::draw(&id, &title, &desc, UPPER + LOWER, paint, vec![values, effects]);
    Some(Figure {
        kind: Kind::Trials,
        height: UPPER + LOWER,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, q, &pairs),
        foot: format!(
            "Above: both values of each pair; the scale does not start at 0. Below: their \
             difference; line and dots are the estimate and its 95 % range.{more}"
        ),
        id,
        title,
        desc,
    })
}

fn values(
    analysis: &Analysis,
    q: &Question,
    pairs: &[&Pair],
    x: (f64, f64),
    ticks: &[(f64, String)],
) -> Option<Panel> {
    let all: Vec<f64> = pairs.iter().flat_map(|p| [p.values.a, p.values.b]).collect();
    let unit = number::unit(q.metric, &all);
    let frame = Frame {
        top: 0.0,
        height: UPPER,
        x,
        y: series::span(all.iter().map(|v| v / unit.size), 0.1)?,
        log_y: false,
        x_ticks: ticks,
        y_tick: &series::number_tick,
        y_title: format!("{}, {}", q.metric.noun(), unit.symbol),
    };
    let mut panel = Panel::new(&frame);
    for (i, pair) in pairs.iter().enumerate() {
        let at = |arm| (i as f64, pair.values.get(arm) / unit.size);
        panel.link(at(Arm::A), at(Arm::B), Ink::Axis, 1.0);
        for arm in Arm::BOTH {
            panel.value(at(arm), arm, 3.2);
        }
    }
    if let Some(last) = pairs.last() {
        let (a, b) = (last.values.a / unit.size, last.values.b / unit.size);
        let gap = panel.height_of(a) - panel.height_of(b);
        let apart = (16.0 - gap.abs()).max(0.0) / 2.0 * if gap < 0.0 { -1.0 } else { 1.0 };
        panel.end_label(a, &analysis.arm_names.a, Ink::ArmText(Arm::A), apart);
        panel.end_label(b, &analysis.arm_names.b, Ink::ArmText(Arm::B), -apart);
    }
    Some(panel)
}

fn effects(q: &Question, pairs: &[&Pair], x: (f64, f64), ticks: &[(f64, String)]) -> Option<Panel> {
    let effect = q.effect.as_ref()?;
    let of = |p: &&Pair| hundredfold(series::pair_effect(q.metric, p.values.a, p.values.b));
    let margins = q.metric.scale().within(q.margin).map(hundredfold);
    let ends = [effect.range95.low, effect.range95.high].map(hundredfold);
    let shown = series::ends(effect).map(hundredfold);
    let all = pairs.iter().map(of).chain(shown).chain(margins);
    let frame = Frame {
        top: UPPER,
        height: LOWER,
        x,
        y: series::span(all, 0.08)?,
        log_y: false,
        x_ticks: ticks,
        y_tick: &series::effect_tick(q.metric),
        y_title: "difference of each pair".to_owned(),
    };
    let (bottom, top) = frame.y;
    let mut panel = Panel::new(&frame);
    panel.zone(margins);
    panel.level(0.0, Ink::Axis, Stroke::Solid);
    let ink = Ink::Verdict(q.verdict);
    for end in ends.into_iter().filter(|y| (bottom..=top).contains(y)) {
        panel.level(end, ink, Stroke::Dotted);
    }
    panel.level(hundredfold(effect.estimate), ink, Stroke::Solid);
    for (i, pair) in pairs.iter().enumerate() {
        panel.dot((i as f64, of(pair)), ink);
    }
    Some(panel)
}

fn table(analysis: &Analysis, q: &Question, pairs: &[&Pair]) -> Table {
    let names = &analysis.arm_names;
    let all: Vec<f64> = pairs.iter().flat_map(|p| [p.values.a, p.values.b]).collect();
    let unit = number::unit(q.metric, &all);
    let heads = vec![
        "pair".to_owned(),
        "first".to_owned(),
        format!("{}, {}", names.a, unit.symbol),
        format!("{}, {}", names.b, unit.symbol),
        "difference".to_owned(),
    ];
    let row = |p: &&Pair| {
        let first = match p.order {
            TurnOrder::Ab => &names.a,
            TurnOrder::Ba => &names.b,
        };
        let effect = series::pair_effect(q.metric, p.values.a, p.values.b);
        vec![
            p.round.to_string(),
            first.clone(),
            series::cell(Some(p.values.a), unit),
            series::cell(Some(p.values.b), unit),
            words::effect(q.metric, effect),
        ]
    };
    Table { heads, rows: pairs.iter().map(row).collect() }
}
