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
        // Text of others must not be a formula where a table is opened in a spreadsheet. The mark
        // is part of the cell: before its quotes it would end them for every reader.
        let mark = if is_formula(cell) { "'" } else { "" };
        if cell.contains([',', '"', '\n', '\r']) {
            let doubled = cell.replace('"', "\"\"");
            out.push_str(&format!("\"{mark}{doubled}\""));
        } else {
            out.push_str(mark);
            out.push_str(cell);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4180: a cell that needs quotes begins with them.
    #[test]
    fn the_mark_of_what_is_no_formula_stands_inside_of_quotes() {
        let row = |cells: &[&str]| {
            let mut out = String::new();
            push_row(&mut out, cells.iter().copied());
            out
        };
        let link = "=HYPERLINK(\"http://x\",\"y\")";
        assert_eq!(row(&[link, "b"]), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",b\r\n");
        assert_eq!(row(&["=1\n+2", "a\nb"]), "\"'=1\n+2\",\"a\nb\"\r\n");
        assert_eq!(row(&["=1+2", "-3.5", "plain"]), "'=1+2,-3.5,plain\r\n");
    }
}
