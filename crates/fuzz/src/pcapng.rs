//! Files of captures: whatever frames there are, a reader that knows only the format finds them
//! again.

#[path = "../../engine/tests/common/pcapng.rs"]
mod reader;

use arbitrary::{Result, Unstructured};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use v6gap_core::family::Family;
use v6gap_core::observation::Tapped;
use v6gap_engine::capture::{File, Interface, Setup};
use v6gap_sys::capture::{Frame, Link};

/// Frames, texts and limits from bytes.
pub fn run(data: &[u8]) {
    // What was written before the bytes ended is a file as well.
    let _ = write(&mut Unstructured::new(data));
}

/// Where the file goes: to memory that outlives it.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let length = usize::from(bytes.arbitrary::<u8>()? % 40).min(bytes.len());
    Ok(String::from_utf8_lossy(bytes.bytes(length)?).into_owned())
}

fn write(bytes: &mut Unstructured<'_>) -> Result<()> {
    let link = if bytes.arbitrary()? { Link::Ethernet } else { Link::Ip };
    let place = Interface { node: text(bytes)?, interface: text(bytes)?, link };
    let name = text(bytes)?;
    let setup = Setup {
        limit_bytes: u64::from(bytes.arbitrary::<u16>()?),
        snap_bytes: 94,
        filter: text(bytes)?,
        program: text(bytes)?,
        system: text(bytes)?,
        names: Family::BOTH.map(|family| (family.loopback(), name.clone())).to_vec(),
        processor: None,
    };
    let comment = text(bytes)?;
    let sink = Sink::default();
    let mut file = File::new(Box::new(sink.clone()), vec![place], &setup, setup.limit_bytes);
    let mut written = Vec::new();
    file.begin(&comment);
    while !bytes.is_empty() && written.len() < 64 {
        let Ok((seen, flags)) = frame(bytes) else { break };
        if file.frame(0, &seen) {
            written.push((seen.at_unix_ns, expected(&seen), flags));
        }
    }
    file.end(&[Tapped::default()], 1);
    let trouble = file.trouble();
    drop(file);
    let bytes = sink.0.lock().unwrap_or_else(PoisonError::into_inner);
    // A name with a zero in it would be two: the reader of this oracle takes them as such.
    if trouble.is_none() && !name.contains('\0') {
        found(&bytes, &comment, &written);
    }
    Ok(())
}

fn frame<'a>(bytes: &mut Unstructured<'a>) -> Result<(Frame<'a>, u32)> {
    let length = usize::from(bytes.arbitrary::<u8>()?).min(bytes.len());
    let kind: u8 = bytes.arbitrary()?;
    let more = usize::from(bytes.arbitrary::<u16>()?);
    let seen = Frame {
        bytes: bytes.bytes(length)?,
        tag: (kind & 2 != 0).then_some([0x81, 0, 0, kind]),
        length: length + if kind & 4 != 0 { more } else { 0 },
        // What 64 bits of ns hold.
        at_unix_ns: u64::from(kind) << 56 | more as u64,
        outgoing: kind & 1 != 0,
    };
    Ok((seen, if seen.outgoing { 2 } else { 1 }))
}

/// The frame as it stood on the line.
fn expected(seen: &Frame<'_>) -> Vec<u8> {
    match seen.tag.filter(|_| seen.bytes.len() >= 12) {
        Some(tag) => [&seen.bytes[..12], &tag, &seen.bytes[12..]].concat(),
        None => seen.bytes.to_vec(),
    }
}

fn found(file: &[u8], comment: &str, written: &[(u64, Vec<u8>, u32)]) {
    let sections = reader::read(file);
    assert_eq!(sections.len(), 1);
    assert_eq!(sections[0].comment, comment);
    let packets: Vec<(u64, Vec<u8>, u32)> =
        sections[0].packets.iter().map(|p| (p.ticks, p.bytes.clone(), p.flags)).collect();
    assert_eq!(packets, written);
}
