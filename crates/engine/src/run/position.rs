//! Where a run stands: found again from its journal.

use super::ATTEMPTS_AGAIN;
use std::collections::BTreeMap;
use v6gap_core::arm::Arm;
use v6gap_core::plan::Plan;
use v6gap_core::record::{Line, TrialRecord};
use v6gap_core::schedule::{self, Block};
use v6gap_core::stopping::Progress;

/// Where a run stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// Number of the next block; cells that are left out count too.
    pub block: u32,
    /// The present round.
    pub round: u32,
    /// Index of the next block in the schedule of the round, with the cells that are left out.
    pub turn: usize,
    /// The next attempt at it.
    pub attempt: u32,
}

impl Position {
    /// The position after `lines`, and in `progress` what they say.
    pub fn after(plan: &Plan, lines: &[Line], progress: &mut Progress) -> Self {
        let mut position = Position::default();
        let mut open: BTreeMap<Arm, &TrialRecord> = BTreeMap::new();
        for line in lines {
            match line {
                Line::Trial(trial) => {
                    open.insert(trial.arm, trial);
                    continue;
                }
                Line::Block(end) => {
                    if let (Some(a), Some(b)) = (open.get(&Arm::A), open.get(&Arm::B)) {
                        position.advance(plan, a, end.valid, progress);
                        if end.valid {
                            progress.add(a, b);
                        }
                    }
                }
                // The cell was given up in the middle of the attempts at its block.
                Line::GaveUp(_) if position.attempt > 0 => position.next_block(),
                Line::Run(_) | Line::GaveUp(_) | Line::End(_) => {}
            }
            open.clear();
        }
        position
    }

    /// Takes note of an attempt at a block. The block is done only if it is valid or was tried as
    /// often as it may be; what lies before it in the round was left out.
    fn advance(&mut self, plan: &Plan, trial: &TrialRecord, valid: bool, progress: &mut Progress) {
        if trial.round > self.round {
            if self.round > 0 {
                progress.round_done();
            }
            *self = Position { block: self.block, round: trial.round, turn: 0, attempt: 0 };
        }
        let is_it = |block: &Block| {
            block.round == trial.round
                && plan.cells[block.cell].id == trial.cell
                && block.kind == trial.kind
                && block.order == trial.order
        };
        let blocks = schedule::round(plan, self.round);
        self.block = trial.block;
        let Some(left_out) = blocks.iter().skip(self.turn).position(is_it) else {
            // Not of this schedule: it only takes a number.
            self.block = self.block.saturating_add(1);
            return;
        };
        self.turn += left_out;
        self.attempt = trial.attempt.saturating_add(1);
        if valid || self.attempt > ATTEMPTS_AGAIN {
            self.next_block();
        }
    }

    /// On to the next block of the round.
    pub fn next_block(&mut self) {
        self.block = self.block.saturating_add(1);
        self.turn += 1;
        self.attempt = 0;
    }

    /// On to the next round.
    pub fn next_round(&mut self) {
        self.round += 1;
        self.turn = 0;
        self.attempt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::arm::PerArm;
    use v6gap_core::observation::PerEnd;
    use v6gap_core::plan::preset;
    use v6gap_core::record::{BlockRecord, GaveUp};

    fn plan() -> Plan {
        preset::first_look(PerArm::FAMILIES, None, 1)
    }

    /// One attempt at `block` as it is stored under `number`.
    fn attempt(plan: &Plan, block: &Block, number: u32, attempt: u32, valid: bool) -> Vec<Line> {
        let trial = |arm| {
            Line::Trial(Box::new(TrialRecord {
                block: number,
                cell: plan.cells[block.cell].id.clone(),
                kind: block.kind,
                round: block.round,
                arm,
                family: *PerArm::FAMILIES.get(arm),
                order: block.order,
                attempt,
                started_unix_ns: 0,
                started_ns: 0,
                duration_ns: 0,
                values: Default::default(),
                ends: PerEnd::default(),
                findings: Vec::new(),
                link: None,
                beside: None,
            }))
        };
        let end = Line::Block(BlockRecord { block: number, valid });
        vec![trial(Arm::A), trial(Arm::B), end]
    }

    /// Valid blocks of round 1, numbered by their turns.
    fn valid(plan: &Plan, turns: std::ops::Range<usize>) -> Vec<Line> {
        let blocks = schedule::round(plan, 1);
        turns.flat_map(|turn| attempt(plan, &blocks[turn], turn as u32, 0, true)).collect()
    }

    fn after(plan: &Plan, lines: &[Line]) -> Position {
        Position::after(plan, lines, &mut Progress::new(plan, &[]))
    }

    fn at(turn: usize, attempt: u32) -> Position {
        Position { block: turn as u32, round: 1, turn, attempt }
    }

    #[test]
    fn every_stop_between_blocks_is_found_again() {
        let plan = plan();
        let (mut lines, mut expected) = (Vec::new(), Position::default());
        for round in 0..4 {
            for block in schedule::round(&plan, round) {
                lines.extend(attempt(&plan, &block, expected.block, 0, true));
                expected.next_block();
                let mut progress = Progress::new(&plan, &[]);
                assert_eq!(Position::after(&plan, &lines, &mut progress), expected);
                // The present round is not over before the runner says so.
                assert_eq!(progress.rounds(), round.saturating_sub(1));
            }
            expected.next_round();
        }
    }

    #[test]
    fn a_block_is_done_when_it_is_valid_or_was_tried_as_often_as_it_may_be() {
        let plan = plan();
        let block = schedule::round(&plan, 1)[2];
        let mut lines = valid(&plan, 0..2);
        for tried in 0..ATTEMPTS_AGAIN {
            lines.extend(attempt(&plan, &block, 2, tried, false));
            assert_eq!(after(&plan, &lines), at(2, tried + 1));
            let mut passed = lines.clone();
            passed.extend(attempt(&plan, &block, 2, tried + 1, true));
            assert_eq!(after(&plan, &passed), at(3, 0));
        }
        lines.extend(attempt(&plan, &block, 2, ATTEMPTS_AGAIN, false));
        assert_eq!(after(&plan, &lines), at(3, 0));
        // A trial without its block is as if it had not been.
        lines.truncate(lines.len() - 1);
        assert_eq!(after(&plan, &lines), at(2, ATTEMPTS_AGAIN));
    }

    #[test]
    fn a_cell_given_up_in_the_middle_of_a_round_moves_no_other() {
        let plan = plan();
        let blocks = schedule::round(&plan, 1);
        let gave_up =
            Line::GaveUp(GaveUp { cell: plan.cells[blocks[1].cell].id.clone(), why: "x".into() });
        // Without any attempt that could be stored, and after one that was invalid.
        for stored in [false, true] {
            let mut lines = valid(&plan, 0..1);
            if stored {
                lines.extend(attempt(&plan, &blocks[1], 1, 0, false));
            }
            lines.push(gave_up.clone());
            // The runner passes over what is left out.
            assert_eq!(after(&plan, &lines), at(if stored { 2 } else { 1 }, 0));
            lines.extend(valid(&plan, 2..3));
            assert_eq!(after(&plan, &lines), at(3, 0));
        }
    }

    #[test]
    fn a_block_of_another_schedule_only_takes_a_number() {
        let plan = plan();
        let mut stranger = schedule::round(&plan, 1)[1];
        stranger.order = stranger.order.reversed();
        let mut lines = valid(&plan, 0..1);
        lines.extend(attempt(&plan, &stranger, u32::MAX, u32::MAX, true));
        assert_eq!(after(&plan, &lines), Position { block: u32::MAX, ..at(1, 0) });
    }
}
