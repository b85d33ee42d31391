//! What an agent says of itself, on every change and every [`HEARTBEAT_NS`].
//!
//! [`HEARTBEAT_NS`]: crate::fleet::HEARTBEAT_NS

use super::super::id::Token;
use super::super::names::HostName;
use crate::wire::version::VersionRange;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum State {
    /// Nothing.
    Idle,
    /// It is ready for a job, or makes ready for it.
    Ready {
        /// What stands behind it.
        token: Token,
    },
    /// It takes part in a job.
    Measuring {
        /// What stands behind it.
        token: Token,
    },
    /// Something that is not the fleet's is measured on the host.
    Taken,
    /// It takes no jobs, as the heartbeat's `trouble` says.
    Closed,
}

impl State {
    /// The job that is not over here.
    pub fn token(self) -> Option<Token> {
        match self {
            State::Ready { token } | State::Measuring { token } => Some(token),
            State::Idle | State::Taken | State::Closed => None,
        }
    }
}

/// What the host's system says of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockState {
    /// Whether something keeps it right.
    pub synchronised: bool,
    /// How far it may be off by its own estimate, in ns.
    pub error_ns: u64,
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Who it is.
    pub from: HostName,
    /// Lowest version of messages that it speaks.
    pub version_lowest: u8,
    /// Highest one.
    pub version_highest: u8,
    /// Its program, as in `v6gap 0.2.0`.
    pub program: String,
    /// What it can do, by name.
    #[serde(default)]
    pub features: Vec<String>,
    /// Addresses that others may reach it by, as text, the best first.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Wall clock when it was made, in ns since the Unix epoch; how far it is from the hub's tells
    /// whether one of them is wrong.
    pub unix_ns: u64,
    /// What its system says of that clock; `None` if it says nothing.
    #[serde(default)]
    pub clock: Option<ClockState>,
    /// What it does.
    #[serde(flatten)]
    pub state: State,
    /// The highest token that it has seen: no order with another one at or below it is begun.
    pub highest: Token,
    /// Free space on its disk, in bytes.
    pub free_bytes: u64,
    /// Runs that the archive does not have yet.
    pub unarchived: u64,
    /// Why it takes no jobs, in words.
    #[serde(default)]
    pub trouble: Option<String>,
}

impl Heartbeat {
    /// The versions that it speaks; `None` if what it said is no range.
    pub fn versions(&self) -> Option<VersionRange> {
        VersionRange::new(self.version_lowest, self.version_highest)
    }

    /// Whether the job of `token` is over here for good: it is not under way, and it can no longer
    /// begin.
    pub fn is_over(&self, token: Token) -> bool {
        self.state.token() != Some(token) && self.highest >= token
    }
}
