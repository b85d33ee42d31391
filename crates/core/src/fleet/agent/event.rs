//! What an agent is told, and what it wants done.

use super::limits::{Asked, Limits};
use crate::fleet::id::{JobId, Token};
use crate::fleet::message::{Ack, Command, Heartbeat, Measured, Prepare, Reply};
use crate::record::RunId;
use alloc::boxed::Box;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What happened. Each is handed in with the time at which it is handed in, never an earlier one.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Nothing but time passed. Wanted at [`Agent::wake_ns`], and harmless at any time.
    ///
    /// [`Agent::wake_ns`]: super::Agent::wake_ns
    Time,
    /// An order came whose signature is the coordinator's, with its word opened.
    Command {
        /// The order.
        command: Box<Command>,
        /// What the plan of a *prepare* takes, worked out from its text by this host itself, or why
        /// it cannot be read. Nothing for other orders.
        asked: Option<Result<Asked, String>>,
    },
    /// The server that was begun listens.
    Listens,
    /// What was begun last by [`Action::Serve`] or [`Action::Measure`] is over, in any way, and
    /// everything that it measured is on the disk. Said once for each.
    Ended(Box<Ended>),
    /// Whether something that is not this agent's is measured on the host, or is about to be.
    Taken(bool),
    /// What is free on the disk, in bytes.
    Disk(u64),
    /// What the host's owner allows, or why that cannot be read.
    Limits(Result<Box<Limits>, String>),
    /// A part is on its way to the stream, or could not be sent.
    Published {
        /// The run.
        run: RunId,
        /// Where the part ends, in bytes.
        end: u64,
        /// Whether it was sent.
        taken: bool,
    },
    /// What the archive has.
    Ack(Ack),
    /// A run is not on the disk any more.
    Removed(RunId),
    /// It is at the hub again.
    Back,
    /// The hub is gone for longer than the host's owner has anything measured without one.
    Abandoned,
}

/// What an agent must know again when it begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Known {
    /// The highest token that it has seen.
    pub highest: Token,
    /// The day of UTC on which it took part in a job last, as days since the Unix epoch.
    #[serde(default)]
    pub day: u64,
    /// Bytes that jobs of that day took, or may have taken.
    #[serde(default)]
    pub bytes: u64,
}

impl Known {
    /// What was spent of a day; a clock that was ahead by one and was set back forgets nothing.
    pub(super) const fn spent_on(&self, day: u64) -> u64 {
        if day == self.day || day + 1 == self.day { self.bytes } else { 0 }
    }

    /// Takes note of so many bytes more on a day.
    pub(super) fn spend(&mut self, day: u64, bytes: u64) {
        self.bytes = self.spent_on(day).saturating_add(bytes);
        if day + 1 != self.day {
            self.day = day;
        }
    }
}

/// A run on the disk of an agent that begins anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The run.
    pub run: RunId,
    /// Bytes of its journal.
    pub bytes: u64,
    /// How much of it the archive has, as was written down.
    pub held: u64,
    /// When that was written down, in ns since the Unix epoch.
    pub since_unix_ns: u64,
}

/// How what was begun came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// What was measured; nothing at a server.
    pub measured: Measured,
    /// Bytes that it sent and received.
    pub bytes: u64,
    /// Why it did not do its part.
    pub failure: Option<Trouble>,
}

/// Why a part was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// In words.
    pub why: String,
    /// Whether another attempt would come out the same.
    pub lasting: bool,
}

/// What is to be done, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Have this on the disk before anything that follows is done. Where that fails, what follows
    /// is handed to [`Agent::unremembered`], which says what is to be done in its place.
    ///
    /// [`Agent::unremembered`]: super::Agent::unremembered
    Remember(Known),
    /// Begin a server for one client with that word. Answered by [`Event::Listens`], and at its end
    /// by [`Event::Ended`]. It must die with the agent.
    Serve(Box<Prepare>),
    /// Begin to measure. At its end answered by [`Event::Ended`]. It must die with the agent.
    Measure {
        /// What.
        prepare: Box<Prepare>,
        /// By what time of the agent's clock it must be over, in ns: it is told so, and whoever
        /// begins it begins nothing when less is left than the plan's own longest time.
        until_ns: u64,
    },
    /// Kill what was begun. It ends as in any other case.
    Kill,
    /// Answer an order.
    Reply(Box<Reply>),
    /// Say that the agent is there. Whoever sends it fills in program, addresses and clock.
    Beat(Box<Heartbeat>),
    /// Send a part of a journal to the stream. Answered by [`Event::Published`], in any case within
    /// [`REQUEST_NS`](crate::fleet::REQUEST_NS).
    Publish {
        /// The run.
        run: RunId,
        /// The job that it was measured for last.
        job: Option<JobId>,
        /// Where it begins, in bytes.
        at: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// The archive has so much of a run on its disk: write it down, and remove no byte of a run's
    /// journal before this was said of all of it.
    Held {
        /// The run.
        run: RunId,
        /// Bytes from the beginning of its journal.
        bytes: u64,
    },
    /// Remove a run that the archive has, as its owner wants it, unless more is in its journal than
    /// was ever said to be held. Answered by [`Event::Removed`] if it is gone, and asked again
    /// otherwise.
    Remove(RunId),
}
