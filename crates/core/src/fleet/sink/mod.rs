//! The sink: has the archive take what agents send, and says what it has.
//!
//! A journal only grows, and a part of one says where in it it begins. So how much of a run the
//! archive has is told by the length of its journal there: what comes twice, from two attempts or
//! in other parts adds only what is behind that, and what comes too early waits. Nothing is said to
//! be there before it is on the disk. The machine keeps nothing that the disk does not have, so it
//! may die any time.

mod event;
mod shares;
#[cfg(test)]
mod tests;

pub use event::{Action, Event, RunOf};
pub use shares::{Room, Shares};

use super::SECOND_NS;
use super::message::{Ack, ChunkHeader, RunHeld, SPOKEN};
use super::names::HostName;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Most runs that are named to a host at once.
pub const ACK_RUNS: usize = 64;

/// After how long a message that was not taken should come again, in ns.
pub const AGAIN_NS: u64 = 5 * SECOND_NS;

/// Most parts of a run that wait for another one of it to be written.
const WAITING_MAX: usize = 64;

/// A part that is being written.
#[derive(Debug)]
struct Writing {
    message: u64,
    end: u64,
    waiting: Vec<(u64, Box<ChunkHeader>)>,
}

/// A sink. One at a time writes to an archive: whoever drives it has the archive's lock.
#[derive(Debug, Default)]
pub struct Sink {
    writing: BTreeMap<RunOf, Writing>,
    /// What was said of each host's runs, the last one last.
    said: BTreeMap<HostName, VecDeque<RunHeld>>,
}

impl Sink {
    /// A sink that begins.
    pub fn new() -> Sink {
        Sink::default()
    }

    /// Takes note of what happened, and says what is to be done.
    pub fn step(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Chunk { message, header, on_disk } => {
                self.chunk(message, header, on_disk, &mut actions);
            }
            Event::Appended { run, on_disk } => self.appended(run, on_disk, &mut actions),
        }
        actions
    }

    fn chunk(
        &mut self,
        message: u64,
        header: Box<ChunkHeader>,
        on_disk: u64,
        actions: &mut Vec<Action>,
    ) {
        let run = RunOf { host: header.from.clone(), run: header.run.clone() };
        if let Some(writing) = self.writing.get_mut(&run) {
            // How long the journal is shows when that is written.
            match writing.waiting.len() < WAITING_MAX {
                true => writing.waiting.push((message, header)),
                false => actions.push(Action::Again(message)),
            }
            return;
        }
        let (at, end) = (header.at, header.end());
        if end <= on_disk {
            actions.push(Action::Done(message));
            self.ack(&run, on_disk, actions);
        } else if at > on_disk {
            actions.push(Action::Again(message));
        } else {
            actions.push(Action::Append { message, run: run.clone(), skip: on_disk - at });
            self.writing.insert(run, Writing { message, end, waiting: Vec::new() });
        }
    }

    fn appended(&mut self, run: RunOf, on_disk: bool, actions: &mut Vec<Action>) {
        let Some(Writing { message, end, waiting }) = self.writing.remove(&run) else { return };
        if !on_disk {
            let all = [message].into_iter().chain(waiting.into_iter().map(|(message, _)| message));
            actions.extend(all.map(Action::Again));
            return;
        }
        actions.push(Action::Done(message));
        self.ack(&run, end, actions);
        for (message, header) in waiting {
            self.chunk(message, header, end, actions);
        }
    }

    /// So much of a run is on the disk.
    fn ack(&mut self, run: &RunOf, bytes: u64, actions: &mut Vec<Action>) {
        let said = self.said.entry(run.host.clone()).or_default();
        said.retain(|held| held.run != run.run);
        if said.len() == ACK_RUNS {
            said.pop_front();
        }
        said.push_back(RunHeld { run: run.run.clone(), bytes });
        let runs = said.iter().cloned().collect();
        let ack = Ack { version: SPOKEN.highest(), to: run.host.clone(), runs };
        actions.push(Action::Ack(ack));
    }
}
