//! Tables in Parquet, read back: they hold what the CSV holds, with types.

use crate::fixtures::{journal, lab};
use parquet::basic::{ConvertedType, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::BTreeMap;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::observation::{Histogram, Measured};
use v6gap_core::record::{Line, TrialRecord};
use v6gap_judge::analysis::{Analysis, analyse, effect};
use v6gap_report::parquet as tables;

type Cells = BTreeMap<String, Field>;

struct Table {
    rows: Vec<Cells>,
    types: BTreeMap<String, (Type, ConvertedType)>,
}

fn read(bytes: Vec<u8>) -> Table {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter();
    let types =
        columns.map(|c| (c.name().to_owned(), (c.physical_type(), c.converted_type()))).collect();
    let cells = |row: Row| row.get_column_iter().map(|(n, f)| (n.clone(), f.clone())).collect();
    let rows = reader.get_row_iter(None).expect("rows").map(|row| cells(row.expect("a row")));
    Table { rows: rows.collect(), types }
}

fn three(lines: &[Line], analysis: &Analysis) -> [Table; 3] {
    let tables = tables(lines, analysis).expect("tables");
    assert_eq!(tables.each_ref().map(|t| t.name), ["trials", "pairs", "histograms"]);
    tables.map(|table| read(table.bytes))
}

fn text(of: &str) -> Field {
    Field::Str(of.to_owned())
}

fn trials(lines: &[Line]) -> Vec<&TrialRecord> {
    lines
        .iter()
        .filter_map(|line| match line {
            Line::Trial(trial) => Some(&**trial),
            _ => None,
        })
        .collect()
}

#[test]
fn every_trial_is_a_row_with_typed_cells_the_run_and_its_factors() {
    let lines = journal::lines();
    let analysis = analyse(&lines).expect("an analysis");
    let [table, ..] = three(&lines, &analysis);
    let trials = trials(&lines);
    assert_eq!(table.rows.len(), trials.len());
    for (row, trial) in table.rows.iter().zip(trials) {
        assert_eq!(row["run"], text(analysis.run.id.as_str()));
        assert_eq!(row["block"], Field::Long(trial.block.into()));
        assert_eq!(row["family"], text(if trial.family == Family::V4 { "v4" } else { "v6" }));
        assert_eq!(row["started_unix_ns"], Field::Long(trial.started_unix_ns as i64));
        for (metric, value) in &trial.values {
            assert_eq!(row[&format!("values.{metric}")], Field::Double(*value));
        }
    }
    let (bulk, echo) = (&table.rows[0], &table.rows[2]);
    assert_eq!(bulk["workload.kind"], text("tcp-bulk"));
    assert_eq!(bulk["block_valid"], Field::Bool(true));
    assert_eq!(echo["workload.message_bytes"], Field::Long(64));
    assert_eq!(
        (&echo["values.throughput"], &echo["block_valid"]),
        (&Field::Null, &Field::Bool(false))
    );
    assert_eq!(table.rows[4]["block_valid"], Field::Null, "its block was never completed");
    assert_eq!(table.types["family"], (Type::BYTE_ARRAY, ConvertedType::UTF8));
    assert_eq!(table.types["values.rtt"].0, Type::DOUBLE);
    assert!(table.types.keys().all(|name| !name.ends_with("histogram")), "a table of their own");
}

/// A column without a value has no type that the next result would share.
#[test]
fn what_no_row_has_is_no_column() {
    let lines = journal::lines();
    let analysis = analyse(&lines).expect("an analysis");
    for table in three(&lines, &analysis) {
        for name in table.types.keys() {
            let held = table.rows.iter().any(|row| row[name] != Field::Null);
            assert!(held || table.rows.is_empty(), "{name}");
        }
    }
}

#[test]
fn pairs_are_those_of_the_questions() {
    let analysis = lab();
    let [_, table, _] = three(&[], &analysis);
    let pairs: Vec<_> =
        analysis.questions.iter().flat_map(|q| q.pairs.iter().map(move |p| (q, p))).collect();
    assert_eq!(table.rows.len(), pairs.len());
    for (row, (q, pair)) in table.rows.iter().zip(pairs) {
        assert_eq!(
            (&row["run"], &row["question"]),
            (&text(analysis.run.id.as_str()), &text(&q.label))
        );
        assert_eq!(
            (&row["metric"], &row["unit"]),
            (&text(&q.metric.to_string()), &text(q.metric.unit()))
        );
        assert_eq!((&row["family_a"], &row["family_b"]), (&text("v4"), &text("v6")));
        let (a, b) = (pair.values.a, pair.values.b);
        assert_eq!((&row["value_a"], &row["value_b"]), (&Field::Double(a), &Field::Double(b)));
        assert_eq!(row["effect"], Field::Double(effect::of_block(q.metric, a, b)));
        assert_eq!(
            (&row["block"], &row["block_valid"]),
            (&Field::Long(pair.block.into()), &Field::Bool(pair.valid))
        );
    }
}

#[test]
fn every_bucket_is_a_row() {
    let lines = journal::lines();
    let analysis = analyse(&lines).expect("an analysis");
    let [_, _, table] = three(&lines, &analysis);
    let histogram = |trial: &TrialRecord| -> Option<Histogram> {
        match &trial.ends.client.measured {
            Measured::Times(times) => Some(times.histogram.iter().collect()),
            _ => None,
        }
    };
    let mut expected = Vec::new();
    for trial in trials(&lines) {
        let arm = if trial.arm == Arm::A { "a" } else { "b" };
        let buckets = histogram(trial);
        expected.extend(buckets.iter().flat_map(|h| h.iter()).map(|(upto, count)| {
            (text(arm), Field::Long(*upto as i64), Field::Long(*count as i64))
        }));
    }
    let found: Vec<_> = table
        .rows
        .iter()
        .map(|row| (row["arm"].clone(), row["upto_ns"].clone(), row["count"].clone()))
        .collect();
    assert!(!found.is_empty() && found == expected, "{found:?} {expected:?}");
    assert_eq!(table.rows[0]["histogram"], text("ends.client.measured.histogram"));
    assert_eq!(table.rows[0]["kind"], text(&trials(&lines)[2].kind.to_string()));
}

#[test]
fn writing_twice_gives_the_same_bytes() {
    let lines = journal::lines();
    let analysis = analyse(&lines).expect("an analysis");
    assert_eq!(
        tables(&lines, &analysis).expect("tables"),
        tables(&lines, &analysis).expect("tables")
    );
}
