//! TCP bulk transfer.

use super::{Direction, Marking, StreamSettings};
use serde::{Deserialize, Serialize};

/// TCP bulk transfer for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpBulk {
    /// Time that the sender sends, in ns, warm-up included.
    pub duration_ns: u64,
    /// Time at the start that the receiver leaves out of the rate, in ns.
    pub warmup_ns: u64,
    /// Bytes handed to the kernel in one write.
    pub write_bytes: u32,
    /// Which way.
    pub direction: Direction,
    /// Settings of its sockets.
    #[serde(flatten)]
    pub settings: StreamSettings,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

impl Default for TcpBulk {
    /// One second with a quarter of it to warm up, in writes of 128 KiB, client to server.
    fn default() -> Self {
        TcpBulk {
            duration_ns: 1_000_000_000,
            warmup_ns: 250_000_000,
            write_bytes: 128 * 1024,
            direction: Direction::Send,
            settings: StreamSettings::default(),
            marking: Marking::default(),
        }
    }
}
