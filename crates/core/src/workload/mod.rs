//! What a trial does: the kinds of traffic and their parameters, all explicit.

mod capacity;
mod connect;
mod echo;
mod feature;
mod frames;
mod impossible;
mod kind;
pub mod law;
mod limits;
mod method;
mod parity;
mod probe;
mod socket;
mod tcp_bulk;
mod udp_bulk;
mod visit;

pub use capacity::{Capacity, Search};
pub use connect::{Connect, Purpose};
pub use echo::{Echo, Timing};
pub use feature::{Feature, Features, Needed};
pub use frames::{FrameArrivals, FrameCount, Frames};
pub(crate) use impossible::congestion_name;
pub use impossible::{Impossible, range};
pub use kind::{BULK_NS_MIN, Cost, HOSTS_NS, Kind, Path};
pub use law::{Law, Sizes};
pub use limits::{Limits, Objection};
pub use method::Method;
pub use parity::Parity;
pub use probe::{Load, LoadFamily, Probe, UdpLoad};
pub use socket::{LAB_CONGESTION, Marking, StreamSettings};
pub use tcp_bulk::{TcpBulk, ZeroCopy};
pub use udp_bulk::{Asked, UdpBulk};
pub use visit::{Http, Lookup, Visit};

pub use crate::transport::Transport;
use alloc::format;
use alloc::string::String;
use core::ops::{Deref, DerefMut};
use serde::{Deserialize, Serialize};

/// What an end keeps of an exchange or a connection, in bytes.
const TIME_BYTES: u64 = 16;

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
    /// Frames of a video.
    Frames(Frames),
    /// A visit to a service of a stranger.
    Visit(Visit),
    /// A question to a name server.
    Lookup(Lookup),
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
    /// One of each kind, as usual.
    pub fn of_each_kind() -> [Workload; 9] {
        [
            Workload::TcpBulk(TcpBulk::default()),
            Workload::UdpBulk(UdpBulk::default()),
            Workload::Echo(Echo::default()),
            Workload::Connect(Connect::default()),
            Workload::Probe(Probe::default()),
            Workload::Capacity(Capacity::default()),
            Workload::Frames(Frames::default()),
            Workload::Visit(Visit::default()),
            Workload::Lookup(Lookup::default()),
        ]
    }

    /// The workload with its packets marked; opening connections cannot be marked.
    #[must_use]
    pub fn marked(mut self, marking: Marking) -> Self {
        self.mark(marking);
        self
    }

    /// The workload of a task: with what `seed` draws of what the plan leaves open.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Self {
        let mut task = self.clone();
        task.draw(seed);
        task
    }

    /// What tells it from all others but for its level: the name of the same cell without a size.
    /// Cells that share it belong on one axis of sizes.
    pub fn variant(&self) -> String {
        let mut same = self.clone();
        same.take_level();
        Cell::named(same).id
    }
}

/// A workload answers as its kind does.
impl Deref for Workload {
    type Target = dyn Kind;

    fn deref(&self) -> &Self::Target {
        match self {
            Workload::TcpBulk(bulk) => bulk,
            Workload::UdpBulk(bulk) => bulk,
            Workload::Echo(echo) => echo,
            Workload::Connect(connect) => connect,
            Workload::Probe(probe) => probe,
            Workload::Capacity(capacity) => capacity,
            Workload::Frames(frames) => frames,
            Workload::Visit(visit) => visit,
            Workload::Lookup(lookup) => lookup,
        }
    }
}

impl DerefMut for Workload {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Workload::TcpBulk(bulk) => bulk,
            Workload::UdpBulk(bulk) => bulk,
            Workload::Echo(echo) => echo,
            Workload::Connect(connect) => connect,
            Workload::Probe(probe) => probe,
            Workload::Capacity(capacity) => capacity,
            Workload::Frames(frames) => frames,
            Workload::Visit(visit) => visit,
            Workload::Lookup(lookup) => lookup,
        }
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
        let usual = || {
            let (metric, transport) = (workload.metrics()[0], workload.transport().key());
            match workload.level_bytes() {
                Some(bytes) => format!("{metric}-{transport}-{bytes}"),
                None => format!("{metric}-{transport}"),
            }
        };
        let name = workload.name().unwrap_or_else(usual);
        let id = format!("{name}{}{}", workload.suffix(), workload.marking().suffix());
        Cell { id, workload }
    }
}
