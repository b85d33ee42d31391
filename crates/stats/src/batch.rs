//! What to do with differences that are not independent: find it, merge neighbours until it is
//! gone, or say that it stays.
//!
//! Three signs are looked for: a step ([`crate::trend::pettitt`]), a trend
//! ([`crate::trend::mann_kendall`]) and resemblance of neighbours (a lag-1 autocorrelation above
//! [`LAG1_MAX`] that chance does not explain). Batch means (Conway 1963; Law & Kelton, "Simulation
//! modeling and analysis", section 9.5.3) of 2, 4 and 8 neighbours take the place of the values if
//! at least [`BATCHES_MIN`] of them show none of the signs. A sign is *found* at a strict rate,
//! since it is looked for again and again; it counts as *gone* only at an ordinary one, since few
//! batches hide it.
//!
//! Assumes nothing but a fixed order in time. A trend that lasts for the whole series survives any
//! batch: it then stays.

use crate::drift::lag1_autocorrelation;
use crate::permutation::{self, EXACT_BELOW};
use crate::special::normal_upper;
use crate::summary::mean;
use crate::trend::{mann_kendall, pettitt};
use alloc::vec::Vec;

/// Values merged into one, tried in this order.
pub const SIZES: [usize; 3] = [2, 4, 8];

/// Fewest batches that are worth an interval.
pub const BATCHES_MIN: usize = 6;

/// Lag-1 autocorrelation up to which neighbours count as independent.
pub const LAG1_MAX: f64 = 0.3;

/// Fewest values whose signs are looked for: below it, chance gives every pattern.
pub const VALUES_MIN: usize = 8;

/// A sign that values taken one after another are not independent and alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sign {
    /// The level changed once.
    Step {
        /// After this many values.
        after: usize,
        /// p-value of "no step".
        p: f64,
    },
    /// The values rise or fall.
    Trend {
        /// Whether they rise.
        rises: bool,
        /// p-value of "no trend".
        p: f64,
    },
    /// Neighbours resemble each other.
    Resemblance {
        /// Lag-1 autocorrelation.
        lag1: f64,
        /// One-sided p-value of "neighbours are independent".
        p: f64,
    },
}

/// One-sided p-value of a lag-1 autocorrelation this large among `n` independent values: normal,
/// with mean `-1/n` and variance `(n - 2)^2 / (n^2 (n - 1))` (Moran 1948). Of fewer than
/// [`EXACT_BELOW`] values [`permutation::neighbours`] is meant to be asked.
pub fn lag1_p(lag1: f64, n: usize) -> f64 {
    if n < 3 || lag1.is_nan() {
        return 1.0;
    }
    let n = n as f64;
    let spread = (n - 2.0) / (n * libm::sqrt(n - 1.0));
    normal_upper((lag1 + 1.0 / n) / spread)
}

/// The most telling sign in `sample` at error rate `alpha` for each of the three; `None` below
/// [`VALUES_MIN`] values.
pub fn sign(sample: &[f64], alpha: f64) -> Option<Sign> {
    let lag1_p = |lag1| match sample.len() < EXACT_BELOW {
        true => permutation::neighbours(sample),
        false => lag1_p(lag1, sample.len()),
    };
    if sample.len() < VALUES_MIN { None } else { any_sign(sample, alpha, lag1_p) }
}

/// Whether batches still show a sign. No order of six values is rarer than two of twenty, so
/// neighbours are asked by Moran's formula, which rings sooner there: batches are to be believed
/// only where nothing is left of what was found.
fn still_shows(means: &[f64], alpha: f64) -> bool {
    any_sign(means, alpha, |lag1| lag1_p(lag1, means.len())).is_some()
}

fn any_sign(sample: &[f64], alpha: f64, lag1_p: impl Fn(f64) -> f64) -> Option<Sign> {
    let (step, trend) = (pettitt(sample), mann_kendall(sample));
    let lag1 = lag1_autocorrelation(sample);
    let alike = if lag1 > LAG1_MAX { lag1_p(lag1) } else { 1.0 };
    let found = [
        (step.p, Sign::Step { after: step.after, p: step.p }),
        (trend.p, Sign::Trend { rises: trend.s > 0.0, p: trend.p }),
        (alike, Sign::Resemblance { lag1, p: alike }),
    ];
    let least = found.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    least.filter(|(p, _)| *p < alpha).map(|(_, sign)| sign)
}

/// What became of a series.
#[derive(Debug, Clone, PartialEq)]
pub enum Batches {
    /// No sign: the values may be taken as they are.
    Independent,
    /// A sign was found, and batch means show none.
    Merged {
        /// What was found.
        sign: Sign,
        /// Values merged into one.
        size: usize,
        /// The means; values at the end that fill no batch are left out.
        means: Vec<f64>,
    },
    /// A sign was found and no batches get rid of it.
    Remains {
        /// What was found.
        sign: Sign,
        /// Values with which the largest batches could have been tried.
        need: usize,
    },
}

/// Looks for signs at error rate `found` and merges neighbours until none is left at error rate
/// `gone`.
pub fn batches(sample: &[f64], found: f64, gone: f64) -> Batches {
    let Some(sign) = sign(sample, found) else {
        return Batches::Independent;
    };
    for size in SIZES {
        let means: Vec<f64> = sample.chunks_exact(size).map(mean).collect();
        if means.len() < BATCHES_MIN {
            break;
        }
        if !still_shows(&means, gone) {
            return Batches::Merged { sign, size, means };
        }
    }
    Batches::Remains { sign, need: SIZES[SIZES.len() - 1] * BATCHES_MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_series_is_left_alone() {
        let x: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 13)).collect();
        assert_eq!(batches(&x, 0.01, 0.05), Batches::Independent);
        assert_eq!(batches(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0.5, 0.5), Batches::Independent);
    }

    #[test]
    fn a_trend_stays() {
        let x: Vec<f64> = (0..40).map(|i| f64::from(i) + f64::from(i * 7 % 5)).collect();
        let Batches::Remains { sign: Sign::Trend { rises: true, .. } | Sign::Step { .. }, need } =
            batches(&x, 0.01, 0.05)
        else {
            panic!("a trend of one step for each value");
        };
        assert_eq!(need, 48);
    }

    #[test]
    fn neighbours_that_come_in_runs_are_merged() {
        // Runs of four alike, and the runs themselves in no order.
        let wild = |i: i32| {
            let x = libm::sin(f64::from(i) * 12.9898 + 0.5) * 43_758.545;
            x - libm::floor(x)
        };
        let x: Vec<f64> = (0..96).map(|i| wild(i / 4) + 0.1 * wild(1_000 + i)).collect();
        match batches(&x, 0.01, 0.05) {
            Batches::Merged { sign: Sign::Resemblance { lag1, .. }, size, means } => {
                assert!(lag1 > 0.5 && size >= 4, "{lag1} {size}");
                assert_eq!(means.len(), 96 / size);
            }
            other => panic!("{other:?}"),
        }
    }
}
