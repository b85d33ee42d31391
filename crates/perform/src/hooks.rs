//! What a run calls back for: storing its lines, telling its news, reading the lab's link.

use crate::ends::Ends;
use crate::news::{News, Watcher};
use crate::turn::Turn;
use crate::witness::Witnesses;
use crate::world::RealWorld;
use std::io;
use v6gap_core::family::Family;
use v6gap_core::observation::{Beside, Lateness};
use v6gap_core::record::Line;
use v6gap_core::run::{Attempt, Event};
use v6gap_engine::run::Hooks;
use v6gap_store::Journal;

/// The hooks of a run that is stored.
pub(crate) struct Stored<'a> {
    /// The journal of the run.
    pub journal: Journal,
    /// Between whom.
    pub ends: Ends,
    /// The turn of this host.
    pub turn: &'a mut Turn,
    /// Who is told.
    pub watch: &'a mut dyn Watcher,
    /// Others who see the trials.
    pub witnesses: Witnesses,
}

impl Hooks for Stored<'_> {
    fn store(&mut self, lines: &[Line]) -> io::Result<()> {
        self.turn.keep();
        self.journal.append(lines).map_err(io::Error::other)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.watch.told(&News::Run(event));
    }

    fn lateness(&mut self) -> Option<Lateness> {
        self.ends.lab.as_ref().and_then(RealWorld::lateness)
    }

    fn before(&mut self, attempt: &Attempt<'_>, family: Option<Family>) {
        self.watch.told(&News::Before(attempt, family));
        self.witnesses.before(attempt, family, self.watch);
    }

    fn beside(&mut self) -> Option<Beside> {
        self.witnesses.beside(self.watch)
    }
}
