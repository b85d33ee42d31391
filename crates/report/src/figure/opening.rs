//! What opening a connection takes, stage after stage: the socket, the handshake, the first byte.

use super::drawing::{self, Align, Canvas, Ink, Stroke, WIDTH};
use super::{Figure, Kind, Paint, Table, series};
use crate::number::{self, Unit};
use crate::words;
use v6gap_core::arm::Arm;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::breakdown::{Opening, Typical};
use v6gap_judge::analysis::{Analysis, Question, Range};

const LEFT: f64 = 128.0;
const RIGHT: f64 = 64.0;
const ROW: f64 = 26.0;
/// Above the rows of an arm: its name.
const HEAD: f64 = 24.0;
const BELOW: f64 = 34.0;

/// A stage over one arm, from when to when, in s since the beginning.
struct Stage {
    name: &'static str,
    from: f64,
    to: f64,
    /// Where its end may lie.
    range: Option<Range>,
}

/// The stages over an arm; the first byte is counted from the call of `connect`, like the
/// handshake, so that its bar begins where the connection stood.
fn stages(analysis: &Analysis, opening: &Opening, arm: Arm) -> Vec<Stage> {
    let of = |stage: &PerFamily<Option<Typical>>| *stage.get(analysis.family(arm));
    let socket = of(&opening.socket).map_or(0.0, |typical| typical.value);
    let Some(connect) = of(&opening.connect) else { return Vec::new() };
    let later = |range: Range| Range { low: range.low + socket, high: range.high + socket };
    let mut found = Vec::new();
    if let Some(typical) = of(&opening.socket) {
        found.push(Stage { name: "socket", from: 0.0, to: socket, range: typical.range });
    }
    let stood = socket + connect.value;
    let range = connect.range.map(later);
    found.push(Stage { name: "TCP handshake", from: socket, to: stood, range });
    if let Some(first) = of(&opening.first_byte) {
        let (to, range) = (socket + first.value, first.range.map(later));
        found.push(Stage { name: "to the first byte", from: stood, to, range });
    }
    found
}

pub(super) fn figures(analysis: &Analysis, paint: Paint) -> Vec<Figure> {
    let openings = analysis.openings.iter().enumerate();
    openings.filter_map(|(at, opening)| draw(analysis, opening, at + 1, paint)).collect()
}

fn draw(analysis: &Analysis, opening: &Opening, number: usize, paint: Paint) -> Option<Figure> {
    let arms = Arm::BOTH.map(|arm| (arm, stages(analysis, opening, arm)));
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
    let axis = format!("{} since the program began", unit.symbol);
    canvas.text((WIDTH, foot + 30.0), &axis, Align::End, Ink::Faint, false);
    let mut y = 0.0;
    for (arm, stages) in &arms {
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
    let id = format!("opening-{number}");
    let found = finding(analysis, opening);
    let title = format!("Opening a TCP connection, stage after stage: {found}");
    let desc = describe(analysis, &arms, unit);
    let drawn = drawing::draw(&id, &title, &desc, height, paint, vec![canvas]);
    Some(Figure {
        kind: Kind::Opening,
        height,
        svg: drawn.svg,
        picture: drawn.picture,
        table: table(analysis, &arms, unit),
        foot:
            "Medians; the thin bar is where the end of a stage lies with 95 %. Names are looked up \
               once before the measurement, so no look-up is in it; the families are never raced."
                .to_owned(),
        id,
        title,
        desc,
    })
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

/// What was found of the last stage that was a question.
fn finding(analysis: &Analysis, opening: &Opening) -> String {
    let of = |metric| {
        let own = |q: &&Question| q.cell == opening.cell && q.metric == metric;
        analysis.questions.iter().find(own)
    };
    let found = of(Metric::FirstByte).or_else(|| of(Metric::Connect));
    found.map_or_else(String::new, |q| series::finding(analysis, &[q]))
}

fn describe(analysis: &Analysis, arms: &[(Arm, Vec<Stage>); 2], unit: Unit) -> String {
    let of_arm = |(arm, stages): &(Arm, Vec<Stage>)| {
        let stage = |s: &Stage| {
            format!("{} {} {}", s.name, series::cell(Some(s.to - s.from), unit), unit.symbol)
        };
        let stages: Vec<String> = stages.iter().map(stage).collect();
        format!("{}: {}", analysis.arm_names.get(*arm), stages.join(", "))
    };
    arms.iter().map(of_arm).collect::<Vec<_>>().join(". ") + "."
}

fn table(analysis: &Analysis, arms: &[(Arm, Vec<Stage>); 2], unit: Unit) -> Table {
    let heads = vec![
        "stage".to_owned(),
        "over".to_owned(),
        format!("takes, {}", unit.symbol),
        format!("over at, {}", unit.symbol),
        "95 % range of its end".to_owned(),
    ];
    let mut rows = Vec::new();
    for (arm, stages) in arms {
        for s in stages {
            let cell = |value: f64| series::cell(Some(value), unit);
            let range = s.range.map_or("–".to_owned(), |range| {
                format!("{} to {}", cell(range.low), cell(range.high))
            });
            rows.push(vec![
                words::capital(s.name),
                analysis.arm_names.get(*arm).clone(),
                cell(s.to - s.from),
                cell(s.to),
                range,
            ]);
        }
    }
    Table { heads, rows }
}
