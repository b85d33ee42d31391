//! What a published study would have said of the same runs, and what it published.

use super::grid::{Cell, Column, Grid};
use super::style::{Style, Tone};
use crate::studies::{self, Rows};
use v6gap_judge::analysis::Analysis;

/// Both tables; `all` adds what is doubtful about the study.
pub(super) fn add(analysis: &Analysis, all: bool, style: &Style, out: &mut String) {
    if let Some(made) = studies::as_published(analysis) {
        let mut columns = vec![Column::left(Some(16))];
        columns.extend((0..4).map(|_| Column::right()));
        table(&made, columns, style, out);
    }
    let Some(published) = &analysis.published else { return };
    super::say(style, out, &studies::source(published));
    if let Some(beside) = studies::beside(analysis) {
        let mut columns = [14, 12].map(|least| Column::left(Some(least))).to_vec();
        columns.extend([Column::right(), Column::right()]);
        columns.extend([8, 12].map(|least| Column::left(Some(least))));
        table(&beside, columns, style, out);
    }
    let doubts = studies::doubts(published);
    match all {
        true => doubts.iter().for_each(|doubt| super::say(style, out, doubt)),
        false if !doubts.is_empty() => {
            super::say(style, out, "What is doubtful about it stands in the report and with -V.");
        }
        false => {}
    }
    out.push('\n');
}

/// A table with its notes; sentences where it does not fit.
pub(super) fn table(rows: &Rows, columns: Vec<Column>, style: &Style, out: &mut String) {
    let cell = |text: &String| Cell::new(style.clean(text), Tone::Plain);
    let mut grid = Grid { columns, rows: vec![rows.heads.iter().map(cell).collect()] };
    grid.rows.extend(rows.rows.iter().map(|row| row.iter().map(cell).collect()));
    match grid.render(style).filter(|_| !style.plain) {
        Some(text) => out.push_str(&text),
        None => {
            for row in &rows.rows {
                let parts = rows.heads.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
                let parts: Vec<String> =
                    parts.map(|(head, cell)| format!("{head} {cell}")).collect();
                let first = row.first().map(String::as_str).unwrap_or_default();
                let head = rows.heads.first().map(String::as_str).unwrap_or_default();
                super::say(style, out, &format!("{head}, {first}: {}.", parts.join(", ")));
            }
        }
    }
    for note in &rows.notes {
        super::say(style, out, note);
    }
    out.push('\n');
}
