//! Answers of many runs in one table: every figure to the last digit, and bytes that depend on what
//! is in it alone.

use crate::fixtures::{journal, lab};
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::{BTreeMap, BTreeSet};
use v6gap_core::record::Line;
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_report::{Answers, ArchivedRows, ArchivedRun, archived_runs, archived_tables};

fn rows(bytes: Vec<u8>) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").into_columns().into_iter().collect()).collect()
}

/// The run of the lab by another name and at another time.
fn named(id: &str, started_unix_ns: u64) -> Analysis {
    let mut analysis = lab();
    analysis.run.id = id.parse().expect("an identifier");
    analysis.run.started_unix_ns = started_unix_ns;
    analysis
}

fn bytes(answers: &Answers) -> Vec<u8> {
    answers.table().expect("a table").bytes
}

fn read(bytes: Vec<u8>) -> Answers {
    Answers::read(Bytes::from(bytes)).expect("answers")
}

fn number(value: Option<f64>) -> Field {
    value.filter(|value| value.is_finite()).map_or(Field::Null, Field::Double)
}

#[test]
fn answers_are_those_of_the_analysis_to_the_last_digit() {
    let analysis = lab();
    let mut answers = Answers::default();
    answers.put(&analysis, &[], 1234);
    let rows = rows(bytes(&answers));
    assert_eq!(rows.len(), analysis.questions.len());
    for (row, q) in rows.iter().zip(&analysis.questions) {
        assert_eq!(row["run"], Field::Str(analysis.run.id.to_string()));
        assert_eq!(row["from"], Field::Str(analysis.run.hosts.client.name.clone()));
        assert_eq!(row["to"], Field::Str(analysis.run.hosts.server.name.clone()));
        assert_eq!(row["journal_bytes"], Field::Long(1234));
        assert_eq!(row["question"], Field::Str(q.label.clone()));
        let effect = q.effect.as_ref();
        for (name, value) in [
            ("value_a", q.values.a),
            ("value_b", q.values.b),
            ("margin", Some(q.margin)),
            ("effect", effect.map(|e| e.estimate)),
            ("low95", effect.map(|e| e.range95.low)),
            ("high95", effect.map(|e| e.range95.high)),
            ("low90", effect.map(|e| e.range90.low)),
            ("high90", effect.map(|e| e.range90.high)),
            ("sd", effect.map(|e| e.sd)),
        ] {
            assert_eq!(row[name], number(value), "{name} of {}", q.label);
        }
    }
}

#[test]
fn the_same_runs_give_the_same_bytes_whenever_they_come() {
    let runs = [named("zzz333", 1), named("abc111", 2), named("mno222", 2)];
    let mut whole = Answers::default();
    runs.iter().for_each(|run| whole.put(run, &[], 10));
    let whole = bytes(&whole);
    assert_eq!(bytes(&read(whole.clone())), whole);
    let mut grown = Vec::new();
    for run in runs.iter().rev().chain(&runs[..1]) {
        let mut answers = if grown.is_empty() { Answers::default() } else { read(grown) };
        answers.put(run, &[], 10);
        grown = bytes(&answers);
    }
    assert_eq!(grown, whole);
}

#[test]
fn a_run_that_went_on_takes_the_place_of_what_it_was() {
    let lines = journal::lines();
    let analysis = analyse(&lines).expect("an analysis");
    let mut answers = Answers::default();
    answers.put(&analysis, &lines, 10);
    answers.put(&named("abc111", 1), &[], 10);
    answers.put(&analysis, &lines, 20);
    let table = bytes(&answers);
    let of = |run: &Analysis, journal_bytes| ArchivedRun {
        run: run.run.id.to_string(),
        started_unix_ns: run.run.started_unix_ns,
        journal_bytes,
    };
    let expected = [of(&analysis, 20), of(&named("abc111", 1), 10)];
    let found = archived_runs(Bytes::from(table.clone())).expect("runs");
    assert_eq!(found, expected.into_iter().collect());
    let questions = analysis.questions.len() + lab().questions.len();
    assert_eq!(rows(table).len(), questions);
}

#[test]
fn what_is_no_table_of_answers_is_an_error() {
    let pairs = archived_tables(&[], &lab()).expect("tables").remove(0).bytes;
    let torn = pairs[..pairs.len() / 2].to_vec();
    for bytes in [Vec::new(), b"PAR1PAR1".to_vec(), torn, pairs] {
        assert!(Answers::read(Bytes::from(bytes.clone())).is_err(), "{}", bytes.len());
        assert!(archived_runs(Bytes::from(bytes.clone())).is_err(), "{}", bytes.len());
    }
}

/// Whatever a disk makes of it, nobody takes it apart; other programs read it as it is.
#[test]
fn a_table_that_is_not_as_it_was_written_is_an_error() {
    let mut answers = Answers::default();
    answers.put(&lab(), &[], 10);
    let whole = bytes(&answers);
    assert!(Answers::read(Bytes::from(whole.clone())).is_ok());
    assert_eq!(rows(whole.clone()).len(), lab().questions.len());
    // Places of every kind: each of them would take minutes.
    let end = whole.len() - 40;
    for at in (0..end).step_by(97).chain(end..whole.len()) {
        let mut changed = whole.clone();
        changed[at] ^= 0x40;
        assert!(Answers::read(Bytes::from(changed)).is_err(), "{at}");
    }
    for length in (0..end).step_by(97).chain(end..whole.len()) {
        let torn = Bytes::from(whole[..length].to_vec());
        assert!(archived_runs(torn).is_err(), "{length}");
    }
}

#[test]
fn trials_and_pairs_say_between_which_hosts_and_are_left_out_where_there_are_none() {
    let tables = archived_tables(&journal::lines(), &lab()).expect("tables");
    assert_eq!(tables.iter().map(|table| table.name).collect::<Vec<_>>(), ["trials", "pairs"]);
    for table in tables {
        for row in rows(table.bytes) {
            assert_eq!(row["from"], Field::Str(lab().run.hosts.client.name));
            assert_eq!(row["to"], Field::Str(lab().run.hosts.server.name));
        }
    }
    let begun = &journal::lines()[..1];
    let analysis = analyse(begun).expect("an analysis");
    assert!(archived_tables(begun, &analysis).expect("tables").is_empty());
}

#[test]
fn a_run_of_a_fleet_has_the_names_and_sites_of_its_hosts() {
    let mut analysis = lab();
    analysis.run.between = Some(["rome/lab-a", "oslo/lab-b"].map(str::to_owned));
    let mut answers = Answers::default();
    answers.put(&analysis, &[], 1);
    let mut tables = archived_tables(&journal::lines(), &analysis).expect("tables");
    tables.push(answers.table().expect("a table"));
    for table in tables {
        for row in rows(table.bytes) {
            let names = ["from", "to", "from_site", "to_site"].map(|name| row[name].clone());
            let expected = ["rome/lab-a", "oslo/lab-b", "rome", "oslo"];
            assert_eq!(names, expected.map(|name| Field::Str(name.to_owned())), "{}", table.name);
        }
    }
    let mut alone = Answers::default();
    alone.put(&lab(), &[], 1);
    for row in rows(bytes(&alone)) {
        assert_eq!((&row["from_site"], &row["to_site"]), (&Field::Null, &Field::Null));
    }
}

#[test]
fn rows_for_databases_are_those_of_the_tables() {
    let (lines, analysis) = (journal::lines(), lab());
    let archived = ArchivedRows::of(&analysis, &lines, 10);
    let mut answers = Answers::default();
    answers.put(&analysis, &lines, 10);
    let table = rows(bytes(&answers));
    assert_eq!(archived.answers.len(), table.len());
    for (answer, row) in archived.answers.iter().zip(&table) {
        let mut names: BTreeSet<&str> = archived.run.keys().map(String::as_str).collect();
        names.extend(answer.keys().map(String::as_str));
        // The only one that is left out where it is empty.
        names.insert("caveats");
        assert_eq!(names, row.keys().map(String::as_str).collect());
        assert_eq!(number(answer["effect"].as_f64()), row["effect"]);
    }
    let pairs: Vec<usize> = archived.pairs.iter().map(Vec::len).collect();
    assert_eq!(pairs, analysis.questions.iter().map(|q| q.pairs.len()).collect::<Vec<_>>());
    let trials = lines.iter().filter(|line| matches!(line, Line::Trial(_)));
    assert_eq!(archived.trials.len(), trials.count());
    assert!(archived.trials.iter().all(|row| row.keys().all(|name| !name.ends_with("histogram"))));
}
