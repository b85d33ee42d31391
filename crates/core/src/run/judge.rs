//! What a run asks of whoever judges what it measured.

use crate::arm::PerArm;
use crate::metric::Metric;
use crate::plan::Plan;
use crate::record::{Allotted, FailedAttempt, GateFinding, TrialRecord};
use crate::workload::Cell;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

/// Judges what a run measured, and keeps what it needs for that.
pub trait Judge: Debug {
    /// The gates that the trials of a block did not pass; empty if all is well.
    fn gates(
        &self,
        plan: &Plan,
        cell: &Cell,
        trials: PerArm<&TrialRecord>,
    ) -> PerArm<Vec<GateFinding>>;

    /// Takes note of a valid block; of null blocks those before the first comparison tell the
    /// noise.
    fn add(&mut self, a: &TrialRecord, b: &TrialRecord);

    /// Takes note of a block with a finding that is fatal.
    fn discarded(&mut self, a: &TrialRecord, b: &TrialRecord);

    /// Takes note of an attempt that gave nothing.
    fn failed(&mut self, failed: &FailedAttempt);

    /// Takes note that the cell with this index will not be measured any more.
    fn give_up(&mut self, cell: usize);

    /// How many blocks each cell shall have in a round, when all null blocks before the first
    /// comparison were told and `elapsed_ns` have passed since the run began; `None` if each shall
    /// have one.
    fn allot(&self, elapsed_ns: u64) -> Option<Allotted>;

    /// Indices of the cells that rest in the next two rounds, when families were compared in so
    /// many: what is asked of them is answered.
    fn resting(&self, rounds: u32) -> Vec<usize>;

    /// Whether a run is complete that compared families in so many rounds. `elapsed_ns` is the
    /// time since it began; `round_ns` how long a round takes.
    fn complete(&self, rounds: u32, elapsed_ns: u64, round_ns: u64) -> bool;

    /// What can be said of each question now.
    fn so_far(&self) -> Vec<SoFar>;
}

/// What can be said of a question before the end; never a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct SoFar {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// Rounds with a valid block.
    pub blocks: usize,
    /// Estimate in words, as in "1.4 % slower"; empty before there is a range.
    pub text: String,
    /// Estimate and 95 % range as relative differences, of shares as differences.
    pub range: Option<(f64, f64, f64)>,
}
