//! Messages in a stream of bytes: the same ones however the stream is cut, and nobody makes the
//! reader grow.

use allocation_counter::measure;
use arbitrary::{Result, Unstructured};
use v6gap_core::wire::control::Message;
use v6gap_core::wire::frame::{BODY_BYTES_MAX, FrameError, FrameReader};

/// Most that is pushed at once: what a read from a socket brings.
const PUSH_BYTES_MAX: usize = 64 << 10;

/// Most that one input becomes, in bytes.
const STREAM_BYTES_MAX: usize = 3 << 20;

/// The first byte chooses how the others become a stream, the second how it is cut.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok((stream, cut)) = stream(&mut bytes) else { return };
    let (whole, _) = read(&stream, PUSH_BYTES_MAX);
    let mut pieces = None;
    let used = measure(|| {
        let (found, reader) = read(&stream, cut);
        pieces = Some((found, reader));
    });
    let Some((pieces, reader)) = pieces else { return };
    assert_eq!(pieces, whole, "cut into pieces of {cut} bytes");
    // A frame, and what the last push brought; a list has room for up to twice what is in it.
    let most = 2 * (BODY_BYTES_MAX + PUSH_BYTES_MAX + 8);
    drop((pieces, whole));
    let kept = measure(|| drop(reader));
    assert!(kept.bytes_current >= -(most as i64), "{} bytes are kept", -kept.bytes_current);
    assert!(used.bytes_max < 1 << 28, "{} bytes at a time", used.bytes_max);
}

fn stream(bytes: &mut Unstructured<'_>) -> Result<(Vec<u8>, usize)> {
    let kind: u8 = bytes.arbitrary()?;
    let cut = 1 + usize::from(bytes.arbitrary::<u16>()?);
    let mut stream = Vec::new();
    match kind {
        // As it came.
        0..=111 => stream.extend_from_slice(bytes.bytes(bytes.len())?),
        // Bodies with their true lengths.
        112..=239 => {
            while !bytes.is_empty() && stream.len() < STREAM_BYTES_MAX {
                let length = usize::from(bytes.arbitrary::<u16>()?).min(bytes.len());
                frame(&mut stream, bytes.bytes(length)?, 0);
            }
        }
        // The same with blanks, which JSON passes over, up to and beyond the longest body: seldom,
        // since they take a thousand times as long.
        _ => {
            while !bytes.is_empty() && stream.len() < STREAM_BYTES_MAX {
                let length = usize::from(bytes.arbitrary::<u8>()?).min(bytes.len());
                let body = bytes.bytes(length)?;
                let short = usize::from(bytes.arbitrary::<u8>()?) * 8;
                let blanks = (BODY_BYTES_MAX + 64).saturating_sub(body.len() + short);
                frame(&mut stream, body, blanks);
            }
        }
    }
    Ok((stream, cut.min(PUSH_BYTES_MAX)))
}

fn frame(stream: &mut Vec<u8>, body: &[u8], blanks: usize) {
    let length = (body.len() + blanks) as u32;
    stream.extend_from_slice(&length.to_be_bytes());
    stream.extend_from_slice(body);
    stream.resize(stream.len() + blanks, b' ');
}

type Found = (Vec<Message>, Option<FrameError>);

/// What is in a stream that comes in pieces of `cut` bytes, and the reader afterwards.
fn read(stream: &[u8], cut: usize) -> (Found, FrameReader) {
    let mut reader = FrameReader::new();
    let mut found = Vec::new();
    for piece in stream.chunks(cut) {
        reader.push(piece);
        loop {
            match reader.next() {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(error) => return ((found, Some(error)), reader),
            }
        }
    }
    ((found, None), reader)
}
