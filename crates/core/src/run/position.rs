//! Where a run stands in its schedule.

use crate::plan::Plan;
use crate::record::TrialRecord;
use crate::schedule::{self, Block};
use alloc::vec::Vec;

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// Number of the next block; cells that are left out count too.
    pub block: u32,
    /// The present round.
    pub round: u32,
    /// Its blocks, with those of cells that are left out.
    pub blocks: Vec<Block>,
    /// Index of the next of them.
    pub turn: usize,
    /// The next attempt at it.
    pub attempt: u32,
}

impl Position {
    /// Before the first block.
    pub fn first(plan: &Plan) -> Self {
        let blocks = schedule::round(plan, 0);
        Position { block: 0, round: 0, blocks, turn: 0, attempt: 0 }
    }

    /// On to the next block of the round.
    pub fn next_block(&mut self) {
        self.block = self.block.saturating_add(1);
        self.turn += 1;
        self.attempt = 0;
    }

    /// On to the first block of a round.
    pub fn enter(&mut self, plan: &Plan, round: u32) {
        self.blocks = schedule::round(plan, round);
        (self.round, self.turn, self.attempt) = (round, 0, 0);
    }

    /// Moves behind the attempt that `trial` was one arm of: to the next attempt at its block. What
    /// lies before the block in its round was left out. A trial of no block of this schedule only
    /// takes a number; then it is false.
    pub fn follow(&mut self, plan: &Plan, trial: &TrialRecord) -> bool {
        let is_it = |block: &Block| {
            block.round == trial.round
                && plan.cells[block.cell].id == trial.cell
                && block.kind == trial.kind
                && block.order == trial.order
        };
        self.block = trial.block;
        let Some(left_out) = self.blocks.iter().skip(self.turn).position(is_it) else {
            self.block = self.block.saturating_add(1);
            return false;
        };
        self.turn += left_out;
        self.attempt = trial.attempt.saturating_add(1);
        true
    }
}
