//! The messages of the control connection.
//!
//! They describe themselves (JSON objects with a `message` field that names the kind): a receiver
//! ignores fields and kinds that it does not know, so that small additions need no new version.

use super::whereabouts::Addresses;
use crate::arm::Arm;
use crate::family::Family;
use crate::host::Host;
use crate::observation::EndReport;
use crate::task::Task;
pub use crate::workload::Limits;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Anything that one end says to the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Message {
    /// Client: who I am and what I want to do.
    Hello(Hello),
    /// Server: others are before you. Repeated while that is so.
    Queued(Queued),
    /// Server: the session is yours.
    Welcome(Box<Welcome>),
    /// Server: there will be no session; the connection closes.
    Refused(Refused),
    /// Client: what does your clock say?
    Clock {
        /// The client's clock when it asked, in ns.
        asked_ns: u64,
    },
    /// Server: the answer.
    ClockReply {
        /// As in the question.
        asked_ns: u64,
        /// The server's clock between question and answer, in ns.
        server_ns: u64,
    },
    /// Client: where else are you? Only while no task runs.
    Whereabouts,
    /// Server: the answer.
    Addresses(Addresses),
    /// Client: make this ready.
    Prepare(Task),
    /// Server: data flows of the task may come.
    Ready {
        /// Number of the task.
        number: u32,
    },
    /// Client: my half of the task is over; end yours.
    Finish {
        /// Number of the task.
        number: u32,
    },
    /// Server: what my half of the task saw.
    Report(Report),
    /// Server: the task was not or could not be done; the session goes on.
    Failed {
        /// Number of the task.
        number: u32,
        /// Why.
        #[serde(flatten)]
        failure: TaskFailure,
    },
    /// Server: are you still there? Only while the client waits or no task runs.
    Ping,
    /// Client: I am.
    Pong,
    /// Either: I am leaving.
    Bye,
    /// A kind of message from a later program; to be ignored.
    #[serde(other)]
    Unknown,
}

/// Why a half of a task gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    /// The reason, in words.
    pub why: String,
    /// Whether the same task would fail again for the same reason.
    #[serde(default)]
    pub lasting: bool,
    /// The family that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
}

impl TaskFailure {
    /// One that may not happen again, about neither family.
    pub fn passing(why: impl Into<String>) -> Self {
        TaskFailure { why: why.into(), lasting: false, family: None }
    }

    /// One that would happen again, about neither family.
    pub fn lasting(why: impl Into<String>) -> Self {
        TaskFailure { lasting: true, ..TaskFailure::passing(why) }
    }
}

/// The client's first message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Program and version, as in `v6gap 0.1.0`.
    pub tool: String,
    /// The client's host.
    pub host: Host,
    /// Names of the [features](crate::feature) that the server must know.
    pub want: Vec<String>,
    /// Whether to wait while the server is busy; otherwise it refuses.
    pub wait: bool,
}

/// A place among the clients that wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// How many are served before; at least 1, the one that is served now.
    pub place: u32,
    /// How long the one that is served now has been so, in s.
    pub seconds: u64,
    /// Whom the server measures for now: the name of that host.
    pub by: String,
}

/// The server's answer that opens a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Program and version, as in `v6gap 0.1.0`.
    pub tool: String,
    /// Names of the [features](crate::feature) that the server knows.
    pub features: Vec<String>,
    /// What it allows.
    pub limits: Limits,
    /// The server's host.
    pub host: Host,
}

/// Why there is no session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Which kind of reason.
    pub code: RefusalCode,
    /// The reason, in words.
    pub why: String,
}

/// Kinds of refusals, named by the code of the error that a person is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefusalCode {
    /// The server is measuring for somebody else.
    #[serde(rename = "E204")]
    Busy,
    /// The server lacks a feature that the client needs.
    #[serde(rename = "E205")]
    TooOld,
    /// From the client's network there are as many clients or connections as the server bears.
    #[serde(rename = "E213")]
    Crowded,
    /// The server has not pinned the public key that the client proved.
    #[serde(rename = "E207")]
    Stranger,
    /// A kind that only a later program knows; the words tell.
    #[serde(other)]
    Other,
}

/// What the server's half of a task saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Number of the task.
    pub number: u32,
    /// One report for each arm that took part. Its numbers are finite.
    pub ends: Vec<(Arm, EndReport)>,
}
