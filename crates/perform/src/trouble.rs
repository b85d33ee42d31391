//! Why a plan was not performed, or not to its end. How to help it is for others to say.

use crate::occupant::Occupant;
use crate::target::{Elsewhere, Unfit};
use crate::world::NotBuilt;
use std::net::SocketAddr;
use std::path::PathBuf;
use v6gap_core::family::Family;
use v6gap_core::record::RunId;
use v6gap_engine::control::{ConnectError, FamilyProblem};
use v6gap_engine::device::DeviceError;
use v6gap_engine::run::RunError;
use v6gap_store::StoreError;
use v6gap_sys::Unavailable;

/// Why a plan was not performed to its end.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Somebody else measures on this host.
    #[error("this host is being measured {0}")]
    Occupied(Occupant),
    /// There is no session with the far end.
    #[error("no session with {target}: {error}")]
    Connect {
        /// Name of the far end.
        target: String,
        /// What went wrong in each family.
        error: ConnectError,
    },
    /// The far end answers over one family and not over the other.
    #[error("{target} answers over one family only: {problem}")]
    OneFamily {
        /// Name of the far end.
        target: String,
        /// What went wrong over the other.
        problem: Box<FamilyProblem>,
    },
    /// Large packets vanish on the way.
    #[error("packets of {} bytes and more vanish on the way to {target} over {family}", passes + 1)]
    BlackHole {
        /// Name of the far end.
        target: String,
        /// The family over which they do.
        family: Family,
        /// Length of the largest IP packet that passes, in bytes.
        passes: u32,
    },
    /// A server of another tool does not do its part.
    #[error("{tool} at {target} over {family}: {why}")]
    Foreign {
        /// Name of the far end.
        target: String,
        /// The tool.
        tool: &'static str,
        /// The family over which it was asked.
        family: Family,
        /// Whether it does its part over the other one.
        other_works: bool,
        /// Why, in words.
        why: String,
    },
    /// A server of another tool measures for somebody else.
    #[error("the server of {tool} at {target} is busy with another client")]
    Busy {
        /// Name of the far end.
        target: String,
        /// The tool.
        tool: &'static str,
    },
    /// What was asked for would load a host that is not said to be the user's own.
    #[error("{0} is not said to be yours, and this loads it")]
    NotYours(String),
    /// The measurement broke off.
    #[error("measuring with {target} broke off: {error}")]
    BrokenOff {
        /// Name of the far end.
        target: String,
        /// Why.
        error: RunError,
        /// Whether the run could go on later (`--continue`), as between two hosts of one's own.
        continues: bool,
        /// The run in which all is kept that was measured until then, if anything was stored.
        kept: Option<RunId>,
    },
    /// The far end ended the session, because it allows no longer ones.
    #[error("{target} allows sessions of {most_ns} ns")]
    TimeUp {
        /// Name of the far end.
        target: String,
        /// Longest session, in ns.
        most_ns: u64,
        /// As of [`Trouble::BrokenOff`].
        kept: Option<RunId>,
    },
    /// There is no further lab for the next round of a run.
    #[error("no further lab: {error}")]
    NoFurtherLab {
        /// Name of the far end.
        target: String,
        /// Why.
        error: Box<Trouble>,
        /// As of [`Trouble::BrokenOff`].
        kept: Option<RunId>,
    },
    /// The cell of this name is for networks that were made for testing.
    #[error(
        "{0} floods the path again and again, which RFC 6815 keeps to networks made for testing"
    )]
    OutOfPlace(String),
    /// The run that goes on was measured elsewhere.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
    /// Packets cannot be captured as asked.
    #[error(transparent)]
    Capture(#[from] CaptureTrouble),
    /// A device cannot be read.
    #[error(transparent)]
    Device(#[from] DeviceTrouble),
    /// The name of a device is none, or the far end tells no address of a family.
    #[error(transparent)]
    Name(#[from] Unfit),
    /// There is no lab.
    #[error(transparent)]
    Lab(#[from] NoLab),
    /// What is stored cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What goes on is no run: its journal does not begin with the facts of one.
    #[error("{0} does not begin with the facts of a run")]
    NoHeader(RunId),
    /// A server of this process did not start; in words.
    #[error("{0}")]
    NoServer(String),
    /// The system refused something that it refuses hardly ever; in its words.
    #[error("{0}")]
    System(String),
}

impl Trouble {
    /// This, with the run in which what was measured is kept.
    pub(crate) fn keeping(mut self, run: Option<RunId>) -> Self {
        match &mut self {
            Trouble::BrokenOff { kept, .. }
            | Trouble::TimeUp { kept, .. }
            | Trouble::NoFurtherLab { kept, .. } => *kept = run,
            _ => {}
        }
        self
    }
}

impl From<Unavailable> for Trouble {
    fn from(missing: Unavailable) -> Self {
        Trouble::System(missing.to_string())
    }
}

/// Why packets cannot be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureTrouble {
    /// The file is there already.
    #[error("{} exists, and captures replace no file", .0.display())]
    Exists(PathBuf),
    /// This process may not listen along.
    #[error("capturing at {interface} is not permitted")]
    NotPermitted {
        /// Name of the interface.
        interface: String,
    },
    /// A node is named, and there is no lab.
    #[error("{0}: only labs have nodes to capture at")]
    NoLab(String),
    /// The lab has no such node.
    #[error("{node}: the lab has {}", known.join(", "))]
    NoNode {
        /// What was named.
        node: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The node is another system.
    #[error("{0}: it is another system, with a kernel of its own")]
    OtherSystem(String),
}

/// Why a managed device cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DeviceTrouble {
    /// The agent for a router of the lab did not start.
    #[error("{name}: {why}")]
    Agent {
        /// Name of the router.
        name: String,
        /// In words.
        why: String,
    },
    /// It has no address that it can be asked at.
    #[error("{name} has no address of the family")]
    NoAddress {
        /// Name of the device.
        name: String,
        /// The family that was asked for.
        over: Option<Family>,
    },
    /// It does not answer as it must.
    #[error("{name} ({address}): {error}")]
    Refused {
        /// Name of the device.
        name: String,
        /// Address of the device.
        address: SocketAddr,
        /// What went wrong.
        error: DeviceError,
        /// Whether it was asked with a community, not as a user.
        community: bool,
    },
}

/// Why there is no lab to measure in.
#[derive(Debug, thiserror::Error)]
pub enum NoLab {
    /// The plan asks for none.
    #[error("the plan asks for no lab")]
    NotAsked,
    /// The system gives this process no network namespaces; in the words of the refusal.
    #[error("{0}")]
    Refused(String),
    /// This host lacks what the world asks for; in words.
    #[error("{0}")]
    NotProvided(String),
    /// It could not be built.
    #[error("the lab could not be built: {}", .0.why)]
    NotBuilt(NotBuilt),
    /// The one that is up cannot be joined; in words.
    #[error("the lab cannot be joined: {0}")]
    NotJoined(String),
    /// The one that is up does not hold senders to the rate of their links where one would send.
    #[error("{node} only forwards in the lab {lab}: nothing there holds {cell} to the link's rate")]
    NotPaced {
        /// Name of the lab.
        lab: String,
        /// Name of the node.
        node: String,
        /// The first cell that needs it.
        cell: String,
    },
}
