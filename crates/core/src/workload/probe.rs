//! Paced packets that the server sends back: round trips, one-way variation and loss each way.

use super::feature::{Feature, Needed};
use super::impossible::{Impossible, range, refuse};
use super::kind::{Cost, HOSTS_NS, Kind, Path};
use super::limits::{Limits, Objection};
use super::{
    Direction, Interleaving, LAB_CONGESTION, Law, Marking, StreamSettings, Transport, UdpBulk, Wait,
};
use crate::family::Family;
use crate::metric::Metric;
use crate::unit::{format_bytes, format_rate, format_span};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Equal UDP packets from the client at times fixed beforehand, whatever becomes of those before,
/// each sent back by the server with its own times. Without load, the arms take turns over sockets
/// that stay open; under load, whole trials alternate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// UDP payload of each packet, in bytes; at least [`Probe::PAYLOAD_BYTES_MIN`].
    pub payload_bytes: u32,
    /// From one intended time of sending to the next, in ns; the mean, where gaps are random.
    pub interval_ns: u64,
    /// How the packets of a turn follow each other: [`Law::Constant`], [`Law::Periodic`] or
    /// [`Law::Poisson`].
    pub law: Law,
    /// Packets of one turn; the mean, where gaps are random.
    pub turn_packets: u32,
    /// Turns of each arm in a block.
    pub turns: u32,
    /// Longest time after which a packet still counts as arrived, in ns (the threshold of RFC 2681
    /// and RFC 7680).
    pub timeout_ns: u64,
    /// How both ends wait.
    pub wait: Wait,
    /// Largest difference of the ends' clocks, in ns, as declared by the user; only then one-way
    /// delays are told.
    #[serde(default)]
    pub clock_error_ns: Option<u64>,
    /// Whether the kernels' times of sending and receiving are taken too, which splits round trips
    /// into host and network.
    #[serde(default)]
    pub kernel_times: bool,
    /// Traffic that fills the path meanwhile.
    #[serde(default)]
    pub load: Option<Load>,
    /// How its packets are marked.
    #[serde(default)]
    pub marking: Marking,
}

/// Whose packets fill the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadFamily {
    /// The family of the arm.
    Same,
    /// The other family.
    Other,
}

/// Datagrams that fill the path while probes measure it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpLoad {
    /// UDP payload of each, in bytes.
    pub payload_bytes: u32,
    /// Payload bits per second of each stream; `None` sends as fast as the socket takes it.
    #[serde(default)]
    pub rate_bps: Option<u64>,
}

impl UdpLoad {
    /// One of its streams, as long as `duration_ns`.
    pub fn stream(&self, duration_ns: u64) -> UdpBulk {
        let UdpLoad { payload_bytes, rate_bps } = *self;
        UdpBulk { payload_bytes, rate_bps, duration_ns, warmup_ns: 0, ..UdpBulk::default() }
    }
}

impl Default for UdpLoad {
    /// 1408 B, as fast as the socket takes it.
    fn default() -> Self {
        UdpLoad { payload_bytes: UdpBulk::default().payload_bytes, rate_bps: None }
    }
}

/// Streams of TCP or UDP that fill the path while probes measure it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// In which family.
    pub family: LoadFamily,
    /// Which way.
    pub direction: Direction,
    /// Streams each way.
    pub streams: u32,
    /// Time before the first probe in which the load builds up, in ns.
    pub lead_ns: u64,
    /// Settings of its sockets, if it is of TCP.
    #[serde(flatten)]
    pub settings: StreamSettings,
    /// Datagrams of the load, if it is of UDP.
    #[serde(default)]
    pub udp: Option<UdpLoad>,
}

impl Load {
    /// Over which transport.
    pub const fn transport(&self) -> Transport {
        match self.udp {
            Some(_) => Transport::Udp,
            None => Transport::Tcp,
        }
    }

    /// Payload bits per second that it asks for each way; `None` if that is the path's own rate.
    pub fn asked_bps(&self) -> Option<u64> {
        let each = self.udp?.rate_bps?;
        Some(each.saturating_mul(self.streams.into()))
    }

    fn check(&self, longest_ns: u64) -> Result<(), Impossible> {
        range("streams of the load", self.streams, 1..=Probe::STREAMS_MAX.into())?;
        range("lead of the load in ns", self.lead_ns, 0..=Probe::LEAD_NS_MAX)?;
        self.settings.check()?;
        let Some(udp) = &self.udp else { return Ok(()) };
        let largest = Family::BOTH.map(Family::udp_payload_bytes_max).into_iter().min();
        udp.stream(longest_ns).check_numbers(largest.unwrap_or(0))
    }

    fn check_limits(&self, bps_most: Option<u64>, limits: &Limits) -> Result<(), Objection> {
        let most = limits.connections / self.ways().len() as u32;
        range("streams of the load", self.streams, 1..=most.into())?;
        if let Some(udp) = &self.udp {
            limits.message("payload bytes of the load", udp.payload_bytes)?;
        }
        let most = bps_most.unwrap_or(u64::MAX);
        match (self.asked_bps(), self.transport()) {
            (Some(bps), _) => Ok(range("rate of the load in bit/s", bps, 1..=most)?),
            // The server holds it to what it allows.
            (None, Transport::Tcp) => {
                Ok(range("rate left for the load in bit/s", most, 1..=u64::MAX)?)
            }
            (None, _) => limits.unbounded("a load of datagrams without a rate"),
        }
    }

    fn need(&self, needed: &mut Needed) {
        let Load { family: _, direction: _, streams: _, lead_ns: _, settings, udp } = self;
        needed.add(true, Feature::ProbeLoad);
        needed.settings(settings);
        if let Some(UdpLoad { payload_bytes: _, rate_bps: _ }) = udp {
            needed.add(true, Feature::ProbeLoadUdp);
        }
    }

    /// The ways that its streams go.
    pub const fn ways(&self) -> &'static [Direction] {
        match self.direction {
            Direction::Send => &[Direction::Send],
            Direction::Receive => &[Direction::Receive],
            Direction::Both => &[Direction::Send, Direction::Receive],
        }
    }

    /// The family of its packets while those of `family` are probed.
    pub const fn family_beside(&self, family: Family) -> Family {
        match self.family {
            LoadFamily::Same => family,
            LoadFamily::Other => family.other(),
        }
    }

    /// `payload_bytes` is that of the probes beside it.
    fn words(&self, payload_bytes: u32) -> String {
        let way = match self.direction {
            Direction::Send => "",
            Direction::Receive => " back",
            Direction::Both => " both ways",
        };
        let family = match self.family {
            LoadFamily::Same => "",
            LoadFamily::Other => " of the other family",
        };
        let streams = match (self.udp, self.streams) {
            (None, streams) => {
                let streams =
                    if streams == 1 { String::new() } else { format!(" by {streams} streams") };
                let segments = self.settings.mss_bytes.map_or(String::new(), |bytes| {
                    match bytes == payload_bytes {
                        true => String::from(" by segments of the same size"),
                        false => format!(" by segments of {}", format_bytes(bytes.into())),
                    }
                });
                format!("{streams}{segments}")
            }
            (Some(udp), streams) => {
                let streams =
                    if streams == 1 { String::new() } else { format!(" in {streams} streams") };
                let rate = udp.rate_bps.map_or(String::new(), |rate_bps| {
                    format!(" at {}", format_rate(rate_bps as f64))
                });
                match udp.payload_bytes == payload_bytes {
                    true => format!(" by UDP of the same size{streams}{rate}"),
                    false => {
                        let bytes = format_bytes(udp.payload_bytes.into());
                        format!(" by {bytes} of UDP{streams}{rate}")
                    }
                }
            }
        };
        format!(", loaded{way}{streams}{family}")
    }

    fn id(&self) -> String {
        let way = match self.direction {
            Direction::Send => "send",
            Direction::Receive => "receive",
            Direction::Both => "both",
        };
        let family = match self.family {
            LoadFamily::Same => "",
            LoadFamily::Other => "-other",
        };
        // That of the lab is its default.
        let congestion = self.settings.congestion.as_deref();
        let congestion = congestion.filter(|&name| name != LAB_CONGESTION);
        let congestion = congestion.map_or(String::new(), |name| format!("-{name}"));
        let mss = self.settings.mss_bytes.map_or(String::new(), |bytes| format!("-mss-{bytes}"));
        let (udp, datagrams) = self.udp.map_or_else(Default::default, |udp| {
            let rate = udp.rate_bps.map_or(String::new(), |rate_bps| format!("-{rate_bps}bps"));
            ("udp-", format!("-of-{}{rate}", udp.payload_bytes))
        });
        format!("{udp}{way}-{}{family}{congestion}{mss}{datagrams}", self.streams)
    }
}

impl Default for Load {
    /// One stream of the arm's own family to the server, a second ahead.
    fn default() -> Self {
        Load {
            family: LoadFamily::Same,
            direction: Direction::Send,
            streams: 1,
            lead_ns: 1_000_000_000,
            settings: StreamSettings::default(),
            udp: None,
        }
    }
}

impl Probe {
    /// Smallest payload: it holds the header and the times of both ends.
    pub const PAYLOAD_BYTES_MIN: u32 = 56;

    /// Most packets of an arm: both ends keep a note of each.
    pub const PACKETS_MAX: u64 = 1 << 20;

    /// Most streams of a load each way.
    pub const STREAMS_MAX: u32 = 32;

    /// Longest lead of a load, in ns.
    pub const LEAD_NS_MAX: u64 = 10_000_000_000;

    /// Packets of each arm; the mean, where gaps are random.
    pub const fn packets(&self) -> u64 {
        self.turns as u64 * self.turn_packets as u64
    }

    /// Most packets that a turn can have: random gaps may bring more than the mean.
    pub const fn turn_packets_max(&self) -> u64 {
        match self.law {
            Law::Poisson => 2 * self.turn_packets as u64 + 16,
            _ => self.turn_packets as u64,
        }
    }

    /// Most packets of each arm.
    pub const fn packets_max(&self) -> u64 {
        self.turns as u64 * self.turn_packets_max()
    }

    /// Length of a turn, in ns.
    pub const fn turn_ns(&self) -> u64 {
        (self.turn_packets as u64).saturating_mul(self.interval_ns)
    }

    /// Time in which one arm sends, in ns.
    pub const fn sending_ns(&self) -> u64 {
        self.packets().saturating_mul(self.interval_ns)
    }

    /// What tells it from others of the same metric and size in a label, as in ", probes"; `named`:
    /// whether the word itself is needed.
    pub fn words(&self, named: bool) -> String {
        let usual = Probe::default();
        let mut words = match &self.load {
            None if named => String::from(", probes"),
            None => String::new(),
            Some(load) => load.words(self.payload_bytes),
        };
        if self.interval_ns != usual.interval_ns {
            words.push_str(&format!(", every {}", format_span(self.interval_ns as f64)));
        }
        if self.law != usual.law {
            words.push_str(&format!(", {}", self.law));
        }
        words
    }

    /// Time until the last packet of both arms is given up, with the lead of the load, in ns.
    pub fn both_arms_ns(&self) -> u64 {
        let lead_ns = self.load.as_ref().map_or(0, |load| load.lead_ns);
        let sending_ns = self.sending_ns().saturating_mul(2);
        sending_ns.saturating_add(self.timeout_ns).saturating_add(lead_ns)
    }

    /// The highest rate of all streams of its load each way, in bit/s, which leaves room for the
    /// probes; `None` is without limit.
    pub fn load_bps_most(&self, limits: &Limits) -> Option<u64> {
        let held_bps = limits.held_bps(self.both_arms_ns())?;
        Some(held_bps.saturating_sub(self.rate_bps()))
    }

    /// Payload bits per second while an arm sends.
    pub const fn rate_bps(&self) -> u64 {
        let bits = self.payload_bytes as u64 * 8;
        match 1_000_000_000_u64.checked_div(self.interval_ns) {
            // Above a second between packets the rate is below their size.
            Some(0) | None => bits,
            Some(per_second) => bits.saturating_mul(per_second),
        }
    }
}

impl Default for Probe {
    /// 64 B each millisecond after a random start of each turn (RFC 3432), 20 turns of 50 packets,
    /// given up after 2 s; the ends sleep while they wait, and kernel times are taken.
    fn default() -> Self {
        Probe {
            payload_bytes: 64,
            interval_ns: 1_000_000,
            law: Law::Periodic,
            turn_packets: 50,
            turns: 20,
            timeout_ns: 2_000_000_000,
            wait: Wait::Block,
            clock_error_ns: None,
            kernel_times: true,
            load: None,
            marking: Marking::default(),
        }
    }
}

impl Kind for Probe {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric::Rtt, Metric::Ipdv, Metric::Pdv, Metric::Loss, Metric::LossBack]
    }

    fn transport(&self) -> Transport {
        Transport::Udp
    }

    fn need(&self, needed: &mut Needed) {
        let Probe {
            payload_bytes: _,
            interval_ns: _,
            // Probes have had their laws from the beginning.
            law: _,
            turn_packets: _,
            turns: _,
            timeout_ns: _,
            wait,
            clock_error_ns,
            kernel_times,
            load,
            marking,
        } = self;
        needed.add(true, Feature::Probe);
        needed.wait(*wait);
        needed.add(clock_error_ns.is_some(), Feature::ProbeClocks);
        needed.add(*kernel_times, Feature::ProbeKernelTimes);
        if let Some(load) = load {
            load.need(needed);
        }
        needed.marking(marking);
    }

    fn check_numbers(&self, datagram_bytes_max: u32) -> Result<(), Impossible> {
        let payloads = Self::PAYLOAD_BYTES_MIN.into()..=datagram_bytes_max.into();
        range("payload bytes of a probe", self.payload_bytes, payloads)?;
        // The header counts the turns of both arms in 16 bits.
        range("turns", self.turns, 1..=u64::from(u16::MAX / 2))?;
        range("packets of a turn", self.turn_packets, 1..=Self::PACKETS_MAX)?;
        range("packets in all", self.packets_max(), 1..=Self::PACKETS_MAX)?;
        range("interval in ns", self.interval_ns, 1_000..=u64::MAX)?;
        range("waiting time in ns", self.timeout_ns, 1..=u64::MAX)?;
        refuse(
            !matches!(self.law, Law::Constant | Law::Periodic | Law::Poisson),
            "probes follow each other constantly, periodically or as a Poisson stream",
        )?;
        let longest_ns = self.both_arms_ns();
        self.load.as_ref().map_or(Ok(()), |load| load.check(longest_ns))
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        limits.message("payload bytes of a probe", self.payload_bytes)?;
        range("packets in all", self.packets_max(), 1..=limits.exchanges)?;
        range("interval in ns", self.interval_ns, 1..=limits.task_ns)?;
        range("waiting time in ns", self.timeout_ns, 1..=limits.task_ns)?;
        limits.rate("rate in bit/s", self.rate_bps())?;
        // Without a load both arms of a block take turns.
        let arms = if self.load.is_some() { 1 } else { 2 };
        let bytes = u128::from(self.packets_max()) * u128::from(self.payload_bytes);
        limits.bytes(arms * bytes)?;
        let most = self.load_bps_most(limits);
        self.load.as_ref().map_or(Ok(()), |load| load.check_limits(most, limits))
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        let before = self.turns;
        while self.turns > 1 && self.both_arms_ns() > limits.task_ns {
            self.turns = self.turns.div_ceil(2);
        }
        if self.turns < before {
            told(format!("there are {} turns of probes, not {before}", self.turns));
        }
        let most = self.load_bps_most(limits);
        let load = self.load.as_mut().and_then(|load| Some((load.streams, load.udp.as_mut()?)));
        if let (Some(most), Some((streams, udp))) = (most, load) {
            let each = most / u64::from(streams.max(1));
            if udp.rate_bps.is_none_or(|asked| asked > each) {
                udp.rate_bps = Some(each);
                told(format!("each stream of the load has {}", format_rate(each as f64)));
            }
        }
    }

    fn held_bps(&self, limits: &Limits) -> Option<u64> {
        let of_tcp = self.load.as_ref().is_some_and(|load| load.udp.is_none());
        of_tcp.then(|| self.load_bps_most(limits)).flatten()
    }

    fn cost(&self, path: Path) -> Cost {
        let bytes = 2.0 * self.packets() as f64 * f64::from(self.payload_bytes);
        let time_ns = self.sending_ns() as f64 + 2.0 * (path.round_trip_ns + HOSTS_NS);
        let Some(load) = &self.load else { return Cost { time_ns, bytes } };
        let time_ns = time_ns + load.lead_ns as f64;
        let rate_bps =
            load.asked_bps().map_or(path.rate_bps, |rate| path.rate_bps.min(rate as f64));
        let loaded = load.ways().len() as f64 * rate_bps * time_ns / 8e9;
        Cost { time_ns, bytes: bytes + loaded }
    }

    fn suffix(&self) -> String {
        let usual = Probe::default();
        let mut suffix = String::new();
        if self.interval_ns != usual.interval_ns {
            suffix.push_str(&format!("-{}us", self.interval_ns as f64 / 1e3));
        }
        if self.law != usual.law {
            suffix.push_str(&format!("-{}", self.law));
        }
        suffix
    }

    fn suffix_words(&self, metric: Metric) -> String {
        // Exchanges and transfers tell these metrics too.
        self.words(matches!(metric, Metric::Rtt | Metric::Loss))
    }

    fn name(&self) -> Option<String> {
        let kind = match &self.load {
            None => String::from("probe"),
            Some(load) => format!("rtt-loaded-{}", load.id()),
        };
        Some(format!("{kind}-{}", self.payload_bytes))
    }

    fn marking(&self) -> Marking {
        self.marking
    }

    fn mark(&mut self, marking: Marking) {
        self.marking = marking;
    }

    fn rate_bps_most(&self) -> Option<u64> {
        let own = 8_000_000_000 * u64::from(self.payload_bytes) / self.interval_ns.max(1);
        self.load.as_ref().map_or(Some(own), |load| Some(own + load.asked_bps()?))
    }

    fn runs_ahead(&self) -> bool {
        true
    }

    fn lingers(&self) -> bool {
        self.load.is_some()
    }

    fn longest_ns(&self) -> Option<u64> {
        Some(self.both_arms_ns())
    }

    fn notes_bytes(&self) -> u64 {
        /// What an end keeps of a packet and its copies, with what is sorted afterwards.
        const PACKET_BYTES: u64 = 256;
        self.packets_max().saturating_mul(PACKET_BYTES)
    }

    fn wait(&self) -> Wait {
        self.wait
    }

    fn settings(&self) -> Option<&StreamSettings> {
        self.load.as_ref().map(|load| &load.settings)
    }

    fn datagram_bytes(&self) -> Option<u32> {
        Some(self.payload_bytes)
    }

    /// A load must have left the queues before that of the other arm may come.
    fn interleaving(&self) -> Interleaving {
        if self.load.is_none() { Interleaving::Slice } else { Interleaving::Trial }
    }

    fn level_bytes(&self) -> Option<u32> {
        Some(self.payload_bytes)
    }

    fn take_level(&mut self) {
        let load = self.load.as_mut().and_then(|load| load.udp.as_mut());
        if let Some(udp) = load.filter(|udp| udp.payload_bytes == self.payload_bytes) {
            udp.payload_bytes = 0;
        }
        self.payload_bytes = 0;
    }
}
