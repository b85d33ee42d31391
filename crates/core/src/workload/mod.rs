//! What a trial does: the kinds of traffic and their parameters, all explicit.

mod capacity;
mod connect;
mod echo;
mod impossible;
pub mod law;
mod probe;
mod socket;
mod tcp_bulk;
mod udp_bulk;

pub use capacity::{Capacity, Search};
pub use connect::{Connect, Purpose};
pub use echo::{Echo, Timing};
pub use impossible::{Impossible, range};
pub use law::{Law, Sizes};
pub use probe::{Load, LoadFamily, Probe, UdpLoad};
pub use socket::{LAB_CONGESTION, Marking, StreamSettings};
pub use tcp_bulk::{TcpBulk, ZeroCopy};
pub use udp_bulk::{Asked, UdpBulk};

use crate::metric::Metric;
pub use crate::transport::Transport;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// How an end waits for the next message of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// Sleeps in the kernel until it comes, as most programs do.
    Block,
    /// Asks again and again and lets others run in between; for two ends on one processor.
    Yield,
    /// Asks again and again and keeps the processor; for two ends with one each, where it takes
    /// the wake-up out of the time.
    Spin,
}

impl Wait {
    /// Whether calls return at once and are repeated.
    pub const fn polls(self) -> bool {
        !matches!(self, Wait::Block)
    }
}

/// Which way bulk data flows, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Client to server.
    Send,
    /// Server to client.
    Receive,
    /// Both at the same time, over connections of their own.
    Both,
}

/// What a trial does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// TCP bulk transfer.
    TcpBulk(TcpBulk),
    /// UDP bulk transfer.
    UdpBulk(UdpBulk),
    /// Request and answer.
    Echo(Echo),
    /// Opening connections.
    Connect(Connect),
    /// Paced packets that are sent back.
    Probe(Probe),
    /// Searching for the rate that the path carries.
    Capacity(Capacity),
}

/// How the arms of a block take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interleaving {
    /// Whole trials, each with sockets of its own, one after the other.
    Trial,
    /// Short turns over connections of both arms that stay open.
    Slice,
}

impl Workload {
    /// The metrics that a trial of it yields, the main one first.
    pub const fn metrics(&self) -> &'static [Metric] {
        match self {
            Workload::TcpBulk(bulk) => bulk.metrics(),
            Workload::UdpBulk(bulk) => bulk.metrics(),
            Workload::Capacity(capacity) => capacity.metrics(),
            Workload::Echo(_) => &[Metric::Rtt],
            Workload::Connect(connect) => connect.metrics(),
            Workload::Probe(_) => {
                &[Metric::Rtt, Metric::Ipdv, Metric::Pdv, Metric::Loss, Metric::LossBack]
            }
        }
    }

    /// Over which transport.
    pub const fn transport(&self) -> Transport {
        match self {
            Workload::TcpBulk(_) | Workload::Connect(_) => Transport::Tcp,
            Workload::UdpBulk(_) | Workload::Probe(_) | Workload::Capacity(_) => Transport::Udp,
            Workload::Echo(echo) => echo.transport,
        }
    }

    /// The highest rate that it asks the path for, in bit/s; `None` is what the path carries. What
    /// waits for answers asks for none.
    pub fn rate_bps_most(&self) -> Option<u64> {
        match self {
            Workload::TcpBulk(bulk) => bulk.pacing_bps,
            Workload::UdpBulk(bulk) => bulk.asked_bps(),
            Workload::Capacity(search) => Some(search.rate_bps_max),
            Workload::Probe(probe) => {
                let bits = 8_000_000_000 * u64::from(probe.payload_bytes);
                let own = bits / probe.interval_ns.max(1);
                probe.load.as_ref().map_or(Some(own), |load| Some(own + load.asked_bps()?))
            }
            Workload::Echo(_) | Workload::Connect(_) => Some(0),
        }
    }

    /// Longest time that it takes by its own numbers, in ns; `None` where it lasts until its last
    /// exchange is over.
    pub fn longest_ns(&self) -> Option<u64> {
        match self {
            Workload::TcpBulk(bulk) => Some(bulk.duration_ns),
            Workload::UdpBulk(bulk) => Some(bulk.duration_ns),
            Workload::Probe(probe) => Some(probe.longest_ns(2)),
            Workload::Capacity(capacity) => Some(capacity.longest_ns()),
            Workload::Echo(_) | Workload::Connect(_) => None,
        }
    }

    /// Exchanges and connections of a task, one after the other at worst.
    pub fn exchanges(&self) -> u64 {
        match self {
            // Of both arms.
            Workload::Echo(echo) => echo.exchanges().saturating_mul(2),
            Workload::Connect(connect) => connect.count.into(),
            Workload::TcpBulk(_)
            | Workload::UdpBulk(_)
            | Workload::Probe(_)
            | Workload::Capacity(_) => 0,
        }
    }

    /// How its packets are marked.
    pub fn marking(&self) -> Marking {
        match self {
            Workload::TcpBulk(bulk) => bulk.marking,
            Workload::UdpBulk(bulk) => bulk.marking,
            Workload::Echo(echo) => echo.marking,
            Workload::Probe(probe) => probe.marking,
            Workload::Capacity(capacity) => capacity.marking,
            Workload::Connect(_) => Marking::default(),
        }
    }

    /// How its ends wait.
    pub const fn wait(&self) -> Wait {
        match self {
            Workload::Echo(echo) => echo.wait,
            Workload::Probe(probe) => probe.wait,
            Workload::TcpBulk(_)
            | Workload::UdpBulk(_)
            | Workload::Connect(_)
            | Workload::Capacity(_) => Wait::Block,
        }
    }

    /// What is asked of its TCP sockets, if it has any that carry data.
    pub fn settings(&self) -> Option<&StreamSettings> {
        match self {
            Workload::TcpBulk(bulk) => Some(&bulk.settings),
            Workload::Echo(echo) => Some(&echo.settings),
            Workload::Probe(probe) => probe.load.as_ref().map(|load| &load.settings),
            Workload::UdpBulk(_) | Workload::Connect(_) | Workload::Capacity(_) => None,
        }
    }

    /// The same workload with its packets marked; opening connections cannot be marked.
    #[must_use]
    pub fn marked(mut self, marking: Marking) -> Self {
        match &mut self {
            Workload::TcpBulk(bulk) => bulk.marking = marking,
            Workload::UdpBulk(bulk) => bulk.marking = marking,
            Workload::Echo(echo) => echo.marking = marking,
            Workload::Probe(probe) => probe.marking = marking,
            Workload::Capacity(capacity) => capacity.marking = marking,
            Workload::Connect(_) => {}
        }
        self
    }

    /// Payload of its largest datagram in bytes, if it sends datagrams.
    pub fn datagram_bytes(&self) -> Option<u32> {
        match self {
            Workload::UdpBulk(bulk) => Some(bulk.payload_bytes),
            Workload::Probe(probe) => Some(probe.payload_bytes),
            Workload::Capacity(capacity) => Some(capacity.payload_bytes),
            Workload::Echo(echo) if echo.transport.is_datagram() => {
                Some(echo.message_bytes.max(echo.answer_bytes()))
            }
            Workload::Echo(_) | Workload::TcpBulk(_) | Workload::Connect(_) => None,
        }
    }

    /// How its arms take turns.
    pub const fn interleaving(&self) -> Interleaving {
        match self {
            Workload::Echo(_) => Interleaving::Slice,
            // A load must have left the queues before that of the other arm may come.
            Workload::Probe(probe) if probe.load.is_none() => Interleaving::Slice,
            Workload::Probe(_) => Interleaving::Trial,
            Workload::TcpBulk(_)
            | Workload::UdpBulk(_)
            | Workload::Connect(_)
            | Workload::Capacity(_) => Interleaving::Trial,
        }
    }

    /// The level that tells it from other cells of the same metric: a message or payload size in
    /// bytes.
    pub const fn level_bytes(&self) -> Option<u32> {
        match self {
            Workload::Echo(echo) => Some(echo.message_bytes),
            Workload::UdpBulk(bulk) => Some(bulk.payload_bytes),
            Workload::Probe(probe) => Some(probe.payload_bytes),
            Workload::Capacity(capacity) => Some(capacity.payload_bytes),
            Workload::TcpBulk(_) | Workload::Connect(_) => None,
        }
    }
}

impl Workload {
    /// What tells it from all others but for its level: the name of the same cell without a size.
    /// Cells that share it belong on one axis of sizes.
    pub fn variant(&self) -> String {
        let mut same = self.clone();
        match &mut same {
            Workload::Echo(echo) => {
                echo.response_bytes = echo.response_bytes.filter(|&to| to != echo.message_bytes);
                echo.message_bytes = 0;
            }
            Workload::UdpBulk(bulk) => bulk.payload_bytes = 0,
            Workload::Capacity(capacity) => capacity.payload_bytes = 0,
            Workload::Probe(probe) => {
                let load = probe.load.as_mut().and_then(|load| load.udp.as_mut());
                if let Some(udp) = load.filter(|udp| udp.payload_bytes == probe.payload_bytes) {
                    udp.payload_bytes = 0;
                }
                probe.payload_bytes = 0;
            }
            Workload::TcpBulk(_) | Workload::Connect(_) => {}
        }
        Cell::named(same).id
    }
}

/// A cell: one workload of a plan under a name that stays the same in record and result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Unique in the plan, as in `rtt-tcp-64`.
    pub id: String,
    /// What its trials do.
    pub workload: Workload,
}

impl Cell {
    /// A cell named after its workload.
    pub fn named(workload: Workload) -> Self {
        if let Workload::Probe(probe) = &workload {
            return Cell { id: probe.id(), workload };
        }
        let transport = match workload.transport() {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
            Transport::Icmp => "icmp",
        };
        let metric = workload.metrics()[0];
        let mut id = match workload.level_bytes() {
            Some(bytes) => format!("{metric}-{transport}-{bytes}"),
            None => format!("{metric}-{transport}"),
        };
        match &workload {
            Workload::TcpBulk(bulk) => id.push_str(&bulk.suffix()),
            Workload::UdpBulk(bulk) => id.push_str(&bulk.suffix()),
            Workload::Echo(echo) => id.push_str(&echo.suffix()),
            Workload::Connect(connect) => id.push_str(&connect.suffix()),
            Workload::Capacity(capacity) => id.push_str(&capacity.suffix()),
            Workload::Probe(_) => {}
        }
        id.push_str(&workload.marking().suffix());
        Cell { id, workload }
    }
}
