//! What a sink is told, and what it wants done.

use crate::fleet::message::{Ack, ChunkHeader};
use crate::fleet::names::HostName;
use crate::record::RunId;
use alloc::boxed::Box;

/// A run of a host: what it is called in the archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunOf {
    /// The host.
    pub host: HostName,
    /// The run.
    pub run: RunId,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A message of the stream came, and its bytes have the hash that it says.
    Chunk {
        /// Its number, which the machine says again with what is to be done with it.
        message: u64,
        /// What it is.
        header: Box<ChunkHeader>,
        /// Bytes of that run's journal that are on the archive's disk, as the disk says; 0 if it
        /// has none of it.
        on_disk: u64,
    },
    /// What [`Action::Append`] said is on the disk, synced, with the run's line of the index; or it
    /// is not, as the disk is full or broken, and the journal is as long as before.
    Appended {
        /// The run.
        run: RunOf,
        /// Whether it is.
        on_disk: bool,
    },
}

/// What is to be done, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Write bytes of a message to the end of a journal and sync it. Answered by
    /// [`Event::Appended`].
    Append {
        /// The message.
        message: u64,
        /// The run.
        run: RunOf,
        /// How many of the message's first bytes the journal has already.
        skip: u64,
    },
    /// The message is done with: the stream need not send it again.
    Done(u64),
    /// The message is not done with: have the stream send it again, after
    /// [`AGAIN_NS`](super::AGAIN_NS).
    Again(u64),
    /// Tell an agent what the archive has.
    Ack(Ack),
}
