//! Where a run stands: found again from its journal.

use std::collections::BTreeMap;
use v6gap_core::arm::{Arm, BlockKind};
use v6gap_core::record::{Line, TrialRecord};
use v6gap_core::stopping::Progress;

/// Where a run stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// Number that the next block gets.
    pub block: u32,
    /// The present round.
    pub round: u32,
    /// Blocks of it that are done.
    pub done: usize,
}

impl Position {
    /// The position after `lines`, and in `progress` what they say.
    pub fn after(lines: &[Line], progress: &mut Progress) -> Self {
        let mut position = Position::default();
        let mut open: BTreeMap<Arm, &TrialRecord> = BTreeMap::new();
        let mut last = None;
        for line in lines {
            match line {
                Line::Trial(trial) => {
                    open.insert(trial.arm, trial);
                }
                Line::Block(end) => {
                    if let (Some(a), Some(b)) = (open.get(&Arm::A), open.get(&Arm::B)) {
                        position.advance(a, last != Some(end.block), progress);
                        last = Some(end.block);
                        if end.valid {
                            progress.add(a, b);
                        }
                    }
                    open.clear();
                }
                Line::Run(_) | Line::GaveUp(_) | Line::End(_) => open.clear(),
            }
        }
        position
    }

    /// Counts a block, unless it is a further attempt at the last one.
    fn advance(&mut self, trial: &TrialRecord, new: bool, progress: &mut Progress) {
        if trial.round > self.round {
            if self.round > 0 {
                progress.round_done();
            }
            self.round = trial.round;
            self.done = 0;
        }
        if new {
            self.block = trial.block + 1;
            self.done += 1;
        }
        debug_assert!(trial.round > 0 || trial.kind != BlockKind::Compare);
    }

    /// On to the next round.
    pub fn next_round(&mut self) {
        self.round += 1;
        self.done = 0;
    }
}
