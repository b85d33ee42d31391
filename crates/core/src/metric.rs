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
    /// Median of the round-trip delays of a trial (RFC 2681 section 4.2), in s.
    RttP50,
    /// 90th percentile of the round-trip delays of a trial (RFC 2681 section 4.1), in s.
    RttP90,
    /// 99th percentile of the round-trip delays of a trial (RFC 2681 section 4.1), in s.
    RttP99,
    /// Time of TCP connection establishment as `connect` sees it, in s.
    Connect,
    /// Time from the start of connecting until the first byte of an answer, in s.
    FirstByte,
    /// From a query of DNS to the answer that belongs to it, in s.
    Lookup,
    /// The handshake of TLS over TCP: from its first byte to the one that completed it, in s.
    Tls,
    /// The handshake of QUIC: from its first datagram to the one that completed it, in s.
    Quic,
    /// From the first byte of a request to the first byte of its answer, in s.
    Response,
    /// TCP connections made, used and closed per time, in 1/s.
    ConnectRate,
    /// Mean of the absolute differences in one-way delay between consecutive packets of a stream
    /// from client to server (ipdv, RFC 3393), in s.
    Ipdv,
    /// 99.9th percentile of the one-way delay above the smallest, from client to server (PDV, RFC
    /// 5481 section 4.2), in s.
    Pdv,
    /// 95th percentile of the lateness of whole frames above that of the least delayed one (as PDV,
    /// RFC 5481 section 4.2, of the last packet of each), in s.
    FrameLateness,
    /// Datagrams that arrived per time, in 1/s.
    PacketRate,
    /// Maximum IP-layer capacity (RFC 9097), in bit/s, IP headers included.
    Capacity,
    /// Highest rate at which no more than a share of packets is lost, found by trials at constant
    /// rates (throughput in the style of RFC 2544 section 26.1), in bit/s, IP headers included.
    RateAtLoss,
    /// Type-P-One-way-Packet-Loss ratio (RFC 7680) of a trial, 0 to 1; from client to server where
    /// packets flow both ways.
    Loss,
    /// Type-P-One-way-Packet-Loss ratio (RFC 7680) of a trial from server to client, 0 to 1.
    LossBack,
    /// Share of frames of which a packet is lost, 0 to 1.
    FrameLoss,
    /// Share of packets that arrived reordered (RFC 4737 section 4.1), 0 to 1.
    Reordering,
    /// Type-P-one-way-packet-duplication fraction (RFC 5560): copies beyond the first for each
    /// packet that arrived.
    Duplication,
    /// Processor time of both ends per byte of payload that arrived, in s.
    Cpu,
}

/// What kind of quantity a metric is: how its values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bits per second.
    Rate,
    /// Events per second.
    Frequency,
    /// Seconds.
    Time,
    /// A share of packets or frames.
    Share,
    /// Seconds of processor time per byte.
    Cost,
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

impl Scale {
    /// From the scale of single effects to what is stored and shown: from the logarithm of a ratio
    /// to the ratio − 1, or the difference as it is.
    pub fn shown(self, x: f64) -> f64 {
        match self {
            Scale::Ratio => libm::expm1(x),
            Scale::Difference => x,
        }
    }

    /// The same back: from what is stored and shown to the scale of single effects.
    pub fn single(self, x: f64) -> f64 {
        match self {
            Scale::Ratio => libm::log1p(x),
            Scale::Difference => x,
        }
    }

    /// From where to where differences are within a margin, as they are shown: those of a ratio as
    /// far down as up on its logarithm.
    pub fn within(self, margin: f64) -> [f64; 2] {
        [self.shown(-self.single(margin)), margin]
    }

    /// A value so that the difference of two is an effect: its logarithm, or the value as it is.
    pub fn of_value(self, value: f64) -> f64 {
        match self {
            Scale::Ratio => libm::log(value),
            Scale::Difference => value,
        }
    }

    /// The same back: the value of which [`of_value`](Self::of_value) makes `x`.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Scale::Ratio => libm::exp(x),
            Scale::Difference => x,
        }
    }

    /// The unit in which differences are shown, once they are multiplied by 100: per cent of the
    /// value, or percentage points.
    pub const fn unit(self) -> &'static str {
        match self {
            Scale::Ratio => "%",
            Scale::Difference => "points",
        }
    }
}

impl Metric {
    /// All metrics, in the order in which they are reported.
    pub const ALL: [Metric; 24] = [
        Metric::Throughput,
        Metric::Capacity,
        Metric::RateAtLoss,
        Metric::PacketRate,
        Metric::Rtt,
        Metric::RttP50,
        Metric::RttP90,
        Metric::RttP99,
        Metric::Ipdv,
        Metric::Pdv,
        Metric::FrameLateness,
        Metric::Lookup,
        Metric::Connect,
        Metric::Tls,
        Metric::Quic,
        Metric::Response,
        Metric::FirstByte,
        Metric::ConnectRate,
        Metric::Loss,
        Metric::LossBack,
        Metric::FrameLoss,
        Metric::Reordering,
        Metric::Duplication,
        Metric::Cpu,
    ];

    /// Whether it is a percentile of a trial's round trips, which a trial of few exchanges, or one
    /// that lost many, does not have.
    pub const fn is_percentile(self) -> bool {
        matches!(self, Metric::RttP50 | Metric::RttP90 | Metric::RttP99)
    }

    /// What kind of quantity it is.
    pub const fn quantity(self) -> Quantity {
        match self {
            Metric::Throughput | Metric::Capacity | Metric::RateAtLoss => Quantity::Rate,
            Metric::PacketRate | Metric::ConnectRate => Quantity::Frequency,
            Metric::Rtt
            | Metric::RttP50
            | Metric::RttP90
            | Metric::RttP99
            | Metric::Lookup
            | Metric::Connect
            | Metric::Tls
            | Metric::Quic
            | Metric::Response
            | Metric::FirstByte
            | Metric::Ipdv
            | Metric::Pdv
            | Metric::FrameLateness => Quantity::Time,
            Metric::Loss
            | Metric::LossBack
            | Metric::FrameLoss
            | Metric::Reordering
            | Metric::Duplication => Quantity::Share,
            Metric::Cpu => Quantity::Cost,
        }
    }

    /// Which direction is good.
    pub const fn better(self) -> Better {
        match self.quantity() {
            Quantity::Rate | Quantity::Frequency => Better::Higher,
            Quantity::Time | Quantity::Share | Quantity::Cost => Better::Lower,
        }
    }

    /// How two values are compared.
    pub const fn scale(self) -> Scale {
        match self.quantity() {
            Quantity::Share => Scale::Difference,
            Quantity::Rate | Quantity::Frequency | Quantity::Time | Quantity::Cost => Scale::Ratio,
        }
    }

    /// Whether it is a loss, of which the packets or frames can be counted.
    pub const fn is_loss(self) -> bool {
        matches!(self, Metric::Loss | Metric::LossBack | Metric::FrameLoss)
    }

    /// The SI unit in which values are stored; empty for a share.
    pub const fn unit(self) -> &'static str {
        match self.quantity() {
            Quantity::Rate => "bit/s",
            Quantity::Frequency => "1/s",
            Quantity::Time => "s",
            Quantity::Share => "",
            Quantity::Cost => "s/B",
        }
    }

    /// The default margin: a smaller difference does not matter. A share of the value for ratios,
    /// a share of packets or frames for loss and its like (0.001 is 0.1 percentage points).
    pub const fn margin_default(self) -> f64 {
        match (self, self.quantity()) {
            (Metric::Ipdv | Metric::Pdv | Metric::FrameLateness, Quantity::Time) => 0.10,
            (_, Quantity::Rate | Quantity::Frequency) => 0.02,
            (_, Quantity::Time | Quantity::Cost) => 0.05,
            (_, Quantity::Share) => 0.001,
        }
    }

    /// The margin of the second verdict, on what the wire model leaves unexplained.
    pub const fn margin_residual(self) -> f64 {
        match self.quantity() {
            Quantity::Rate | Quantity::Frequency => 0.005,
            Quantity::Time | Quantity::Cost => 0.02,
            Quantity::Share => 0.001,
        }
    }

    /// Name in plans, flags and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Rtt => "rtt",
            Metric::RttP50 => "rtt-p50",
            Metric::RttP90 => "rtt-p90",
            Metric::RttP99 => "rtt-p99",
            Metric::Connect => "connect",
            Metric::FirstByte => "first-byte",
            Metric::Lookup => "lookup",
            Metric::Tls => "tls",
            Metric::Quic => "quic",
            Metric::Response => "response",
            Metric::ConnectRate => "connect-rate",
            Metric::Ipdv => "ipdv",
            Metric::Pdv => "pdv",
            Metric::FrameLateness => "frame-lateness",
            Metric::PacketRate => "packet-rate",
            Metric::Capacity => "capacity",
            Metric::RateAtLoss => "rate-at-loss",
            Metric::Loss => "loss",
            Metric::LossBack => "loss-back",
            Metric::FrameLoss => "frame-loss",
            Metric::Reordering => "reordering",
            Metric::Duplication => "duplication",
            Metric::Cpu => "cpu",
        }
    }

    /// Noun in English, as in lists of margins.
    pub const fn noun(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Rtt => "round trip",
            Metric::RttP50 => "median round trip",
            Metric::RttP90 => "90 % round trip",
            Metric::RttP99 => "99 % round trip",
            Metric::Connect => "connecting",
            Metric::FirstByte => "first byte",
            Metric::Lookup => "looking up",
            Metric::Tls => "TLS",
            Metric::Quic => "QUIC",
            Metric::Response => "response",
            Metric::ConnectRate => "connections per second",
            Metric::Ipdv | Metric::Pdv => "delay variation",
            Metric::FrameLateness => "lateness of frames",
            Metric::PacketRate => "packet rate",
            Metric::Capacity => "capacity",
            Metric::RateAtLoss => "highest rate at a loss",
            Metric::Loss => "loss",
            Metric::LossBack => "loss on the way back",
            Metric::FrameLoss => "loss of frames",
            Metric::Reordering => "reordering",
            Metric::Duplication => "duplication",
            Metric::Cpu => "processor time",
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
