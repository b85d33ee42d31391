//! From the lines of a journal to blocks: which trials belong together and which of them count.

use super::effect::validity::Validity;
use super::{AnalysisError, effect};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use v6gap_core::arm::{BlockKind, PerArm, TurnOrder};
use v6gap_core::metric::Metric;
use v6gap_core::plan::Design;
use v6gap_core::record::{BlockRecord, Drawn, Ending, FailedAttempt, Line, RunHeader, TrialRecord};

/// A complete block.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub number: u32,
    pub valid: bool,
    pub trials: PerArm<&'a TrialRecord>,
    /// What was drawn for it, if that was stored.
    pub drawn: Option<Drawn>,
}

impl Block<'_> {
    pub fn kind(&self) -> BlockKind {
        self.trials.a.kind
    }

    pub fn order(&self) -> TurnOrder {
        self.trials.a.order
    }

    pub fn round(&self) -> u32 {
        self.trials.a.round
    }

    pub fn cell(&self) -> &str {
        &self.trials.a.cell
    }

    /// What both trials have of a metric.
    pub fn values(&self, metric: Metric) -> Option<PerArm<f64>> {
        effect::values(metric, self.trials)
    }

    /// The effect, on the scale of [`effect::of_block`].
    pub fn effect(&self, metric: Metric) -> Option<f64> {
        effect::of_trials(metric, self.trials)
    }
}

/// A journal in order.
pub(super) struct Collected<'a> {
    pub run: &'a RunHeader,
    pub blocks: Vec<Block<'a>>,
    pub trials: Vec<&'a TrialRecord>,
    pub ending: Option<&'a Ending>,
    /// Whether somebody stopped it, or went on with it when it was over.
    pub looked_at: bool,
    /// Cells without a value, with the reason: refused before the run or given up in it.
    pub unmeasured: BTreeMap<&'a str, &'a str>,
    /// Attempts at blocks that gave nothing.
    pub failed: Vec<&'a FailedAttempt>,
}

impl Collected<'_> {
    /// When the ranges of a metric are to hold. Of one that is asked for with a precision that is
    /// whenever somebody looks, since these ranges are as narrow as that.
    pub fn validity(&self, metric: Metric) -> Validity {
        let Design { stop, precision, .. } = &self.run.plan.design;
        let complete = self.ending == Some(&Ending::Complete);
        match complete && !self.looked_at && !precision.contains_key(&metric) {
            true => Validity::to_the_end(stop),
            false => Validity::looked_at(stop),
        }
    }
}

/// How much further apart two clocks of one host may be from one trial to the next, in ns: where it
/// is more, another session has begun, or nobody knows what happened in between.
const CLOCKS_APART_NS: u64 = 1_000_000_000;

/// Whether two trials that follow each other are of one session.
fn is_of_one_session(a: &TrialRecord, b: &TrialRecord) -> bool {
    let began_ns = |trial: &TrialRecord| trial.started_unix_ns.wrapping_sub(trial.started_ns);
    began_ns(a).abs_diff(began_ns(b)) <= CLOCKS_APART_NS
}

/// Trials count when a block line follows that says so; what a crash cut off is left out.
pub(super) fn collect(lines: &[Line]) -> Result<Collected<'_>, AnalysisError> {
    let Some((Line::Run(run), rest)) = lines.split_first() else {
        return Err(AnalysisError::NoHeader);
    };
    let mut found = Collected {
        run,
        blocks: Vec::new(),
        trials: Vec::new(),
        failed: Vec::new(),
        ending: None,
        looked_at: false,
        unmeasured: run.refused.iter().map(|(cell, why)| (cell.as_str(), why.as_str())).collect(),
    };
    let mut open: Vec<&TrialRecord> = Vec::new();
    for line in rest {
        match line {
            Line::Run(_) => return Err(AnalysisError::TwoHeaders),
            Line::Trial(trial) => {
                if run.plan.cell(&trial.cell).is_none() {
                    return Err(AnalysisError::UnknownCell(trial.cell.clone()));
                }
                let last = found.trials.last();
                found.looked_at |= last.is_some_and(|last| !is_of_one_session(last, trial));
                found.trials.push(trial);
                open.push(trial);
            }
            Line::Block(end) => {
                if let Some(own) = end.own(&open) {
                    let trials = own.map(|at| open[at]);
                    let BlockRecord { block: number, valid, drawn } = *end;
                    found.blocks.push(Block { number, valid, trials, drawn });
                }
                open.clear();
            }
            Line::Failed(failed) => {
                found.failed.push(failed);
                open.clear();
            }
            Line::GaveUp(gave_up) => {
                found.unmeasured.insert(&gave_up.cell, &gave_up.why);
                open.clear();
            }
            Line::Allotted(_) => open.clear(),
            Line::End(ending) => {
                found.looked_at |= *ending == Ending::Stopped;
                found.ending = Some(ending);
                open.clear();
            }
        }
    }
    Ok(found)
}
