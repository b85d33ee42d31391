//! What comes from files of others: lines of a record, whole journals, and notes.

use crate::document;
use crate::templates::LINES;
use arbitrary::Unstructured;
use std::path::PathBuf;
use std::sync::LazyLock;
use v6gap_core::record::{self, Line, RecordError};
use v6gap_store::{Note, Store, StoreError, read_journal};

/// Text as it is, or a recorded line with changes.
pub fn line(data: &[u8]) {
    match data.split_first() {
        Some((0, text)) => {
            if let Ok(text) = std::str::from_utf8(text) {
                judge(text);
            }
        }
        Some((&kind, changes)) => {
            let mut document = LINES[usize::from(kind) % LINES.len()].clone();
            document::change(&mut document, &mut Unstructured::new(changes));
            judge(&document.to_string());
        }
        None => {}
    }
}

/// The fast way and the complete one read alike, and what is written of it is read again.
pub fn judge(text: &str) {
    let found = record::decode(text);
    // With a blank in front it is not in the form that this program writes.
    let complete = record::decode(&format!(" {text}"));
    match (&found, &complete) {
        (Ok(fast), Ok(slow)) => assert_eq!(fast, slow),
        (Err(fast), Err(slow)) => assert_eq!(is_newer(fast), is_newer(slow)),
        _ => panic!("read in one way only: {found:?}, {complete:?}"),
    }
    if let Ok(line) = found {
        let written = record::encode(&line);
        assert!(!written.contains('\n') && !written.is_empty());
        assert_eq!(record::decode(&written), Ok(line), "{written}");
    }
}

fn is_newer(error: &RecordError) -> bool {
    matches!(error, RecordError::TooNew { .. })
}

/// A folder of this process; in memory where the system has such a place.
static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared = PathBuf::from("/dev/shm");
    let place = if shared.is_dir() { shared } else { std::env::temp_dir() };
    place.join(format!("v6gap-fuzz-{}", std::process::id()))
});

/// A whole journal: its lines are those that the text has, or the first wrong one is named.
pub fn file(data: &[u8]) {
    thread_local! {
        static PATH: PathBuf = SCRATCH.join(format!("{:?}.jsonl", std::thread::current().id()));
    }
    PATH.with(|path| {
        Store::write_file(path, data).expect("a file in a folder of our own can be written");
        let found = read_journal(path);
        let whole = data.iter().rposition(|&byte| byte == b'\n').map_or(&[][..], |at| &data[..at]);
        let mut expected: Vec<Line> = Vec::new();
        let lines = if data.contains(&b'\n') { whole.split(|&b| b == b'\n') } else { return };
        for (index, line) in lines.enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let decoded = std::str::from_utf8(line).ok().and_then(|l| record::decode(l).ok());
            let Some(decoded) = decoded else {
                let named =
                    matches!(found, Err(StoreError::Record { line, .. }) if line == index + 1);
                assert!(named, "line {} is wrong: {found:?}", index + 1);
                return;
            };
            expected.push(decoded);
        }
        assert_eq!(found.expect("every line can be read"), expected);
    });
}

/// What a person wrote on a run: whatever passes can be shown and is read again.
pub fn note(data: &[u8]) {
    let Ok(note) = serde_json::from_slice::<Note>(data) else { return };
    if note.check().is_err() {
        return;
    }
    assert!(!note.title.chars().any(char::is_control), "{:?}", note.title);
    let shown = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
    assert!(note.note.chars().all(shown), "{:?}", note.note);
    let written = serde_json::to_string(&note).expect("two texts are JSON");
    assert_eq!(serde_json::from_str::<Note>(&written).ok(), Some(note));
}
