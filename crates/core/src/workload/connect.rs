//! Opening connections.

use super::impossible::{Impossible, range};
use crate::metric::Metric;
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

    pub(super) fn check(&self) -> Result<(), Impossible> {
        range("connections in all", self.count, 1..=Self::COUNT_MAX.into())?;
        range("connections at a time", self.concurrent, 1..=self.concurrent_max().into())
    }

    /// How many are open at a time at most, the one that leads the trial left out.
    pub const fn open_max(&self) -> u32 {
        match self.purpose {
            Purpose::Hold => self.count,
            Purpose::Open | Purpose::FirstByte | Purpose::Rate => self.concurrent,
        }
    }

    /// The metrics that a trial yields, the main one first.
    pub(super) const fn metrics(&self) -> &'static [Metric] {
        match self.purpose {
            Purpose::Open => &[Metric::Connect],
            Purpose::FirstByte => &[Metric::FirstByte, Metric::Connect],
            Purpose::Rate | Purpose::Hold => &[Metric::ConnectRate, Metric::Connect],
        }
    }

    /// What tells it from the same metric with defaults, as part of a cell's name.
    pub(super) fn suffix(&self) -> String {
        let held = match self.purpose {
            Purpose::Hold => format!("-held-{}", self.count),
            Purpose::Open | Purpose::FirstByte | Purpose::Rate => String::new(),
        };
        match self.concurrent {
            1 => held,
            many => format!("{held}-x{many}"),
        }
    }
}
