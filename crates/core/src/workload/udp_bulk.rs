//! UDP bulk transfer.

use super::feature::{Feature, Needed};
use super::impossible::{self, Impossible, range};
use super::kind::{self, Cost, Kind, Path};
use super::law::{Law, Pace, Schedule, Sizes};
use super::limits::{Limits, Objection};
use super::{Direction, Echo, Marking, Parity};
use crate::family::Family;
use crate::metric::Metric;
use crate::transport::Transport;
use crate::unit::format_rate;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// UDP bulk transfer for a time or a number of datagrams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpBulk {
    /// UDP payload of each datagram, in bytes; the largest where sizes vary.
    pub payload_bytes: u32,
    /// Whether that is the payload over both families; where packets are of one length, as many of
    /// them are sent in a time.
    #[serde(default, skip_serializing_if = "Parity::is_usual")]
    pub parity: Parity,
    /// Rate of payload bits per second; `None` sends as fast as the socket takes it. Means nothing
    /// to a law that has a pace of its own.
    pub rate_bps: Option<u64>,
    /// Time that the sender sends, in ns, warm-up included.
    pub duration_ns: u64,
    /// Time at the start that the receiver leaves out of the rate, in ns.
    pub warmup_ns: u64,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
    /// Which way.
    #[serde(default = "send")]
    pub direction: Direction,
    /// Datagrams after which the sender stops, if the time is not over before.
    #[serde(default)]
    pub packets: Option<u64>,
    /// Most datagrams of one call to the kernel, 1 to [`UdpBulk::BATCH_MAX`]. Those of a paced
    /// stream lie at most [`UdpBulk::BATCH_SPAN_NS`] apart, whatever this says.
    #[serde(default = "one")]
    pub batch: u16,
    /// Whether the kernel may cut and put together pieces of several datagrams (GSO and GRO).
    #[serde(default)]
    pub offload: bool,
    /// How the datagrams of a paced stream follow each other.
    #[serde(default)]
    pub law: Law,
    /// How long the datagrams are.
    #[serde(default)]
    pub sizes: Sizes,
    /// Which metrics are asked for.
    #[serde(default)]
    pub asked: Asked,
}

/// Which metrics of a UDP bulk transfer are questions; loss always is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Asked {
    /// Packets per time in place of bits per time.
    #[serde(default)]
    pub packet_rate: bool,
    /// Reordering.
    #[serde(default)]
    pub reordering: bool,
    /// Duplication.
    #[serde(default)]
    pub duplication: bool,
}

/// Records of before there was a direction were of sending.
fn send() -> Direction {
    Direction::Send
}

/// Records of before there were batches were of single datagrams.
fn one() -> u16 {
    1
}

impl UdpBulk {
    /// Most datagrams of one call.
    pub const BATCH_MAX: u16 = 1024;

    /// Most datagrams per second that can be asked for; no host sends as many.
    pub const PACKETS_PER_SECOND_MAX: u64 = 20_000_000;

    /// Longest stretch of a schedule that one call takes together, in ns.
    pub const BATCH_SPAN_NS: u64 = 100_000;

    /// What it is over `family`, by itself.
    #[must_use]
    pub fn over(&self, family: Family) -> UdpBulk {
        let payload_bytes = self.parity.bytes(self.payload_bytes, family);
        let scaled = |rate: u64| {
            let rate = u128::from(rate) * u128::from(payload_bytes);
            (rate / u128::from(self.payload_bytes.max(1))) as u64
        };
        let rate_bps = self.rate_bps.map(scaled);
        UdpBulk { payload_bytes, rate_bps, parity: Parity::Payload, ..self.clone() }
    }

    /// The longest time for which it sends nothing by its own schedule, in ns, or nearly; 0 at full
    /// speed.
    pub fn pause_ns(&self) -> u64 {
        let bits = u128::from(self.payload_bytes) * 8_000_000_000;
        let gap = |rate_bps: u64| (bits / u128::from(rate_bps.max(1))) as u64;
        let gap_ns = self.rate_bps.map_or(0, gap);
        match self.law {
            Law::Constant | Law::Periodic => gap_ns.saturating_mul(2),
            // One in 20,000 is longer.
            Law::Poisson => gap_ns.saturating_mul(10),
            Law::OnOff { off_ns, .. } => off_ns.saturating_add(gap_ns.saturating_mul(2)),
            Law::Frames { every_ns, .. } => every_ns.saturating_mul(2),
        }
    }

    /// The schedule of its datagrams; `None` if it sends as fast as the socket takes them.
    pub fn schedule(&self, seed: u64) -> Option<Schedule> {
        let pace = match (self.law, self.rate_bps) {
            (Law::Frames { .. }, _) => Pace::Gap(1),
            (_, Some(rate_bps)) => Pace::BitsPerSecond(rate_bps),
            (_, None) => return None,
        };
        Some(Schedule::new(self.law, self.sizes, self.payload_bytes, pace, seed))
    }

    /// Mean rate of payload bits per second that it asks for; `None` at full speed.
    pub fn asked_bps(&self) -> Option<u64> {
        match self.law {
            Law::Frames { .. } => Some(self.law.mean_bps(0)),
            law => self.rate_bps.map(|rate_bps| law.mean_bps(rate_bps)),
        }
    }

    /// Datagrams per second that it asks for, at most; 0 at full speed.
    fn packets_per_second(&self) -> u64 {
        match self.law {
            Law::Frames { frame_bytes, every_ns } => {
                let each = u64::from(frame_bytes.div_ceil(self.payload_bytes.max(1)));
                each.saturating_mul(1_000_000_000) / every_ns.max(1)
            }
            _ => {
                let least = self.sizes.least_bytes(self.payload_bytes).max(1);
                self.rate_bps.unwrap_or(0) / (8 * u64::from(least))
            }
        }
    }

    /// Most bytes of payload that it sends by its own numbers, if these say.
    pub fn bytes_max(&self) -> Option<u128> {
        let timed = self
            .asked_bps()
            .map(|rate| u128::from(rate) * u128::from(self.duration_ns) / 8_000_000_000);
        let counted = self.packets.map(|count| u128::from(count) * u128::from(self.payload_bytes));
        match (timed, counted) {
            (Some(timed), Some(counted)) => Some(timed.min(counted)),
            (timed, counted) => timed.or(counted),
        }
    }

    fn senseless(&self) -> Option<&'static str> {
        let least = self.sizes.least_bytes(self.payload_bytes);
        let rest = self.law.rest_bytes(self.payload_bytes);
        let fits = |bytes: u32| bytes >= Echo::MESSAGE_BYTES_MIN;
        let fixed = self.sizes == Sizes::Fixed;
        if !self.parity.is_usual() {
            if !fixed || matches!(self.law, Law::Frames { .. }) {
                return Some("packets of one length over both families need datagrams of one size");
            }
            if !fits(self.parity.bytes(self.payload_bytes, Family::V6)) {
                return Some("the payload over IPv6 would not hold the header");
            }
        }
        if self.direction == Direction::Both {
            return Some("datagrams go one way in a trial");
        }
        match self.law {
            Law::OnOff { on_ns: 0, .. } => return Some("the time on must be above 0"),
            Law::Frames { frame_bytes: 0, .. } | Law::Frames { every_ns: 0, .. } => {
                return Some("frames need bytes and a time from one to the next above 0");
            }
            Law::Frames { .. } if !fixed => {
                return Some("the datagrams of frames have sizes of their own");
            }
            Law::Frames { .. } if self.rate_bps.is_some() => {
                return Some("frames have a rate of their own");
            }
            Law::Frames { .. } if !rest.is_none_or(fits) => {
                return Some("the last datagram of a frame would not hold the header");
            }
            Law::Frames { .. } | Law::Constant => {}
            _ if self.rate_bps.is_none() => return Some("a law of traffic needs a rate"),
            _ => {}
        }
        if self.packets_per_second() > Self::PACKETS_PER_SECOND_MAX {
            return Some("more than 20 million datagrams per second are asked for");
        }
        if matches!(self.sizes, Sizes::Stepped { step_bytes: 0, .. }) {
            return Some("the step of sizes must be above 0");
        }
        if !fits(least) || least > self.payload_bytes {
            return Some("the smallest size must hold the header and not be above the payload");
        }
        if !fixed && self.rate_bps.is_none() {
            return Some("sizes that vary need a rate");
        }
        if self.offload && !fixed {
            return Some("offload needs datagrams of one size");
        }
        if self.packets == Some(0) {
            return Some("0 datagrams are none");
        }
        if !(1..=Self::BATCH_MAX).contains(&self.batch) {
            return Some("a call takes 1 to 1024 datagrams");
        }
        None
    }
}

impl Default for UdpBulk {
    /// 600 ms with a quarter of it to warm up, 1408 B, client to server, as fast as the socket
    /// takes it, 64 datagrams a call.
    fn default() -> Self {
        UdpBulk {
            payload_bytes: 1408,
            parity: Parity::Payload,
            rate_bps: None,
            duration_ns: 600_000_000,
            warmup_ns: 150_000_000,
            marking: Marking::default(),
            direction: Direction::Send,
            packets: None,
            batch: 64,
            offload: false,
            law: Law::Constant,
            sizes: Sizes::Fixed,
            asked: Asked::default(),
        }
    }
}

impl Kind for UdpBulk {
    fn metrics(&self) -> &'static [Metric] {
        use Metric::{Duplication, Loss, PacketRate, Reordering, Throughput};
        match (self.asked.packet_rate, self.asked.reordering, self.asked.duplication) {
            (false, false, false) => &[Throughput, Loss],
            (false, true, false) => &[Throughput, Loss, Reordering],
            (false, false, true) => &[Throughput, Loss, Duplication],
            (false, true, true) => &[Throughput, Loss, Reordering, Duplication],
            (true, false, false) => &[PacketRate, Loss],
            (true, true, false) => &[PacketRate, Loss, Reordering],
            (true, false, true) => &[PacketRate, Loss, Duplication],
            (true, true, true) => &[PacketRate, Loss, Reordering, Duplication],
        }
    }

    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn need(&self, needed: &mut Needed) {
        let UdpBulk {
            payload_bytes: _,
            parity,
            rate_bps: _,
            duration_ns: _,
            warmup_ns: _,
            marking,
            direction,
            packets,
            batch,
            offload,
            law,
            sizes,
            // Questions about what is in the report anyway.
            asked: _,
        } = self;
        needed.add(true, Feature::UdpBulk);
        needed.add(!parity.is_usual(), Feature::UdpBulkParity);
        needed.add(*direction != Direction::Send, Feature::UdpBulkReceive);
        needed.add(packets.is_some(), Feature::UdpBulkPackets);
        needed.add(*batch != 1, Feature::UdpBulkBatch);
        needed.add(*offload, Feature::UdpBulkOffload);
        match law {
            Law::Constant => {}
            Law::Periodic | Law::Poisson | Law::OnOff { .. } | Law::Frames { .. } => {
                needed.add(true, Feature::UdpBulkLaw);
            }
        }
        match sizes {
            Sizes::Fixed => {}
            Sizes::Random { .. } | Sizes::Stepped { .. } => needed.add(true, Feature::UdpBulkSizes),
        }
        needed.marking(marking);
    }

    fn check_numbers(&self, datagram_bytes_max: u32) -> Result<(), Impossible> {
        impossible::times(self.duration_ns, self.warmup_ns)?;
        let payloads = Echo::MESSAGE_BYTES_MIN.into()..=datagram_bytes_max.into();
        range("payload bytes of a datagram", self.payload_bytes, payloads)?;
        self.senseless().map_or(Ok(()), |why| Err(Impossible::Senseless(why)))?;
        range("rate in bit/s", self.rate_bps.unwrap_or(1), 1..=u64::MAX)
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        limits.message("payload bytes of a datagram", self.payload_bytes)?;
        // The pace of a stream that is off at times is that of the time that it is on.
        match self.asked_bps().map(|mean_bps| mean_bps.max(self.rate_bps.unwrap_or(0))) {
            Some(rate_bps) => limits.rate("rate in bit/s", rate_bps)?,
            None if limits.rate_bps.is_some() => {
                return limits.unbounded("UDP bulk without a rate");
            }
            None => {}
        }
        match self.bytes_max() {
            Some(bytes) => limits.bytes(bytes),
            None => limits.unbounded("UDP bulk without a rate"),
        }
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        kind::cut(&mut self.duration_ns, &mut self.warmup_ns, limits, told);
        let too_many = |most| self.bytes_max().is_none_or(|bytes| bytes > u128::from(most));
        let most = match limits.task_bytes.filter(|&most| too_many(most)) {
            Some(_) => limits.held_bps(self.duration_ns),
            None => limits.rate_bps,
        };
        let (Some(most), false) = (most, matches!(self.law, Law::Frames { .. })) else { return };
        if self.rate_bps.is_none_or(|asked| asked > most) {
            self.rate_bps = Some(most);
            told(format!("the rate is {}", format_rate(most as f64)));
        }
    }

    fn limited_bps(&self, limits: &Limits) -> Option<u64> {
        limits.held_bps(self.duration_ns)
    }

    fn cost(&self, path: Path) -> Cost {
        let time_ns = self.duration_ns as f64;
        let rate_bps =
            self.asked_bps().map_or(path.rate_bps, |rate| (rate as f64).min(path.rate_bps));
        let bytes = rate_bps * time_ns / 8e9;
        match self.packets.map(|count| count as f64 * f64::from(self.payload_bytes)) {
            Some(counted) if counted < bytes => {
                Cost { time_ns: time_ns * counted / bytes, bytes: counted }
            }
            _ => Cost { time_ns, bytes },
        }
    }

    fn suffix(&self) -> String {
        let usual = UdpBulk::default();
        let mut text = String::new();
        let mut add = |differs: bool, word: &str| {
            if differs {
                text.push('-');
                text.push_str(word);
            }
        };
        add(!self.parity.is_usual(), "packet");
        add(self.direction == Direction::Receive, "receive");
        add(self.law != usual.law, self.law.name());
        add(matches!(self.sizes, Sizes::Random { .. }), "random");
        add(matches!(self.sizes, Sizes::Stepped { .. }), "stepped");
        add(self.batch != usual.batch, &format!("batch{}", self.batch));
        add(self.offload, "offload");
        add(self.packets.is_some(), &format!("n{}", self.packets.unwrap_or_default()));
        text
    }

    fn suffix_words(&self, _metric: Metric) -> String {
        let usual = UdpBulk::default();
        let mut text = String::new();
        let mut add = |differs: bool, words: &str| {
            if differs {
                text.push_str(", ");
                text.push_str(words);
            }
        };
        add(!self.parity.is_usual(), "equal packets");
        add(self.direction == Direction::Receive, "from the server");
        add(self.law != usual.law, &self.law.to_string());
        add(matches!(self.sizes, Sizes::Random { .. }), "random sizes");
        add(matches!(self.sizes, Sizes::Stepped { .. }), "stepped sizes");
        add(self.batch == 1, "one datagram a call");
        add(self.batch != 1 && self.batch != usual.batch, &format!("{} a call", self.batch));
        add(self.offload, "offload");
        text
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn mark(&mut self, marking: Marking) {
        self.marking = marking;
    }

    fn rate_bps_most(&self) -> Option<u64> {
        self.asked_bps()
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

    fn datagram_bytes_over(&self, family: Family) -> Option<u32> {
        Some(self.parity.bytes(self.payload_bytes, family))
    }

    fn datagrams(&self) -> Option<UdpBulk> {
        Some(self.clone())
    }

    fn level_bytes(&self) -> Option<u32> {
        Some(self.payload_bytes)
    }

    fn take_level(&mut self) {
        self.payload_bytes = 0;
    }

    fn shorten(&mut self, part: f64) {
        kind::shorten(&mut self.duration_ns, &mut self.warmup_ns, part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_bound_the_bytes() {
        let bulk = UdpBulk { rate_bps: Some(8_000_000), ..UdpBulk::default() };
        assert_eq!(bulk.bytes_max(), Some(600_000));
        let counted = UdpBulk { packets: Some(10), ..bulk };
        assert_eq!(counted.bytes_max(), Some(14_080));
        assert_eq!(UdpBulk { rate_bps: None, ..counted }.bytes_max(), Some(14_080));
        assert_eq!(UdpBulk::default().bytes_max(), None);
    }

    #[test]
    fn what_cannot_be_sent_is_a_problem() {
        let good = UdpBulk { rate_bps: Some(1_000_000), ..UdpBulk::default() };
        assert_eq!(good.check_numbers(65_507), Ok(()));
        let frames = |frame_bytes| UdpBulk {
            law: Law::Frames { frame_bytes, every_ns: 40_000_000 },
            rate_bps: None,
            ..good.clone()
        };
        assert_eq!(frames(50_000).check_numbers(65_507), Ok(()));
        let stepped = Sizes::Stepped { least_bytes: 64, step_bytes: 0 };
        let wrong = [
            UdpBulk { law: Law::Poisson, rate_bps: None, ..good.clone() },
            UdpBulk { law: Law::OnOff { on_ns: 0, off_ns: 1 }, ..good.clone() },
            frames(0),
            frames(1409),
            UdpBulk { rate_bps: Some(1), ..frames(50_000) },
            UdpBulk { sizes: stepped, ..good.clone() },
            UdpBulk { sizes: Sizes::Random { least_bytes: 19 }, ..good.clone() },
            UdpBulk { sizes: Sizes::Random { least_bytes: 1409 }, ..good.clone() },
            UdpBulk { sizes: Sizes::Random { least_bytes: 20 }, offload: true, ..good.clone() },
            UdpBulk { packets: Some(0), ..good.clone() },
            UdpBulk { rate_bps: Some(u64::MAX), ..good.clone() },
            UdpBulk {
                law: Law::Frames { frame_bytes: 20, every_ns: 1 },
                rate_bps: None,
                ..good.clone()
            },
            UdpBulk { direction: Direction::Both, ..good.clone() },
            UdpBulk { batch: 0, ..good.clone() },
            UdpBulk { batch: 1025, ..good.clone() },
        ];
        for bulk in wrong {
            assert!(bulk.check_numbers(65_507).is_err(), "{bulk:?}");
        }
    }

    #[test]
    fn what_differs_from_the_usual_is_named() {
        assert_eq!(UdpBulk::default().suffix(), "");
        let bulk = UdpBulk {
            direction: Direction::Receive,
            law: Law::Poisson,
            batch: 1,
            packets: Some(5),
            ..UdpBulk::default()
        };
        assert_eq!(bulk.suffix(), "-receive-poisson-batch1-n5");
        assert_eq!(
            bulk.suffix_words(Metric::Loss),
            ", from the server, poisson, one datagram a call"
        );
    }
}
