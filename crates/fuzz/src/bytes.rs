//! Formats of fixed length: what is read and written again is what came.

use v6gap_core::wire::datagram::{HEADER_BYTES, Header};
use v6gap_core::wire::preamble::{self, Preamble, Progress};
use v6gap_core::wire::probe::{PROBE_BYTES, Times};
use v6gap_core::wire::status::{STATUS_BYTES, Status, decode_sent, encode_sent};

/// Stands where nothing may be written.
const UNTOUCHED: u8 = 0xee;

/// The first bytes of a connection: what was said of fewer of them still holds of more.
pub fn preamble(data: &[u8]) {
    let whole = preamble::decode(data);
    match whole {
        Ok(Progress::Complete(Preamble::Control(control))) => {
            let bytes = control.encode();
            assert_eq!(bytes[..6], data[..6]);
            let again = Progress::Complete(Preamble::Control(control));
            assert_eq!(preamble::decode(&bytes), Ok(again));
            let (low, high) = (control.versions.lowest(), control.versions.highest());
            assert!(low <= high);
        }
        Ok(Progress::Complete(Preamble::Data(data_preamble))) => {
            let bytes = data_preamble.encode();
            assert_eq!(bytes[..23], data[..23]);
            let again = Progress::Complete(Preamble::Data(data_preamble));
            assert_eq!(preamble::decode(&bytes), Ok(again));
        }
        Ok(Progress::Needs(bytes)) => {
            assert!(bytes > data.len() && bytes <= preamble::BYTES_MAX);
        }
        Err(_) => {}
    }
    for end in 0..data.len().min(preamble::BYTES_MAX + 1) {
        match preamble::decode(&data[..end]) {
            Ok(Progress::Needs(bytes)) => assert!(bytes > end),
            decided => assert_eq!(decided, whole, "after {end} bytes"),
        }
    }
}

/// The header of messages.
pub fn header(data: &[u8]) {
    let Some(header) = Header::decode(data) else {
        assert!(data.len() < HEADER_BYTES || data[16] > 1);
        return;
    };
    let mut bytes = [UNTOUCHED; HEADER_BYTES + 1];
    header.encode(&mut bytes);
    assert_eq!(bytes[..18], data[..18]);
    assert_eq!(bytes[18..], [0, 0, UNTOUCHED]);
    assert_eq!(Header::decode(&bytes), Some(header));
    Header::encode_sequence(!header.sequence, &mut bytes);
    let other = Header { sequence: !header.sequence, ..header };
    assert_eq!(Header::decode(&bytes), Some(other));
}

/// The times of a probe.
pub fn probe_times(data: &[u8]) {
    let Some(times) = Times::decode(data) else {
        return assert!(data.len() < PROBE_BYTES);
    };
    let mut bytes = [UNTOUCHED; PROBE_BYTES + 1];
    times.encode(&mut bytes);
    assert_eq!(bytes[..HEADER_BYTES], [UNTOUCHED; HEADER_BYTES]);
    assert_eq!(bytes[PROBE_BYTES], UNTOUCHED);
    assert_eq!(Times::decode(&bytes), Some(times));
    // All but what is not known, and the reserved byte.
    let known = HEADER_BYTES + 32;
    assert_eq!(bytes[HEADER_BYTES..known], data[HEADER_BYTES..known]);
}

/// The report of a receiver, and the time of sending.
pub fn status(data: &[u8]) {
    if let Some(sent_ns) = decode_sent(data) {
        let mut bytes = [UNTOUCHED; HEADER_BYTES + 9];
        encode_sent(sent_ns, &mut bytes);
        assert_eq!(bytes[HEADER_BYTES..HEADER_BYTES + 8], data[HEADER_BYTES..HEADER_BYTES + 8]);
        assert_eq!(bytes[HEADER_BYTES + 8], UNTOUCHED);
    }
    let Some(status) = Status::decode(data) else {
        return assert!(data.len() < STATUS_BYTES);
    };
    let mut bytes = [UNTOUCHED; STATUS_BYTES];
    status.encode(&mut bytes);
    assert_eq!(bytes[..HEADER_BYTES], [UNTOUCHED; HEADER_BYTES]);
    assert_eq!(bytes[HEADER_BYTES..], data[HEADER_BYTES..STATUS_BYTES]);
    assert_eq!(Status::decode(&bytes), Some(status));
}
