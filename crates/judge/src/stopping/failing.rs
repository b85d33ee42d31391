//! Whether what fails keeps a run going. That asks only in how many rounds one arm failed more than
//! the other, never which: the sign test of them is then as exact as in a run of fixed length
//! (docs/method.md section D.2).

use crate::analysis::counted::{Counted, Times};
use crate::analysis::failures::{self, OfCell};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::family::Family;
use v6gap_core::record::{FailedAttempt, TrialRecord};
use v6gap_core::workload::Cell;

/// So many rounds in which one arm failed more are enough: if they are all of one arm, or all but
/// one, they tell which fails more often.
const ENOUGH: usize = 9;

/// For so many more blocks of a cell a run goes on, so that what failed is no large part of them.
const MENDING: usize = 8;

/// Nobody waits where such rounds are no larger a share of all.
const OFTEN: f64 = 0.05;

/// What failed so far.
#[derive(Debug)]
pub(super) struct Failing {
    arms: PerArm<Family>,
    /// Of attempts and blocks, with their cells and rounds.
    times: Vec<(String, u32, Times)>,
    /// By cell.
    cells: BTreeMap<String, OfCell>,
}

impl Failing {
    pub(super) fn new(arms: PerArm<Family>) -> Self {
        Failing { arms, times: Vec::new(), cells: BTreeMap::new() }
    }

    /// Takes note of an attempt that gave nothing.
    pub(super) fn attempt(&mut self, failed: &FailedAttempt) {
        let arm = failed.family.map(|family| self.arms.arm_of(family));
        if failed.kind == BlockKind::Compare {
            self.cells.entry(failed.cell.clone()).or_default().begun(failed.block, arm);
        }
        let times = PerArm::from_fn(|of| (u64::from(arm == Some(of)), 0));
        self.take(failed.kind, &failed.cell, failed.round, times);
    }

    /// Takes note of a valid block and of its connections that failed.
    pub(super) fn block(&mut self, cell: &Cell, trials: PerArm<&TrialRecord>) {
        let connections = trials.map(|trial| failures::connections(&cell.workload, trial));
        self.take(trials.a.kind, &cell.id, trials.a.round, connections.map(|(lost, _)| (0, lost)));
        if trials.a.kind == BlockKind::Compare {
            self.discarded(&cell.id, trials.a.block).opened(connections);
        }
    }

    /// Takes note of a block that does not count, but was begun.
    pub(super) fn discarded(&mut self, cell: &str, block: u32) -> &mut OfCell {
        let of = self.cells.entry(cell.to_string()).or_default();
        of.begun(block, None);
        of
    }

    fn take(&mut self, kind: BlockKind, cell: &str, round: u32, times: Times) {
        if kind == BlockKind::Compare && !self.arms.is_null() {
            self.times.push((cell.to_string(), round, times));
        }
    }

    /// A cell that is not measured any more is waited for no longer.
    pub(super) fn give_up(&mut self, cell: &str) {
        self.times.retain(|(of, ..)| of != cell);
    }

    /// Whether one arm fails often, and too seldom so far to tell which.
    pub(super) fn is_open(&self) -> bool {
        let times = self.times.iter().map(|(cell, round, times)| (cell.as_str(), *round, *times));
        let told = Counted::of(times);
        let apart = told.more.a + told.more.b;
        apart < ENOUGH && apart as f64 > OFTEN * told.rounds as f64
    }

    /// Whether so much of a cell failed that its values may have no verdict, and a few blocks more
    /// would mend that.
    pub(super) fn withholds(&self, cell: &str) -> bool {
        self.cells.get(cell).is_some_and(|of| of.is_mendable(MENDING))
    }
}
