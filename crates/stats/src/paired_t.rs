//! The paired t interval for the mean of per-block differences (Student 1908).
//!
//! Assumes independent differences whose *mean* is close to normal; exact for normal ones. One
//! large outlier widens it more than [`crate::signed_rank`].

use crate::estimate::{Estimate, Interval, Warning, faults, no_spread};
use crate::special::t_upper_quantile;
use crate::summary::{mean, sd};
use alloc::vec;

/// `mean ± t(1 - alpha/2, n - 1) sd / sqrt(n)` of the differences `d`.
pub fn t_interval(d: &[f64], alpha: f64) -> Estimate {
    let n = d.len();
    let mut warnings = faults(d, alpha);
    if !warnings.is_empty() {
        return Estimate::open(f64::NAN, n, warnings);
    }
    if n < 2 {
        return Estimate::open(mean(d), n, vec![Warning::TooFewBlocks { have: n, need: 2 }]);
    }
    if no_spread(d) {
        warnings.push(Warning::NoSpread);
    }
    let radius = t_upper_quantile(alpha / 2.0, (n - 1) as f64) * standard_error(d);
    let interval = Interval::around(mean(d), radius);
    Estimate { centre: mean(d), interval, level: 1.0 - alpha, n, warnings }
}

fn standard_error(d: &[f64]) -> f64 {
    sd(d) / libm::sqrt(d.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_input_answers_nothing() {
        assert_eq!(t_interval(&[], 0.05).interval, Interval::WHOLE);
        assert_eq!(t_interval(&[1.0, f64::NAN], 0.05).interval, Interval::WHOLE);
        assert_eq!(t_interval(&[1.0, 2.0], 0.0).interval, Interval::WHOLE);
    }

    #[test]
    fn equal_values_are_flagged() {
        let e = t_interval(&[2.0; 5], 0.05);
        assert_eq!((e.interval, e.warnings), (Interval::around(2.0, 0.0), vec![Warning::NoSpread]));
    }
}
