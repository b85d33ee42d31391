//! Many datagrams in one call, where the platform has calls for that; one by one elsewhere.
//!
//! On Linux a batch goes out by `sendmmsg` and comes in by `recvmmsg`. With offload the kernel is
//! handed several datagrams as one piece and cuts it (`UDP_SEGMENT`), and hands over pieces that it
//! has put together (`UDP_GRO`). All memory is taken when a batch is made.

#[cfg(not(target_os = "linux"))]
mod fallback;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(test)]
mod tests;

#[cfg(not(target_os = "linux"))]
use fallback as platform;
#[cfg(target_os = "linux")]
use linux as platform;

use super::Datagram;
use crate::Unavailable;
use crate::placed::Bytes;
use std::io;
use std::ops::Range;

/// Most datagrams of one call; Linux takes no more than 1024 messages.
pub const BATCH_MAX: u16 = 1024;

/// Most datagrams that the kernel cuts one piece into (`UDP_MAX_SEGMENTS` before Linux 6.9).
pub const SEGMENTS_MAX: usize = 64;

/// Most bytes of a piece: what is left of an IPv4 packet, and less than an IPv6 one carries, so
/// that both families send the same pieces.
pub const PIECE_BYTES_MAX: usize = 65_507;

/// Datagrams to be sent together, each in a slot of its own.
#[derive(Debug)]
pub struct SendBatch {
    bytes: Bytes,
    slot_bytes: usize,
    lengths: Vec<usize>,
    segments: usize,
    calls: platform::Outgoing,
}

impl SendBatch {
    /// Room for `slots` datagrams (1 to [`BATCH_MAX`]) that start as copies of `payload`, for the
    /// fixed peer of a socket. With `offload` the kernel is to cut pieces of several datagrams;
    /// whether it can is said by [`Datagram::segments`].
    pub fn new(slots: u16, payload: &[u8], offload: bool) -> Self {
        let slots = usize::from(slots.clamp(1, BATCH_MAX));
        let slot_bytes = payload.len().max(1);
        let segments = match offload {
            true => (PIECE_BYTES_MAX / slot_bytes).clamp(1, SEGMENTS_MAX),
            false => 1,
        };
        let mut bytes = Bytes::zeroed(slots * slot_bytes);
        for slot in bytes.chunks_exact_mut(slot_bytes) {
            slot[..payload.len()].copy_from_slice(payload);
        }
        let calls = platform::Outgoing::new(slots, segments, slot_bytes);
        SendBatch { bytes, slot_bytes, lengths: vec![payload.len(); slots], segments, calls }
    }

    /// How many datagrams it has room for.
    pub fn slots(&self) -> usize {
        self.lengths.len()
    }

    /// Datagrams of a piece that the kernel cuts; 1 without offload.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Sends single datagrams from now on, with fewer in a call.
    pub fn stop_offload(&mut self) {
        self.segments = 1;
        self.calls.stop_offload();
    }

    /// The memory of a slot, as long as the payload it was made with.
    #[inline]
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        let at = slot * self.slot_bytes;
        &mut self.bytes[at..at + self.slot_bytes]
    }

    /// Makes the datagram of a slot shorter, or as long as the slot again. With offload only the
    /// last one of a piece may be shorter.
    #[inline]
    pub fn set_length(&mut self, slot: usize, bytes: usize) {
        self.lengths[slot] = bytes.min(self.slot_bytes);
    }

    /// Sends the datagrams of these slots in one call and returns how many the system took, at
    /// least one. A range that does not start at 0 must start where the last call ended.
    ///
    /// # Errors
    /// The system's answer if it took none.
    #[inline]
    pub fn send(&mut self, socket: &Datagram, slots: Range<usize>) -> io::Result<usize> {
        self.calls.send(socket, &self.bytes, self.slot_bytes, &self.lengths, slots)
    }
}

/// What came in one call.
#[derive(Debug)]
pub struct ReceiveBatch {
    calls: platform::Incoming,
}

/// One message of a call: a datagram, or several of one source that the kernel put together.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// All of it.
    pub bytes: &'a [u8],
    /// Length of each datagram in it but the last, which may be shorter; at least 1.
    pub segment_bytes: usize,
}

impl<'a> Message<'a> {
    /// The datagrams in it; none if it is empty.
    pub fn datagrams(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.bytes.chunks(self.segment_bytes)
    }
}

impl ReceiveBatch {
    /// Room for `messages` (1 to [`BATCH_MAX`]) of at most `bytes` each.
    pub fn new(messages: u16, bytes: usize) -> Self {
        let messages = usize::from(messages.clamp(1, BATCH_MAX));
        ReceiveBatch { calls: platform::Incoming::new(messages, bytes.max(1)) }
    }

    /// How many messages it has room for.
    pub fn messages(&self) -> usize {
        self.calls.messages()
    }

    /// Waits as the socket does for the first message, takes what else is there, and returns how
    /// many came.
    ///
    /// # Errors
    /// The system's answer; nothing in time is [`is_timeout`](super::ErrorClass::is_timeout).
    #[inline]
    pub fn receive(&mut self, socket: &Datagram) -> io::Result<usize> {
        self.calls.receive(socket)
    }

    /// A message of the last call.
    #[inline]
    pub fn message(&self, index: usize) -> Message<'_> {
        self.calls.message(index)
    }
}

impl Datagram {
    /// Whether the kernel cuts pieces of several datagrams for this socket.
    ///
    /// # Errors
    /// Off Linux and before Linux 4.18.
    pub fn segments(&self) -> Result<(), Unavailable> {
        platform::segments(self)
    }

    /// Whether the kernel may hand over several datagrams as one message; to be used with room for
    /// 64 KiB in each message.
    ///
    /// # Errors
    /// Off Linux and before Linux 5.0.
    pub fn set_coalescing(&self, on: bool) -> Result<(), Unavailable> {
        platform::set_coalescing(self, on)
    }

    /// Datagrams that the system dropped because this socket's receive buffer was full or for
    /// another reason of its own, since the socket was made; it wraps at 2^32.
    ///
    /// # Errors
    /// Off Linux and before Linux 4.12.
    pub fn drops(&self) -> Result<u32, Unavailable> {
        platform::drops(self)
    }
}
