//! Rows of a run as the texts that the database is sent.

use super::tables::TRIAL;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A row of named cells, called as the columns of the archive.
pub type Row = BTreeMap<String, Value>;

/// A run, as it is to be in the database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunRows {
    /// The run itself.
    pub run: Row,
    /// One for each question, in their order.
    pub answers: Vec<Row>,
    /// Of each of these questions its pairs, in their order.
    pub pairs: Vec<Vec<Row>>,
    /// The trials, in the order in which they were measured.
    pub trials: Vec<Row>,
}

/// Longest text of rows that is sent at once, in bytes, unless one row is longer.
const TEXT_BYTES: usize = 1 << 20;

/// What stands for a letter that no text of the database can have.
const NO_LETTER: &str = "\u{fffd}";

/// Columns that are made of others here.
const VALUES: &str = "values";
const SEEN: &str = "seen";

impl RunRows {
    /// Identifier and start, in ns since 1970; nothing if it is no run.
    pub(super) fn key(&self) -> Option<(String, i64)> {
        let run = self.run.get("run")?.as_str()?;
        Some((run.replace('\0', NO_LETTER), self.run.get("started_unix_ns")?.as_i64()?))
    }

    /// The run as an object.
    pub(super) fn run(&self) -> String {
        cleaned(object(&self.run)).to_string()
    }

    /// The answers, as lists of objects.
    pub(super) fn answers(&self) -> Vec<String> {
        let numbered = self.answers.iter().enumerate();
        lists(numbered.map(|(at, row)| with(row, &[("question_number", at)])))
    }

    /// The pairs.
    pub(super) fn pairs(&self) -> Vec<String> {
        lists(self.pairs.iter().enumerate().flat_map(|(question, pairs)| {
            let numbers = move |at| [("question_number", question), ("pair_number", at)];
            pairs.iter().enumerate().map(move |(at, row)| with(row, &numbers(at)))
        }))
    }

    /// How many pairs each question has, as a list.
    pub(super) fn pair_counts(&self) -> String {
        Value::from_iter(self.pairs.iter().map(Vec::len)).to_string()
    }

    /// The trials.
    pub(super) fn trials(&self) -> Vec<String> {
        let numbered = self.trials.iter().enumerate();
        lists(numbered.map(|(at, row)| with(&trial(row), &[("trial_number", at)])))
    }
}

/// A trial whose values are one object, and all that has no column another.
fn trial(row: &Row) -> Row {
    let (mut values, mut seen, mut rest) = (Map::new(), Map::new(), Row::new());
    for (name, value) in row {
        match name.split_once('.') {
            Some((VALUES, metric)) => drop(values.insert(metric.to_owned(), value.clone())),
            None if TRIAL.has(name) => drop(rest.insert(name.clone(), value.clone())),
            _ if value.is_null() => {}
            _ => drop(seen.insert(name.clone(), value.clone())),
        }
    }
    rest.insert(VALUES.to_owned(), values.into());
    rest.insert(SEEN.to_owned(), seen.into());
    rest
}

fn object(row: &Row) -> Value {
    Value::Object(row.iter().map(|(name, value)| (name.clone(), whole(value))).collect())
}

/// A row with numbers of it.
fn with(row: &Row, numbers: &[(&str, usize)]) -> Value {
    let mut object = object(row);
    for (name, number) in numbers {
        object[*name] = (*number).into();
    }
    cleaned(object)
}

/// A cell. Whole numbers end at 63 bits, as in the archive.
fn whole(value: &Value) -> Value {
    let is_larger = value.is_u64() && !value.is_i64();
    if is_larger { i64::MAX.into() } else { value.clone() }
}

/// The same without the one letter that the database cannot store: it would refuse the run for
/// ever, and what peers say may hold anything.
fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\0') => text.replace('\0', NO_LETTER).into(),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields.map(|(name, value)| (name.replace('\0', NO_LETTER), cleaned(value))).collect()
        }
        other => other,
    }
}

/// Objects as lists, none of which is too long to be sent at once.
fn lists(objects: impl Iterator<Item = Value>) -> Vec<String> {
    let mut lists: Vec<String> = Vec::new();
    for object in objects {
        let text = object.to_string();
        match lists.last_mut() {
            Some(list) if list.len() + text.len() < TEXT_BYTES => {
                list.push(',');
                list.push_str(&text);
            }
            _ => lists.push(format!("[{text}")),
        }
    }
    lists.iter_mut().for_each(|list| list.push(']'));
    lists
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(value: &Value) -> Row {
        value.as_object().unwrap().clone().into_iter().collect()
    }

    fn parsed(lists: &[String]) -> Vec<Value> {
        let list = |text: &String| -> Vec<Value> { serde_json::from_str(text).unwrap() };
        lists.iter().flat_map(list).collect()
    }

    #[test]
    fn rows_are_numbered_in_their_run() {
        let pair = |value: f64| row(&json!({"block": 7, "value_a": value}));
        let pairs = vec![vec![pair(0.1), pair(1e-7)], vec![], vec![pair(5e-324)]];
        let rows = RunRows { pairs, answers: vec![Row::new(); 3], ..RunRows::default() };
        let numbers = |row: &Value| (row["question_number"].clone(), row["pair_number"].clone());
        let found = parsed(&rows.pairs());
        assert_eq!(
            found.iter().map(numbers).collect::<Vec<_>>(),
            [(0, 0), (0, 1), (2, 0)].map(|(q, p)| (json!(q), json!(p)))
        );
        // As short as they are, and no digit less.
        assert_eq!([&found[0]["value_a"], &found[2]["value_a"]], [&json!(0.1), &json!(5e-324)]);
        assert_eq!(rows.pair_counts(), "[2,0,1]");
        let answers: Vec<Value> = parsed(&rows.answers());
        assert!((0..3).all(|at| answers[at]["question_number"] == at));
    }

    #[test]
    fn a_trial_keeps_what_has_no_column() {
        let trials = vec![row(&json!({
            "cell": "rtt-udp-64", "block": 3, "values.rtt": 1e-4, "values.first-byte": 2,
            "ends.client.processor": 1, "beside": null, "started_unix_ns": u64::MAX,
        }))];
        let found = parsed(&RunRows { trials, ..RunRows::default() }.trials());
        let expected = json!({
            "trial_number": 0, "cell": "rtt-udp-64", "block": 3, "started_unix_ns": i64::MAX,
            "values": {"rtt": 1e-4, "first-byte": 2}, "seen": {"ends.client.processor": 1},
        });
        assert_eq!(found, [expected]);
    }

    #[test]
    fn what_a_peer_says_cannot_make_a_run_impossible_to_store() {
        let run = row(&json!({"run": "a\u{0}", "started_unix_ns": 1, "target": "\u{0}"}));
        let trials = vec![row(&json!({"x": [{"\u{0}": "b\u{0}"}]}))];
        let rows = RunRows { run, trials, ..RunRows::default() };
        let sent = [rows.run(), rows.trials().concat()].concat();
        assert!(!sent.contains("\\u0000") && sent.contains("b\u{fffd}"), "{sent}");
        assert_eq!(rows.key(), Some(("a\u{fffd}".to_owned(), 1)));
        assert_eq!(RunRows::default().key(), None);
    }

    #[test]
    fn many_rows_are_sent_in_parts() {
        let long = row(&json!({"question": "x".repeat(TEXT_BYTES / 3)}));
        let rows = RunRows { answers: vec![long; 7], ..RunRows::default() };
        let lists = rows.answers();
        assert!(lists.len() > 1 && lists.iter().all(|list| list.len() <= TEXT_BYTES + 1));
        assert_eq!(parsed(&lists).len(), 7);
        assert!(RunRows::default().answers().is_empty());
    }
}
