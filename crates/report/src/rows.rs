//! Trials as rows of named cells, for tables that other programs read.
//!
//! The columns come from the record itself, so a field added to the format cannot be forgotten.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::record::{BlockRecord, Drawn, Line, TrialRecord};

/// Columns that every trial has, which stand first and in this order.
pub(crate) const FIRST: [&str; 12] = [
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

/// A trial as named cells.
pub(crate) type Row = BTreeMap<String, Value>;

/// Whether a cell of that name holds a histogram.
pub(crate) fn is_histogram(name: &str) -> bool {
    name.ends_with(HISTOGRAM)
}

/// Every trial, in the order of the journal, and its block; `None` if that was never completed. A
/// block may be tried several times under its number: each attempt's trials get the block line
/// that follows them, and what a crash left of an attempt gets none.
pub(crate) fn trials(lines: &[Line]) -> Vec<(&TrialRecord, Option<&BlockRecord>)> {
    let mut trials = Vec::new();
    let mut open: Vec<&TrialRecord> = Vec::new();
    for line in lines {
        let block = match line {
            Line::Trial(trial) => {
                open.push(trial);
                continue;
            }
            Line::Block(block) => Some(block),
            Line::Run(_) | Line::Failed(_) | Line::Allotted(_) => None,
            Line::GaveUp(_) | Line::End(_) => None,
        };
        let own = block.and_then(|block| block.own(&open));
        let is_own = |at: usize| own.is_some_and(|own| own.a == at || own.b == at);
        let all = open.drain(..).enumerate();
        trials.extend(all.map(|(at, trial)| (trial, block.filter(|_| is_own(at)))));
    }
    trials.extend(open.into_iter().map(|trial| (trial, None)));
    trials
}

/// One trial with every stored field in a cell of its own, and what was drawn for its block.
pub(crate) fn row(trial: &TrialRecord, block: Option<&BlockRecord>) -> Row {
    let mut row = Row::new();
    // Plain data with string keys always becomes a value.
    let mut value = serde_json::to_value(trial).unwrap_or_default();
    value["ends"].as_object_mut().into_iter().flatten().for_each(|(_, end)| untag(end));
    flatten("", value, &mut row);
    row.retain(|name, _| name != "kind" && !name.starts_with("kind."));
    row.insert("kind".to_owned(), trial.kind.to_string().into());
    if let Some(block) = block {
        row.insert("block_valid".to_owned(), block.valid.into());
        let of = |bytes: fn(Drawn) -> Option<u32>| block.drawn.and_then(bytes);
        let (writes, reads) = (of(|drawn| drawn.write_bytes), of(|drawn| drawn.read_bytes));
        row.extend(writes.map(|bytes| ("drawn.write_bytes".to_owned(), bytes.into())));
        row.extend(reads.map(|bytes| ("drawn.read_bytes".to_owned(), bytes.into())));
    }
    row
}

/// What an end saw with its tags as fields: tables have the same columns whatever was measured.
fn untag(end: &mut Value) {
    if let Some(seen) = end.get_mut("seen") {
        *end = seen.take();
    }
    let Some(measured) = end.get_mut("measured") else { return };
    *measured = match measured.take() {
        Value::Object(by_kind) => {
            let fields = by_kind.into_iter().flat_map(|(kind, mut fields)| {
                fields["kind"] = kind.into();
                fields.as_object_mut().map(core::mem::take).unwrap_or_default()
            });
            fields.collect()
        }
        kind => [("kind".to_owned(), kind)].into_iter().collect(),
    };
}

/// Every field of `value` under its path from `name`, parts of which are joined by dots.
pub(crate) fn flatten(name: &str, value: Value, row: &mut Row) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = if name.is_empty() { key } else { format!("{name}.{key}") };
                flatten(&name, value, row);
            }
        }
        value => {
            row.insert(name.to_owned(), value);
        }
    }
}

/// All names of `rows`, [`FIRST`] of all those that every trial has. A group of fields that some
/// trials lack is null there; its fields are the columns.
pub(crate) fn columns(rows: &[Row]) -> Vec<&str> {
    let named: BTreeSet<&str> = rows.iter().flat_map(|r| r.keys().map(String::as_str)).collect();
    let is_group = |name: &str| {
        let inside = format!("{name}.");
        named.range(inside.as_str()..).next().is_some_and(|next| next.starts_with(&inside))
    };
    let rest = named.iter().copied().filter(|name| !FIRST.contains(name) && !is_group(name));
    FIRST.into_iter().chain(rest).collect()
}

/// The runs in which a record holds a histogram as pairs of (highest value, count), which need no
/// explanation: each run is its first value, the step to the next and the counts.
pub(crate) fn buckets(runs: &[Value]) -> Vec<(u64, u64)> {
    let numbers =
        |run: &Value| -> Option<Vec<u64>> { run.as_array()?.iter().map(Value::as_u64).collect() };
    let mut pairs = Vec::new();
    for run in runs.iter().filter_map(numbers) {
        let [first, step, counts @ ..] = &run[..] else { continue };
        let values = std::iter::successors(Some(*first), |value| value.checked_add(*step));
        pairs.extend(values.zip(counts.iter().copied()));
    }
    pairs
}
