//! Trials as CSV (RFC 4180): one row for each, every stored field in a column of its own. Lists
//! (histograms, series) stay JSON inside their cell.

use crate::rows::{self, Row};
use crate::words;
use serde_json::Value;
use v6gap_core::record::Line;

/// All trials of a journal; numbers are SI units or ns as stored, in full precision.
///
/// `block_valid` is empty for a trial whose block was never completed.
pub fn csv_trials(lines: &[Line]) -> String {
    let trials = rows::trials(lines);
    let rows: Vec<Row> = trials.iter().map(|(trial, block)| rows::row(trial, *block)).collect();
    let columns = rows::columns(&rows);
    let mut out = String::new();
    push_row(&mut out, columns.iter().copied());
    for row in &rows {
        let cells: Vec<String> = columns.iter().map(|name| text(name, row.get(*name))).collect();
        push_row(&mut out, cells.iter().map(String::as_str));
    }
    out
}

fn text(name: &str, value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) if items.is_empty() => String::new(),
        Some(Value::Array(runs)) if rows::is_histogram(name) => {
            let pairs =
                rows::buckets(runs).into_iter().map(|pair| Value::from_iter([pair.0, pair.1]));
            Value::from_iter(pairs).to_string()
        }
        Some(value) => value.to_string(),
    }
}

/// Whether a spreadsheet would reckon with a cell that is no number.
fn is_formula(cell: &str) -> bool {
    let text = cell.trim_start();
    match text.chars().next() {
        Some('=' | '@') => true,
        Some('+' | '-') => text.contains(['(', '|', '!']),
        _ => false,
    }
}

/// One record; cells are quoted where they must be, and harmless.
pub(crate) fn push_row<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(',');
        }
        let clean = cell.contains(words::is_unsafe).then(|| words::harmless(cell));
        let cell = clean.as_deref().unwrap_or(cell);
        // Text of others must not be a formula where a table is opened in a spreadsheet.
        if is_formula(cell) {
            out.push('\'');
        }
        if cell.contains([',', '"', '\n', '\r']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(cell);
        }
    }
    out.push_str("\r\n");
}
