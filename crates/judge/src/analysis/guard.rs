//! What the order and the shape of the blocks' effects say against taking them as independent
//! draws of one law (docs/method.md section C.8), and what is done about it.
//!
//! Every guard looks at the effects themselves, never at the arms: what moves both arms alike is
//! what blocks are for. The guards are part of the one rule that both the stopping rule and the
//! final analysis follow, so a run goes on while a guard stands against its answer.

use alloc::vec::Vec;
use v6gap_stats::batch::{self, BATCHES_MIN, Batches, Sign};
use v6gap_stats::{Interval, drift, modes, summary};

/// Error rate of each guard over *all* questions of a run (Bonferroni): a guard that rings without
/// cause makes a range wider or keeps a run going, and must be rare even where many questions are
/// asked. Looks on the way need no correction, since only the last one leads to an answer.
pub const ALPHA: f64 = 0.01;

/// Error rate at which a sign counts as gone in batches: few batches hide it, so not [`ALPHA`].
const GONE: f64 = 0.05;

/// What the guards say about one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// Signs of drift and dependence, and the values to go on with.
    pub batches: Batches,
    /// Where no batches take a sign out, but the parts of the run lie so near to each other that it
    /// cannot matter: from the smallest of their means to the largest, and as far again to either
    /// side.
    pub holds_all: Option<Interval>,
    /// Two modes that lie so far apart that they matter.
    pub modes: Option<modes::Split>,
    /// p-value of "one mode"; 1 where the effects are not continuous.
    pub dip_p: f64,
    /// Lag-1 autocorrelation of the effects.
    pub lag1: f64,
}

/// Looks at the effects of one of `questions` questions. `margin` is on the scale of the effects:
/// what takes less than half of it cannot change an answer, whether modes or a drift.
pub fn examine(effects: &[f64], margin: f64, questions: usize) -> Guard {
    let alpha = ALPHA / questions.max(1) as f64;
    let dip_p = dip_p(effects);
    let matters = margin / 2.0;
    let matter = |split: &modes::Split| split.high.mean - split.low.mean > matters;
    let batches = batch::batches(effects, alpha, GONE);
    let remains = matches!(batches, Batches::Remains { .. });
    Guard {
        batches,
        holds_all: remains.then(|| around_parts(effects)).filter(|all| all.width() <= matters),
        modes: two_modes(effects, questions).filter(matter),
        dip_p,
        lag1: drift::lag1_autocorrelation(effects),
    }
}

/// Two modes of the values of one of `questions` questions, at the level that the table of dips
/// still knows.
pub fn two_modes(values: &[f64], questions: usize) -> Option<modes::Split> {
    let alpha = (ALPHA / questions.max(1) as f64).max(2.0 * DIP_P_MIN);
    (dip_p(values) < alpha).then(|| modes::split(values)).flatten()
}

/// From the smallest mean of a part of the run to the largest, and as far again to either side. Of
/// parts as there must be batches, the noise of single blocks tells least of what changes slowly.
fn around_parts(effects: &[f64]) -> Interval {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for part in 0..BATCHES_MIN {
        let begin = |part: usize| part * effects.len() / BATCHES_MIN;
        let mean = summary::mean(&effects[begin(part)..begin(part + 1)]);
        (low, high) = (low.min(mean), high.max(mean));
    }
    let width = high - low;
    Interval { low: low - width, high: high + width }
}

/// The smallest p-value that the table of dips knows.
const DIP_P_MIN: f64 = 0.0001;

/// p-value of "one mode" of values that are continuous enough to have one; else 1.
pub fn dip_p(values: &[f64]) -> f64 {
    match modes::is_continuous(values) {
        true => modes::dip_p(modes::dip(values), values.len()),
        false => 1.0,
    }
}

/// A sign in the values of one arm.
pub fn sign(values: &[f64], questions: usize) -> Option<Sign> {
    batch::sign(values, ALPHA / questions.max(1) as f64)
}

impl Guard {
    /// Nothing was looked at, and nothing found.
    pub const NOTHING: Guard = Guard {
        batches: Batches::Independent,
        holds_all: None,
        modes: None,
        dip_p: 1.0,
        lag1: 0.0,
    };

    /// The values to take for independent draws: the effects, or the means of neighbouring ones.
    pub fn units<'a>(&'a self, effects: &'a [f64]) -> &'a [f64] {
        match &self.batches {
            Batches::Merged { means, .. } => means,
            Batches::Independent | Batches::Remains { .. } => effects,
        }
    }

    /// How many neighbouring blocks make one of those values.
    pub fn merged(&self) -> usize {
        match &self.batches {
            Batches::Merged { size, .. } => *size,
            Batches::Independent | Batches::Remains { .. } => 1,
        }
    }

    /// A sign that no batches take out and that matters, with the blocks that the largest would
    /// need.
    pub fn stands(&self) -> Option<(Sign, usize)> {
        match (&self.batches, self.holds_all) {
            (Batches::Remains { sign, need }, None) => Some((*sign, *need)),
            _ => None,
        }
    }

    /// What was found in the sequence of the effects, cured or not.
    pub fn sign(&self) -> Option<Sign> {
        match &self.batches {
            Batches::Independent => None,
            Batches::Merged { sign, .. } | Batches::Remains { sign, .. } => Some(*sign),
        }
    }
}

/// Why a question has no verdict although there are blocks enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Withheld {
    /// The effect changes over time, and no batches take it out.
    Unsteady {
        /// What was found.
        sign: Sign,
        /// Blocks with which the largest batches could be tried.
        need: usize,
    },
    /// Two modes, and too few values for the range of any symmetric law.
    Modes {
        /// Blocks needed for it.
        need: usize,
    },
}

impl Withheld {
    /// Blocks from which on there may be a verdict.
    pub fn need(&self) -> usize {
        match self {
            Withheld::Unsteady { need, .. } | Withheld::Modes { need } => *need,
        }
    }
}

/// Modes of a series of values, as Vec indices: true where a value belongs to the upper one.
pub fn upper(effects: &[f64], split: &modes::Split) -> Vec<bool> {
    effects.iter().map(|x| *x > split.cut).collect()
}
