//! Request and answer.

use super::{Marking, StreamSettings, Transport, Wait};
use serde::{Deserialize, Serialize};

/// Request and answer of equal size, in turns (slices) of the two arms over connections that stay
/// open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// Over which transport.
    pub transport: Transport,
    /// Size of each message, in bytes; at least [`Echo::MESSAGE_BYTES_MIN`].
    pub message_bytes: u32,
    /// Connections (for UDP: client sockets) of each arm.
    pub connections: u32,
    /// Exchanges that one turn lasts.
    pub turn_exchanges: u32,
    /// Turns of each arm in a block.
    pub turns: u32,
    /// Exchanges on each connection before the first turn, not counted.
    pub warmup_exchanges: u32,
    /// How both ends wait.
    pub wait: Wait,
    /// Settings of its TCP sockets.
    #[serde(flatten)]
    pub settings: StreamSettings,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

impl Echo {
    /// Smallest message: it holds the header by which the ends agree on whose turn it is.
    pub const MESSAGE_BYTES_MIN: u32 = 20;
}

impl Default for Echo {
    /// 64 B over TCP without collecting small segments, 40 turns of 20 exchanges over 8
    /// connections; the ends sleep while they wait.
    fn default() -> Self {
        Echo {
            transport: Transport::Tcp,
            message_bytes: 64,
            connections: 8,
            turn_exchanges: 20,
            turns: 40,
            warmup_exchanges: 2,
            wait: Wait::Block,
            settings: StreamSettings { no_delay: true, ..StreamSettings::default() },
            marking: Marking::default(),
        }
    }
}
