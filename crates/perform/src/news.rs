//! What is told while a plan is performed.

use crate::occupant::Occupant;
use v6gap_core::family::Family;
use v6gap_core::record::RunHeader;
use v6gap_core::run::{Attempt, Event};
use v6gap_core::wire::control::Queued;

/// Something happened. All of it is told by the thread that performs, and between trials.
#[derive(Debug)]
pub enum News<'a> {
    /// The far end measures for somebody else and is waited for; told once.
    Waits {
        /// Name of the far end.
        target: &'a str,
        /// Who measures, since when, and how many wait.
        queued: &'a Queued,
    },
    /// Somebody else measures on this host and is waited for; told once of each.
    Occupied(&'a Occupant),
    /// The far end told its address of a family; in the words that are noted with the run.
    Located(&'a str),
    /// The plan was made to fit what the far end allows; in the words that are noted with the run.
    Fitted(&'a str),
    /// The links of the lab are tested.
    Tests,
    /// It is a recording: nothing is measured.
    Plays,
    /// The run begins.
    Begins(&'a RunHeader),
    /// A trial of this family is about to begin, or one in which both take turns.
    Before(&'a Attempt<'a>, Option<Family>),
    /// Something happened in the run.
    Run(&'a Event<'a>),
    /// A managed device could not be read; in the words that are noted with the trial.
    Device(&'a str),
    /// Round trips are measured over loopback, for what the choice of processors does to them.
    Placements,
    /// A family is measured against itself.
    Noise {
        /// Which.
        family: Family,
        /// How long, in ns.
        time_ns: u64,
    },
    /// The run is over, for whatever reason.
    Over,
    /// What a stranger's host was asked for in all.
    Asked {
        /// Connections.
        connections: u32,
        /// Questions to a name server.
        queries: u32,
        /// Bytes that came.
        bytes: u64,
    },
}

/// Who is told.
pub trait Watcher {
    /// Takes notice. What takes long here delays the run.
    fn told(&mut self, news: &News<'_>);
}

impl<F: FnMut(&News<'_>)> Watcher for F {
    fn told(&mut self, news: &News<'_>) {
        self(news);
    }
}
