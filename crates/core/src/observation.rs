//! What the ends saw during a trial: values, distributions, proof of family, counters, cost.
//!
//! The server's part of it crosses the network and all of it is stored, so every field is plain
//! data.

mod beside;
mod held;
mod machine;
mod measured;
mod packed;
mod probe;
mod search;
mod visited;

pub use beside::{
    Beside, DeviceCount, ETHERNET_BYTES, Frames, PortCount, TAG_BYTES, Tapped, Traffic,
};
pub use held::Held;
pub use machine::{Busy, MachineUse};
pub use measured::Measured;
pub use packed::{Buckets, Counters};
pub use probe::{Delay, LoadDatagrams, Loaded, OneWay, Probed, Returned};
pub use search::{RateTrial, Searched};
pub use visited::{Body, LookedUp, Visited};

use crate::family::Family;
use crate::workload::{FrameArrivals, Marking};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use serde::{Deserialize, Serialize};

/// One value for each end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PerEnd<T, S = T> {
    /// The end that asked for the measurement.
    pub client: T,
    /// The end that answered.
    pub server: S,
}

/// What both ends saw of a trial.
pub type Ends = PerEnd<EndReport, Far<EndReport>>;

impl<T> From<PerEnd<T>> for PerEnd<T, Far<T>> {
    fn from(both: PerEnd<T>) -> Self {
        PerEnd { client: both.client, server: Far::Seen(both.server) }
    }
}

impl Ends {
    /// What each end saw that was seen, the client first.
    pub fn all(&self) -> impl Iterator<Item = &EndReport> + Clone {
        core::iter::once(&self.client).chain(self.server.seen())
    }
}

/// What is known only if the far end runs this program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Far<T> {
    /// It told.
    Seen(T),
    /// It did not, because of this, in words.
    NotSeen(String),
}

impl<T> Far<T> {
    /// What it told, if it did.
    pub fn seen(&self) -> Option<&T> {
        match self {
            Far::Seen(told) => Some(told),
            Far::NotSeen(_) => None,
        }
    }

    /// What it told, if it did, to be changed.
    pub fn seen_mut(&mut self) -> Option<&mut T> {
        match self {
            Far::Seen(told) => Some(told),
            Far::NotSeen(_) => None,
        }
    }
}

impl<T: Default> Default for Far<T> {
    fn default() -> Self {
        Far::Seen(T::default())
    }
}

/// A histogram as pairs of (highest value of the bucket, count), ascending; values in ns, three
/// significant digits.
pub type Histogram = Vec<(u64, u64)>;

/// Times of many like events of one trial, in ns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// How many were lost or failed; they are not in the figures below.
    pub lost: u64,
    /// Mean of those between the 5th and the 90th percentile: the centre used for comparing.
    pub trimmed_mean_ns: f64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Median (RFC 2330 section 11.3).
    pub median_ns: f64,
    /// Shortest.
    pub min_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// All of them.
    pub histogram: Buckets,
    /// Trimmed mean of each turn in order of time, for slices; empty otherwise.
    pub turns_ns: Vec<f64>,
    /// Exchanges that one time stands for: more than 1 if whole turns were timed and divided.
    #[serde(default = "one")]
    pub exchanges_each: u32,
}

impl Times {
    /// Significant digits of the histogram.
    pub const DIGITS: u8 = 3;

    /// How many there were, with those that were lost or failed.
    pub fn with_lost(&self) -> u64 {
        self.count.saturating_add(self.lost)
    }
}

fn one() -> u32 {
    1
}

/// Connections of one trial as the end that opened them saw them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Connections {
    /// Creating each socket.
    pub socket: Times,
    /// From the call of `connect` until the connection stood.
    pub connect: Times,
    /// From the call of `connect` until the first byte of the answer to a small request, without
    /// what the program did in between; `None` if nothing was asked.
    #[serde(default)]
    pub first_byte: Option<Times>,
    /// From the start of the first to the end of the last, in ns.
    pub span_ns: u64,
    /// Memory of the kernel for connections that stayed open.
    #[serde(default)]
    pub memory: Option<ConnectionMemory>,
}

impl Connections {
    /// How many failed, and of how many: one that stood and got no answer has its time among those
    /// of `connect`, and failed all the same.
    pub fn lost(&self) -> (u64, u64) {
        let came_through = self.first_byte.as_ref().unwrap_or(&self.connect).count;
        (self.connect.lost, came_through.saturating_add(self.connect.lost))
    }
}

/// Memory of the kernel for idle connections (docs/method.md section B.9).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ConnectionMemory {
    /// Connections that were open when it was read.
    pub connections: u32,
    /// Growth of the kernel's objects for TCP sockets of the family (slab) and of its pages for
    /// data on this host, per connection opened here, in bytes. Both ends' sockets are in it if
    /// both are on this host. `None` where the kernel does not tell.
    pub slab_bytes_each: Option<f64>,
    /// Growth of the pages for data of all TCP sockets in the network namespace (sockstat), per
    /// connection, in bytes.
    pub page_bytes_each: Option<f64>,
    /// Memory that the sockets say they hold for data (SO_MEMINFO), mean, in bytes.
    pub socket_bytes_each: Option<f64>,
}

/// A bulk transfer as its receiver saw it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Received {
    /// Application bytes that arrived in all.
    pub bytes: u64,
    /// From the first byte to the last, in ns.
    pub span_ns: u64,
    /// Application bit/s: after the warm-up, the slope between the first and the last sample; of a
    /// transfer of a number of bytes, that of the whole transfer.
    pub rate_bps: f64,
    /// Application bit/s of the whole transfer: what came after the first read, over the time from
    /// the first to the last.
    #[serde(default)]
    pub whole_bps: f64,
    /// The part of it that had settled, if there was one.
    #[serde(default)]
    pub steady: Option<Steady>,
    /// Bytes that had arrived (second) at times since the first byte in ns (first).
    pub series: Vec<(u64, u64)>,
    /// Datagrams that arrived, duplicates left out; 0 for TCP.
    pub packets: u64,
    /// Datagrams that arrived more than once (RFC 5560).
    pub duplicates: u64,
    /// Datagrams that arrived after a later one (RFC 4737 type-P-reordered).
    pub reordered: u64,
    /// Datagrams that this host dropped at the receiving socket, if the system tells: the network
    /// had delivered them, so they are not lost.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// How the datagrams came; `None` for TCP.
    #[serde(default)]
    pub arrivals: Option<Arrivals>,
    /// How the frames came, of a stream of frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameArrivals>,
}

impl Received {
    /// Datagrams of `sent` that the network lost (RFC 7680): they neither came nor were dropped by
    /// this host after they had come, nor by the sender's before they left.
    pub fn lost_of(&self, sent: &Sent) -> u64 {
        let in_hosts = self.dropped.unwrap_or(0).saturating_add(sent.queue_dropped.unwrap_or(0));
        sent.packets.saturating_sub(self.packets).saturating_sub(in_hosts)
    }
}

/// The pattern of a stream's arrivals, from the numbers of its datagrams. Tables are pairs of
/// (value, count) in ascending order; from 64 on a value stands for itself and those up to its
/// double.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Arrivals {
    /// Datagrams of which more than one copy came (RFC 5560 section 5.2).
    pub replicated: u64,
    /// Reordering extents (RFC 4737 section 4.2), in arrivals.
    pub extents: Vec<(u64, u64)>,
    /// Reordered datagrams by the largest n for which they are n-reordered (RFC 4737 section 5.3).
    pub n_reordered: Vec<(u64, u64)>,
    /// Runs of datagrams in order, each ended by a reordered one (RFC 4737 section 4.6).
    pub free_runs: FreeRuns,
    /// Lengths of loss periods (RFC 3357 section 5.2), in datagrams; those that this host dropped
    /// are among them, because they have no numbers.
    pub loss_periods: Vec<(u64, u64)>,
    /// Distances from a lost datagram to the lost one before it (RFC 3357 section 5.1).
    pub loss_distances: Vec<(u64, u64)>,
}

/// Sums over the runs of datagrams in order (RFC 4737 section 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FreeRuns {
    /// Runs.
    pub runs: u64,
    /// Datagrams in them.
    pub packets: u64,
    /// Sum of the squares of their lengths.
    pub squares: u64,
}

/// The settled part of a transfer, found by MSER (docs/method.md, B.12).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// When it begins, in ns since the first byte.
    pub from_ns: u64,
    /// Application bit/s from there on.
    pub rate_bps: f64,
}

/// A bulk transfer as its sender saw it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sent {
    /// Application bytes handed to the kernel.
    pub bytes: u64,
    /// Datagrams handed to the kernel; 0 for TCP.
    pub packets: u64,
    /// From the first write to the last, in ns.
    pub span_ns: u64,
    /// Segments that TCP sent again, if the system tells.
    pub retransmitted_segments: Option<u64>,
    /// Datagrams of the schedule that were left out because the sender could not keep up.
    #[serde(default)]
    pub skipped: u64,
    /// Packets that the queue before this host's interface dropped meanwhile: they never left, so
    /// the network did not lose them. Those of other programs are among them. `None` if none
    /// were seen, and in a lab, where that queue is the link's.
    #[serde(default)]
    pub queue_dropped: Option<u64>,
    /// Time that the sender of datagrams waited for room in the socket, in ns; next to nothing at
    /// full speed means that the sender, not the network, is the bottleneck.
    #[serde(default)]
    pub blocked_ns: Option<u64>,
}

/// The kernel's account of one connection at the end of a trial. Counts run since it began; `None`
/// means that the kernel does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpAccount {
    /// Payload bytes of a full segment sent.
    pub mss: u32,
    /// Smoothed round-trip time, in µs.
    pub rtt_us: u32,
    /// Smoothed mean deviation of the round trip, in µs.
    pub rtt_var_us: u32,
    /// Smallest round-trip time, in µs.
    pub min_rtt_us: Option<u32>,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Payload bytes sent, repeats included.
    pub bytes_sent: Option<u64>,
    /// Payload bytes sent again.
    pub bytes_retransmitted: Option<u64>,
    /// Payload bytes that the peer acknowledged; Linux counts SYN and FIN as one each.
    pub bytes_acked: Option<u64>,
    /// Payload bytes received; Linux counts FIN as one.
    pub bytes_received: Option<u64>,
    /// Segments sent, those without payload included.
    pub segments_out: Option<u32>,
    /// Segments received, those without payload included.
    pub segments_in: Option<u32>,
    /// Segments with payload sent, repeats included.
    pub data_segments_out: Option<u32>,
    /// Segments sent again.
    pub retransmitted_segments: u32,
    /// Time with data outstanding, in µs.
    pub busy_us: Option<u64>,
    /// Time limited by the peer's window, in µs.
    pub window_limited_us: Option<u64>,
    /// Time limited by the send buffer, in µs.
    pub buffer_limited_us: Option<u64>,
    /// Segments delivered with a congestion mark (ECN).
    pub delivered_ce: Option<u32>,
}

impl TcpAccount {
    /// Segments with payload sent, repeats included. The kernel counts them in 32 bits, which a
    /// transfer at 100 Gbit/s fills in eight minutes; the bytes tell how often it began anew.
    pub fn data_segments(&self) -> Option<u64> {
        const ROUND: u64 = 1 << 32;
        let counted = u64::from(self.data_segments_out?);
        let full = self.bytes_sent.unwrap_or(0) / u64::from(self.mss.max(1));
        // To the nearest: segments need not be full, nor all of one size.
        let rounds = (full.saturating_sub(counted) + ROUND / 2) / ROUND;
        Some(counted + rounds * ROUND)
    }
}

/// One connection of a bulk transfer at one end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Addresses of the connection: the proof of family.
    pub endpoints: Endpoints,
    /// Application bytes that this end sent over it.
    pub sent_bytes: u64,
    /// Application bytes that this end received over it.
    pub received_bytes: u64,
    /// Mean of the smoothed round-trip times that the sender's kernel gave every 100 ms, in µs.
    pub rtt_mean_us: Option<f64>,
    /// Mean of the windows that the peer offered the sender, looked at every 100 ms, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_mean_bytes: Option<f64>,
    /// Processor that its thread was held on.
    pub processor: Option<u32>,
    /// The kernel's account of it.
    pub account: Option<TcpAccount>,
}

/// Addresses that an end's own socket named: the proof of family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    /// Address family of the socket itself.
    pub domain: Family,
    /// Address of this end.
    pub local: SocketAddr,
    /// The address at the other end.
    pub peer: SocketAddr,
}

/// Socket settings read back from the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Granted {
    /// Send buffer as the kernel reports it, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<u32>,
    /// Receive buffer as the kernel reports it, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<u32>,
    /// Congestion control in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// TCP maximum segment size in use, in bytes, options already taken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// Path MTU that the kernel assumes, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_mtu: Option<u32>,
    /// Whether TCP timestamps are in use, which take 12 bytes of every segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether small segments are sent at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_delay: Option<bool>,
    /// How packets are marked.
    #[serde(default)]
    pub marking: Marking,
    /// What the other end's packets carried when they came in, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<Marking>,
    /// Pace that the kernel keeps for this socket, in bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_bps: Option<u64>,
    /// Processor that took its packets from the interface last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incoming_processor: Option<u32>,
    /// Receive queue of the interface that they came in over last, by the kernel's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incoming_queue: Option<u32>,
}

/// What a trial cost an end and what its counters said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EndReport {
    /// What it measured.
    pub measured: Measured,
    /// For how long the far end held the packets of the round trips, if it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// Addresses of its measuring socket, the first of them if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Endpoints>,
    /// Every connection of a bulk transfer, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<Connection>,
    /// Settings of its measuring socket.
    pub granted: Granted,
    /// Processor time of the measuring threads in user mode, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ns: Option<u64>,
    /// Processor time of the measuring threads in the kernel, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_ns: Option<u64>,
    /// Time all processors spent in soft interrupts, in ns (sampled by the kernel's tick).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softirq_ns: Option<u64>,
    /// What the whole machine did, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineUse>,
    /// Share of processor time stolen by the hypervisor, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Times the measuring threads were put aside against their will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches_involuntary: Option<u64>,
    /// Times the measuring thread gave its processor up, mostly to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches_voluntary: Option<u64>,
    /// Cycles that processors spent on the measuring thread, the kernel's work for it included; of
    /// several threads the first alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Instructions retired in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Processor the measuring thread was pinned to, the first if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<u32>,
    /// Number of the worker that measured, drawn when it was started; where the place of a process
    /// matters, trials of another number have another one. `None` if the program itself measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Change of wall clock minus monotonic clock during the trial, in ns; far from 0 is a clock
    /// step.
    pub clock_step_ns: i64,
    /// Kernel counters that changed, by name, as in `Udp6.RcvbufErrors`.
    pub counters: Counters,
    /// What could not be had on this host, in words.
    pub unavailable: Vec<String>,
}

impl EndReport {
    /// By how much a counter rose; 0 if it did not change.
    pub fn counter(&self, name: &str) -> i64 {
        self.counters.get(name).unwrap_or(0)
    }

    /// The interface that carried most of the trial: a bridge and its ports count the same bytes,
    /// so sums over all interfaces mean nothing.
    pub fn interface(&self) -> Option<&str> {
        let bytes = |name: &str| {
            self.counter(&format!("if.{name}.rx_bytes"))
                + self.counter(&format!("if.{name}.tx_bytes"))
        };
        let names = self
            .counters
            .iter()
            .filter_map(|(counter, _)| Some(counter.strip_prefix("if.")?.rsplit_once('.')?.0));
        names.max_by_key(|name| bytes(name))
    }

    /// Packets that the queue before the trial's interface dropped, and its name; or where that
    /// dropped none, those of the interfaces that together sent what it sent: a bond has no queue
    /// of its own. Of several the one with most gives the name.
    pub fn queue_drops(&self) -> Option<(&str, u64)> {
        let own = self.interface()?;
        let sent = |name: &str| self.counter(&format!("if.{name}.tx_bytes"));
        let dropped = |name: &str| {
            let drops = self.counter(&format!("queue.{name}.drops"));
            u64::try_from(drops).ok().filter(|drops| *drops > 0)
        };
        if let Some(drops) = dropped(own) {
            return Some((own, drops));
        }
        let members = self.counters.iter().filter_map(|(counter, _)| {
            let name = counter.strip_prefix("if.")?.strip_suffix(".tx_bytes")?;
            // What sent next to nothing is none of them.
            let is_one = name != own && sent(name) > sent(own) / 50;
            is_one.then_some(name)
        });
        let members: Vec<&str> = members.collect();
        let together: i64 = members.iter().map(|name| sent(name)).sum();
        let drops = |name: &&str| dropped(name).unwrap_or(0);
        let most = members.iter().copied().max_by_key(drops)?;
        let all = members.iter().map(drops).fold(0, u64::saturating_add);
        let is_bond = (together - sent(own)).abs() <= sent(own) / 10;
        (is_bond && all > 0).then_some((most, all))
    }
}

/// How late the user-space link was during a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// Frames it passed on.
    pub frames: u64,
    /// Frames it dropped because the queue was full.
    pub dropped: u64,
    /// Median lateness, in ns.
    pub p50_ns: u64,
    /// 99th percentile, in ns.
    pub p99_ns: u64,
    /// Worst, in ns.
    pub max_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn drops_are_of_the_queue_that_dropped() {
        let mut end = EndReport::default();
        assert_eq!(end.queue_drops(), None);
        let counters = [
            ("if.bond0.tx_bytes", 1_010),
            ("if.eth0.tx_bytes", 400),
            ("if.eth1.tx_bytes", 310),
            ("if.eth2.tx_bytes", 300),
            ("if.wlan0.tx_bytes", 9),
            ("queue.eth0.drops", 10),
            ("queue.eth1.drops", 8),
            ("queue.eth2.drops", 12),
            ("queue.wlan0.drops", 50),
        ];
        let all =
            |of: &[(&str, i64)]| of.iter().map(|(name, by)| (name.to_string(), *by)).collect();
        end.counters = all(&counters);
        assert_eq!((end.interface(), end.queue_drops()), (Some("bond0"), Some(("eth2", 30))));
        // What others send elsewhere is nothing of the trial's.
        let elsewhere = ("if.wlan0.tx_bytes", 300);
        end.counters = all(&[("if.eth0.tx_bytes", 1_000), elsewhere, counters[8]]);
        assert_eq!((end.interface(), end.queue_drops()), (Some("eth0"), None));
    }

    #[test]
    fn segments_are_counted_beyond_32_bits() {
        let of = |mss, segments: u64, bytes| {
            let data_segments_out = Some(segments as u32);
            let account =
                TcpAccount { mss, data_segments_out, bytes_sent: bytes, ..TcpAccount::default() };
            account.data_segments()
        };
        for sent in [1, 70_000, u64::from(u32::MAX), 5_180_000_000, 20_000_000_000] {
            assert_eq!(of(1448, sent, Some(sent * 1448)), Some(sent));
            assert_eq!(of(1448, sent, Some(sent * 1400)), Some(sent), "segments that are not full");
        }
        // Segments became smaller at the end.
        assert_eq!(of(536, 700_000, Some(1_000_000_000)), Some(700_000));
        assert_eq!(of(1448, 9, None), Some(9));
    }
}
