//! A result as three Parquet tables, for programs that analyse many trials: every trial, every pair
//! of values with its question, and every bucket of every histogram.
//!
//! Columns are named as in the CSV, and have a type; what no row has is no column.

mod archive;
mod column;
mod file;
mod seal;

pub use archive::{Answers, ArchivedRun, archived_runs, archived_tables};
pub use parquet::errors::ParquetError;

use crate::archived;
use crate::rows::{self, Row};
use column::{Cell, Column, Kind};
use file::File;
use serde_json::Value;
use std::collections::BTreeMap;
use v6gap_core::record::{BlockRecord, Line, TrialRecord};
use v6gap_judge::analysis::Analysis;

/// Rows of histograms that are held before they are written.
const GROUP_ROWS: usize = 1 << 17;

/// A table as the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParquetTable {
    /// What it holds, as a file is called.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Trials, pairs and histograms of a result, in this order.
///
/// # Errors
/// If the library refuses to write, which nothing that was measured makes it do.
pub fn parquet(lines: &[Line], analysis: &Analysis) -> Result<[ParquetTable; 3], ParquetError> {
    let run = Row::from([("run".to_owned(), analysis.run.id.as_str().into())]);
    let [trials, pairs] = rows_of_run(lines, analysis, &run)?;
    let histograms = ParquetTable { name: "histograms", bytes: histograms(lines, analysis)? };
    Ok([trials, pairs, histograms])
}

/// Trials and pairs, each of them with what `run` says of the run.
fn rows_of_run(
    lines: &[Line],
    analysis: &Analysis,
    run: &Row,
) -> Result<[ParquetTable; 2], ParquetError> {
    let cells = workloads(analysis);
    Ok([
        ParquetTable { name: "trials", bytes: trials(lines, run, &cells)? },
        ParquetTable { name: "pairs", bytes: pairs(analysis, run, &cells)? },
    ])
}

/// The parameters of each cell: the levels of all factors.
fn workloads(analysis: &Analysis) -> BTreeMap<&str, Row> {
    let cells = analysis.run.plan.cells.iter();
    let row = |cell: &v6gap_core::workload::Cell| {
        let mut row = Row::new();
        let workload = serde_json::to_value(&cell.workload).unwrap_or_default();
        rows::flatten("workload", workload, &mut row);
        row
    };
    cells.map(|cell| (cell.id.as_str(), row(cell))).collect()
}

fn trials(lines: &[Line], run: &Row, cells: &BTreeMap<&str, Row>) -> Result<Vec<u8>, ParquetError> {
    let row = |(trial, block): (&TrialRecord, Option<&BlockRecord>)| {
        let mut row = archived::trial(trial, block);
        row.extend(run.clone());
        row.extend(cells.get(trial.cell.as_str()).cloned().unwrap_or_default());
        row
    };
    of_rows(&rows::trials(lines).into_iter().map(row).collect::<Vec<Row>>())
}

fn pairs(
    analysis: &Analysis,
    run: &Row,
    cells: &BTreeMap<&str, Row>,
) -> Result<Vec<u8>, ParquetError> {
    let mut rows = Vec::new();
    for q in &analysis.questions {
        let levels = cells.get(q.cell.as_str()).cloned().unwrap_or_default();
        rows.extend(q.pairs.iter().enumerate().map(|(at, _)| {
            let mut row = archived::pair(analysis, q, at);
            row.extend(run.clone());
            row.extend(levels.clone());
            row
        }));
    }
    of_rows(&rows)
}

/// A table with the columns of `rows`, that of the run before all others.
fn of_rows(rows: &[Row]) -> Result<Vec<u8>, ParquetError> {
    const FIRST: &str = "run";
    let names = rows::columns(rows).into_iter().filter(|name| *name != FIRST);
    let names = std::iter::once(FIRST).chain(names);
    let column = |name: &str| Column::of_values(name, rows.iter().map(|row| row.get(name)));
    let mut columns: Vec<Column> = names.filter_map(column).collect();
    if columns.is_empty() {
        // Programs refuse to read a table without a column.
        columns.push(Column::new(FIRST, Kind::Text));
    }
    let mut file = File::new(&columns)?;
    file.group(&columns)?;
    file.bytes()
}

/// One row for each bucket: how many of what a trial timed took at most `upto_ns`, and longer than
/// the bucket before.
fn histograms(lines: &[Line], analysis: &Analysis) -> Result<Vec<u8>, ParquetError> {
    let mut held = bucket_columns();
    let mut file = File::new(&held)?;
    for (trial, block) in rows::trials(lines) {
        let mut row = rows::row(trial, block);
        row.insert("run".to_owned(), analysis.run.id.as_str().into());
        for (name, value) in row.iter().filter(|(name, _)| rows::is_histogram(name)) {
            let buckets = rows::buckets(value.as_array().map_or(&[], Vec::as_slice));
            let (same, [histogram, upto, count]) = held.split_at_mut(OF_TRIAL.len()) else {
                continue;
            };
            for column in same {
                column.repeat(row.get(&column.name), buckets.len());
            }
            histogram.repeat(Some(&Value::from(name.as_str())), buckets.len());
            upto.cells.extend(buckets.iter().map(|bucket| Cell::of(Some(&bucket.0.into()))));
            count.cells.extend(buckets.iter().map(|bucket| Cell::of(Some(&bucket.1.into()))));
        }
        if held[0].cells.len() >= GROUP_ROWS {
            file.group(&std::mem::replace(&mut held, bucket_columns()))?;
        }
    }
    file.group(&held)?;
    file.bytes()
}

/// Columns of histograms that say of which trial they are.
const OF_TRIAL: [(&str, Kind); 8] = [
    ("run", Kind::Text),
    ("block", Kind::Int),
    ("block_valid", Kind::Bool),
    ("cell", Kind::Text),
    ("kind", Kind::Text),
    ("arm", Kind::Text),
    ("family", Kind::Text),
    ("attempt", Kind::Int),
];

fn bucket_columns() -> Vec<Column> {
    let rest = [("histogram", Kind::Text), ("upto_ns", Kind::Int), ("count", Kind::Int)];
    OF_TRIAL.into_iter().chain(rest).map(|(name, kind)| Column::new(name, kind)).collect()
}
