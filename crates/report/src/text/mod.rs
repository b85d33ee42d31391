//! The result as text for a terminal, a file or a screen reader.
//!
//! Order: answer, table, explanation, what next, checks, where it is kept. The last line always
//! names the run and the next command.

mod compare;
mod detail;
mod grid;
mod ladder;
mod lines;
mod live;
mod study;
mod style;

pub use compare::comparison;
pub use ladder::table as ways;
pub use lines::{column, wrap};
pub use live::{Live, Moment};
pub use style::{Glyphs, Style};

use crate::number::shown;
use crate::sentences;
use crate::words;
use core::iter;
use grid::{Cell, Column, Grid, paragraph};
use style::Tone;
use v6gap_core::arm::Arm;
use v6gap_core::record::Line;
use v6gap_judge::analysis::{Analysis, Question, Verdict};

/// The result: headline, context, table of questions, and what it rests on.
///
/// No line is longer than `style.width` (at least [`Style::WIDTH_MIN`]).
pub fn table(analysis: &Analysis, style: &Style) -> String {
    let mut out = String::new();
    opening(analysis, style, &mut out);
    questions(analysis, style, &mut out);
    ladder::add(analysis, style, &mut out);
    detail::resources(analysis, false, style, &mut out);
    study::add(analysis, false, style, &mut out);
    closing(analysis, style, &mut out);
    out
}

/// [`table`] with pairs, spread, seed and what the kernel granted to the sockets of `lines`.
pub fn verbose(analysis: &Analysis, lines: &[Line], style: &Style) -> String {
    let mut out = String::new();
    opening(analysis, style, &mut out);
    questions(analysis, style, &mut out);
    ladder::add(analysis, style, &mut out);
    detail::add(analysis, lines, style, &mut out);
    study::add(analysis, true, style, &mut out);
    closing(analysis, style, &mut out);
    out
}

fn say(style: &Style, out: &mut String, text: &str) {
    paragraph(out, style, Tone::Plain, &style.clean(text), 0);
}

fn opening(analysis: &Analysis, style: &Style, out: &mut String) {
    paragraph(out, style, Tone::Strong, &style.clean(&sentences::headline(analysis)), 0);
    out.push('\n');
    say(style, out, &words::context(analysis));
    if let Some(stopped) = &analysis.stopped {
        say(style, out, &words::sentence(stopped));
    }
    out.push('\n');
}

/// Width from which on the table has a column for what both values differ by; below it they are
/// told after the values, or with `-V`.
const DIFFERENCE_FROM: usize = 100;

/// Where that column is: behind the values.
const DIFFERENCE_AT: usize = 3;

fn questions(analysis: &Analysis, style: &Style, out: &mut String) {
    if style.plain {
        sentences(analysis, style, out);
        return;
    }
    let mut columns = vec![
        Column::left(Some(12)),
        Column::right(),
        Column::right(),
        Column::left(None),
        Column::left(Some(10)),
        Column { gap: 1, ..Column::left(None) },
    ];
    let mut rows = vec![heads(analysis, style)];
    rows.extend(analysis.questions.iter().map(|q| row(q, style)));
    if style.columns() >= DIFFERENCE_FROM {
        columns.insert(DIFFERENCE_AT, Column::right());
        let head = Cell::new("difference".to_owned(), Tone::Plain);
        let cells = analysis.questions.iter().map(|q| {
            let difference = words::absolute_effect(q).unwrap_or_default();
            Cell::new(style.clean(&difference), Tone::Plain)
        });
        for (row, cell) in rows.iter_mut().zip(iter::once(head).chain(cells)) {
            row.insert(DIFFERENCE_AT, cell);
        }
    }
    let grid = Grid { columns, rows };
    match grid.render(style) {
        Some(text) => out.push_str(&text),
        None => analysis.questions.iter().for_each(|q| stacked(analysis, q, style, out)),
    }
    out.push('\n');
}

fn heads(analysis: &Analysis, style: &Style) -> Vec<Cell> {
    let names = &analysis.arm_names;
    let head = |text: &str, tone| Cell::new(style.clean(text), tone);
    vec![
        head("", Tone::Plain),
        head(&format!("○ {}", names.a), Tone::Arm(Arm::A)),
        head(&format!("◆ {}", names.b), Tone::Arm(Arm::B)),
        head(&words::over(analysis), Tone::Plain),
        head("95 % range", Tone::Plain),
        head("verdict", Tone::Plain),
    ]
}

fn row(q: &Question, style: &Style) -> Vec<Cell> {
    let values = shown(q);
    let cell = |text: &str, tone| Cell::new(style.clean(text), tone);
    // The room of a comma is what lets most tables fit into 80 columns.
    let label = q.label.replace(", ", " ");
    let label = match values.unit.as_str() {
        "" => label,
        unit => format!("{label}, {unit}"),
    };
    let tone = Tone::Verdict(q.verdict);
    let mut cells = vec![
        cell(&label, Tone::Plain),
        cell(&values.a, Tone::Arm(Arm::A)),
        cell(&values.b, Tone::Arm(Arm::B)),
    ];
    let answer = Answer::of(q);
    match answer.range {
        Some(range) => cells.extend([cell(&answer.text, tone), cell(&range, Tone::Plain)]),
        None => cells.push(Cell { span: 2, ..cell(&answer.text, tone) }),
    }
    cells.push(cell(&words::marked_answer(q), tone));
    cells
}

/// What stands under "over IPv6" and, where it has a cell of its own, the range.
struct Answer {
    text: String,
    range: Option<String>,
}

impl Answer {
    fn of(q: &Question) -> Self {
        if let Some(reason) = q.why_none.as_ref().filter(|_| q.effect.is_none()) {
            return Answer { text: reason.clone(), range: None };
        }
        let range = q.range_text.strip_suffix(" %").unwrap_or(&q.range_text);
        if q.verdict == Verdict::CannotTell || range.is_empty() {
            // Its text is the range itself, in words.
            Answer { text: q.text.clone(), range: None }
        } else if range.contains(char::is_alphabetic) || grid::width(&q.text) > 16 {
            Answer { text: format!("{}, {}", q.text, q.range_text), range: None }
        } else {
            Answer { text: q.text.clone(), range: Some(range.to_owned()) }
        }
    }
}

/// One question in a few lines, where the width is too small for a table.
fn stacked(analysis: &Analysis, q: &Question, style: &Style, out: &mut String) {
    let names = &analysis.arm_names;
    let values = shown(q);
    let answer = Answer::of(q);
    paragraph(out, style, Tone::Strong, &style.clean(&q.label), 2);
    let unit = if values.unit.is_empty() { String::new() } else { format!(" {}", values.unit) };
    let both = format!("  ○ {} {}, ◆ {} {}{unit}", names.a, values.a, names.b, values.b);
    let range = answer.range.map(|_| format!(" ({})", q.range_text)).unwrap_or_default();
    let difference = words::absolute_effect(q).map(|d| format!(", {d}")).unwrap_or_default();
    let answered = format!("{}{range}{difference}", answer.text);
    for line in [both, answered, words::marked_answer(q)] {
        for line in grid::wrap(&style.clean(&line), style.columns() - 2) {
            out.push_str("  ");
            out.push_str(&line);
            out.push('\n');
        }
    }
}

/// Each question as sentences.
fn sentences(analysis: &Analysis, style: &Style, out: &mut String) {
    let names = &analysis.arm_names;
    for q in &analysis.questions {
        let values = shown(q);
        let both = match values.unit.as_str() {
            "" => String::new(),
            unit => {
                let (a, b) = (&values.a, &values.b);
                let differ = words::absolute_effect(q).map(|d| format!(", difference {d}"));
                let differ = differ.unwrap_or_default();
                format!(" {} {a} {unit}, {} {b} {unit}{differ}.", names.a, names.b)
            }
        };
        let verdict = words::answer(q);
        let answer = match (&q.why_none, q.effect.is_none()) {
            (Some(reason), true) => words::sentence(reason),
            _ if q.sentence.is_empty() => format!("{}, 95 % range {}.", q.text, q.range_text),
            _ => {
                let named = format!("{}: ", q.label);
                words::capital(q.sentence.strip_prefix(&named).unwrap_or(&q.sentence))
            }
        };
        say(style, out, &format!("{}:{both} {answer} Verdict: {verdict}.", q.label));
        out.push('\n');
    }
}

/// Questions of which the closing says what their discarded blocks would have changed.
const KEPT_MAX: usize = 3;

fn closing(analysis: &Analysis, style: &Style, out: &mut String) {
    let run = &analysis.run;
    let said = [
        sentences::failures(analysis),
        sentences::races(analysis),
        sentences::predicted(analysis),
        words::margins(analysis),
    ];
    for text in said.into_iter().flatten() {
        say(style, out, &text);
    }
    for note in notes(analysis) {
        say(style, out, &note);
    }
    for text in sentences::suspects(analysis) {
        say(style, out, &text);
    }
    let kept = words::with_discarded(analysis);
    if !kept.is_empty() {
        let few = kept.iter().take(KEPT_MAX).cloned().collect::<Vec<_>>().join("; ");
        let more = if kept.len() > KEPT_MAX { "; the others in the report" } else { "" };
        say(style, out, &format!("With the discarded blocks kept: {few}{more}."));
    }
    let discards = sentences::discards::discards(analysis).into_iter();
    for text in discards.chain(sentences::discards::few_tipping(analysis)) {
        say(style, out, &text);
    }
    for text in words::to_settle(analysis) {
        say(style, out, &text);
    }
    out.push('\n');
    if let Some(drawn) = sentences::drawn(analysis) {
        say(style, out, &drawn);
    }
    for text in sentences::other_runs(analysis) {
        say(style, out, &text);
    }
    let (summary, seen) = sentences::checks::summary(analysis);
    let seen: Vec<&str> = seen
        .iter()
        .filter(|check| check.id != "set-up")
        .map(|check| check.text.trim_end_matches('.'))
        .collect();
    let colon = if seen.is_empty() { "" } else { ": " };
    say(style, out, &format!("Checks: {summary}{colon}{}.", seen.join("; ")));
    let id = &run.id;
    say(style, out, &format!("Saved as {id}. Report: v6gap report {id}"));
}

/// Doubts and refusals, each once.
fn notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = words::caveats(analysis);
    let set_up = analysis.checks.iter().filter(|check| check.id == "set-up");
    notes.extend(set_up.map(|check| check.text.clone()));
    notes.dedup();
    notes.iter().map(|note| format!("Note: {}", words::sentence(note))).collect()
}
