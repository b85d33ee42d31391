//! What follows the header in a probe: the times of both ends, and how the packet was marked when
//! the server received it.
//!
//! The client fills in when it sent the packet, the server the rest, in the same bytes: both ways
//! the packet is equally long. As in the header of all datagrams, nothing here is trusted.

use super::datagram::HEADER_BYTES;
use crate::workload::Probe;

/// Length of a probe's header and times, in bytes; all numbers in it are big-endian.
pub const PROBE_BYTES: usize = HEADER_BYTES + TIMES_BYTES;
const _: () = assert!(PROBE_BYTES == Probe::PAYLOAD_BYTES_MIN as usize);

const TIMES_BYTES: usize = 36;

/// Stands for an unknown time in the kernel.
const UNKNOWN: u32 = u32::MAX;

const HOP_LIMIT_KNOWN: u8 = 1;
const TRAFFIC_CLASS_KNOWN: u8 = 1 << 1;

/// How a packet was marked when it arrived, as far as the system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// Time to live or hop limit that was left.
    pub hop_limit: Option<u8>,
    /// Differentiated services field and ECN.
    pub traffic_class: Option<u8>,
}

/// The times in a probe, each by the clock of the end that wrote it, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// When the client sent it.
    pub sent_ns: u64,
    /// When the server had received it; 0 on the way there.
    pub received_ns: u64,
    /// When the server sent it back; 0 on the way there.
    pub returned_ns: u64,
    /// How many packets the server had sent back in this arm before.
    pub number: u32,
    /// How long it lay in the server's kernel before the server received it.
    pub queued_ns: Option<u32>,
    /// How it was marked when it reached the server.
    pub marks: Marks,
}

impl Times {
    /// Writes the times behind the header in `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`PROBE_BYTES`]; sizes of probes are checked long before.
    pub fn encode(&self, buffer: &mut [u8]) {
        let buffer = &mut buffer[HEADER_BYTES..PROBE_BYTES];
        buffer[..8].copy_from_slice(&self.sent_ns.to_be_bytes());
        buffer[8..16].copy_from_slice(&self.received_ns.to_be_bytes());
        buffer[16..24].copy_from_slice(&self.returned_ns.to_be_bytes());
        buffer[24..28].copy_from_slice(&self.number.to_be_bytes());
        buffer[28..32].copy_from_slice(&self.queued_ns.unwrap_or(UNKNOWN).to_be_bytes());
        let Marks { hop_limit, traffic_class } = self.marks;
        let known = |mark: Option<u8>, bit| if mark.is_some() { bit } else { 0 };
        buffer[32] = hop_limit.unwrap_or(0);
        buffer[33] = traffic_class.unwrap_or(0);
        buffer[34] = known(hop_limit, HOP_LIMIT_KNOWN) | known(traffic_class, TRAFFIC_CLASS_KNOWN);
        buffer[35] = 0;
    }

    /// Reads the times behind the header of `bytes`; `None` if they are too few.
    pub fn decode(bytes: &[u8]) -> Option<Times> {
        let bytes = bytes.get(HEADER_BYTES..)?.first_chunk::<TIMES_BYTES>()?;
        let long = |at: usize| bytes[at..].first_chunk().map(|b| u64::from_be_bytes(*b));
        let short = |at: usize| bytes[at..].first_chunk().map(|b| u32::from_be_bytes(*b));
        let known = |at: usize, bit: u8| (bytes[34] & bit != 0).then_some(bytes[at]);
        Some(Times {
            sent_ns: long(0)?,
            received_ns: long(8)?,
            returned_ns: long(16)?,
            number: short(24)?,
            queued_ns: short(28).filter(|&ns| ns != UNKNOWN),
            marks: Marks {
                hop_limit: known(32, HOP_LIMIT_KNOWN),
                traffic_class: known(33, TRAFFIC_CLASS_KNOWN),
            },
        })
    }
}
