//! What the receiver of a search for capacity reports (the status feedback of RFC 9097 section
//! 8.1), and the time of sending in its datagrams.
//!
//! Both stand behind the header of all datagrams; as there, nothing here is trusted.

use super::datagram::HEADER_BYTES;
use crate::workload::Capacity;

/// Length of a report with its header, in bytes; all numbers in it are big-endian.
pub const STATUS_BYTES: usize = HEADER_BYTES + BODY_BYTES;
const _: () = assert!(STATUS_BYTES == Capacity::PAYLOAD_BYTES_MIN as usize);

const BODY_BYTES: usize = 28;

/// What a receiver has seen. Counts run since the start of the task, modulo 2^32, but for that of
/// the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// Datagrams that came, duplicates left out, of the trial that the header's turn names.
    pub packets: u32,
    /// Numbers below the highest one seen that have not come.
    pub missing: u32,
    /// Datagrams that came out of order or more than once.
    pub disordered: u32,
    /// Datagrams that the receiver's socket dropped.
    pub dropped: u32,
    /// Mean one-way delay of what came since the last report, above the smallest of all, in µs.
    pub delay_us: u32,
    /// Rate at which the payload of the trial came, in bit/s; 0 if too little came to tell.
    pub arrived_bps: u64,
}

impl Status {
    /// Writes the report behind the header in `buffer`.
    ///
    /// # Panics
    /// If `buffer` is shorter than [`STATUS_BYTES`]; its callers have buffers of that length.
    pub fn encode(&self, buffer: &mut [u8]) {
        let buffer = &mut buffer[HEADER_BYTES..STATUS_BYTES];
        let counts = [self.packets, self.missing, self.disordered, self.dropped, self.delay_us];
        for (place, count) in buffer.chunks_exact_mut(4).zip(counts) {
            place.copy_from_slice(&count.to_be_bytes());
        }
        buffer[20..].copy_from_slice(&self.arrived_bps.to_be_bytes());
    }

    /// Reads the report behind the header of `bytes`; `None` if they are too few.
    pub fn decode(bytes: &[u8]) -> Option<Status> {
        let bytes = bytes.get(HEADER_BYTES..)?.first_chunk::<BODY_BYTES>()?;
        let count = |at: usize| bytes[at..].first_chunk().map(|b| u32::from_be_bytes(*b));
        Some(Status {
            packets: count(0)?,
            missing: count(4)?,
            disordered: count(8)?,
            dropped: count(12)?,
            delay_us: count(16)?,
            arrived_bps: bytes.last_chunk().map(|b| u64::from_be_bytes(*b))?,
        })
    }
}

/// Writes when a datagram is sent, in ns by the sender's clock, behind its header.
///
/// # Panics
/// If `buffer` has no room for it; payloads of a search are checked long before.
#[inline]
pub fn encode_sent(sent_ns: u64, buffer: &mut [u8]) {
    buffer[HEADER_BYTES..HEADER_BYTES + 8].copy_from_slice(&sent_ns.to_be_bytes());
}

/// Reads when a datagram was sent; `None` if it is too short.
#[inline]
pub fn decode_sent(bytes: &[u8]) -> Option<u64> {
    bytes.get(HEADER_BYTES..)?.first_chunk().map(|b| u64::from_be_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back_as_it_was() {
        let status = Status {
            packets: 1,
            missing: 2,
            disordered: u32::MAX,
            dropped: 4,
            delay_us: 5,
            arrived_bps: u64::MAX - 1,
        };
        let mut buffer = [0xee; STATUS_BYTES];
        status.encode(&mut buffer);
        assert_eq!(buffer[..HEADER_BYTES], [0xee; HEADER_BYTES]);
        assert_eq!(Status::decode(&buffer), Some(status));
        assert_eq!(Status::decode(&buffer[..STATUS_BYTES - 1]), None);
        encode_sent(u64::MAX / 3, &mut buffer);
        assert_eq!(decode_sent(&buffer), Some(u64::MAX / 3));
        assert_eq!(decode_sent(&buffer[..HEADER_BYTES + 7]), None);
    }
}
