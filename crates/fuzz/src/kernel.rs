//! What the kernel writes: files of counters, answers of its traffic control, and control messages
//! beside datagrams. It is no stranger, but another kernel may write otherwise.

use v6gap_sys::counters::{Form, read, read_queues};
use v6gap_sys::socket::notes;

/// Counters by form, and queues.
pub fn counters(data: &[u8]) {
    let Some((&kind, bytes)) = data.split_first() else { return };
    let form = match kind % 5 {
        0 => Form::Paired,
        1 => Form::Named,
        2 => Form::Interfaces,
        3 => Form::Processors,
        _ => return queues(bytes),
    };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(snapshot) = read(form, text) else { return };
    assert_eq!(read(form, text).ok().as_ref(), Some(&snapshot));
    assert!(snapshot.since(&snapshot).is_empty());
    // A name is at most its group, its own words and two dots.
    let longest = text.lines().map(str::len).max().unwrap_or(0) * 2 + 64;
    assert!(snapshot.values.keys().all(|name| name.len() <= longest));
}

fn queues(bytes: &[u8]) {
    if let Ok((found, _)) = read_queues(bytes) {
        // Each takes the heads of a message and its attributes.
        assert!(found.len() * 44 <= bytes.len(), "{} queues", found.len());
    }
}

/// Control messages.
pub fn ancillary(data: &[u8]) {
    let whole = notes(data);
    assert_eq!(notes(data), whole);
    for end in [data.len() / 2, data.len().saturating_sub(1)] {
        let cut = notes(&data[..end]);
        assert!(cut.departure.is_none() || whole.departure.is_some(), "{cut:?} of {whole:?}");
    }
}
