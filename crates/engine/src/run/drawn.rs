//! What is drawn anew at this end while a run goes on: the worker.

use crate::worker::Worker;
use v6gap_core::schedule::Block;

/// What one worker measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Draw {
    /// All tasks outside a run.
    All,
    /// The blocks of a round, of which each cell has one to compare.
    Round(u32),
    /// One block, which has this seed: before the first comparison each cell has several.
    Block(u64),
}

/// The worker of the blocks at hand, and the number by which the server knows them.
#[derive(Debug)]
pub(super) struct Drawn {
    of: Draw,
    number: Option<u32>,
    worker: Option<Worker>,
}

impl Drawn {
    /// For tasks outside a run.
    pub fn new() -> Self {
        Drawn { of: Draw::All, number: None, worker: None }
    }

    /// What comes now is of this block, which may be tried again.
    pub fn begin(&mut self, block: &Block) {
        let of = if block.round == 0 { Draw::Block(block.seed) } else { Draw::Round(block.round) };
        if self.of != of {
            *self = Drawn { of, ..Drawn::new() };
        }
    }

    /// The number of the draw that the task of this number belongs to, and who measures it if there
    /// is a worker. One that has ended is replaced at this end alone.
    pub fn of_task(&mut self, task: u32) -> (u32, Option<&Worker>) {
        // Numbers of tasks only rise, so that no other draw has it.
        let is_new = self.number.is_none();
        let number = *self.number.get_or_insert(task);
        if is_new || self.worker.as_ref().is_some_and(|worker| !worker.lives()) {
            self.worker = Worker::start();
        }
        (number, self.worker.as_ref())
    }
}
