//! A watch: paths that are measured again and again, for ever. What it is, as it was written and
//! checked; when which path has its turn, as a machine without clock, process or disk; and what is
//! known of each, which is rebuilt from the log of the watch alone.
//!
//! A *visit* of a path is one short measurement of it. The visits of a day continue one run.

pub mod check;
pub mod draft;
pub mod known;
pub mod line;
pub mod log;
pub mod machine;
pub mod metrics;
pub mod quiet;
pub mod said;

use crate::family::PerFamily;
use crate::metric::Metric;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::SocketAddr;
use quiet::Quiet;
use serde::{Deserialize, Serialize};

/// Seconds in ns.
pub const SECOND_NS: u64 = 1_000_000_000;

/// A day in ns. A watch counts days of UTC.
pub const DAY_NS: u64 = 86_400 * SECOND_NS;

/// A moment by the wall clock, which phases, days and quiet hours follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Time since the Unix epoch, in ns.
    pub unix_ns: u64,
    /// How far local time is ahead of UTC then, in s.
    pub offset_s: i32,
}

impl Moment {
    /// The moment `ns` later, in the same zone.
    #[must_use]
    pub fn later(self, ns: u64) -> Moment {
        Moment { unix_ns: self.unix_ns.saturating_add(ns), ..self }
    }

    /// Days of UTC since the Unix epoch.
    pub const fn day(self) -> u64 {
        day_of(self.unix_ns)
    }
}

/// The day of UTC of a time since the Unix epoch in ns, as days since then.
pub const fn day_of(unix_ns: u64) -> u64 {
    unix_ns / DAY_NS
}

/// A checked watch, with every default explicit; [`check::check`] makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The paths, by name different from each other.
    pub paths: Vec<WatchedPath>,
    /// Most payload bytes that all visits of a day may move, if there is a limit.
    pub budget_bytes: Option<u64>,
    /// When nothing is measured.
    pub quiet: Quiet,
    /// Where metrics are to be told.
    pub listen: Option<SocketAddr>,
    /// Who is told of changes: a program with its words, or a URL.
    pub on_change: Option<String>,
}

/// A path that is watched: from here to a host.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedPath {
    /// What it is called.
    pub name: String,
    /// The host, or the URL of a site, as a person would type it.
    pub host: String,
    /// What answers there.
    pub with: With,
    /// Time from one light visit to the next, in ns, if there are any.
    pub every_ns: Option<u64>,
    /// Time from one visit of throughput to the next, in ns, if there are any.
    pub throughput_every_ns: Option<u64>,
    /// Longest time that a visit measures, in ns.
    pub time_ns: u64,
    /// What a light visit measures; empty is what suits what answers there.
    pub measure: Vec<String>,
    /// Margins that are not the usual ones, by the name of the metric.
    pub margins: BTreeMap<Metric, String>,
    /// How the host is reached.
    pub reach: Reach,
}

impl WatchedPath {
    /// Time from one visit of that kind to the next, in ns, if there are any.
    pub fn period_ns(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Light => self.every_ns,
            Kind::Throughput => self.throughput_every_ns,
        }
    }
}

/// How a host is reached where its name alone does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    /// Port of the server.
    pub port: Option<u16>,
    /// Addresses of the host.
    pub addresses: PerFamily<Option<String>>,
    /// File with the key.
    pub key_file: Option<String>,
    /// The host is the user's own: it may be loaded, and asked more often.
    pub mine: bool,
    /// How its owner can reach the user.
    pub contact: Option<String>,
}

/// What answers at the far end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum With {
    /// `v6gap serve`.
    Run,
    /// A site that does not run this program.
    Probe,
    /// A reflector of STAMP or TWAMP Light.
    Stamp,
    /// An unmodified server of iperf3.
    Iperf3,
}

impl With {
    /// All of them.
    pub const ALL: [With; 4] = [With::Run, With::Probe, With::Stamp, With::Iperf3];

    /// Name in files, options and logs.
    pub const fn name(self) -> &'static str {
        match self {
            With::Run => "run",
            With::Probe => "probe",
            With::Stamp => "stamp",
            With::Iperf3 => "iperf3",
        }
    }

    /// Whether a stored run can be continued with more visits.
    pub const fn continues(self) -> bool {
        matches!(self, With::Run)
    }
}

/// What a visit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Times alone: a few megabytes.
    Light,
    /// How much the path carries, which loads it.
    Throughput,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 2] = [Kind::Light, Kind::Throughput];

    /// Name in logs and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Light => "light",
            Kind::Throughput => "throughput",
        }
    }
}

#[cfg(test)]
mod tests;
