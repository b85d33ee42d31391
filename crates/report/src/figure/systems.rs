//! Systems beside each other: bars from nothing on for each question, run and family, with the
//! range of the change against the first run on top.

use super::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use super::{Figure, Kind, Paint, Table, series};
use crate::number::{self, Unit};
use crate::words;
use v6gap_core::arm::Arm;
use v6gap_core::metric::{Metric, Scale};
use v6gap_judge::analysis::Range;
use v6gap_judge::analysis::compare::{Comparison, Of, Row};

const LEFT: f64 = 92.0;
const RIGHT: f64 = 96.0;
const BAR: f64 = 18.0;
const HEAD: f64 = 26.0;
/// Questions of a figure, and runs of a question: the tables have all.
const QUESTIONS_MOST: usize = 4;
const RUNS_MOST: usize = 6;

/// A figure for each metric that has a true zero and is compared by ratios.
pub(super) fn figures(found: &Comparison, paint: Paint) -> Vec<Figure> {
    let metrics = Metric::ALL.into_iter().filter(|metric| metric.scale() == Scale::Ratio);
    metrics.filter_map(|metric| draw(found, metric, paint)).collect()
}

/// One bar.
struct Bar {
    question: String,
    run: String,
    arm: Arm,
    value: f64,
    /// Where it lies by the change against the first run.
    range: Option<Range>,
}

fn bars(found: &Comparison, row: &Row) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (place, run) in found.runs.iter().enumerate().take(RUNS_MOST) {
        for (arm, of) in [(Arm::A, Of::First), (Arm::B, Of::Second)] {
            let of_run = |at: usize| *row.standings.get(at)?.as_ref()?.values.get(arm);
            let Some(value) = of_run(place) else { continue };
            let against = row.against.iter().find(|against| against.letter == run.letter);
            let change = against.and_then(|a| a.changes.iter().find(|change| change.of == of));
            let range = change.and_then(|change| change.effect.as_ref()).zip(of_run(0));
            let range = range.map(|(effect, first)| Range {
                low: first * (1.0 + effect.range95.low),
                high: first * (1.0 + effect.range95.high),
            });
            bars.push(Bar {
                question: row.label.clone(),
                run: run.letter.to_string(),
                arm,
                value,
                range: range.filter(|range| range.low.is_finite() && range.high.is_finite()),
            });
        }
    }
    bars
}

fn draw(found: &Comparison, metric: Metric, paint: Paint) -> Option<Figure> {
    let own: Vec<&Row> = found.rows.iter().filter(|row| row.metric == metric).collect();
    let groups: Vec<Vec<Bar>> =
        own.iter().take(QUESTIONS_MOST).map(|row| bars(found, row)).collect();
    let all: Vec<&Bar> = groups.iter().flatten().collect();
    let values: Vec<f64> = all.iter().map(|bar| bar.value).collect();
    let unit = number::unit(metric, &values);
    let ends = all.iter().map(|bar| bar.range.map_or(bar.value, |r| r.high.max(bar.value)));
    let top = ends.fold(0.0, f64::max) * 1.02;
    if top <= 0.0 {
        return None;
    }
    let mut canvas = Canvas::default();
    let x = |value: f64| LEFT + value.clamp(0.0, top) / top * (WIDTH - LEFT - RIGHT);
    let mut y = 0.0;
    for group in &groups {
        let Some(first) = group.first() else { continue };
        canvas.text((4.0, y + 17.0), &first.question, Align::Start, Ink::Text, true);
        y += HEAD;
        let from = y;
        for bar in group {
            one(&mut canvas, found, bar, y, &x, unit);
            y += BAR;
        }
        canvas.stroke((LEFT, from - 2.0), (LEFT, y + 2.0), Ink::Axis, 1.0, Stroke::Solid);
        y += 8.0;
    }
    let id = format!("systems-{metric}");
    let runs = found.runs.iter().take(RUNS_MOST).map(|run| run.letter.to_string());
    let runs = runs.collect::<Vec<_>>().join(", ");
    let title = format!("{} of {runs}, over both families", words::capital(metric.noun()));
    let said = all.iter().map(|bar| {
        let value = series::cell(Some(bar.value), unit);
        format!("{}, {} {}: {value} {}", bar.question, bar.run, name(found, bar), unit.symbol)
    });
    let desc = said.collect::<Vec<_>>().join("; ") + ".";
    let drawn = drawing::draw(&id, &title, &desc, y, paint, vec![canvas]);
    let left_out = match own.len().saturating_sub(QUESTIONS_MOST) {
        0 => String::new(),
        1 => " One more is in the tables.".to_owned(),
        n => format!(" {n} more are in the tables."),
    };
    let others = match found.runs.get(RUNS_MOST..) {
        Some([run, ..]) => format!(" Runs from {} on are in the tables.", run.letter),
        _ => String::new(),
    };
    Some(Figure {
        kind: Kind::Systems,
        height: y,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(found, &all, unit),
        foot: format!(
            "Medians from 0 on, all on one scale. The thin bars are where each lies against A \
             with 95 %.{left_out}{others}"
        ),
        id,
        title,
        desc,
    })
}

fn name<'a>(found: &'a Comparison, bar: &Bar) -> &'a str {
    found.arm_names.get(bar.arm)
}

fn one(
    canvas: &mut Canvas,
    found: &Comparison,
    bar: &Bar,
    y: f64,
    x: &impl Fn(f64) -> f64,
    unit: Unit,
) {
    let label = format!("{}  {}", bar.run, name(found, bar));
    canvas.text((LEFT - 8.0, y + 13.0), &label, Align::End, Ink::ArmText(bar.arm), false);
    let size = (x(bar.value) - LEFT, 10.0);
    match bar.arm {
        Arm::A => canvas.edge((LEFT, y + 4.0), size, Ink::Arm(bar.arm), Stroke::Solid),
        Arm::B => canvas.fill((LEFT, y + 4.0), size, Ink::Arm(bar.arm)),
    }
    let mut end = x(bar.value);
    if let Some(range) = bar.range {
        let (low, high) = (x(range.low), x(range.high));
        canvas.stroke((low, y + 9.0), (high, y + 9.0), Ink::Text, 2.0, Stroke::Solid);
        for at in [low, high] {
            canvas.stroke((at, y + 5.0), (at, y + 13.0), Ink::Text, 1.5, Stroke::Solid);
        }
        end = end.max(high);
    }
    let text = format!("{} {}", series::cell(Some(bar.value), unit), unit.symbol);
    canvas.text((end + 7.0, y + 13.0), &text, Align::Start, Ink::Text, false);
}

fn table(found: &Comparison, bars: &[&Bar], unit: Unit) -> Table {
    let heads = vec![
        "question".to_owned(),
        "run".to_owned(),
        "family".to_owned(),
        format!("value, {}", unit.symbol),
        "95 % range against A".to_owned(),
    ];
    let cell = |value: f64| series::cell(Some(value), unit);
    let row = |bar: &&Bar| {
        let range = bar.range.map(|range| series::range(bar.value, &range, unit));
        vec![
            bar.question.clone(),
            bar.run.clone(),
            name(found, bar).to_owned(),
            cell(bar.value),
            range.unwrap_or_else(|| "–".to_owned()),
        ]
    };
    Table { heads, rows: bars.iter().map(row).collect() }
}
