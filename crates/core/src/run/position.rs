//! Where a run stands in its schedule.

use crate::plan::Plan;
use crate::record::Mark;
use crate::schedule::{self, Block};
use alloc::vec::Vec;

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// Number of the next block; cells that are left out count too.
    pub block: u32,
    /// The present round.
    pub round: u32,
    /// Blocks of the present round, with those of cells that are left out.
    pub blocks: Vec<Block>,
    /// Index of the next of them.
    pub turn: usize,
    /// The next attempt at it.
    pub attempt: u32,
    /// The first attempt at it of this session.
    pub session_attempt: u32,
}

impl Position {
    /// Before the first block.
    pub fn first(plan: &Plan) -> Self {
        let blocks = schedule::round(plan, 0);
        Position { block: 0, round: 0, blocks, turn: 0, attempt: 0, session_attempt: 0 }
    }

    /// On to the next block of the round.
    pub fn next_block(&mut self) {
        self.block = self.block.saturating_add(1);
        self.turn += 1;
        (self.attempt, self.session_attempt) = (0, 0);
    }

    /// On to the first block of a round, which has these.
    pub fn enter(&mut self, round: u32, blocks: Vec<Block>) {
        (self.round, self.blocks, self.turn) = (round, blocks, 0);
        (self.attempt, self.session_attempt) = (0, 0);
    }

    /// Moves behind an attempt: to the next one at its block. What lies before the block in its
    /// round was left out. An attempt at no block of this schedule only takes a number; then it is
    /// false.
    pub fn follow(&mut self, plan: &Plan, mark: &Mark<'_>) -> bool {
        let is_it = |block: &Block| {
            block.round == mark.round
                && plan.cells[block.cell].id == mark.cell
                && block.kind == mark.kind
                && block.order == mark.order
        };
        self.block = mark.block;
        let Some(left_out) = self.blocks.iter().skip(self.turn).position(is_it) else {
            self.block = self.block.saturating_add(1);
            return false;
        };
        self.turn += left_out;
        self.attempt = mark.attempt.saturating_add(1);
        true
    }
}
