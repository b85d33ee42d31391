//! What a coordinator is told, and what it wants done.

use crate::fleet::grant::{Batch, Committed, Entry};
use crate::fleet::id::JobId;
use crate::fleet::message::{Command, Heartbeat, Reply};
use crate::fleet::work::{Outcome, Work};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// What happened. Each is handed in with the time at which it is handed in, never an earlier one.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Nothing but time passed. Wanted at [`Coordinator::wake_ns`], and harmless at any time.
    ///
    /// [`Coordinator::wake_ns`]: super::Coordinator::wake_ns
    Time,
    /// The answer to [`Action::Look`]: the key of the leader; `None` if the broker did not answer.
    Looked(Option<Entry>),
    /// The answer to [`Action::List`].
    Listed {
        /// Its number.
        number: u64,
        /// All keys; `None` if the broker did not answer. Keys that were never written or whose
        /// mark is gone are not there.
        entries: Option<Vec<Entry>>,
    },
    /// The answer to [`Action::Commit`].
    Committed {
        /// Its number.
        number: u64,
        /// What came of it.
        came: Committed,
    },
    /// A host answered; its subject proves that it was this one.
    Reply(Box<Reply>),
    /// A host said that it is there; its subject proves that it was this one.
    Heartbeat(Box<Heartbeat>),
    /// Somebody wants it to lead no more. What runs goes on, and another one may lead at once.
    Retire,
}

/// What is to be done, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Read the leader's key, from the leader of the replicas. Answered by [`Event::Looked`], in
    /// any case within [`COMMIT_NS`](crate::fleet::COMMIT_NS).
    Look,
    /// Read all keys, from the leader of the replicas: all that was written before this was asked
    /// must be in there. Answered by [`Event::Listed`], in any case within
    /// [`REQUEST_NS`](crate::fleet::REQUEST_NS).
    List {
        /// Its number.
        number: u64,
    },
    /// Have the broker take a batch. Answered by [`Event::Committed`], in any case within
    /// [`COMMIT_NS`](crate::fleet::COMMIT_NS).
    Commit {
        /// Its number.
        number: u64,
        /// The batch.
        batch: Batch,
    },
    /// Seal the word that is in there, if there is one, sign it, and send it to its host.
    Send(Box<Command>),
    /// Tell whoever looks: a job came out so.
    Came {
        /// The job.
        job: JobId,
        /// What it was for.
        work: Box<Work>,
        /// How it came out.
        outcome: Outcome,
    },
    /// Tell whoever looks: this coordinator leads from now on, or no more. It may lead again
    /// without having lost the lead, if it was the broker that did not answer.
    Leads(bool),
}
