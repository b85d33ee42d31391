//! Runs against each other as text: answer, runs, table, what differs, what next.

use super::grid::{Cell, Column, Grid, paragraph};
use super::style::{Style, Tone};
use super::{grid, say, study};
use crate::comparison::{self, Line};
use crate::sentences::comparison as said;
use crate::set_up;
use crate::words::{self, Told};
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::compare::{Comparison, Of};

/// Differences of the set-up that are shown; the others are counted.
const SET_UP_MAX: usize = 12;

/// What one run says: wraps where it is open, as "5.7 % longer to 2.3 % shorter" is.
const OF_RUN: Column = Column { gap: 2, least: Some(13), ..Column::right() };

/// The comparison: headline, runs, table, notes and what differs in the set-up.
///
/// No line is longer than `style.width` (at least [`Style::WIDTH_MIN`]).
pub fn comparison(found: &Comparison, style: &Style) -> String {
    let mut out = String::new();
    paragraph(&mut out, style, Tone::Strong, &style.clean(&said::headline(found)), 0);
    out.push('\n');
    for run in &found.runs {
        say(style, &mut out, &comparison::run(run));
    }
    out.push('\n');
    let lines = comparison::lines(found);
    match (style.plain, table(found, &lines, style)) {
        (false, Some(text)) => out.push_str(&text),
        _ => sentences(found, &lines, style, &mut out),
    }
    out.push('\n');
    for detail in &said::details(found) {
        say(style, &mut out, detail);
    }
    say(style, &mut out, &comparison::margins(found));
    for note in comparison::notes(found) {
        say(style, &mut out, &format!("Note: {note}"));
    }
    if let Some(rows) = comparison::published(found) {
        out.push('\n');
        let mut columns = [14, 10].map(|least| Column::left(Some(least))).to_vec();
        columns.extend(found.runs.iter().skip(1).map(|_| Column::left(Some(14))));
        study::table(&rows, columns, style, &mut out);
    }
    what_differs(found, style, &mut out);
    say(style, &mut out, comparison::between_runs(found));
    out.push('\n');
    let ids: Vec<&str> = found.runs.iter().map(|run| run.id.as_str()).collect();
    let command = format!("v6gap compare {} --format html -o compare.html", ids.join(" "));
    say(style, &mut out, &format!("As a page: {command}"));
    out
}

/// With two runs a column for each part of the change; with more one for each run.
fn table(found: &Comparison, lines: &[Line<'_>], style: &Style) -> Option<String> {
    let two = found.runs.len() == 2;
    let cell = |text: &str, tone| Cell::new(style.clean(text), tone);
    let head = Of::Difference.subject(&found.arm_names);
    let mut heads = vec![cell(&head, Tone::Plain), cell("A", Tone::Plain)];
    let mut columns = vec![Column::left(Some(13)), OF_RUN];
    if two {
        heads.extend(["B", "change", "95 % range", "verdict"].map(|t| cell(t, Tone::Plain)));
        columns.extend([
            OF_RUN,
            Column::left(Some(9)),
            Column::left(Some(10)),
            Column { gap: 1, ..Column::left(None) },
        ]);
    } else {
        for run in &found.runs[1..] {
            heads.push(cell(&comparison::from_to(run), Tone::Plain));
            columns.push(Column::left(Some(14)));
        }
    }
    let mut grid = Grid { columns, rows: vec![heads] };
    for line in lines {
        grid.rows.push(if two { of_two(line, style) } else { of_more(line, style) });
    }
    grid.render(style)
}

fn tone(of: Of) -> Tone {
    of.arm().map_or(Tone::Plain, Tone::Arm)
}

fn label(line: &Line<'_>) -> String {
    let glyph = match line.of.arm() {
        None => return line.label.replace(", ", " "),
        Some(Arm::A) => '○',
        Some(Arm::B) => '◆',
    };
    format!("{glyph} {}", line.named())
}

fn of_two(line: &Line<'_>, style: &Style) -> Vec<Cell> {
    let cell = |text: &str, tone| Cell::new(style.clean(text), tone);
    let value = |at: usize| cell(&line.values[at], tone(line.of));
    let mut cells = vec![cell(&label(line), tone(line.of)), value(0), value(1)];
    let Some(change) = line.changes[0] else {
        cells.push(Cell { span: 3, ..cell("–", Tone::Plain) });
        return cells;
    };
    let tone = Tone::Verdict(change.verdict);
    let range = change.range_text.strip_suffix(" %").unwrap_or(&change.range_text);
    match (change.verdict, &change.effect) {
        (_, None) => cells.push(Cell { span: 2, ..cell("not compared", tone) }),
        // Its text is the range itself, in words.
        (Verdict::CannotTell, _) => cells.push(Cell { span: 2, ..cell(&change.text, tone) }),
        _ => cells.extend([cell(&change.text, tone), cell(range, Tone::Plain)]),
    }
    cells.push(cell(&Told::change(line.row, change).marked(), tone));
    cells
}

fn of_more(line: &Line<'_>, style: &Style) -> Vec<Cell> {
    let cell = |text: &str, tone| Cell::new(style.clean(text), tone);
    let mut cells = vec![cell(&label(line), tone(line.of)), cell(&line.values[0], tone(line.of))];
    for change in &line.changes {
        let tone = change.map_or(Tone::Plain, |change| Tone::Verdict(change.verdict));
        cells.push(cell(&words::marked_in_one(line.row, *change), tone));
    }
    cells
}

/// Each change as a sentence behind both values.
fn sentences(found: &Comparison, lines: &[Line<'_>], style: &Style, out: &mut String) {
    for line in lines {
        let named = format!("{}, {}: ", line.label, line.subject);
        let reference = valued(line, 'A', 0);
        for (at, (run, change)) in found.runs.iter().skip(1).zip(&line.changes).enumerate() {
            let Some(change) = change else { continue };
            let other = valued(line, run.letter, at + 1);
            let text = match change.sentence.strip_prefix(&named) {
                Some(rest) => {
                    let verdict = Told::change(line.row, change).word();
                    let said = words::capital(rest);
                    format!("{named}{reference}; {other}. {said} Verdict: {verdict}.")
                }
                // It says by itself that there is no verdict, and of what.
                None => format!("{named}{reference}; {other}. {}", change.sentence),
            };
            say(style, out, &text);
        }
    }
}

/// What a run says: "A 94.1 Mbit/s".
fn valued(line: &Line<'_>, letter: char, at: usize) -> String {
    match (line.values[at].as_str(), line.unit) {
        ("–", _) => format!("{letter} no value"),
        (value, "") => format!("{letter} {value}"),
        (value, unit) => format!("{letter} {value} {unit}"),
    }
}

fn what_differs(found: &Comparison, style: &Style, out: &mut String) {
    if found.set_up.is_empty() {
        say(style, out, "Set-up: nothing is known to differ.");
        return;
    }
    say(style, out, "Set-up that differs:");
    for differs in set_up::told(found).iter().take(SET_UP_MAX) {
        let text = format!("  {}: {}", differs.what, differs.values.join(" → "));
        for line in grid::wrap(&style.clean(&text), style.columns() - 2) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    if found.set_up.len() > SET_UP_MAX {
        let more = found.set_up.len() - SET_UP_MAX;
        say(style, out, &format!("  and {more} more, which --format md and json show."));
    }
}
