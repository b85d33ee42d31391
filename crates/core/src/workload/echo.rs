//! Request and answer.

use super::impossible::{Impossible, range, refuse};
use super::{Marking, StreamSettings, Transport, Wait};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// Every exchange for itself.
    #[default]
    Each,
    /// A whole turn, divided by its exchanges, as Raicu did: for clocks too coarse for one exchange
    /// (docs/method.md section C.3).
    Batch,
}

/// Request and answer, in turns (slices) of the two arms over connections that stay open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// Over which transport.
    pub transport: Transport,
    /// Size of each request, in bytes; at least [`Echo::MESSAGE_BYTES_MIN`].
    pub message_bytes: u32,
    /// Size of each answer, in bytes, if it is not that of the request; at least
    /// [`Echo::MESSAGE_BYTES_MIN`]. Over UDP never more than the request, so that a server cannot
    /// be made to send anybody more than it was sent; ICMP answers with what it was sent.
    #[serde(default)]
    pub response_bytes: Option<u32>,
    /// Requests of a connection that are on the way at a time, at least 1. Above 1 each turn ends
    /// with one exchange for itself, not counted, after all others have been answered.
    #[serde(default = "Echo::one")]
    pub outstanding: u32,
    /// What is timed.
    #[serde(default)]
    pub timing: Timing,
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
    /// Settings of its sockets; over UDP and ICMP the buffers alone mean something, over ICMP
    /// nothing.
    #[serde(flatten)]
    pub settings: StreamSettings,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

impl Echo {
    /// Smallest message: it holds the header by which the ends agree on whose turn it is.
    pub const MESSAGE_BYTES_MIN: u32 = 20;

    /// Most requests of a connection on the way at a time.
    pub const OUTSTANDING_MAX: u32 = 1024;

    fn one() -> u32 {
        1
    }

    /// Size of each answer, in bytes.
    pub const fn answer_bytes(&self) -> u32 {
        match self.response_bytes {
            Some(bytes) => bytes,
            None => self.message_bytes,
        }
    }

    /// Exchanges of each arm in a block, those included that are not counted.
    pub fn exchanges(&self) -> u64 {
        let closing = u64::from(self.outstanding > 1);
        let turn = u64::from(self.turn_exchanges).saturating_add(closing);
        let counted = u64::from(self.turns).saturating_mul(turn);
        let warmup_turn = match u64::from(self.warmup_exchanges) {
            0 => 0,
            exchanges => exchanges.saturating_add(closing),
        };
        counted.saturating_add(u64::from(self.connections).saturating_mul(warmup_turn))
    }

    /// Turns of both arms in a block as the header numbers them, in 16 bits: those of the warm-up,
    /// which are one for each connection, and all of them. `None` if there are none or more.
    pub fn turns_of_both(&self) -> Option<(u16, u16)> {
        let connections = if self.warmup_exchanges > 0 { self.connections } else { 0 };
        let warmup = u16::try_from(connections.checked_mul(2)?).ok()?;
        let counted = u16::try_from(self.turns.checked_mul(2)?).ok()?;
        (counted > 0).then_some((warmup, warmup.checked_add(counted)?))
    }

    pub(super) fn check(&self, datagram_bytes_max: u32) -> Result<(), Impossible> {
        let least = u64::from(Self::MESSAGE_BYTES_MIN);
        let (largest, answer_max) = match self.transport {
            Transport::Tcp => (u32::MAX, u32::MAX),
            // Whoever can make others believe in a source address must not gain by the answers.
            Transport::Udp | Transport::Icmp => (datagram_bytes_max, self.message_bytes),
        };
        range("bytes of a message", self.message_bytes, least..=largest.into())?;
        range("bytes of an answer", self.answer_bytes(), least..=answer_max.into())?;
        self.settings.check()?;
        refuse(
            self.settings.require_buffer,
            "round trips with required socket buffers cannot be had",
        )?;
        if self.transport == Transport::Icmp {
            let fragments = Marking { dont_fragment: false, ..self.marking };
            let other = self.answer_bytes() != self.message_bytes;
            refuse(other, "an ICMP answer of another size cannot be had")?;
            refuse(fragments != Marking::default(), "marking of ICMP echoes cannot be had")?;
            let buffers = self.settings.buffer_bytes.is_some();
            refuse(buffers, "socket buffers of ICMP echoes cannot be had")?;
        }
        let outstanding_max = match (self.transport, self.timing) {
            (Transport::Icmp, _) | (_, Timing::Batch) => 1,
            (Transport::Tcp | Transport::Udp, Timing::Each) => Self::OUTSTANDING_MAX,
        };
        range("requests outstanding", self.outstanding, 1..=outstanding_max.into())?;
        range("connections", self.connections, 1..=u16::MAX.into())?;
        range("exchanges of a turn", self.turn_exchanges, 1..=u32::MAX.into())?;
        if self.turns_of_both().is_none() {
            let warmups = if self.warmup_exchanges > 0 { self.connections } else { 0 };
            let most = u64::from(u16::MAX / 2).saturating_sub(warmups.into());
            return range("turns", self.turns, 1..=most);
        }
        // The header counts messages in 32 bits.
        range("exchanges in all", self.exchanges(), 1..=u32::MAX.into())
    }

    /// Bytes of each arm in a block one way: of messages or of answers, whichever are more.
    pub fn bytes_each_way(&self) -> u64 {
        let larger = self.message_bytes.max(self.answer_bytes());
        self.exchanges().saturating_mul(u64::from(larger))
    }

    /// What tells it from an exchange of the same size with defaults, as part of a cell's name.
    pub(super) fn suffix(&self) -> String {
        let mut suffix = String::new();
        if let Some(bytes) = self.response_bytes.filter(|&bytes| bytes != self.message_bytes) {
            suffix.push_str(&format!("-to-{bytes}"));
        }
        if self.outstanding > 1 {
            suffix.push_str(&format!("-x{}", self.outstanding));
        }
        if self.timing == Timing::Batch {
            suffix.push_str("-batch");
        }
        if let Some(bytes) = self.settings.buffer_bytes {
            suffix.push_str(&format!("-window-{bytes}"));
        }
        // The other ways of waiting follow from where it runs.
        if self.wait == Wait::Spin {
            suffix.push_str("-spin");
        }
        suffix
    }
}

impl Default for Echo {
    /// 64 B over TCP without collecting small segments, 40 turns of 20 exchanges over 8
    /// connections; the ends sleep while they wait.
    fn default() -> Self {
        Echo {
            transport: Transport::Tcp,
            message_bytes: 64,
            response_bytes: None,
            outstanding: 1,
            timing: Timing::Each,
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
