//! What the store keeps beside runs, and any disk may change: lines of the index and tables of the
//! archive.

use crate::document;
use crate::templates::JOURNAL;
use allocation_counter::measure;
use arbitrary::{Result, Unstructured};
use axum::body::Bytes;
use serde_json::{Value, json};
use std::sync::LazyLock;
use v6gap_core::record::{self, Line};
use v6gap_judge::analysis::analyse;
use v6gap_report::Answers;
use v6gap_store::{Head, read_summary};

/// Most changes of one table.
const CHANGES_MAX: u8 = 8;

/// Most that may be asked for while a table is refused, in bytes: the room into which it is read.
const REFUSED_BYTES_MAX: u64 = 1 << 18;

/// What a list says of a run, with all that it can say.
static HEAD: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "id": "7k2f9q",
        "started_unix_ns": 1_795_426_200_000_000_000_u64,
        "target": "lab-b",
        "plan": "first look",
        "world": "0123456789abcdef",
        "ended": "complete",
        "journal_bytes": 1234,
        "title": "baseline",
        "note": "two\nlines",
        "set_up": "alike",
    })
});

/// A line as it is, or one that is written of words that bytes choose: it says what was written,
/// and no other line says anything.
pub fn index_line(data: &[u8]) {
    match data.split_first() {
        Some((0, line)) => {
            let Some((head, judged)) = read_summary(line) else { return };
            let written = head.line(Some(&judged));
            assert_eq!(
                read_summary(written.trim_end_matches('\n').as_bytes()),
                Some((head, judged))
            );
        }
        Some((&kind, changes)) => {
            let mut bytes = Unstructured::new(changes);
            let mut document = HEAD.clone();
            document::change(&mut document, &mut bytes);
            let Ok(head) = serde_json::from_value::<Head>(document.clone()) else { return };
            let judged = match kind % 3 {
                0 => "null".to_owned(),
                1 => document.to_string(),
                _ => json!({ "a": document, "judged": { "b": kind } }).to_string(),
            };
            written(head, judged, &mut bytes);
        }
        None => {}
    }
}

fn written(head: Head, judged: String, bytes: &mut Unstructured<'_>) {
    let text = head.line(Some(&judged));
    let line = text.strip_suffix('\n').expect("a line has an end");
    assert!(!line.contains('\n'), "{line}");
    let whole = read_summary(line.as_bytes());
    assert_eq!(whole, Some((head, judged)), "{line}");
    let place = bytes.int_in_range(0..=line.len() - 1).unwrap_or(0);
    assert_eq!(read_summary(&line.as_bytes()[..place]), None, "cut at {place}: {line}");
    let mut changed = line.as_bytes().to_vec();
    changed[place] ^= 1 << bytes.int_in_range(0..=7).unwrap_or(0);
    // A digit of the sum may be written in another way.
    let found = read_summary(&changed);
    assert!(found.is_none() || found == whole, "changed at {place}: {line}");
}

/// The answers of the recorded run, as the archive has them.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let lines: Vec<Line> = JOURNAL.lines().filter_map(|line| record::decode(line).ok()).collect();
    let analysis = analyse(&lines).expect("the recorded run can be analysed");
    let mut answers = Answers::default();
    answers.put(&analysis, &lines, JOURNAL.len() as u64);
    answers.table().expect("answers are a table").bytes
});

/// Bytes as they are, or a table with changes: what is not as it was written is refused before any
/// of its lengths is believed.
pub fn archive_table(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(table) = table(&mut bytes) else { return };
    let (is_whole, table) = (table == *TABLE, Bytes::from(table));
    let mut found = None;
    let used = measure(|| found = Some(Answers::read(table.clone()).is_ok()));
    assert_eq!(found, Some(is_whole), "{} bytes", table.len());
    let most = if is_whole { u64::MAX } else { REFUSED_BYTES_MAX };
    assert!(used.bytes_max <= most, "{} bytes for {}", used.bytes_max, table.len());
}

fn table(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if bytes.arbitrary::<u8>()? == 0 {
        return Ok(bytes.bytes(bytes.len())?.to_vec());
    }
    let mut table = TABLE.clone();
    for _ in 0..bytes.arbitrary::<u8>()? % CHANGES_MAX {
        if table.is_empty() {
            break;
        }
        let at = bytes.int_in_range(0..=table.len() - 1)?;
        let length = usize::from(bytes.arbitrary::<u8>()?).min(table.len() - at);
        match bytes.arbitrary::<u8>()? % 4 {
            0 => table[at] = bytes.arbitrary()?,
            1 => drop(table.drain(at..at + length)),
            2 => table.truncate(at),
            _ => {
                let again = table[at..at + length].to_vec();
                table.splice(at..at, again);
            }
        }
    }
    Ok(table)
}
