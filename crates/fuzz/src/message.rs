//! Messages of the control connection: any bytes become a value or an error, a value takes little
//! room, and what is written of it is read again.

use crate::document;
use crate::templates::MESSAGES;
use allocation_counter::measure;
use arbitrary::Unstructured;
use v6gap_core::wire::control::Message;
use v6gap_core::wire::frame::{self, FrameReader};

/// Most bytes that are kept of a byte of input.
const TIMES_MAX: i64 = 40;

/// Besides those: what a message of a few bytes may take.
const ROOM_BYTES: i64 = 2048;

/// Text as it is, or a known message with changes.
pub fn run(data: &[u8]) {
    match data.split_first() {
        Some((0, text)) => judge(text),
        Some((&kind, changes)) => {
            let mut document = MESSAGES[usize::from(kind) % MESSAGES.len()].clone();
            document::change(&mut document, &mut Unstructured::new(changes));
            judge(document.to_string().as_bytes());
        }
        None => {}
    }
}

fn judge(text: &[u8]) {
    let mut message = None;
    let room = measure(|| message = serde_json::from_slice::<Message>(text).ok());
    let most = TIMES_MAX * text.len() as i64 + ROOM_BYTES;
    assert!(room.bytes_current <= most, "{} B are kept of {} B", room.bytes_current, text.len());
    assert!(room.bytes_max <= 4 * most as u64, "{} B at a time", room.bytes_max);
    let Some(message) = message else { return };
    let Ok(bytes) = frame::encode(&message) else {
        // Longer than a frame may be: then it was long to begin with.
        return assert!(text.len() > 1 << 17, "{} B cannot be written again", text.len());
    };
    let mut reader = FrameReader::new();
    reader.push(&bytes);
    let again = reader.next().expect("what was written is read");
    // A kind from a later program is passed over.
    if message != Message::Unknown {
        assert_eq!(again, Some(message));
    }
}
