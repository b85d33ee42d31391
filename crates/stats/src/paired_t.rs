//! The paired t interval for the mean of per-block differences (Student 1908).
//!
//! Assumes independent differences whose *mean* is close to normal; exact for normal ones. One
//! large outlier widens it more than [`crate::signed_rank`].

use crate::estimate::{Alternative, Estimate, Interval, is_usable};
use crate::special::{t_upper, t_upper_quantile};
use crate::summary::{mean, sd};

/// `mean ± t(1 - alpha/2, n - 1) sd / sqrt(n)` of the differences `d`.
pub fn t_interval(d: &[f64], alpha: f64) -> Estimate {
    let n = d.len();
    if !is_usable(d, alpha) {
        return Estimate::open(f64::NAN);
    }
    if n < 2 {
        return Estimate::open(mean(d));
    }
    let interval = Interval::around(mean(d), radius(n, sd(d), alpha));
    Estimate { centre: mean(d), interval }
}

/// Half-width of [`t_interval`] for `n` values with standard deviation `sd`. Infinite below two.
pub fn radius(n: usize, sd: f64, alpha: f64) -> f64 {
    if n < 2 {
        return f64::INFINITY;
    }
    t_upper_quantile(alpha / 2.0, (n - 1) as f64) * (sd / libm::sqrt(n as f64))
}

/// p-value of the t test (Student 1908) that the mean of the differences `d` is 0; 1 with fewer
/// than two, or with values that are none.
pub fn t_p(d: &[f64], alternative: Alternative) -> f64 {
    if d.len() < 2 || d.iter().any(|x| !x.is_finite()) {
        return 1.0;
    }
    let (mean, error) = (mean(d), standard_error(d));
    let t = if mean == 0.0 { 0.0 } else { mean / error };
    let df = (d.len() - 1) as f64;
    match alternative {
        Alternative::TwoSided => (2.0 * t_upper(libm::fabs(t), df)).min(1.0),
        Alternative::Greater => t_upper(t, df),
        Alternative::Less => t_upper(-t, df),
    }
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

    /// Gosset's sleep data (Student 1908): t = 4.06 with 9 degrees of freedom.
    #[test]
    fn p_values_belong_to_the_interval() {
        let sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let p = t_p(&sleep, Alternative::TwoSided);
        assert!((p - 0.002_833).abs() < 1e-6, "{p}");
        assert!((t_p(&sleep, Alternative::Greater) - p / 2.0).abs() < 1e-12);
        assert!((t_p(&sleep, Alternative::Less) - (1.0 - p / 2.0)).abs() < 1e-12);
        let end = t_interval(&sleep, 0.05).interval.low;
        let moved = sleep.map(|x| x - end);
        assert!((t_p(&moved, Alternative::TwoSided) - 0.05).abs() < 1e-9);
        assert_eq!(t_p(&[1.0], Alternative::TwoSided), 1.0);
        assert_eq!(t_p(&[0.0; 4], Alternative::TwoSided), 1.0);
    }

    #[test]
    fn equal_values_give_a_point() {
        assert_eq!(t_interval(&[2.0; 5], 0.05).interval, Interval { low: 2.0, high: 2.0 });
    }
}
