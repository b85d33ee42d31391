//! Parts of journals: one that is taken is of the host that its subject proves, has the bytes that
//! it says, and belongs where a journal can be.

use crate::document;
use allocation_counter::measure;
use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use std::sync::LazyLock;
use v6gap_core::fleet::PART_BYTES;
use v6gap_core::fleet::message::ChunkHeader;
use v6gap_core::fleet::subject;
use v6gap_fleet::parts::{hash, read, write};
use v6gap_store::JOURNAL_BYTES_MAX;

/// What a part holds.
const TEXT: &[u8] = b"{\"trial\":1,\"block\":1}\n{\"trial\":2,\"block\":1}\n{\"block\":1}\n";

/// Under what it comes.
const SUBJECT: &str = "v6gap.res.rome.a.7k2f9q.0";

/// Most changes of what is deflated.
const CHANGES_MAX: u8 = 8;

/// Most that may be asked for while a part is read, in times the most that one has.
const ROOM: u64 = 4;

static HEADER: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "version": 1, "from": "rome/a", "run": "7k2f9q", "job": "000000000000", "at": 0,
        "bytes": TEXT.len(), "hash": hash(TEXT),
    })
});

static DEFLATED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let header: ChunkHeader = serde_json::from_value(HEADER.clone()).expect("a header");
    let message = write(&header, TEXT).expect("a part can be written");
    let end = message.iter().position(|byte| *byte == b'\n').expect("a header has an end");
    message[end + 1..].to_vec()
});

/// A part whose header or bytes have changes, or other bytes.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let (mut header, mut deflated) = (HEADER.clone(), DEFLATED.clone());
    let made = match bytes.arbitrary::<u8>().unwrap_or(0) % 3 {
        0 => {
            document::change(&mut header, &mut bytes);
            Ok(())
        }
        1 => changed(&mut deflated, &mut bytes),
        _ => bytes.bytes(bytes.len()).map(|own| deflated = own.to_vec()),
    };
    if made.is_err() {
        return;
    }
    let mut message = header.to_string().into_bytes();
    message.push(b'\n');
    message.extend_from_slice(&deflated);
    let mut found = None;
    let used = measure(|| found = read(SUBJECT, &message).ok());
    assert!(used.bytes_max <= ROOM * PART_BYTES as u64, "{} bytes", used.bytes_max);
    if header == *HEADER && deflated == *DEFLATED {
        assert!(found.is_some(), "it is as it was sent");
    }
    let Some((header, bytes)) = found else { return };
    let own = subject::result(&header.from, &header.run, header.at);
    assert!(own.starts_with("v6gap.res.rome.a."), "it is another's: {own}");
    assert_eq!((bytes.len() as u64, hash(&bytes)), (header.bytes, header.hash));
    assert!(bytes.len() <= PART_BYTES, "{} bytes", bytes.len());
    let end = header.at.checked_add(header.bytes);
    assert!(end.is_some_and(|end| end <= JOURNAL_BYTES_MAX), "it begins at {}", header.at);
}

fn changed(deflated: &mut Vec<u8>, bytes: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..bytes.arbitrary::<u8>()? % CHANGES_MAX {
        if deflated.is_empty() {
            break;
        }
        let at = bytes.int_in_range(0..=deflated.len() - 1)?;
        match bytes.arbitrary::<u8>()? % 4 {
            0 => deflated[at] ^= 1 << bytes.int_in_range(0..=7)?,
            1 => deflated[at] = bytes.arbitrary()?,
            2 => deflated.truncate(at),
            _ => {
                let again = deflated[at..].to_vec();
                deflated.extend(again);
            }
        }
    }
    Ok(())
}
