//! What servers of strangers say, as far as this program reads it itself: heads of HTTP/2 frames,
//! version negotiation of QUIC, and results of iperf3.

use v6gap_core::http2::Frames;
use v6gap_core::iperf3::{self, HEAD_BYTES, Results, State};
use v6gap_core::version_negotiation::{self, BYTES_MIN, ID_BYTES, Ids};

/// However the bytes are cut into reads, the answer begins at the same one.
pub fn http2(data: &[u8]) {
    let Some((&step, bytes)) = data.split_first() else { return };
    let begins_at = |step: usize| {
        let mut frames = Frames::default();
        let mut read = 0;
        for part in bytes.chunks(step) {
            read += part.len();
            if frames.hold_answer(part) {
                return Some(read);
            }
        }
        None
    };
    let exactly = begins_at(1);
    let coarse = begins_at(usize::from(step).max(1));
    assert_eq!(exactly.is_some(), coarse.is_some());
    if let (Some(exactly), Some(coarse)) = (exactly, coarse) {
        assert!(coarse >= exactly && coarse - exactly < usize::from(step).max(1));
        // The head that ended there is one of HEADERS of the first stream.
        let head = &bytes[exactly - 9..exactly];
        assert_eq!((head[3], head[5] & 0x7f, &head[6..]), (1, 0, &[0, 0, 1][..]));
    }
}

/// An answer has both identifiers in their places, and nothing else is one.
pub fn negotiation(data: &[u8]) {
    let ids = Ids { to: [0xa5; ID_BYTES], from: [0x5a; ID_BYTES] };
    let expected = || {
        let long = data.first()? & 0x80 != 0;
        let version = data.get(1..5)? == [0; 4];
        let to = data.get(5..14)? == [&[8], &ids.from[..]].concat();
        let from = data.get(14..23)? == [&[8], &ids.to[..]].concat();
        (long && version && to && from && data.len() > 23).then_some(())
    };
    assert_eq!(version_negotiation::answers(&ids, data), expected().is_some());
    let mut packet = data.to_vec();
    let asked = version_negotiation::ask(&ids, &mut packet);
    assert_eq!(asked.is_some(), data.len() >= BYTES_MIN);
    assert_eq!(packet.len(), data.len());
}

/// Sums neither wrap nor lose their sign, and what is written is read again.
pub fn iperf3_results(data: &[u8]) {
    assert_eq!(iperf3::number(data).is_some(), data.len() >= HEAD_BYTES);
    if let Some(state) = data.first().and_then(|octet| State::of(*octet)) {
        assert_eq!(state.octet(), data[0]);
    }
    let Ok(results) = Results::read(data) else { return };
    let largest = results.streams.iter().map(|stream| stream.bytes).max().unwrap_or(0);
    assert!(results.bytes() >= largest && results.seconds() >= 0.0);
    let _ = (results.packets(), results.missed(), results.test_number());
    if results.accepted_from().is_some() {
        let text = results.server_output_text.as_deref().unwrap_or_default();
        assert!(text.contains("Accepted connection from "));
    }
    if let Ok(again) = Results::read(&results.json()) {
        assert_eq!(again.bytes(), results.bytes());
    }
}
