//! What is measured: each metric's direction, scale, unit and margins in one table.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A quantity that a trial yields one value of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Application bytes that arrived per time, in bit/s (goodput in the sense of RFC 2647 section
    /// 3.17).
    Throughput,
    /// Type-P-Round-trip-Delay (RFC 2681) at the application, in s.
    Rtt,
    /// Time of TCP connection establishment as `connect` sees it, in s.
    Connect,
    /// Type-P-One-way-Packet-Loss ratio (RFC 7680) of a trial, 0 to 1.
    Loss,
}

/// Whether more or less of a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// How two values of a metric are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// By the logarithm of their ratio.
    Ratio,
    /// By their difference, because the value may be 0.
    Difference,
}

impl Metric {
    /// All metrics, in the order in which they are reported.
    pub const ALL: [Metric; 4] = [Metric::Throughput, Metric::Rtt, Metric::Connect, Metric::Loss];

    /// Which direction is good.
    pub const fn better(self) -> Better {
        match self {
            Metric::Throughput => Better::Higher,
            Metric::Rtt | Metric::Connect | Metric::Loss => Better::Lower,
        }
    }

    /// How two values are compared.
    pub const fn scale(self) -> Scale {
        match self {
            Metric::Throughput | Metric::Rtt | Metric::Connect => Scale::Ratio,
            Metric::Loss => Scale::Difference,
        }
    }

    /// The SI unit in which values are stored; empty for a share.
    pub const fn unit(self) -> &'static str {
        match self {
            Metric::Throughput => "bit/s",
            Metric::Rtt | Metric::Connect => "s",
            Metric::Loss => "",
        }
    }

    /// The default margin: a smaller difference does not matter. A share of the value for ratios,
    /// a share of packets for loss (0.001 is 0.1 percentage points).
    pub const fn margin_default(self) -> f64 {
        match self {
            Metric::Throughput => 0.02,
            Metric::Rtt | Metric::Connect => 0.05,
            Metric::Loss => 0.001,
        }
    }

    /// The margin of the second verdict, on what the wire model leaves unexplained.
    pub const fn margin_residual(self) -> f64 {
        match self {
            Metric::Throughput => 0.005,
            Metric::Rtt | Metric::Connect => 0.02,
            Metric::Loss => 0.001,
        }
    }

    /// Its name in plans, flags and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Rtt => "rtt",
            Metric::Connect => "connect",
            Metric::Loss => "loss",
        }
    }

    /// The metric of that name.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|m| m.name() == name)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
