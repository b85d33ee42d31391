//! Where a run stands in its schedule.

use super::ATTEMPTS_AGAIN;
use crate::arm::BlockKind;
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
    /// Attempts at it of this session that gave nothing.
    pub failed: u32,
}

impl Position {
    /// Before the first block.
    pub fn first(plan: &Plan) -> Self {
        let blocks = schedule::round(plan, 0);
        Position { block: 0, round: 0, blocks, turn: 0, attempt: 0, session_attempt: 0, failed: 0 }
    }

    /// On to the next block of the round.
    pub fn next_block(&mut self) {
        self.block = self.block.saturating_add(1);
        self.turn += 1;
        (self.attempt, self.session_attempt, self.failed) = (0, 0, 0);
    }

    /// An attempt at the present block gave nothing.
    pub fn failed(&mut self) {
        self.failed += 1;
    }

    /// Another session goes on, which may try as often again.
    pub fn next_session(&mut self) {
        (self.session_attempt, self.failed) = (self.attempt, 0);
    }

    /// Whether this session has tried the present block as often as it may.
    pub fn is_tried_enough(&self) -> bool {
        self.tries() > ATTEMPTS_AGAIN
    }

    /// Whether it has, and not every attempt gave nothing: no more is to be had of the block, but
    /// of its cell.
    pub fn is_spent(&self) -> bool {
        self.is_tried_enough() && self.failed < self.tries()
    }

    fn tries(&self) -> u32 {
        self.attempt.saturating_sub(self.session_attempt)
    }

    /// On to the first block of a round, which has these.
    pub fn enter(&mut self, round: u32, blocks: Vec<Block>) {
        (self.round, self.blocks, self.turn) = (round, blocks, 0);
        (self.attempt, self.session_attempt, self.failed) = (0, 0, 0);
    }

    /// Moves behind an attempt: to the next one at its block. What lies before the block in its
    /// round was left out, and the present block was passed by if it was tried and the attempt has
    /// a later number. An attempt at no block of this schedule only takes a number; then it is
    /// false.
    pub fn follow(&mut self, plan: &Plan, mark: &Mark<'_>) -> bool {
        let is_it = |block: &Block| {
            block.round == mark.round
                && plan.cells[block.cell].id == mark.cell
                && block.kind == mark.kind
                // Null blocks of the same cell come in the order of the schedule.
                && (block.order == mark.order || block.kind != BlockKind::Compare)
        };
        let passed_by = usize::from(self.attempt > 0 && mark.block > self.block);
        self.block = mark.block;
        let ahead = self.blocks.iter().skip(self.turn + passed_by).position(is_it);
        let Some(left_out) = ahead else {
            self.block = self.block.saturating_add(1);
            return false;
        };
        if passed_by + left_out > 0 {
            self.turn += passed_by + left_out;
            (self.session_attempt, self.failed) = (0, 0);
        }
        self.attempt = mark.attempt.saturating_add(1);
        true
    }
}
