//! Orders of the coordinator.

use super::super::id::{JobId, Nonce, Token, Word};
use super::super::names::HostName;
use crate::record::RunId;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A message with the proof of who wrote it, as it is sent. Whoever receives one checks the
/// signature over `body` as it stands, and only then reads that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The JSON text of a [`Command`].
    pub body: String,
    /// Ed25519 over its bytes by the coordinator's key, in base64url without padding.
    pub signature: String,
}

/// An order to an agent. Its machine is handed one after its signature was found good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Version of the messages that it is written in.
    pub version: u8,
    /// Who is to obey: a good signature does not make it another one's order.
    pub to: HostName,
    /// Number of the order; the reply has it in its subject.
    pub number: u64,
    /// The order.
    #[serde(flatten)]
    pub order: Order,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Make ready for a job. Answered by *ready* or *refused*.
    Prepare(Box<Prepare>),
    /// Begin the job that you are ready for.
    Start(Start),
    /// End what you do for that job.
    Stop {
        /// What stands behind it.
        token: Token,
    },
    /// Say what you do: answered by a heartbeat.
    Status,
}

/// Which end of a job a host is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It measures, and has the record.
    Client,
    /// It is measured to.
    Server,
}

/// The host at the other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// What it is called.
    pub name: HostName,
    /// Addresses that it may be reached by, as text, the best first.
    pub addresses: Vec<String>,
}

/// Make ready for a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepare {
    /// The job.
    pub job: JobId,
    /// What stands behind it.
    pub token: Token,
    /// How many attempts there were before.
    pub attempt: u32,
    /// Which end this host is.
    pub role: Role,
    /// The other end.
    pub peer: Peer,
    /// Port on which the server listens; `None` is the program's own.
    #[serde(default)]
    pub port: Option<u16>,
    /// By which the client is let in; sealed on the way.
    pub word: Word,
    /// Longest time of the job, in ns: whatever still runs then is killed.
    pub longest_ns: u64,
    /// The plan as a file has it.
    pub plan: String,
    /// Features that both ends must have.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The run to continue; the client's.
    #[serde(default)]
    pub continued: Option<RunId>,
}

/// Begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// What stands behind it.
    pub token: Token,
    /// What the agent said with *ready*.
    pub nonce: Nonce,
    /// Wall clock of who says it, in ns since the Unix epoch: it is said after *ready*, so that it
    /// is not older than that when it counts. `None` from a program that does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_ns: Option<u64>,
}
