//! What agents answer.

use super::super::id::{Nonce, Token};
use super::super::names::HostName;
use crate::record::RunId;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// An answer to an order. A job has several: *ready*, *started*, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Version of the messages that it is written in: that of the order.
    pub version: u8,
    /// Who answers; whoever receives it compares it with the subject, which proves it.
    pub from: HostName,
    /// Number of the order.
    pub number: u64,
    /// What stands behind the job.
    pub token: Token,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// The answer itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// It can begin, for [`READY_NS`](crate::fleet::READY_NS) from when this was made.
    Ready {
        /// To be repeated by *start*.
        nonce: Nonce,
    },
    /// It has begun.
    Started,
    /// Its part is over, and what it measured is on its disk.
    Done(Measured),
    /// Its part is over, and not as it should be; what it measured is on its disk.
    Failed(Failure),
    /// It does not, and nothing was begun.
    Refused {
        /// Why.
        why: Refusal,
    },
}

/// What a host measured; a server has nothing of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// The run that it is in.
    #[serde(default)]
    pub run: Option<RunId>,
    /// Bytes of its journal.
    #[serde(default)]
    pub bytes: u64,
}

/// Why a part is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// In words.
    pub why: String,
    /// Whether another attempt would come out the same.
    pub lasting: bool,
    /// What was measured nevertheless.
    #[serde(default)]
    pub measured: Measured,
}

/// Why an order is not obeyed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "refusal", rename_all = "kebab-case")]
pub enum Refusal {
    /// Something is measured here, or is about to be.
    Busy,
    /// An order with this token or a later one was here before.
    Old {
        /// The highest that was.
        highest: Token,
    },
    /// Nobody is ready for that, or not any more, or with another number.
    NotReady,
    /// There is too little space on the disk.
    Disk {
        /// What is free, in bytes.
        free_bytes: u64,
    },
    /// The host's owner does not allow it.
    Limits {
        /// What is not allowed, in words.
        what: String,
    },
    /// The file with the owner's limits cannot be read, so nothing is allowed.
    NoLimits {
        /// In words.
        what: String,
    },
    /// The order is written in a version that is not spoken here.
    Version {
        /// Lowest that is.
        lowest: u8,
        /// Highest that is.
        highest: u8,
    },
    /// The job needs what this program cannot do.
    Feature {
        /// Its name.
        name: String,
    },
    /// The plan cannot be read or performed.
    Plan {
        /// In words.
        what: String,
    },
    /// The clock is too far off, so that the run would stand in a wrong hour.
    Clock,
}

impl Refusal {
    /// Whether another attempt in the same round would come out the same.
    pub fn is_lasting(&self) -> bool {
        match self {
            Refusal::Busy | Refusal::Old { .. } | Refusal::NotReady => false,
            Refusal::Disk { .. }
            | Refusal::Limits { .. }
            | Refusal::NoLimits { .. }
            | Refusal::Version { .. }
            | Refusal::Feature { .. }
            | Refusal::Plan { .. }
            | Refusal::Clock => true,
        }
    }
}
