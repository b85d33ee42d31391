//! UDP bulk transfer.

use super::Marking;
use serde::{Deserialize, Serialize};

/// UDP bulk transfer for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpBulk {
    /// UDP payload of each datagram, in bytes.
    pub payload_bytes: u32,
    /// Rate of payload bits per second; `None` sends as fast as the socket takes it.
    pub rate_bps: Option<u64>,
    /// Time that the sender sends, in ns, warm-up included.
    pub duration_ns: u64,
    /// Time at the start that the receiver leaves out of the rate, in ns.
    pub warmup_ns: u64,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

impl Default for UdpBulk {
    /// 600 ms with a quarter of it to warm up, 1408 B, as fast as the socket takes it.
    fn default() -> Self {
        UdpBulk {
            payload_bytes: 1408,
            rate_bps: None,
            duration_ns: 600_000_000,
            warmup_ns: 150_000_000,
            marking: Marking::default(),
        }
    }
}
