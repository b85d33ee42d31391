//! How much of the noise arises in which level of an experiment, and so where repeating pays:
//! samples in runs. Kalibera & Jones, "Rigorous benchmarking in reasonable time" (2013).
//!
//! Assumes that runs are independent and alike, and samples inside a run too. Where samples follow
//! each other closely they are not, and the variance between runs takes the blame: the advice is
//! then more runs, which is right.

use crate::estimate::{Estimate, Interval, Warning, faults};
use crate::special::t_upper_quantile;
use crate::summary::{mean, sd};
use alloc::vec;
use alloc::vec::Vec;

/// The variances of two levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Mean variance of the samples inside a run: S1² = T1².
    pub within: f64,
    /// Variance of the means of the runs: S2². It holds a share of what arises inside them.
    pub of_means: f64,
    /// Variance that arises between runs: T2² = S2² − S1² / n1; negative by chance if there is
    /// little of it.
    pub between: f64,
    /// Mean of the runs' means, with the t interval that takes the run as its unit.
    pub estimate: Estimate,
}

/// Variances of `runs`, each with the same number (at least two) of samples. `None` for fewer
/// than two runs, for runs of different or too small size, or values that are not finite.
pub fn levels(runs: &[&[f64]], alpha: f64) -> Option<Levels> {
    let samples = runs.first()?.len();
    let alike = runs.iter().all(|run| run.len() == samples);
    if runs.len() < 2 || samples < 2 || !alike || runs.iter().any(|r| !faults(r, alpha).is_empty())
    {
        return None;
    }
    let square = |x: f64| x * x;
    let within = runs.iter().map(|run| square(sd(run))).sum::<f64>() / runs.len() as f64;
    let means: Vec<f64> = runs.iter().map(|run| mean(run)).collect();
    let of_means = square(sd(&means));
    let n = means.len();
    let radius = t_upper_quantile(alpha / 2.0, (n - 1) as f64) * libm::sqrt(of_means / n as f64);
    let warnings = if of_means == 0.0 { vec![Warning::NoSpread] } else { vec![] };
    let centre = mean(&means);
    let interval = Interval::around(centre, radius);
    let estimate = Estimate { centre, interval, level: 1.0 - alpha, n, warnings };
    Some(Levels { within, of_means, between: of_means - within / samples as f64, estimate })
}

impl Levels {
    /// Samples to take in each run for the least cost, if one sample costs `sample_cost` and
    /// starting a run `run_cost`: `ceil(sqrt((c2 / c1) (T1² / T2²)))`. `None` if nothing arises
    /// between runs (one long run is then as good) or a cost is not positive.
    pub fn samples_per_run(&self, sample_cost: f64, run_cost: f64) -> Option<u64> {
        let usable = self.between > 0.0 && sample_cost > 0.0 && run_cost > 0.0;
        let best = libm::sqrt(run_cost / sample_cost * (self.within / self.between));
        (usable && best.is_finite()).then(|| (libm::ceil(best) as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dear_starts_and_noisy_samples_ask_for_long_runs() {
        let runs: [&[f64]; 3] = [&[1.0, 9.0], &[2.0, 10.0], &[30.0, 38.0]];
        let found = levels(&runs, 0.05).unwrap();
        let (cheap, dear) = (found.samples_per_run(1.0, 1.0), found.samples_per_run(1.0, 1e4));
        assert!(cheap == Some(1) && dear > Some(20), "{cheap:?} {dear:?}");
    }

    #[test]
    fn what_cannot_be_told_apart() {
        let flat: [&[f64]; 2] = [&[1.0, 3.0], &[1.0, 3.0]];
        let found = levels(&flat, 0.05).unwrap();
        assert!(found.between < 0.0 && found.samples_per_run(1.0, 1.0).is_none());
        assert_eq!(levels(&[&[1.0, 2.0]], 0.05), None);
        assert_eq!(levels(&[&[1.0, 2.0], &[1.0]], 0.05), None);
        assert_eq!(levels(&[], 0.05), None);
    }
}
