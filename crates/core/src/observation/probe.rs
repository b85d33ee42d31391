//! What the ends saw of probes.

use super::Times;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A stream of probes in one direction as its receiver saw it. Delays are differences of two
/// clocks: only their variation means anything, unless the clocks were declared to be alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OneWay {
    /// Packets that came in time, each counted once.
    pub packets: u64,
    /// Packets that came after the waiting time: lost (RFC 7680).
    pub late: u64,
    /// Copies beyond the first of a packet (RFC 5560).
    pub duplicates: u64,
    /// Packets of which more than one copy came.
    pub duplicated: u64,
    /// Packets that came after one sent later (RFC 4737).
    pub reordered: u64,
    /// The most arrivals by which one of those was late (RFC 4737 section 4.2).
    pub reordering_extent: u64,
    /// Packets that TCP would have taken for lost (3-reordered, RFC 4737 section 5.4).
    pub reordered_for_tcp: u64,
    /// Differences in delay between packets sent one after the other, without sign (RFC 3393).
    pub ipdv: Times,
    /// Delays above the smallest (RFC 5481).
    pub pdv: Times,
    /// 99.9th percentile of those, in ns; of the packets that came.
    pub pdv_p999_ns: u64,
    /// Interarrival jitter of RFC 3550, in ns, for comparing with other programs only.
    pub jitter_ns: f64,
    /// How fast the receiver's clock gained on the sender's, in parts per million.
    pub skew_ppm: Option<f64>,
    /// Whether that was taken out of the variation.
    pub skew_removed: bool,
    /// One-way delays (RFC 7679), if the clocks were declared to be alike.
    pub delay: Option<Delay>,
    /// Hop limits with which packets came, and how many.
    pub hop_limits: Vec<(u8, u64)>,
    /// Traffic classes, with ECN, with which packets came, and how many.
    pub traffic_classes: Vec<(u8, u64)>,
    /// From the kernel's time of arrival to the program's.
    pub kernel: Option<Times>,
    /// Arrivals of which there was no room to take note.
    pub beyond: u64,
}

/// One-way delays by clocks that were declared to be alike.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Delay {
    /// Smallest, in ns.
    pub min_ns: i64,
    /// Median, in ns.
    pub median_ns: f64,
    /// Largest, in ns.
    pub max_ns: i64,
    /// By how much all of them may be wrong, as declared, in ns.
    pub error_ns: u64,
}

/// Probes as the client sent them and saw them come back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Probed {
    /// Packets sent.
    pub sent: u64,
    /// Packets of the schedule that were left out because the sender was held up for too long.
    pub skipped: u64,
    /// Packets sent when the next one was due already.
    pub sent_late: u64,
    /// From the intended time of sending to the return: what a program that keeps a schedule meets,
    /// free of coordinated omission.
    pub round_trip: Times,
    /// From the actual time of sending to the return (RFC 2681).
    pub round_trip_sent: Times,
    /// By how much packets were sent later than intended.
    pub lateness: Times,
    /// Time at the server between receiving a packet and sending it back; it is part of the round
    /// trips.
    pub server: Times,
    /// From the kernel's time of departure to that of return at this end: the round trip without
    /// this host.
    pub outside: Option<Times>,
    /// The way back.
    pub back: OneWay,
    /// What this end moved of the load, if there was one.
    #[serde(default)]
    pub load: Option<Loaded>,
}

/// What an end moved of the load beside probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Loaded {
    /// Bytes handed to the kernel by all streams.
    pub sent_bytes: u64,
    /// Bytes that arrived over all streams.
    pub received_bytes: u64,
    /// From the start of the streams to their end, in ns; where datagrams came, from the first of
    /// them to the last.
    pub span_ns: u64,
    /// Datagrams of the load, if it was of UDP.
    #[serde(default)]
    pub datagrams: Option<LoadDatagrams>,
}

impl Loaded {
    /// Bits per second of what arrived, if anything did.
    pub fn received_bps(&self) -> Option<f64> {
        let any = self.received_bytes > 0 && self.span_ns > 0;
        any.then(|| self.received_bytes as f64 * 8e9 / self.span_ns as f64)
    }
}

/// Datagrams of the load beside probes, at one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoadDatagrams {
    /// Handed to the kernel by all streams.
    pub sent: u64,
    /// Left out of the schedule because the sender could not keep up.
    pub skipped: u64,
    /// Arrived over all streams, duplicates left out.
    pub received: u64,
    /// How many the other end says it sent; `None` if it sent none or not every stream was told to
    /// have ended.
    pub announced: Option<u64>,
    /// Dropped at this end's sockets, if the system tells: the network had delivered them.
    pub dropped: Option<u64>,
}

impl LoadDatagrams {
    /// The share of what was sent to this end that the network lost (RFC 7680), if it is known.
    pub fn lost_share(&self) -> Option<f64> {
        let announced = self.announced.filter(|&count| count > 0)?;
        let came = self.received + self.dropped.unwrap_or(0);
        Some(announced.saturating_sub(came) as f64 / announced as f64)
    }
}

/// Probes as the server received them and sent them back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Returned {
    /// Packets sent back: the first copy of each.
    pub returned: u64,
    /// Packets that the system did not take back.
    pub refused: u64,
    /// From the kernel's time of arrival to that of departure at this end: this host's part of the
    /// round trips.
    pub inside: Option<Times>,
    /// The way there.
    pub there: OneWay,
    /// What this end moved of the load, if there was one.
    #[serde(default)]
    pub load: Option<Loaded>,
}
