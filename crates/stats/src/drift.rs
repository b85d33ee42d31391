//! Signs that values taken one after another are not independent or not symmetric, and the test
//! for an effect of the order of the two arms.

use crate::estimate::{Interval, is_rate};
use crate::special::{t_upper, t_upper_quantile};
use crate::summary::{mean, sd};

/// Lag-1 autocorrelation `sum z_i z_(i+1) / sum z_i^2`, z the deviations from the mean. 0 when
/// there is nothing to correlate (fewer than two values, or no spread).
pub fn lag1_autocorrelation(sample: &[f64]) -> f64 {
    let centre = mean(sample);
    let products: f64 = sample.windows(2).map(|p| (p[0] - centre) * (p[1] - centre)).sum();
    ratio_or(products, moment(sample, 2), 0.0)
}

/// Skewness `m_3 / m_2^(3/2)`, m the central moments with divisor n. 0 when there is no spread.
pub fn skewness(sample: &[f64]) -> f64 {
    let n = sample.len() as f64;
    let m2 = moment(sample, 2) / n;
    ratio_or(moment(sample, 3) / n, m2 * libm::sqrt(m2), 0.0)
}

/// Mean, standard deviation (divisor n - 1) and size of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with divisor n - 1.
    pub sd: f64,
    /// Number of values.
    pub n: usize,
}

/// Result of Welch's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// t statistic, positive when the first mean is larger.
    pub t: f64,
    /// Degrees of freedom by Welch and Satterthwaite.
    pub df: f64,
    /// Two-sided p-value of "the means are equal".
    pub p: f64,
    /// Interval for the first mean minus the second.
    pub interval: Interval,
}

/// Welch's t test (1947) of two independent samples from their summaries, without assuming equal
/// variances. `None` if a sample has fewer than two values, a figure is not finite, neither has
/// any spread, or `alpha` is not a rate.
pub fn welch(first: Moments, second: Moments, alpha: f64) -> Option<Welch> {
    let share = |m: Moments| m.sd * m.sd / m.n as f64;
    let (a, b) = (share(first), share(second));
    let difference = first.mean - second.mean;
    let usable = first.n >= 2 && second.n >= 2 && difference.is_finite() && is_rate(alpha);
    let spread = a + b > 0.0 && (a + b).is_finite();
    if !usable || !spread {
        return None;
    }
    let error = libm::sqrt(a + b);
    let part = |v: f64, n: usize| v * v / (n - 1) as f64;
    let df = (a + b) * (a + b) / (part(a, first.n) + part(b, second.n));
    let t = difference / error;
    let radius = t_upper_quantile(alpha / 2.0, df) * error;
    let p = 2.0 * t_upper(t.abs(), df);
    Some(Welch { t, df, p, interval: Interval::around(difference, radius) })
}

/// Did it matter which arm went first? Welch's test, at 95 %, of the differences from blocks in
/// one order against those from blocks in the other; `None` as for [`welch`].
pub fn welch_order_test(first_order: &[f64], other_order: &[f64]) -> Option<Welch> {
    let moments = |d: &[f64]| Moments { mean: mean(d), sd: sd(d), n: d.len() };
    welch(moments(first_order), moments(other_order), 0.05)
}

/// Sum of powers of the deviations from the mean.
fn moment(sample: &[f64], power: i32) -> f64 {
    let centre = mean(sample);
    sample.iter().map(|x| libm::pow(x - centre, f64::from(power))).sum()
}

fn ratio_or(numerator: f64, denominator: f64, otherwise: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_see() {
        for sample in [&[][..], &[1.0], &[2.0, 2.0, 2.0]] {
            assert_eq!(lag1_autocorrelation(sample), 0.0);
            assert_eq!(skewness(sample), 0.0);
        }
        assert_eq!(welch_order_test(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch_order_test(&[1.0, 1.0], &[2.0, 2.0]), None);
    }

    #[test]
    fn skewness_by_hand() {
        // Deviations -1, -1, -1, 3: m2 = 3, m3 = 6.
        let g = skewness(&[0.0, 0.0, 0.0, 4.0]);
        assert!((g - 6.0 / libm::pow(3.0, 1.5)).abs() < 1e-15);
        assert_eq!(skewness(&[-2.0, 0.0, 2.0]), 0.0);
    }
}
