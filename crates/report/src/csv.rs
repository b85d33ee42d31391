//! Trials as CSV (RFC 4180): one row for each, every stored field in a column of its own.
//!
//! The columns come from the record itself, so a field added to the format cannot be forgotten
//! here. Lists (histograms, series) stay JSON inside their cell.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::record::{Line, TrialRecord};

/// Columns that every trial has, which stand first and in this order.
const FIRST: [&str; 12] = [
    "block",
    "block_valid",
    "cell",
    "kind",
    "round",
    "arm",
    "family",
    "order",
    "attempt",
    "started_unix_ns",
    "started_ns",
    "duration_ns",
];

/// How the columns end that hold histograms.
const HISTOGRAM: &str = "histogram";

/// All trials of a journal; numbers are SI units or ns as stored, in full precision.
///
/// `block_valid` is empty for a trial whose block was never completed.
pub fn csv_trials(lines: &[Line]) -> String {
    let rows = rows(lines);
    let named: BTreeSet<&str> = rows.iter().flat_map(|r| r.keys().map(String::as_str)).collect();
    // A group of fields that some trials lack is null there; its fields are the columns.
    let is_group = |name: &str| {
        let inside = format!("{name}.");
        named.range(inside.as_str()..).next().is_some_and(|next| next.starts_with(&inside))
    };
    let rest = named.iter().copied().filter(|name| !FIRST.contains(name) && !is_group(name));
    let columns: Vec<&str> = FIRST.into_iter().chain(rest).collect();

    let mut out = String::new();
    push_row(&mut out, columns.iter().copied());
    for row in &rows {
        push_row(&mut out, columns.iter().map(|c| row.get(*c).map_or("", String::as_str)));
    }
    out
}

/// A row for each trial. A block may be tried several times under its number: each attempt's trials
/// get the validity of the block line that follows them.
fn rows(lines: &[Line]) -> Vec<BTreeMap<String, String>> {
    let mut rows = Vec::new();
    let mut open: Vec<&TrialRecord> = Vec::new();
    for line in lines {
        match line {
            Line::Trial(trial) => open.push(trial),
            Line::Block(block) => {
                rows.extend(open.drain(..).map(|trial| row(trial, Some(block.valid))));
            }
            Line::Run(_) | Line::GaveUp(_) | Line::End(_) => {
                rows.extend(open.drain(..).map(|trial| row(trial, None)));
            }
        }
    }
    rows.extend(open.into_iter().map(|trial| row(trial, None)));
    rows
}

fn row(trial: &TrialRecord, valid: Option<bool>) -> BTreeMap<String, String> {
    let mut row = BTreeMap::new();
    // Plain data with string keys always becomes a value.
    flatten("", &serde_json::to_value(trial).unwrap_or_default(), &mut row);
    row.retain(|name, _| name != "kind" && !name.starts_with("kind."));
    row.insert("kind".to_owned(), trial.kind.to_string());
    if let Some(valid) = valid {
        row.insert("block_valid".to_owned(), valid.to_string());
    }
    row
}

fn flatten(name: &str, value: &Value, row: &mut BTreeMap<String, String>) {
    let text = match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(&name, value, row);
            }
            return;
        }
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Array(runs) if name.ends_with(HISTOGRAM) => Value::from(buckets(runs)).to_string(),
        Value::Array(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    row.insert(name.to_owned(), text);
}

/// The runs in which a record holds a histogram as pairs of (highest value, count), which need no
/// explanation: each run is its first value, the step to the next and the counts.
fn buckets(runs: &[Value]) -> Vec<Value> {
    let numbers =
        |run: &Value| -> Option<Vec<u64>> { run.as_array()?.iter().map(Value::as_u64).collect() };
    let mut pairs = Vec::new();
    for run in runs.iter().filter_map(numbers) {
        let [first, step, counts @ ..] = &run[..] else { continue };
        let values = std::iter::successors(Some(*first), |value| value.checked_add(*step));
        pairs.extend(values.zip(counts).map(|(value, count)| Value::from(vec![value, *count])));
    }
    pairs
}

/// One record; cells are quoted where they must be.
pub(crate) fn push_row<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(',');
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
