//! What a run calls back for: storing its lines, showing its progress, reading the lab's link.

use super::progress::Progress;
use super::witness::Witnesses;
use super::world::RealWorld;
use std::io;
use v6gap_core::family::Family;
use v6gap_core::observation::{Beside, Lateness};
use v6gap_core::record::Line;
use v6gap_core::run::{Attempt, Event};
use v6gap_engine::run::Hooks;
use v6gap_store::Journal;

/// The hooks of the program.
pub struct AppHooks<'a> {
    /// The journal of the run.
    pub journal: Journal,
    /// The lab, if the run is in one.
    pub lab: Option<&'a RealWorld>,
    /// The view.
    pub progress: Progress,
    /// Others who see the trials.
    pub witnesses: Witnesses,
}

impl Hooks for AppHooks<'_> {
    fn store(&mut self, lines: &[Line]) -> io::Result<()> {
        self.journal.append(lines).map_err(io::Error::other)
    }

    fn event(&mut self, event: &Event<'_>) {
        self.progress.event(event);
    }

    fn lateness(&mut self) -> Option<Lateness> {
        self.lab.and_then(RealWorld::lateness)
    }

    fn before(&mut self, attempt: &Attempt<'_>, family: Option<Family>) {
        self.progress.before(attempt, family);
        self.witnesses.before(attempt, family);
    }

    fn beside(&mut self) -> Option<Beside> {
        self.witnesses.beside()
    }
}
