//! A question while the run goes on: what its blocks say, those that count and those that do not.

use crate::analysis::effect::{self, Combined};
use crate::analysis::joint::Evidence;
use crate::analysis::verdict::Ruling;
use crate::analysis::{Qualifier, Validity, Verdict, conditions, rounds};
use alloc::vec::Vec;
use v6gap_core::arm::PerArm;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::record::TrialRecord;
use v6gap_core::values;
use v6gap_core::workload::Cell;

/// A question while the run goes on.
#[derive(Debug)]
pub(super) struct Running {
    pub cell: usize,
    pub metric: Metric,
    /// As the plan has it.
    pub margin: f64,
    /// Half-width of the range that the plan asks for.
    pub precision: Option<f64>,
    /// The blocks that count.
    pub valid: Measured,
    /// All of them, the discarded ones with the rest.
    pub all: Measured,
    /// A discarded block has no value, or none that could be kept.
    pub unknown: bool,
    /// Blocks that count and have no value.
    pub without: usize,
    /// Effects of the null blocks before the first comparison.
    pub nulls: Vec<f64>,
    /// The cell is not measured any more: the question waits for no answer, but the p-values of the
    /// others are corrected for it, as in the final analysis.
    pub given_up: bool,
}

/// Blocks in which families were compared.
#[derive(Debug, Default, Clone)]
pub(super) struct Measured {
    /// Their effects, with the numbers of their rounds.
    pub effects: Vec<(u32, f64)>,
    /// What a share counts, see [`values::counted`].
    pub events: PerArm<(u64, u64)>,
}

impl Measured {
    fn add(&mut self, metric: Metric, trials: PerArm<&TrialRecord>, effect: f64) {
        self.effects.push((trials.a.round, effect));
        let counted =
            |trial: &TrialRecord| values::counted(metric, &trial.ends).unwrap_or_default();
        self.events =
            PerArm::from_fn(|arm| effect::add(*self.events.get(arm), counted(trials.get(arm))));
    }
}

impl Running {
    /// Nothing of this metric measured yet.
    pub fn new(cell: usize, metric: Metric, margin: f64, precision: Option<f64>) -> Self {
        Running {
            cell,
            metric,
            margin,
            precision,
            valid: Measured::default(),
            all: Measured::default(),
            unknown: false,
            without: 0,
            nulls: Vec::new(),
            given_up: false,
        }
    }

    /// Takes note of a block that counts.
    pub fn add(&mut self, trials: PerArm<&TrialRecord>) {
        match effect::of_trials(self.metric, trials) {
            Some(effect) => {
                self.valid.add(self.metric, trials, effect);
                self.all.add(self.metric, trials, effect);
            }
            None => self.without += 1,
        }
    }

    /// Nobody waits for it: its cell is not measured any more, or no block of it has had a value.
    pub fn is_over(&self) -> bool {
        let is_vain = self.without >= effect::BLOCKS_MIN && self.valid.effects.is_empty();
        self.given_up || is_vain
    }

    /// Takes note of a block that does not count.
    pub fn discarded(&mut self, trials: PerArm<&TrialRecord>) {
        let effect = effect::of_trials(self.metric, trials);
        self.unknown |= effect.is_none() || conditions::is_of_run(trials);
        if let Some(effect) = effect {
            self.all.add(self.metric, trials, effect);
        }
    }

    /// What these of its blocks say.
    pub fn evidence(&self, cell: &Cell, measured: &Measured, validity: Validity) -> Evidence {
        let scale = self.metric.scale();
        Evidence {
            metric: self.metric,
            transport: cell.workload.transport(),
            margin: self.margin,
            cell: self.cell,
            validity,
            effects: rounds::values(scale, measured.effects.iter().copied()),
            nulls: self.nulls.clone(),
            hosts: 0.0,
            events: (scale == Scale::Difference).then_some(measured.events),
        }
    }

    /// Rounds with a block that counts.
    pub fn rounds(&self) -> usize {
        rounds::count(self.valid.effects.iter().map(|(round, _)| *round))
    }

    /// Settled: known as precisely as the plan asks for; where it asks for no precision, clearly
    /// different, the same and known well enough to see half the margin, or known to half the
    /// margin. A guard that stands against an answer keeps the question open, and so do fewer
    /// blocks than any answer needs.
    ///
    /// Of ratios, "the same" alone settles nothing: one disturbed block among eight makes a range
    /// wide, and a difference that is smaller than the margin but there would go unseen. Of shares
    /// it does: what widens their range is how few packets there were, on every host alike. Nor
    /// does a run go on for hours because bursts may have been missed: it says so instead.
    pub fn is_settled(&self, combined: &Combined, ruling: &Ruling) -> bool {
        if combined.withheld.is_some() || combined.n < effect::BLOCKS_MIN {
            return false;
        }
        if let Some(singly) = combined.singly {
            let half_width = (singly.i95.high - singly.i95.low) / 2.0;
            return match self.precision {
                Some(precision) => half_width <= precision,
                None => singly.i90.within(-self.margin, self.margin),
            };
        }
        let half_width = (combined.i95.high - combined.i95.low) / 2.0;
        if let Some(precision) = self.precision {
            // As it is shown: a range around a ratio far from 1 is wider than on its logarithm.
            let shown = combined.shown(self.metric.scale()).range95;
            return (shown.high - shown.low) / 2.0 <= precision;
        }
        let margin = effect::margin(self.metric, self.margin);
        match ruling.verdict {
            Verdict::Better | Verdict::Worse if ruling.qualifier == Qualifier::Clear => true,
            Verdict::Same => {
                self.metric.scale() == Scale::Difference
                    || ruling.qualifier == Qualifier::RealButTiny
                    || half_width <= effect::SETTLED * margin
            }
            _ => half_width <= margin / 2.0,
        }
    }
}
