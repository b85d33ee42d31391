//! Tables of whole numbers in few bytes: what is put in comes out, from memory, from JSON, and as
//! part of a journal.

use crate::journal;
use arbitrary::Unstructured;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use v6gap_core::observation::{Buckets, Counters};

/// A recorded trial with a place for a table, by the name of the field that holds it.
static TRIALS: LazyLock<[Option<(String, String)>; 2]> =
    LazyLock::new(|| ["\"histogram\":[", "\"counters\":{"].map(around));

/// What stands before and behind the value of a field in the first line that has one.
fn around(field: &str) -> Option<(String, String)> {
    let line = crate::templates::JOURNAL.lines().find(|line| line.contains(field))?;
    let start = line.find(field)? + field.len() - 1;
    let mut depth = 0;
    for (at, byte) in line.bytes().enumerate().skip(start) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 1 => {
                return Some((line[..start].to_owned(), line[at + 1..].to_owned()));
            }
            b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn in_a_trial(which: usize, text: &str) {
    let (before, behind) = TRIALS[which].as_ref().expect("the recorded run has such a table");
    journal::judge(&format!("{before}{text}{behind}"));
}

/// Pairs from bytes, or text in the place of a histogram.
pub fn buckets(data: &[u8]) {
    match data.split_first() {
        Some((0, text)) => {
            if let Ok(text) = std::str::from_utf8(text) {
                if let Ok(read) = serde_json::from_str::<Buckets>(text) {
                    from_json(&read);
                }
                in_a_trial(0, text);
            }
        }
        Some((_, bytes)) => {
            let pairs = pairs(bytes);
            let packed: Buckets = pairs.iter().copied().collect();
            assert!(packed.iter().eq(pairs.iter().copied()));
            assert_eq!(packed.is_empty(), pairs.is_empty());
            from_json(&packed);
            let plain = serde_json::to_string(&pairs).expect("numbers are JSON");
            assert_eq!(serde_json::from_str::<Buckets>(&plain).ok(), Some(packed));
            in_a_trial(0, &plain);
        }
        None => {}
    }
}

fn from_json(packed: &Buckets) {
    let text = serde_json::to_string(packed).expect("numbers are JSON");
    assert_eq!(serde_json::from_str::<Buckets>(&text).as_ref().ok(), Some(packed), "{text}");
    in_a_trial(0, &text);
}

/// Values that follow each other closely, as in a histogram, and others.
fn pairs(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut bytes = Unstructured::new(bytes);
    let (mut pairs, mut last) = (Vec::new(), 0_u64);
    while !bytes.is_empty() && pairs.len() < 300 {
        let kind: u8 = bytes.arbitrary().unwrap_or_default();
        let step = match kind % 4 {
            0 => u64::from(kind),
            1 => u64::from(bytes.arbitrary::<u16>().unwrap_or_default()),
            2 => bytes.arbitrary().unwrap_or_default(),
            _ => 1,
        };
        last = last.wrapping_add(step);
        let count = match kind {
            0..128 => u64::from(kind),
            128..250 => u64::from(bytes.arbitrary::<u32>().unwrap_or_default()),
            _ => u64::MAX - u64::from(255 - kind),
        };
        pairs.push((last, count));
    }
    pairs
}

/// Entries from bytes, or text in the place of counters.
pub fn counters(data: &[u8]) {
    match data.split_first() {
        Some((0, text)) => {
            if let Ok(text) = std::str::from_utf8(text) {
                in_a_trial(1, text);
            }
        }
        Some((_, bytes)) => {
            let entries = entries(bytes);
            let body: Vec<String> = entries
                .iter()
                .map(|(name, value)| format!("{}:{value}", serde_json::json!(name)))
                .collect();
            let text = format!("{{{}}}", body.join(","));
            in_a_trial(1, &text);
            // Of one name the last.
            let wanted: BTreeMap<String, i64> = entries.into_iter().collect();
            let read: Counters = serde_json::from_str(&text).expect("names and numbers");
            for (name, value) in &wanted {
                assert_eq!(read.get(name), Some(*value));
            }
            assert!(read.iter().eq(wanted.iter().map(|(name, value)| (name.as_str(), *value))));
            let mut other = Counters::default();
            wanted.iter().rev().for_each(|(name, value)| other.insert(name, *value));
            assert_eq!(read, other);
        }
        None => {}
    }
}

fn entries(bytes: &[u8]) -> Vec<(String, i64)> {
    let mut bytes = Unstructured::new(bytes);
    let mut entries = Vec::new();
    while !bytes.is_empty() && entries.len() < 40 {
        let length = usize::from(bytes.arbitrary::<u8>().unwrap_or_default() % 12);
        let name = bytes.bytes(length.min(bytes.len())).unwrap_or_default();
        let value = match bytes.arbitrary::<u8>().unwrap_or_default() {
            small @ 0..200 => i64::from(small) - 100,
            200 => i64::MIN,
            201 => i64::MAX,
            _ => bytes.arbitrary().unwrap_or_default(),
        };
        entries.push((String::from_utf8_lossy(name).into_owned(), value));
    }
    entries
}
