//! What opening a connection takes, stage after stage: the socket, the handshake, the first byte.

use super::stages::{self, Bars, Stage, Stages};
use super::{Figure, Kind, Paint, Table, drawing, series};
use crate::number::Unit;
use crate::words;
use v6gap_core::arm::Arm;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::breakdown::{Opening, Typical};
use v6gap_judge::analysis::{Analysis, Question, Range};

/// The stages over an arm; the first byte is counted from the call of `connect`, like the
/// handshake, so that its bar begins where the connection stood.
fn over(analysis: &Analysis, opening: &Opening, arm: Arm) -> Vec<Stage> {
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
    // Both arms of one family are together there.
    let is_null = words::is_null(analysis);
    let openings = analysis.openings.iter().enumerate().filter(|_| !is_null);
    openings.filter_map(|(at, opening)| draw(analysis, opening, at + 1, paint)).collect()
}

fn draw(analysis: &Analysis, opening: &Opening, number: usize, paint: Paint) -> Option<Figure> {
    let arms = Arm::BOTH.map(|arm| (arm, over(analysis, opening, arm)));
    let Bars { canvas, height, unit } = stages::bars(analysis, &arms, "the program began")?;
    let id = format!("opening-{number}");
    let found = finding(analysis, opening);
    let title = format!("Opening a TCP connection, stage after stage: {found}");
    let desc = stages::describe(analysis, &arms, unit);
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

/// What was found of the last stage that was a question.
fn finding(analysis: &Analysis, opening: &Opening) -> String {
    let of = |metric| {
        let own = |q: &&Question| q.cell == opening.cell && q.metric == metric;
        analysis.questions.iter().find(own)
    };
    let found = of(Metric::FirstByte).or_else(|| of(Metric::Connect));
    found.map_or_else(String::new, |q| series::finding(analysis, &[q]))
}

fn table(analysis: &Analysis, arms: &Stages, unit: Unit) -> Table {
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
            let range = s.range.map_or("–".to_owned(), |range| series::range(s.to, &range, unit));
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
