//! Opening connections.

use super::Marking;
use super::feature::{Feature, Needed};
use super::impossible::{Impossible, range};
use super::kind::{Cost, HOSTS_NS, Kind, Path};
use super::limits::{Limits, Objection};
use crate::metric::Metric;
use crate::transport::Transport;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What connections are opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Nothing else: each is reset as soon as it stands.
    #[default]
    Open,
    /// A small request and its answer, then it is reset; the next follows.
    FirstByte,
    /// As many requests and answers as possible, each over a connection of its own.
    Rate,
    /// To stay open until the last of them stands; each has said what it is for and was answered.
    Hold,
}

/// TCP connections opened one after the other, or several at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connect {
    /// How many in a trial.
    pub count: u32,
    /// What for.
    #[serde(default)]
    pub purpose: Purpose,
    /// How many are in the making at a time, at least 1; more than 1 for [`Purpose::Rate`] and
    /// [`Purpose::Hold`] only.
    #[serde(default = "Connect::one")]
    pub concurrent: u32,
}

impl Default for Connect {
    /// 24, one after the other.
    fn default() -> Self {
        Connect { count: 24, purpose: Purpose::Open, concurrent: 1 }
    }
}

impl Connect {
    /// Most connections in the making at a time.
    pub const CONCURRENT_MAX: u32 = 64;

    /// Most connections of a trial: each has a source port of its own, and a number of 16 bits.
    pub const COUNT_MAX: u32 = 30_000;

    fn one() -> u32 {
        1
    }

    /// Most that may be in the making at a time.
    pub const fn concurrent_max(&self) -> u32 {
        match self.purpose {
            Purpose::Open | Purpose::FirstByte => 1,
            Purpose::Rate | Purpose::Hold => Connect::CONCURRENT_MAX,
        }
    }

    /// How many are open at a time at most, the one that leads the trial left out.
    pub const fn open_max(&self) -> u32 {
        match self.purpose {
            Purpose::Hold => self.count,
            Purpose::Open | Purpose::FirstByte | Purpose::Rate => self.concurrent,
        }
    }
}

/// Bytes of line time of a handshake's three packets, about.
const HANDSHAKE_BYTES: u32 = 300;

impl Kind for Connect {
    fn metrics(&self) -> &'static [Metric] {
        match self.purpose {
            Purpose::Open => &[Metric::Connect],
            Purpose::FirstByte => &[Metric::FirstByte, Metric::Connect],
            Purpose::Rate | Purpose::Hold => &[Metric::ConnectRate, Metric::Connect],
        }
    }

    fn transport(&self) -> Transport {
        Transport::Tcp
    }

    fn need(&self, needed: &mut Needed) {
        let Connect { count: _, purpose, concurrent } = self;
        needed.add(true, Feature::Connect);
        match purpose {
            Purpose::Open => {}
            Purpose::FirstByte => needed.add(true, Feature::ConnectFirstByte),
            Purpose::Rate => needed.add(true, Feature::ConnectRate),
            Purpose::Hold => needed.add(true, Feature::ConnectHold),
        }
        needed.add(*concurrent != 1, Feature::ConnectConcurrent);
    }

    fn check_numbers(&self, _datagram_bytes_max: u32) -> Result<(), Impossible> {
        range("connections in all", self.count, 1..=Self::COUNT_MAX.into())?;
        range("connections at a time", self.concurrent, 1..=self.concurrent_max().into())
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), Objection> {
        range("connections in all", self.count, 1..=limits.exchanges)?;
        range("connections at a time", self.concurrent, 1..=limits.connections.into())?;
        if self.purpose == Purpose::Hold {
            range("connections held", self.count, 1..=limits.held.into())?;
        }
        let most = limits.exchanged_bytes_most();
        Ok(range("bytes of all connections", self.exchanged_bytes(), 0..=most)?)
    }

    fn keep_to(&mut self, limits: &Limits, told: &mut dyn FnMut(String)) {
        let (before, each) = (self.count, 2 * u64::from(HANDSHAKE_BYTES));
        let most = u32::try_from(limits.exchanged_bytes_most() / each).unwrap_or(u32::MAX);
        self.count = before.min(most.max(1));
        if self.count < before {
            told(format!("there are {} connections in a trial, not {before}", self.count));
        }
    }

    fn cost(&self, path: Path) -> Cost {
        let count = f64::from(self.count);
        // The answer to a request takes another round trip.
        let trips = if self.purpose == Purpose::Open { 1.0 } else { 2.0 };
        let one_ns = trips * path.round_trip_ns / f64::from(self.concurrent.max(1)) + HOSTS_NS;
        Cost { time_ns: count * one_ns, bytes: trips * count * f64::from(HANDSHAKE_BYTES) }
    }

    fn suffix(&self) -> String {
        let held = match self.purpose {
            Purpose::Hold => format!("-held-{}", self.count),
            Purpose::Open | Purpose::FirstByte | Purpose::Rate => String::new(),
        };
        match self.concurrent {
            1 => held,
            many => format!("{held}-x{many}"),
        }
    }

    fn suffix_words(&self, _metric: Metric) -> String {
        String::new()
    }

    fn marking(&self) -> Marking {
        Marking::default()
    }

    fn mark(&mut self, _marking: Marking) {}

    fn rate_bps_most(&self) -> Option<u64> {
        Some(0)
    }

    fn runs_ahead(&self) -> bool {
        false
    }

    fn lingers(&self) -> bool {
        false
    }

    fn longest_ns(&self) -> Option<u64> {
        None
    }

    fn exchanges_in_all(&self) -> u64 {
        self.count.into()
    }

    /// Those of a handshake, and as many of a request, its answer and the end.
    fn exchanged_bytes(&self) -> u64 {
        u64::from(self.count) * 2 * u64::from(HANDSHAKE_BYTES)
    }

    fn notes_bytes(&self) -> u64 {
        u64::from(self.count) * super::TIME_BYTES
    }

    fn fit(&mut self, path: Path) {
        /// Time that opening the connections of a trial may take, in ns.
        const CONNECTS_NS: f64 = 150_000_000.0;
        /// Fewest connections of a trial.
        const CONNECTS_MIN: u32 = 4;
        let count = ((CONNECTS_NS / path.round_trip_ns) as u32).max(CONNECTS_MIN);
        self.count = self.count.min(count);
    }
}
