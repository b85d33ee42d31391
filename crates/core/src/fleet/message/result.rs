//! Parts of runs on their way to the archive, and what the archive has.

use super::super::id::JobId;
use super::super::names::HostName;
use crate::record::RunId;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The first line of a message with a part of a run's journal; behind it come the bytes, compressed
/// with deflate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkHeader {
    /// Version of the messages that it is written in.
    pub version: u8,
    /// Whose run it is; whoever receives it compares it with the subject, which proves it.
    pub from: HostName,
    /// The run.
    pub run: RunId,
    /// The job that it was measured for last; `None` if the agent was started since.
    #[serde(default)]
    pub job: Option<JobId>,
    /// Where in the journal the part begins, in bytes.
    pub at: u64,
    /// Bytes of it, not compressed.
    pub bytes: u64,
    /// SHA-256 of these bytes, in hexadecimal digits.
    pub hash: String,
}

impl ChunkHeader {
    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}

/// How much of a run the archive has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeld {
    /// The run.
    pub run: RunId,
    /// Bytes of its journal, from its beginning, that are on the archive's disk.
    pub bytes: u64,
}

/// What the archive has of a host's runs. The stream keeps the last one for each host, so it names
/// the last [`ACK_RUNS`](crate::fleet::sink::ACK_RUNS) that came; what is older and not known to
/// the agent is sent again, and named then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// Version of the messages that it is written in.
    pub version: u8,
    /// Whose runs.
    pub to: HostName,
    /// The runs, the last one last.
    pub runs: Vec<RunHeld>,
}
