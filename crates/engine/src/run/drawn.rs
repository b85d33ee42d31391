//! What is drawn anew while a run goes on: the worker of either end, and its processor.

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

/// The worker of the blocks at hand, and the number by which both ends know them.
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

    /// The number of the draw that a task with this seed belongs to, and who measures it if there
    /// is a worker. One that has ended is replaced at this end alone.
    pub fn of_task(&mut self, seed: u64) -> (u32, Option<&Worker>) {
        let is_new = self.number.is_none();
        // The lower half, which is the same for both arms: ends choose by it, and two draws in
        // succession have the same one in one of four billion cases.
        let number = *self.number.get_or_insert(seed as u32);
        if is_new || self.worker.as_ref().is_some_and(|worker| !worker.lives()) {
            self.worker = Worker::start();
        }
        (number, self.worker.as_ref())
    }
}
