//! When the ranges of a question hold, by how it came to its number of blocks (docs/method.md
//! section C.3).

use super::{ALPHA, LOOKS_MIN, MADS, SCORES_MIN};
use serde::{Serialize, Serializer};
use v6gap_core::plan::Stop;
use v6gap_stats::stein::First;
use v6gap_stats::{Estimate, Interval, drift, summary};

/// Part of an error rate that is left where the estimate had a part in when a run ended: with it no
/// mean of normal values is missed more often than at that rate (`tests/simulated`).
const LEFT: f64 = 0.7;

/// Autocorrelation of neighbours up to which a range of one look is believed. Of independent values
/// it has nothing to do with where their mean is missed: it is a function of their differences over
/// their spread.
const ALIKE_MAX: f64 = 0.1;

/// Standard deviations by their centre that the standard deviation of the first values may be: the
/// noise of those of which one is far off says nothing of a centre, which bears it.
const CALM: f64 = 2.0;

/// When ranges and p-values hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Validity {
    /// Where the number of blocks was fixed before the run.
    FixedNumber,
    /// At the end of a run that ended by its own rule, which asks ranges that hold at any time, or
    /// when its time was over.
    AtEnd {
        /// What is left of an error rate.
        left: f64,
    },
    /// Whenever somebody looks, and stops or goes on because of what is there.
    AnyTime,
}

impl Serialize for Validity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Validity::FixedNumber => "fixed-number",
            Validity::AtEnd { .. } => "at-end",
            Validity::AnyTime => "any-time",
        })
    }
}

impl Validity {
    /// While a run goes on, or if somebody stopped it or went on with it.
    pub const fn looked_at(stop: &Stop) -> Validity {
        match stop {
            Stop::Pairs { .. } => Validity::FixedNumber,
            Stop::Adaptive { .. } => Validity::AnyTime,
        }
    }

    /// Of a run that went its own way from the beginning to the end.
    pub const fn to_the_end(stop: &Stop) -> Validity {
        match stop {
            Stop::Pairs { .. } => Validity::FixedNumber,
            Stop::Adaptive { .. } => Validity::AtEnd { left: LEFT },
        }
    }

    /// The same of a question that its first look settles whatever it finds, or whatever it finds
    /// near this: if so, the estimate has no part in when the run ends.
    #[must_use]
    pub const fn at_once(self, ends_at_once: bool) -> Validity {
        match self {
            Validity::AtEnd { .. } if ends_at_once => Validity::AtEnd { left: 1.0 },
            validity => validity,
        }
    }

    /// The same for so many values: at the end ranges need those of the first look.
    pub const fn of_number(self, n: usize) -> Validity {
        match self {
            Validity::AtEnd { .. } if n < LOOKS_MIN => Validity::AnyTime,
            validity => validity,
        }
    }

    /// The same for these values: one look is not enough for neighbours that resemble each other,
    /// nor the noise of the first ones for a centre where one of them is far off.
    pub fn of_values(self, effects: &[f64]) -> Validity {
        let first = &effects[..LOOKS_MIN.min(effects.len())];
        let calm = summary::sd(first) <= CALM * MADS * summary::mad(first);
        let alike = drift::lag1_autocorrelation(effects) > ALIKE_MAX;
        match self.of_number(effects.len()) {
            Validity::AtEnd { .. } if alike => Validity::AnyTime,
            Validity::AtEnd { .. } if !calm && effects.len() >= SCORES_MIN => Validity::AnyTime,
            validity => validity,
        }
    }

    /// Whether so few values can tell nothing without a law: signed ranks, since of n values all to
    /// one side the two-sided p-value is 2^(1 − n), and that times the questions of the run must be
    /// small, as the headline asks; and bets below [`SCORES_MIN`].
    pub fn normal_must_do(self, n: usize, questions: usize) -> bool {
        let least = libm::exp2(1.0 - n as f64) * questions.max(1) as f64;
        match self {
            Validity::FixedNumber => least > ALPHA,
            Validity::AtEnd { left } => n < SCORES_MIN || least / left > ALPHA,
            Validity::AnyTime => n < SCORES_MIN,
        }
    }
}

/// What the end of a run by its own rule asks of a range beside one look.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub first: First,
    pub n: usize,
    pub left: f64,
}

impl End {
    /// Of these values.
    pub fn of(units: &[f64], validity: Validity) -> Option<End> {
        let Validity::AtEnd { left } = validity else { return None };
        Some(End { first: First::of(units, LOOKS_MIN)?, n: units.len(), left })
    }

    /// Half-width by the first values.
    pub fn radius(&self, alpha: f64) -> f64 {
        self.first.radius(self.n, self.left * alpha)
    }

    /// The range of one look, and as wide as the first values ask for.
    pub fn range(&self, look: impl Fn(f64) -> Estimate, alpha: f64) -> Estimate {
        let Estimate { centre, interval } = look(self.left * alpha);
        let first = Interval::around(centre, self.radius(alpha));
        let (low, high) = (interval.low.min(first.low), interval.high.max(first.high));
        Estimate { centre, interval: Interval { low, high } }
    }

    /// The p-value that belongs to it, of that of one look.
    pub fn p(&self, look: f64, centre: f64) -> f64 {
        (look.max(self.first.p(centre, self.n)) / self.left).min(1.0)
    }

    /// The same for "the same".
    pub fn p_same(&self, look: f64, centre: f64, margin: f64) -> f64 {
        (look.max(self.first.equivalence_p(centre, margin, self.n)) / self.left).min(1.0)
    }
}

#[cfg(test)]
mod tests;
