//! What the ends saw during a trial: values, distributions, proof of family, counters, cost.
//!
//! The server's part of it crosses the network and all of it is stored, so every field is plain
//! data.

use crate::family::Family;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use serde::{Deserialize, Serialize};

/// One value for each end of the path.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PerEnd<T> {
    /// The end that asked for the measurement.
    pub client: T,
    /// The end that answered.
    pub server: T,
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
    pub histogram: Histogram,
    /// Trimmed mean of each turn in order of time, for slices; empty otherwise.
    pub turns_ns: Vec<f64>,
}

/// A bulk transfer as its receiver saw it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Received {
    /// Application bytes that arrived in all.
    pub bytes: u64,
    /// From the first byte to the last, in ns.
    pub span_ns: u64,
    /// Application bit/s after the warm-up: the slope between the first and the last sample.
    pub rate_bps: f64,
    /// Bytes that had arrived (second) at times since the first byte in ns (first).
    pub series: Vec<(u64, u64)>,
    /// Datagrams that arrived, duplicates left out; 0 for TCP.
    pub packets: u64,
    /// Datagrams that arrived more than once (RFC 5560).
    pub duplicates: u64,
    /// Datagrams that arrived after a later one (RFC 4737 type-P-reordered).
    pub reordered: u64,
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
}

/// What one end measured of the workload itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Measured {
    /// Nothing: it only answered.
    #[default]
    Nothing,
    /// Times of exchanges or connections.
    Times(Times),
    /// Bulk data that arrived.
    Received(Received),
    /// Bulk data that was sent.
    Sent(Sent),
}

/// Addresses that an end's own socket named: the proof of family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoints {
    /// Address family of the socket itself.
    pub domain: Family,
    /// Its own address.
    pub local: SocketAddr,
    /// The address at the other end.
    pub peer: SocketAddr,
}

/// Socket settings read back from the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Granted {
    /// Send buffer as the kernel reports it, in bytes.
    pub send_buffer: Option<u32>,
    /// Receive buffer as the kernel reports it, in bytes.
    pub receive_buffer: Option<u32>,
    /// Congestion control in use.
    pub congestion: Option<String>,
    /// TCP maximum segment size in use, in bytes, options already taken off.
    pub mss: Option<u32>,
    /// Path MTU that the kernel assumes, in bytes.
    pub path_mtu: Option<u32>,
    /// Whether TCP timestamps are in use, which take 12 bytes of every segment.
    pub timestamps: Option<bool>,
}

/// What a trial cost an end and what its counters said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EndReport {
    /// What it measured.
    pub measured: Measured,
    /// Addresses of its measuring socket.
    pub endpoints: Option<Endpoints>,
    /// Settings of its measuring socket.
    pub granted: Granted,
    /// Processor time of the measuring thread in user mode, in ns.
    pub user_ns: Option<u64>,
    /// Processor time of the measuring thread in the kernel, in ns.
    pub system_ns: Option<u64>,
    /// Time all processors spent in soft interrupts, in ns (sampled by the kernel's tick).
    pub softirq_ns: Option<u64>,
    /// Share of processor time stolen by the hypervisor, 0 to 1.
    pub steal_share: Option<f64>,
    /// Times the measuring thread was put aside against its will.
    pub switches_involuntary: Option<u64>,
    /// Processor the measuring thread was pinned to.
    pub processor: Option<u32>,
    /// Change of wall clock minus monotonic clock during the trial, in ns; far from 0 is a clock
    /// step.
    pub clock_step_ns: i64,
    /// Kernel counters that changed, by name, as in `Udp6.RcvbufErrors`.
    pub counters: BTreeMap<String, i64>,
    /// What could not be had on this host, in words.
    pub unavailable: Vec<String>,
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
