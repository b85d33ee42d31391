//! Other platforms: one datagram a call.

use super::Message;
use crate::Unavailable;
use crate::socket::Datagram;
use std::io;
use std::ops::Range;

const BECAUSE: &str = "this program has it on Linux only";

#[derive(Debug)]
pub(super) struct Outgoing;

impl Outgoing {
    pub(super) fn new(_messages: usize, _segments: usize, _slot_bytes: usize) -> Self {
        Outgoing
    }

    pub(super) fn stop_offload(&mut self) {}

    pub(super) fn send(
        &mut self,
        socket: &Datagram,
        bytes: &[u8],
        slot_bytes: usize,
        lengths: &[usize],
        slots: Range<usize>,
    ) -> io::Result<usize> {
        let mut sent = 0;
        for slot in slots {
            let datagram = &bytes[slot * slot_bytes..][..lengths[slot]];
            match socket.send(datagram) {
                Ok(_) => sent += 1,
                // What was sent before is told first; the error comes again.
                Err(_) if sent > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }
}

#[derive(Debug)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    length: usize,
}

impl Incoming {
    pub(super) fn new(_messages: usize, bytes: usize) -> Self {
        Incoming { bytes: vec![0; bytes], length: 0 }
    }

    pub(super) fn messages(&self) -> usize {
        1
    }

    pub(super) fn receive(&mut self, socket: &Datagram) -> io::Result<usize> {
        self.length = socket.recv(&mut self.bytes)?;
        Ok(1)
    }

    pub(super) fn message(&self, _index: usize) -> Message<'_> {
        Message { bytes: &self.bytes[..self.length], segment_bytes: self.length.max(1) }
    }
}

pub(super) fn segments(_socket: &Datagram) -> Result<(), Unavailable> {
    Err(Unavailable::new("UDP segmentation offload", BECAUSE))
}

pub(super) fn set_coalescing(_socket: &Datagram, _on: bool) -> Result<(), Unavailable> {
    Err(Unavailable::new("UDP receive offload", BECAUSE))
}

pub(super) fn drops(_socket: &Datagram) -> Result<u32, Unavailable> {
    Err(Unavailable::new("the drop counter of a socket", BECAUSE))
}
