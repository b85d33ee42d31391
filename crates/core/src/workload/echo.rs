//! Request and answer.

use super::feature::{Feature, Needed};
use super::impossible::{Impossible, range, refuse};
use super::kind::{Cost, HOSTS_NS, Kind, Path};
use super::limits::{Limits, Objection};
use super::{Interleaving, Marking, Method, Parity, StreamSettings, Transport, Wait};
use crate::family::Family;
use crate::metric::Metric;
use crate::unit::format_bytes;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A longer message is a transfer of its own.
const ONE_BY_ONE_BYTES: u32 = 64 << 10;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// Every exchange for itself.
    #[default]
    Each,
    /// A whole turn, divided by its exchanges, as Raicu did: for clocks too coarse for one exchange
    /// (docs/method.md section B.9).
    Batch,
}

/// Request and answer, in turns (slices) of the two arms over connections that stay open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// Over which transport.
    pub transport: Transport,
    /// Who holds the ends.
    #[serde(default, skip_serializing_if = "Method::is_usual")]
    pub method: Method,
    /// Size of each request, in bytes; at least [`Echo::MESSAGE_BYTES_MIN`].
    pub message_bytes: u32,
    /// Whether that is the size over both families.
    #[serde(default, skip_serializing_if = "Parity::is_usual")]
    pub parity: Parity,
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
    /// Whether the median, the 90th and the 99th percentile are questions of their own.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub tails: bool,
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

    /// Exchanges that a trial must have for its percentiles: the least of which one takes longer
    /// than the 99th.
    pub const TAILS_EXCHANGES_MIN: u32 = 100;

    /// Fewest turns of each arm: one of either order, and enough for percentiles if those are
    /// asked for.
    pub fn turns_min(&self) -> u32 {
        let exchanges = if self.tails { Echo::TAILS_EXCHANGES_MIN } else { 1 };
        exchanges.div_ceil(self.turn_exchanges.max(1)).next_multiple_of(2)
    }

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

    /// Sizes of a request and of its answer over `family`, in bytes.
    pub const fn bytes_over(&self, family: Family) -> (u32, u32) {
        let Echo { message_bytes, parity, .. } = *self;
        (parity.bytes(message_bytes, family), parity.bytes(self.answer_bytes(), family))
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

    /// Bytes of each arm in a block one way: of messages or of answers, whichever are more.
    pub fn bytes_each_way(&self) -> u64 {
        let larger = self.message_bytes.max(self.answer_bytes());
        self.exchanges().saturating_mul(u64::from(larger))
    }
}

impl Default for Echo {
    /// 64 B over TCP without collecting small segments, 40 turns of 20 exchanges over 8
    /// connections; the ends sleep while they wait.
    fn default() -> Self {
        Echo {
            transport: Transport::Tcp,
            method: Method::Ends,
            message_bytes: 64,
            parity: Parity::Payload,
            response_bytes: None,
            outstanding: 1,
            timing: Timing::Each,
            tails: false,
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

impl Kind for Echo {
    fn metrics(&self) -> &'static [Metric] {
        match self.tails {
            true => &[Metric::Rtt, Metric::RttP50, Metric::RttP90, Metric::RttP99],
            false => &[Metric::Rtt],
        }
    }

    fn transport(&self) -> Transport {
        self.transport
    }

    fn need(&self, needed: &mut Needed) {
        let Echo {
            transport,
            method,
            message_bytes: _,
            parity,
            response_bytes,
            outstanding,
            timing,
            tails: _,
            connections: _,
            turn_exchanges: _,
            turns: _,
            warmup_exchanges: _,
            wait,
            settings,
            marking,
        } = self;
        needed.add(true, Feature::Echo);
        match transport {
            Transport::Tcp | Transport::Udp => {}
            Transport::Icmp => needed.add(true, Feature::EchoIcmp),
        }
        match method {
            Method::Ends => {}
            Method::Stack => needed.add(true, Feature::EchoStack),
        }
        needed.add(!parity.is_usual(), Feature::EchoParity);
        needed.add(response_bytes.is_some(), Feature::EchoResponse);
        needed.add(*outstanding != 1, Feature::EchoOutstanding);
        match timing {
            Timing::Each => {}
            Timing::Batch => needed.add(true, Feature::EchoBatch),
        }
        needed.wait(*wait);
        needed.add(settings.buffer_bytes.is_some(), Feature::EchoBuffer);
        needed.settings(settings);
        needed.marking(marking);
    }

    fn check_numbers(&self, datagram_bytes_max: u32) -> Result<(), Impossible> {
        let shorter = self.parity.shorter_bytes(Family::V6);
        let least = u64::from(Self::MESSAGE_BYTES_MIN + shorter);
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
        if self.method == Method::Stack {
            let of_kernel = self.transport == Transport::Icmp;
            refuse(
                of_kernel,
                "ICMP echoes are answered by the kernel, not by an end of one thread",
            )?;
            refuse(self.wait != Wait::Yield, "one thread with both ends waits for nobody")?;
        }
        let outstanding_max = match (self.transport, self.timing, self.method) {
            (Transport::Icmp, ..) | (_, Timing::Batch, _) | (.., Method::Stack) => 1,
            (Transport::Tcp | Transport::Udp, Timing::Each, Method::Ends) => Self::OUTSTANDING_MAX,
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

    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        limits.message("bytes of a message", self.message_bytes)?;
        limits.message("bytes of an answer", self.answer_bytes())?;
        range("connections", self.connections, 1..=limits.connections.into())?;
        range("exchanges in all", self.exchanges(), 1..=limits.exchanges)?;
        limits.bytes(2 * u128::from(self.bytes_each_way()))?;
        let most = limits.exchanged_bytes_most();
        Ok(range("bytes of all exchanges", self.exchanged_bytes(), 0..=most)?)
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        let most = limits.exchanged_bytes_most().min(limits.task_bytes.unwrap_or(u64::MAX));
        let before = self.exchanges();
        while self.exchanged_bytes() > most {
            // Turns stay balanced; what opens connections goes last.
            match (self.turns, self.turn_exchanges, self.connections, self.warmup_exchanges) {
                (4.., ..) => self.turns = (self.turns / 2).next_multiple_of(2),
                (_, 2.., ..) => self.turn_exchanges /= 2,
                (_, _, 2.., _) => self.connections /= 2,
                (.., 1..) => self.warmup_exchanges /= 2,
                _ => break,
            }
        }
        if self.exchanges() < before {
            told(format!("there are {} exchanges in a trial, not {before}", self.exchanges()));
        }
    }

    fn cost(&self, path: Path) -> Cost {
        let path = self.method.path(path);
        let count = self.exchanges() as f64;
        let bytes = f64::from(self.message_bytes) + f64::from(self.answer_bytes());
        let hosts_ns = self.method.hosts_ns(HOSTS_NS);
        let trip_ns = (path.round_trip_ns + hosts_ns) / f64::from(self.outstanding.max(1));
        let one_ns = trip_ns + bytes * 8e9 / path.rate_bps;
        Cost { time_ns: count * one_ns, bytes: count * bytes }
    }

    fn suffix(&self) -> String {
        let mut suffix = String::new();
        if let Some(bytes) = self.response_bytes.filter(|&bytes| bytes != self.message_bytes) {
            suffix.push_str(&format!("-to-{bytes}"));
        }
        if !self.parity.is_usual() {
            suffix.push_str("-packet");
        }
        if !self.method.is_usual() {
            suffix.push_str("-stack");
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

    fn suffix_words(&self, _metric: Metric) -> String {
        let buffers = |bytes: u32| format!(", buffers {}", format_bytes(bytes.into()));
        let buffers = self.settings.buffer_bytes.map_or(String::new(), buffers);
        format!("{}{}{buffers}", self.parity.words(), self.method.words())
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn mark(&mut self, marking: Marking) {
        self.marking = marking;
    }

    fn rate_bps_most(&self) -> Option<u64> {
        Some(0)
    }

    fn runs_ahead(&self) -> bool {
        self.outstanding > 1 || self.message_bytes > ONE_BY_ONE_BYTES
    }

    fn lingers(&self) -> bool {
        false
    }

    fn longest_ns(&self) -> Option<u64> {
        None
    }

    fn exchanges_in_all(&self) -> u64 {
        // Of both arms.
        self.exchanges().saturating_mul(2)
    }

    fn connections_collected(&self) -> Option<u64> {
        let has_an_end = self.method.is_usual();
        Some(if has_an_end { self.connections.into() } else { 0 })
    }

    fn exchanged_bytes(&self) -> u64 {
        self.bytes_each_way().saturating_mul(2)
    }

    fn notes_bytes(&self) -> u64 {
        self.exchanges().saturating_mul(super::TIME_BYTES)
    }

    fn wait(&self) -> Wait {
        self.wait
    }

    fn settings(&self) -> Option<&StreamSettings> {
        Some(&self.settings)
    }

    fn datagram_bytes(&self) -> Option<u32> {
        let largest = self.message_bytes.max(self.answer_bytes());
        self.transport.is_datagram().then_some(largest)
    }

    fn datagram_bytes_over(&self, family: Family) -> Option<u32> {
        self.datagram_bytes().map(|bytes| self.parity.bytes(bytes, family))
    }

    fn interleaving(&self) -> Interleaving {
        Interleaving::Slice
    }

    fn level_bytes(&self) -> Option<u32> {
        Some(self.message_bytes)
    }

    fn take_level(&mut self) {
        self.response_bytes = self.response_bytes.filter(|&to| to != self.message_bytes);
        self.message_bytes = 0;
    }

    /// The exchanges of one arm in a block take 0.12 s then, or as long as a dozen do, whatever
    /// their size.
    fn fit(&mut self, path: Path) {
        let path = self.method.path(path);
        const EXCHANGES_NS: f64 = 120_000_000.0;
        const EXCHANGES_MIN: u64 = 12;
        let least = if self.tails { u64::from(Echo::TAILS_EXCHANGES_MIN) } else { EXCHANGES_MIN };
        let bytes = f64::from(self.message_bytes) + f64::from(self.answer_bytes());
        let trip_ns = path.round_trip_ns / f64::from(self.outstanding.max(1));
        let one_ns = trip_ns + bytes * 8e9 / path.rate_bps;
        let wanted = u64::from(self.turn_exchanges) * u64::from(self.turns);
        let exchanges = ((EXCHANGES_NS / one_ns) as u64).max(least);
        if exchanges >= wanted {
            return;
        }
        self.connections = self.connections.min((exchanges / 8) as u32).max(1);
        self.turns = self.turns.min(((exchanges / 4) as u32).max(4) & !1);
        self.turn_exchanges = (exchanges as u32).div_ceil(self.turns);
        self.warmup_exchanges = 1;
    }

    /// As many turns less, at least half of them: null blocks and transfers cannot become as short.
    fn shorten(&mut self, part: f64) {
        let turns = f64::from(self.turns) * part.min(0.5);
        self.turns = (turns as u32).next_multiple_of(2).max(self.turns_min());
    }
}
