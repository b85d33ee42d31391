//! TCP bulk transfer.

use super::feature::{Feature, Needed};
use super::impossible::{self, Impossible, range};
use super::kind::{self, Cost, Kind, Path, lower};
use super::limits::{Limits, Objection};
use super::{Direction, Marking, StreamSettings};
use crate::metric::Metric;
use crate::transport::Transport;
use crate::unit::{format_bytes, format_rate};
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::RangeInclusive;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// TCP bulk transfer for a time, or of a number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpBulk {
    /// Time that the sender sends, in ns, warm-up included; the longest it may take if `bytes` is
    /// given.
    pub duration_ns: u64,
    /// Time at the start that the receiver leaves out of the rate, in ns; means nothing if `bytes`
    /// is given.
    pub warmup_ns: u64,
    /// Bytes handed to the kernel in one write; about so many if `write_drawn`.
    pub write_bytes: u32,
    /// Whether each block draws the size of its writes anew ([`Kind::draw`]). Only plans have it:
    /// a task says what was drawn.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub write_drawn: bool,
    /// Which way.
    pub direction: Direction,
    /// Connections that send at the same time, in each direction.
    #[serde(default = "one")]
    pub streams: u32,
    /// The transfer is over after so many bytes of all connections together, in each direction. Its
    /// rate is then that of the whole transfer, slow start included.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Fastest pace of all connections of a direction together, in application bit/s, without
    /// bursts.
    #[serde(default)]
    pub pacing_bps: Option<u64>,
    /// How the sender avoids copying.
    #[serde(default)]
    pub zero_copy: Option<ZeroCopy>,
    /// Whether the receiver takes data off without copying or looking at them (`MSG_TRUNC`).
    #[serde(default)]
    pub truncate: bool,
    /// Whether the processor time that it costs is a question of its own.
    #[serde(default)]
    pub cpu: bool,
    /// Settings of its sockets.
    #[serde(flatten)]
    pub settings: StreamSettings,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

/// How a sender avoids copying its data into the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ZeroCopy {
    /// From a file in memory (`sendfile`).
    File,
    /// From the program's memory (`MSG_ZEROCOPY`), waiting for the kernel to say when it is done.
    Memory,
}

impl ZeroCopy {
    /// Name in plans of how copying is avoided.
    pub const fn name(self) -> &'static str {
        match self {
            ZeroCopy::File => "file",
            ZeroCopy::Memory => "memory",
        }
    }
}

const fn one() -> u32 {
    1
}

impl Default for TcpBulk {
    /// One second with a quarter of it to warm up, in writes of 128 KiB, client to server.
    fn default() -> Self {
        TcpBulk {
            duration_ns: 1_000_000_000,
            warmup_ns: 250_000_000,
            write_bytes: 128 * 1024,
            write_drawn: false,
            direction: Direction::Send,
            streams: 1,
            bytes: None,
            pacing_bps: None,
            zero_copy: None,
            truncate: false,
            cpu: false,
            settings: StreamSettings::default(),
            marking: Marking::default(),
        }
    }
}

impl TcpBulk {
    /// Most connections in one direction.
    pub const STREAMS_MAX: u32 = 128;

    /// The smallest size of writes that is drawn is this part of the usual one.
    const DRAWN_PART: u32 = 4;

    /// The largest size of writes that is drawn is so many times the usual one.
    const DRAWN_TIMES: u32 = 2;

    /// The smallest size of reads that is drawn, in bytes.
    const READ_BYTES_MIN: u32 = 128 << 10;

    /// The largest size of reads that is drawn, in bytes: who was put aside catches up in few
    /// calls.
    const READ_BYTES_MAX: u32 = 512 << 10;

    /// The sizes that its writes can have, in bytes.
    pub fn writes_bytes(&self) -> RangeInclusive<u32> {
        let usual = self.write_bytes;
        match self.write_drawn {
            false => usual..=usual,
            true => (usual / Self::DRAWN_PART).max(1)..=usual.saturating_mul(Self::DRAWN_TIMES),
        }
    }

    /// Bytes that a receiver asks for in one read, drawn from the seed of a task: nobody
    /// fixes them, and on a fast link it can decide how the families compare. The lower half
    /// of the seed decides, which all tasks of a block have in common.
    pub fn read_bytes(seed: u64) -> usize {
        let seed = seed & u64::from(u32::MAX);
        let (least, most) = (Self::READ_BYTES_MIN, Self::READ_BYTES_MAX);
        log_uniform(least, most, seed, *b"reads\0\0\0") as usize
    }

    /// Connections of all directions together.
    pub const fn connections(&self) -> u64 {
        match self.direction {
            Direction::Send | Direction::Receive => self.streams as u64,
            Direction::Both => 2 * self.streams as u64,
        }
    }

    /// Whether the client sends over its connection of that number, counted from 0; otherwise the
    /// server does. Of a transfer both ways the first half are the client's.
    pub const fn client_sends(&self, connection: u64) -> bool {
        match self.direction {
            Direction::Send => true,
            Direction::Receive => false,
            Direction::Both => connection < self.streams as u64,
        }
    }

    /// The part of `bytes` that falls to the connection of that number; the parts differ by one
    /// byte at most. All there are if `bytes` is not given.
    pub const fn share_bytes(&self, connection: u64) -> u64 {
        let Some(bytes) = self.bytes else { return u64::MAX };
        if self.streams == 0 {
            return 0;
        }
        let streams = self.streams as u64;
        bytes / streams + ((connection % streams) < bytes % streams) as u64
    }

    /// The pace of one connection, in bytes per second, if there is one.
    pub fn pace_bytes(&self) -> Option<u64> {
        let each = |bps: u64| (bps / 8 / u64::from(self.streams.max(1))).max(1);
        self.pacing_bps.map(each)
    }

    /// Send buffer asked for, in bytes: twice the receive buffer that makes the window. Systems
    /// count their bookkeeping too and a receiver may offer more than it was given, so with the
    /// same for both it would be the sender's room that is measured under the window's name.
    pub fn send_buffer_bytes(&self) -> Option<u32> {
        let most = StreamSettings::BUFFER_BYTES_MAX;
        self.settings.buffer_bytes.map(|bytes| bytes.saturating_mul(2).min(most))
    }
}

impl Kind for TcpBulk {
    fn metrics(&self) -> &'static [Metric] {
        if self.cpu { &[Metric::Throughput, Metric::Cpu] } else { &[Metric::Throughput] }
    }

    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn need(&self, needed: &mut Needed) {
        let TcpBulk {
            duration_ns: _,
            warmup_ns: _,
            write_bytes: _,
            // Drawn before it becomes a task.
            write_drawn: _,
            direction: _,
            streams,
            bytes,
            pacing_bps,
            zero_copy,
            truncate,
            // A question about what is in the report anyway.
            cpu: _,
            settings,
            marking,
        } = self;
        needed.add(true, Feature::TcpBulk);
        needed.add(*streams != 1, Feature::TcpBulkStreams);
        needed.add(bytes.is_some(), Feature::TcpBulkBytes);
        needed.add(pacing_bps.is_some(), Feature::TcpBulkPacing);
        match zero_copy {
            None => {}
            Some(ZeroCopy::File) => needed.add(true, Feature::TcpBulkFile),
            Some(ZeroCopy::Memory) => needed.add(true, Feature::TcpBulkMemory),
        }
        needed.add(*truncate, Feature::TcpBulkTruncate);
        needed.settings(settings);
        needed.marking(marking);
    }

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        impossible::times(self.duration_ns, self.warmup_ns)?;
        range("bytes in one write", self.write_bytes, 1..=u32::MAX.into())?;
        range("streams", self.streams, 1..=Self::STREAMS_MAX.into())?;
        range("pace in bit/s", self.pacing_bps.unwrap_or(1), 1..=u64::MAX)?;
        range("bytes in all", self.bytes.unwrap_or(1), 1..=u64::MAX)?;
        self.settings.check()
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        let (least, most) = self.writes_bytes().into_inner();
        range("bytes in one write", least, 1..=limits.message_bytes.into())?;
        range("bytes in one write", most, 1..=limits.message_bytes.into())?;
        range("connections", self.connections(), 1..=limits.connections.into())?;
        // Without a pace, or without a number of bytes, the server holds it to what it allows.
        limits.rate("pace in bit/s", self.pacing_bps.unwrap_or(1))?;
        limits.bytes(self.bytes.unwrap_or(0).into())
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        kind::cut(&mut self.duration_ns, &mut self.warmup_ns, limits, told);
        let largest = limits.message_bytes;
        if self.write_drawn && *self.writes_bytes().end() > largest {
            self.write_bytes = (largest / Self::DRAWN_TIMES).max(1);
            self.write_drawn = largest >= Self::DRAWN_TIMES;
            told(format!("writes have at most {}", format_bytes(largest.into())));
        }
        if let (Some(bytes), Some(most)) = (&mut self.bytes, limits.task_bytes) {
            lower(bytes, most, told, |most| format!("at most {} are sent", format_bytes(most)));
        }
        if let (Some(pace), Some(most)) = (&mut self.pacing_bps, limits.rate_bps) {
            lower(pace, most, told, |most| format!("the pace is {}", format_rate(most as f64)));
        }
    }

    fn held_bps(&self, limits: &Limits) -> Option<u64> {
        match self.bytes {
            // A number of bytes is kept to in any time.
            Some(_) => limits.rate_bps,
            None => limits.held_bps(self.duration_ns),
        }
    }

    fn limited_bps(&self, limits: &Limits) -> Option<u64> {
        self.held_bps(limits)
    }

    fn cost(&self, path: Path) -> Cost {
        let ways = if self.direction == Direction::Both { 2.0 } else { 1.0 };
        let longest_ns = self.duration_ns as f64;
        let rate_bps = self.pacing_bps.map_or(path.rate_bps, |pace| path.rate_bps.min(pace as f64));
        let time_ns = match self.bytes {
            Some(bytes) => (bytes as f64 * 8e9 / rate_bps + path.round_trip_ns).min(longest_ns),
            None => longest_ns,
        };
        let bytes = rate_bps * time_ns / 8e9;
        Cost { time_ns, bytes: ways * self.bytes.map_or(bytes, |most| bytes.min(most as f64)) }
    }

    fn suffix(&self) -> String {
        let usual = TcpBulk::default();
        let mut suffix = match self.direction {
            Direction::Send => String::new(),
            Direction::Receive => "-receive".to_string(),
            Direction::Both => "-both".to_string(),
        };
        let settings = &self.settings;
        let knobs = [
            ("streams", (self.streams != usual.streams).then_some(self.streams.into())),
            ("bytes", self.bytes),
            ("write", (self.write_bytes != usual.write_bytes).then_some(self.write_bytes.into())),
            ("window", settings.buffer_bytes.map(u64::from)),
            ("mss", settings.mss_bytes.map(u64::from)),
            ("pacing", self.pacing_bps),
        ];
        for (name, value) in knobs {
            if let Some(value) = value {
                suffix.push_str(&format!("-{name}-{value}"));
            }
        }
        let zero_copy = match self.zero_copy {
            Some(ZeroCopy::File) => "-zero-copy-file",
            Some(ZeroCopy::Memory) => "-zero-copy-memory",
            None => "",
        };
        suffix.push_str(zero_copy);
        for (name, on) in [("-truncate", self.truncate), ("-no-delay", settings.no_delay)] {
            if on {
                suffix.push_str(name);
            }
        }
        suffix
    }

    fn suffix_words(&self, _metric: Metric) -> String {
        let usual = TcpBulk::default();
        let size = |n: u32| format_bytes(n.into());
        let mut said = String::new();
        let mut say = |text: Option<String>| {
            if let Some(text) = text {
                said.push_str(&format!(", {text}"));
            }
        };
        say(match self.direction {
            Direction::Send => None,
            Direction::Receive => Some("receiving".to_string()),
            Direction::Both => Some("both ways".to_string()),
        });
        say((self.streams != 1).then(|| format!("{} streams", self.streams)));
        say(self.bytes.map(format_bytes));
        say((self.write_bytes != usual.write_bytes)
            .then(|| format!("writes of {}", size(self.write_bytes))));
        say(self.settings.buffer_bytes.map(|n| format!("window {}", size(n))));
        say(self.settings.mss_bytes.map(|n| format!("segments of {}", size(n))));
        say(self.pacing_bps.map(|bps| format!("at most {}", format_rate(bps as f64))));
        say(self.zero_copy.map(|way| format!("zero-copy from {}", way.name())));
        say(self.truncate.then(|| "received unread".to_string()));
        say(self.settings.no_delay.then(|| "no delay".to_string()));
        said
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn mark(&mut self, marking: Marking) {
        self.marking = marking;
    }

    fn rate_bps_most(&self) -> Option<u64> {
        self.pacing_bps
    }

    fn runs_ahead(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        true
    }

    fn longest_ns(&self) -> Option<u64> {
        Some(self.duration_ns)
    }

    fn connections_collected(&self) -> Option<u64> {
        Some(self.connections())
    }

    fn settings(&self) -> Option<&StreamSettings> {
        Some(&self.settings)
    }

    fn direction(&self) -> Option<Direction> {
        Some(self.direction)
    }

    fn fit(&mut self, path: Path) {
        /// It lasts at least so many round trips: slow start takes about ten.
        const ROUND_TRIPS: f64 = 20.0;
        let least = (ROUND_TRIPS * path.round_trip_ns) as u64;
        if self.duration_ns < least {
            self.duration_ns = least;
            self.warmup_ns = if self.bytes.is_some() { 0 } else { least / 2 };
        }
    }

    fn draw(&mut self, seed: u64) -> Option<u32> {
        if !self.write_drawn {
            return None;
        }
        let (least, most) = self.writes_bytes().into_inner();
        self.write_bytes = log_uniform(least, most, seed, *b"writes\0\0");
        self.write_drawn = false;
        Some(self.write_bytes)
    }

    fn reads_bytes(&self, seed: u64) -> Option<u32> {
        u32::try_from(Self::read_bytes(seed)).ok()
    }

    fn shorten(&mut self, part: f64) {
        kind::shorten(&mut self.duration_ns, &mut self.warmup_ns, part);
    }
}

/// A size between the two, both included, of which equal ratios are equally likely. The name tells
/// what is drawn from what else is drawn from the seed.
fn log_uniform(least: u32, most: u32, seed: u64, name: [u8; 8]) -> u32 {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    rng.set_stream(u64::from_be_bytes(name));
    let share = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let ratio = f64::from(most) / f64::from(least.max(1));
    let bytes = libm::round(f64::from(least) * libm::pow(ratio, share));
    (bytes as u32).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_add_up_and_differ_by_one_at_most() {
        for (bytes, streams) in [(10, 3), (2, 4), (0, 1), (1_000_000, 128), (u64::MAX, 7)] {
            let bulk = TcpBulk { bytes: Some(bytes), streams, ..TcpBulk::default() };
            let shares = || (0..u64::from(streams)).map(|i| bulk.share_bytes(i));
            assert_eq!(shares().sum::<u64>(), bytes);
            assert!(shares().max().unwrap_or(0) - shares().min().unwrap_or(0) <= 1);
        }
    }

    #[test]
    fn both_ways_need_twice_the_connections_and_half_of_them_are_the_clients() {
        let bulk = TcpBulk { streams: 3, direction: Direction::Both, ..TcpBulk::default() };
        assert_eq!(bulk.connections(), 6);
        let sends: alloc::vec::Vec<bool> = (0..6).map(|i| bulk.client_sends(i)).collect();
        assert_eq!(sends, [true, true, true, false, false, false]);
    }

    #[test]
    fn a_usual_transfer_keeps_its_short_name() {
        assert_eq!(TcpBulk::default().suffix(), "");
        let settings = StreamSettings { buffer_bytes: Some(65_536), ..StreamSettings::default() };
        let bulk = TcpBulk { streams: 4, bytes: Some(1000), settings, ..TcpBulk::default() };
        assert_eq!(bulk.suffix(), "-streams-4-bytes-1000-window-65536");
    }

    fn open() -> TcpBulk {
        TcpBulk { write_drawn: true, ..TcpBulk::default() }
    }

    proptest! {
        /// What is drawn is within the sizes that are possible, is the same for the same seed, and
        /// leaves a transfer with a size of its own and nothing else changed.
        #[test]
        fn a_size_is_drawn_once_from_the_seed(seed: u64, usual in 1_u32..=1 << 24) {
            let plan = TcpBulk { write_bytes: usual, ..open() };
            let mut task = plan.clone();
            let drawn = task.draw(seed).unwrap();
            prop_assert!(plan.writes_bytes().contains(&drawn));
            let expected = TcpBulk { write_bytes: drawn, write_drawn: false, ..plan.clone() };
            prop_assert_eq!(&task, &expected);
            prop_assert_eq!(plan.clone().draw(seed), Some(drawn));
            prop_assert_eq!(task.draw(seed), None);
        }

        /// The reads of both arms have one size, and those of another block another one.
        #[test]
        fn reads_are_drawn_from_the_seed(seed: u64) {
            let read = TcpBulk::read_bytes(seed);
            prop_assert!((128 << 10..=512 << 10).contains(&read));
            prop_assert_eq!(read, TcpBulk::read_bytes(seed ^ (1 << 32)));
            let others = (1..9).map(|more| TcpBulk::read_bytes(seed.wrapping_add(more)));
            prop_assert!(others.into_iter().any(|other| other != read));
        }

        /// A plan fits a server of any size of messages, and so does all that is drawn from it.
        #[test]
        fn no_size_is_beyond_what_a_server_allows(seed: u64, most in 1_u32..1 << 20) {
            let limits = Limits { message_bytes: most, ..Limits::default() };
            let mut plan = open();
            plan.keep_to(&limits, &mut |_| {});
            prop_assert!(plan.check_limits(&limits).is_ok(), "{:?}", plan);
            plan.draw(seed);
            prop_assert!(plan.check_limits(&limits).is_ok(), "{:?}", plan);
        }
    }

    /// Each eighth of the range, by ratio, has about its part of the draws, and no size is
    /// preferred.
    #[test]
    fn the_sizes_cover_their_range() {
        const DRAWS: u64 = 4000;
        let mut eighths = [0; 8];
        let mut odd = 0;
        for seed in 0..DRAWS {
            let bytes = open().draw(seed).unwrap();
            let share = libm::log2(f64::from(bytes) / 32_768.0) / 3.0;
            eighths[((share * 8.0) as usize).min(7)] += 1;
            odd += u64::from(bytes % 2 == 1);
        }
        // 500 each, with a standard deviation of 21.
        assert!(eighths.iter().all(|count| (400..=600).contains(count)), "{eighths:?}");
        assert!((1800..=2200).contains(&odd), "{odd}");
    }

    #[test]
    fn a_fixed_size_is_not_drawn() {
        let mut fixed = TcpBulk { write_bytes: 768, ..TcpBulk::default() };
        assert_eq!(
            (fixed.draw(1), fixed.write_bytes, fixed.writes_bytes()),
            (None, 768, 768..=768)
        );
    }
}
