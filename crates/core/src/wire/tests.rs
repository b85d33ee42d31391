//! Decoding undoes encoding, and any bytes decode to a value or an error.

use super::arbitrary::{arm, message};
use super::control::{Message, RefusalCode, Refused, TaskFailure};
use super::datagram::{Flags, HEADER_BYTES, Header};
use super::frame::{self, BODY_BYTES_MAX, FrameError, FrameReader};
use super::preamble::{self, Control, Data, Preamble, PreambleError, Progress};
use super::version::{SPOKEN, VersionMismatch, VersionRange};
use crate::arm::Arm;
use crate::task::Token;
use crate::workload::Echo;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use proptest::collection::vec as many;
use proptest::prelude::*;

proptest! {
    #[test]
    fn messages_survive_the_wire_in_any_pieces(
        messages in many(message(), 1..4),
        piece in 1_usize..200,
    ) {
        let mut stream = Vec::new();
        for message in &messages {
            stream.extend(frame::encode(message).unwrap());
        }
        let mut reader = FrameReader::new();
        let mut found = Vec::new();
        for bytes in stream.chunks(piece) {
            reader.push(bytes);
            while let Some(message) = reader.next().unwrap() {
                found.push(message);
            }
        }
        prop_assert_eq!(found, messages);
    }

    #[test]
    fn any_frame_is_a_message_or_an_error(bytes in many(any::<u8>(), 0..300)) {
        let mut reader = FrameReader::new();
        reader.push(&bytes);
        while let Ok(Some(_)) = reader.next() {}
    }

    #[test]
    fn any_body_is_a_message_or_an_error(body in ".{0,200}") {
        let mut reader = FrameReader::new();
        reader.push(&u32::try_from(body.len()).unwrap().to_be_bytes());
        reader.push(body.as_bytes());
        let _ = reader.next();
    }

    #[test]
    fn a_damaged_message_is_a_message_or_an_error(
        message in message(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = frame::encode(&message).unwrap();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        let mut reader = FrameReader::new();
        reader.push(&bytes);
        while let Ok(Some(_)) = reader.next() {}
    }

    #[test]
    fn headers_survive_the_wire(
        tag in any::<[u8; 8]>(),
        numbers in any::<(u32, u16, u16, u8)>(),
        arm in arm(),
        rest in many(any::<u8>(), 0..40),
    ) {
        let (sequence, turn, next, flags) = numbers;
        let header = Header { tag, sequence, turn, next, arm, flags: Flags(flags) };
        let mut bytes = vec![0xff; HEADER_BYTES];
        bytes.extend(&rest);
        header.encode(&mut bytes);
        prop_assert_eq!(Header::decode(&bytes), Some(header));
        prop_assert_eq!(&bytes[HEADER_BYTES..], &rest[..]);
    }

    #[test]
    fn any_datagram_is_a_header_or_not(bytes in many(any::<u8>(), 0..40)) {
        let decoded = Header::decode(&bytes);
        prop_assert!(decoded.is_none() || bytes.len() >= HEADER_BYTES);
    }

    #[test]
    fn preambles_survive_the_wire(
        token in any::<[u8; 16]>(),
        arm in arm(),
        connection in any::<u16>(),
        versions in any::<(u8, u8)>(),
    ) {
        let data = Data { token: Token(token), arm, connection };
        let complete = Progress::Complete(Preamble::Data(data));
        prop_assert_eq!(preamble::decode(&data.encode()), Ok(complete));
        if let Some(versions) = VersionRange::new(versions.0, versions.1) {
            let control = Control { versions };
            let complete = Progress::Complete(Preamble::Control(control));
            prop_assert_eq!(preamble::decode(&control.encode()), Ok(complete));
        }
    }

    #[test]
    fn a_preamble_never_asks_for_bytes_beyond_its_end(
        mut bytes in many(any::<u8>(), 0..30),
        magic in prop_oneof![Just(None), Just(Some(*b"v6gC")), Just(Some(*b"v6gD"))],
    ) {
        if let Some(magic) = magic {
            bytes.splice(0..bytes.len().min(4), magic);
        }
        for length in 0..=bytes.len() {
            if let Ok(Progress::Needs(more)) = preamble::decode(&bytes[..length]) {
                prop_assert!(more > length && more <= preamble::BYTES_MAX);
            }
        }
    }

    #[test]
    fn both_ends_agree_on_the_same_version(a in any::<(u8, u8)>(), b in any::<(u8, u8)>()) {
        let (Some(a), Some(b)) = (VersionRange::new(a.0, a.1), VersionRange::new(b.0, b.1)) else {
            return Ok(());
        };
        use VersionMismatch::{PeerTooNew, PeerTooOld};
        match (a.agree(b), b.agree(a)) {
            (Ok(here), Ok(there)) => {
                prop_assert_eq!(here, there);
                prop_assert!(a.lowest() <= here && b.lowest() <= here);
            }
            (Err(PeerTooOld { .. }), Err(PeerTooNew { .. })) => {}
            (Err(PeerTooNew { .. }), Err(PeerTooOld { .. })) => {}
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

fn read(body: &str) -> Result<Option<Message>, FrameError> {
    let mut reader = FrameReader::new();
    reader.push(&u32::try_from(body.len()).unwrap().to_be_bytes());
    reader.push(body.as_bytes());
    reader.next()
}

#[test]
fn what_a_later_program_adds_is_ignored() {
    let ready = r#"{"message":"ready","number":7,"colour":["red"]}"#;
    assert_eq!(read(ready), Ok(Some(Message::Ready { number: 7 })));
    assert_eq!(read(r#"{"message":"dance","steps":3}"#), Ok(Some(Message::Unknown)));
    let refused = r#"{"message":"refused","code":"E999","why":"tides"}"#;
    let other = Refused { code: RefusalCode::Other, why: "tides".into() };
    assert_eq!(read(refused), Ok(Some(Message::Refused(other))));
}

#[test]
fn a_frame_beyond_the_limit_is_refused_before_it_is_read() {
    let mut reader = FrameReader::new();
    reader.push(&u32::MAX.to_be_bytes());
    let bytes = u32::MAX as usize;
    assert_eq!(reader.next(), Err(FrameError::TooLong { bytes, most: BODY_BYTES_MAX }));
    let mut reader = FrameReader::new();
    reader.set_limit(99);
    reader.push(&[0, 0, 0, 100]);
    assert_eq!(reader.next(), Err(FrameError::TooLong { bytes: 100, most: 99 }));
    let failure = TaskFailure::passing("x".repeat(BODY_BYTES_MAX));
    assert!(matches!(
        frame::encode(&Message::Failed { number: 0, failure }),
        Err(FrameError::TooLong { .. })
    ));
}

#[test]
fn deep_nesting_is_an_error() {
    let body = format!(r#"{{"message":"dance","x":{}"#, "[".repeat(100_000));
    assert!(matches!(read(&body), Err(FrameError::Malformed(_))));
}

#[test]
fn what_is_not_ours_is_told_from_the_first_byte() {
    assert_eq!(preamble::decode(b"G"), Err(PreambleError::NotOurs));
    assert_eq!(preamble::decode(b"v6gX"), Err(PreambleError::NotOurs));
    assert_eq!(preamble::decode(b""), Ok(Progress::Needs(4)));
    assert_eq!(preamble::decode(b"v6gC\x02\x01\0\0"), Err(PreambleError::EmptyRange));
    let mut data = Data { token: Token([9; 16]), arm: Arm::B, connection: 1 }.encode();
    data[20] = 2;
    assert_eq!(preamble::decode(&data), Err(PreambleError::UnknownArm(2)));
}

#[test]
fn the_header_is_the_smallest_echo_message() {
    assert_eq!(HEADER_BYTES as u32, Echo::MESSAGE_BYTES_MIN);
    assert_eq!(SPOKEN.agree(SPOKEN), Ok(SPOKEN.highest()));
}
