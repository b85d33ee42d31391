//! Several runs of one set-up: how much they scatter beyond what the blocks of each explain, and
//! where the next one will be.
//!
//! Each run gives an estimate and its standard error. The variance between runs is that of Paule
//! and Mandel (1982): the one at which the weighted squares about the weighted mean equal their
//! degrees of freedom. Its interval profiles the same squares (Viechtbauer 2007, the Q profile);
//! the next run is predicted as in a random-effects model (Higgins, Thompson and
//! Spiegelhalter 2009). Assumes estimates that are close to normal.

use crate::estimate::{Interval, is_rate};
use crate::solve::first_true;
use crate::special::{chi_square_upper, t_upper, t_upper_quantile};
use alloc::vec::Vec;

/// What one run found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Its estimate, in any unit.
    pub estimate: f64,
    /// The standard error of the estimate by the run's own blocks, at least 0, in the same unit.
    pub standard_error: f64,
}

/// What several runs of one set-up have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// Mean of all runs, weighted by how well each is known.
    pub mean: f64,
    /// Standard error of the mean, the scatter between runs included.
    pub standard_error: f64,
    /// Standard deviation from run to run beyond what the blocks explain, at least 0.
    pub tau: f64,
    /// Interval of `tau` at the rate asked for; the upper end may be infinite.
    pub tau_range: Interval,
    /// p-value of "runs differ no more than their blocks explain" (Cochran 1954).
    pub p: f64,
    /// The smallest standard error of theirs that is positive.
    pub least: f64,
    /// Number of runs.
    pub runs: usize,
}

/// What `runs` have in common, with the interval of tau at the two-sided rate `alpha`; `None` for
/// fewer than three runs, values that are none, or standard errors of which none is positive. A run
/// whose blocks are all alike is no better known than the best known of the others.
pub fn between(runs: &[Found], alpha: f64) -> Option<Between> {
    let smallest = runs.iter().map(|run| run.standard_error).filter(|e| *e > 0.0);
    let least = smallest.reduce(f64::min)?;
    let known = |run: &Found| Found { standard_error: run.standard_error.max(least), ..*run };
    let usable = runs.iter().all(|run| run.standard_error >= 0.0);
    let runs: &[Found] = &runs.iter().map(known).collect::<Vec<_>>();
    if runs.len() < RUNS_MIN || !usable || !runs.iter().all(Found::is_usable) || !is_rate(alpha) {
        return None;
    }
    let degrees = runs.len() - 1;
    let reaches = |tail: f64| {
        let enough = |tau: f64| chi_square_upper(squares(runs, tau), degrees) >= tail;
        if enough(0.0) { 0.0 } else { first_true(0.0, TAU_MAX, enough) }
    };
    let tau = first_true(0.0, TAU_MAX, |tau| squares(runs, tau) <= degrees as f64);
    let (mean, weight) = pooled(runs, tau);
    Some(Between {
        mean,
        standard_error: 1.0 / libm::sqrt(weight),
        tau,
        tau_range: Interval { low: reaches(alpha / 2.0), high: reaches(1.0 - alpha / 2.0) },
        p: chi_square_upper(squares(runs, 0.0), degrees),
        least,
        runs: runs.len(),
    })
}

impl Between {
    /// Where the estimate of another run like these lies at the two-sided rate `alpha`, if its
    /// own standard error is `standard_error`; 0 is taken for the smallest of theirs.
    pub fn next(&self, standard_error: f64, alpha: f64) -> Interval {
        if !is_rate(alpha) || !standard_error.is_finite() {
            return Interval::WHOLE;
        }
        let standard_error = if standard_error > 0.0 { standard_error } else { self.least };
        let squares = self.tau * self.tau
            + standard_error * standard_error
            + self.standard_error * self.standard_error;
        let quantile = t_upper_quantile(alpha / 2.0, (self.runs - 1) as f64);
        Interval::around(self.mean, quantile * libm::sqrt(squares))
    }
}

/// How far two estimates may lie apart by what is in their runs and what is between runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart {
    /// Variance of the distance: of each, the square of its standard error and of tau.
    pub variance: f64,
    /// Degrees of freedom behind tau: one less than the runs that it was taken from.
    pub degrees: usize,
}

impl Apart {
    /// Half-width of the interval of the distance at the two-sided rate `alpha`: as that of the
    /// next run, since tau is no better known here.
    pub fn radius(&self, alpha: f64) -> f64 {
        if !is_rate(alpha) || self.degrees == 0 {
            return f64::INFINITY;
        }
        t_upper_quantile(alpha / 2.0, self.degrees as f64) * libm::sqrt(self.variance)
    }

    /// The inverse: two-sided p-value of so large a distance.
    pub fn p(&self, distance: f64) -> f64 {
        let distance = libm::fabs(distance);
        match self.variance > 0.0 && self.degrees > 0 {
            true => 2.0 * t_upper(distance / libm::sqrt(self.variance), self.degrees as f64),
            false if distance > 0.0 && self.degrees > 0 => 0.0,
            false => 1.0,
        }
    }
}

/// Its square is a number still.
const TAU_MAX: f64 = 1e150;

/// With two runs a scatter between them has one degree of freedom, which bounds nothing.
const RUNS_MIN: usize = 3;

impl Found {
    fn is_usable(&self) -> bool {
        self.estimate.is_finite() && self.standard_error.is_normal() && self.standard_error > 0.0
    }
}

fn weights(runs: &[Found], tau: f64) -> Vec<f64> {
    runs.iter().map(|run| 1.0 / (run.standard_error * run.standard_error + tau * tau)).collect()
}

/// The weighted mean, and the sum of the weights.
fn pooled(runs: &[Found], tau: f64) -> (f64, f64) {
    let weights = weights(runs, tau);
    let sum: f64 = weights.iter().sum();
    let mean = runs.iter().zip(&weights).map(|(run, weight)| run.estimate * weight).sum::<f64>();
    (mean / sum, sum)
}

/// Weighted squares about the weighted mean: they never grow with `tau`.
fn squares(runs: &[Found], tau: f64) -> f64 {
    let (mean, _) = pooled(runs, tau);
    let square =
        |(run, weight): (&Found, f64)| weight * (run.estimate - mean) * (run.estimate - mean);
    runs.iter().zip(weights(runs, tau)).map(square).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(estimates: &[f64], standard_error: f64) -> Vec<Found> {
        estimates.iter().map(|&estimate| Found { estimate, standard_error }).collect()
    }

    /// With equal standard errors tau is what is left of the sample variance.
    #[test]
    fn equal_errors_leave_the_rest_of_the_variance() {
        let found = between(&runs(&[1.0, 3.0, 5.0, 7.0], 1.0), 0.05).expect("usable");
        let variance = crate::summary::sd(&[1.0, 3.0, 5.0, 7.0]).powi(2);
        assert!((found.tau * found.tau - (variance - 1.0)).abs() < 1e-9, "{found:?}");
        assert!((found.mean - 4.0).abs() < 1e-12);
        assert!((found.standard_error - (variance / 4.0).sqrt()).abs() < 1e-9);
        assert!(found.tau_range.contains(found.tau));
    }

    #[test]
    fn runs_that_agree_have_no_scatter() {
        let found = between(&runs(&[1.0, 1.01, 0.99, 1.0], 0.1), 0.05).expect("usable");
        assert_eq!((found.tau, found.tau_range.low), (0.0, 0.0));
        assert!(found.p > 0.9, "{found:?}");
        let next = found.next(0.1, 0.05);
        // t with three degrees of freedom times the error of a run and of the mean.
        let radius = 3.182_446_305_284_263 * (0.01_f64 + 0.0025).sqrt();
        assert!((next.width() / 2.0 - radius).abs() < 1e-9, "{next:?}");
    }

    /// As of a rate that was found alike in all pairs.
    #[test]
    fn a_run_without_spread_is_known_as_well_as_the_best_of_the_others() {
        let of = |errors: [f64; 4]| {
            let found = |(estimate, standard_error)| Found { estimate, standard_error };
            let runs: Vec<Found> =
                [1.0, 3.0, 5.0, 7.0].into_iter().zip(errors).map(found).collect();
            between(&runs, 0.05)
        };
        let all = of([0.0, 0.2, 0.1, 0.3]).unwrap();
        assert_eq!(Some(all), of([0.1, 0.2, 0.1, 0.3]));
        assert_eq!(all.next(0.0, 0.05), all.next(0.1, 0.05));
        assert!(of([0.0; 4]).is_none());
        assert!(of([-0.1, 0.2, 0.1, 0.3]).is_none());
    }

    /// t with four degrees of freedom: 2.776 at 5 %.
    #[test]
    fn radius_and_p_value_of_a_distance_belong_together() {
        let apart = Apart { variance: 4.0, degrees: 4 };
        let radius = apart.radius(0.05);
        assert!((radius - 2.0 * 2.776_445_105_197_793).abs() < 1e-9, "{radius}");
        assert!((apart.p(-radius) - 0.05).abs() < 1e-9);
        let nothing = Apart { variance: 0.0, degrees: 4 };
        assert_eq!((nothing.radius(0.05), nothing.p(0.0), nothing.p(0.1)), (0.0, 1.0, 0.0));
        assert_eq!(Apart { degrees: 0, ..apart }.radius(0.05), f64::INFINITY);
    }

    #[test]
    fn bad_input_answers_nothing() {
        assert!(between(&runs(&[1.0, 2.0], 0.1), 0.05).is_none());
        assert!(between(&runs(&[1.0, 2.0, f64::NAN], 0.1), 0.05).is_none());
        assert!(between(&runs(&[1.0, 2.0, 3.0], 0.0), 0.05).is_none());
        assert!(between(&runs(&[1.0, 2.0, 3.0], 0.1), 1.0).is_none());
    }
}
