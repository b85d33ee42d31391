//! Messages and records of each version of the record, kept in `testdata`: what was once stored is
//! read for ever and means the same, so that a change of any type that they hold is noticed. A
//! golden line says what a change does to those who have the old form.
//!
//! `V6GAP_BLESS=1` writes the messages anew, after a change that older programs understand.

use super::arbitrary::message;
use super::control::Message;
use crate::record;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

/// Where the messages are.
const MESSAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/v2/messages.jsonl");

/// A run as the first version stored it; what is made of it is among the snapshots of the report.
const FIRST: &str = include_str!("../../testdata/v1/journal.jsonl");

/// The same run as it is stored now, with everything that the first version could not say.
const PRESENT: &str = include_str!("../../testdata/v2/journal.jsonl");

/// Messages that are looked at; far fewer of them hold everything that a message can.
const SAMPLES: usize = 3_000;

/// Fields whose names are data.
const MAPS: [&str; 2] = ["counters", "facts"];

/// The paths of all fields of a value and the names of its variants.
fn places(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = if MAPS.iter().any(|map| path.ends_with(map)) { "*" } else { name };
                let tag = ["kind", "message"].contains(&name).then(|| value.as_str()).flatten();
                let place = format!("{path}.{name}{}", tag.unwrap_or_default());
                places(value, &place, all);
                all.insert(place);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| places(item, &format!("{path}[]"), all))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn places_of(message: &Message) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let value = serde_json::to_value(message).unwrap();
    let kind = value["message"].as_str().unwrap_or_default();
    places(&value, kind, &mut all);
    all
}

/// Messages that have among them every place that a message can have, as few as were found.
fn telling() -> (Vec<Message>, BTreeSet<String>) {
    let mut runner = TestRunner::deterministic();
    let (mut kept, mut seen) = (Vec::new(), BTreeSet::new());
    for _ in 0..SAMPLES {
        let message = message().new_tree(&mut runner).unwrap().current();
        let places = places_of(&message);
        if !places.is_subset(&seen) || places.is_empty() {
            seen.extend(places);
            kept.push(message);
        }
    }
    (kept, seen)
}

#[test]
fn messages_are_read_and_written_as_they_were() {
    if std::env::var_os("V6GAP_BLESS").is_some() {
        let line = |message: &Message| serde_json::to_string(message).unwrap() + "\n";
        let lines: String = telling().0.iter().map(line).collect();
        std::fs::write(MESSAGES, lines).unwrap();
    }
    let text: String = std::fs::read_to_string(MESSAGES).unwrap();
    let mut stored = BTreeSet::new();
    for line in text.lines() {
        let message: Message = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), line);
        stored.extend(places_of(&message));
    }
    let new: Vec<String> = telling().1.difference(&stored).map(ToString::to_string).collect();
    assert!(new.is_empty(), "docs/protocol.md and the golden messages do not have {new:?}");
}

#[test]
fn a_journal_of_version_2_is_read_and_written_as_it_was() {
    for line in PRESENT.lines() {
        let read = record::decode(line).unwrap();
        assert_eq!(record::encode(&read), line);
    }
}

/// Nothing is lost of what the first version stored, nor read twice in two ways.
#[test]
fn a_journal_of_version_1_is_read_and_means_the_same_in_the_present_form() {
    for line in FIRST.lines() {
        let read = record::decode(line).unwrap();
        let present = record::encode(&read);
        assert_eq!(record::decode(&present), Ok(read));
        let numbers = |text: &str| text.matches(|c: char| c.is_ascii_digit()).count();
        assert_eq!(numbers(&present), numbers(line), "{line}");
    }
}
