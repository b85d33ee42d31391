//! Intervals that stay valid however often they are looked at and whenever one stops: confidence
//! sequences, and the e-values they come from.
//!
//! P(the interval *ever* misses the truth, at any n) <= alpha, so a run may stop when a target is
//! met, when time is up, when interrupted, and may be continued later. The price is width: about
//! 1.6 times the fixed-n interval at n = 20.
//!
//! * [`t_sequence`]: for independent differences that are roughly normal. Robbins, "Statistical
//!   methods related to the law of the iterated logarithm" (1970); Lai, "On confidence sequences"
//!   (1976); Wang & Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with
//!   unknown variance" (2024). Its prior scale is 1 standard deviation: tuned for effects about as
//!   large as the noise of one block, and close to the best over a wide range around it.

use crate::estimate::{Estimate, Interval, is_rate, is_usable, no_spread};
use crate::summary::{mean, sd};

/// When a t sequence is looked at. Nobody looks before the first few values, so its error level is
/// spent from there: it is asked at `factor` times the rate, which errs at the rate itself over
/// those looks, or less, for normal values (`tests/simulated` draws them again). The mean over the
/// deviation has a law without unknowns, so the factors hold for any mean and noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// At each n from [`LOOKS_MIN`] to 400. One look at fewer values errs less.
    All,
    /// At each n from [`LOOKS_MIN`] to 11, before the bets on scores take over: what those leave of
    /// the rate for normal values is spent here, and that is half of it and a little.
    First,
}

/// Values before the first look.
pub const LOOKS_MIN: usize = 8;

impl Looks {
    /// What a rate is multiplied with.
    pub const fn factor(self) -> f64 {
        match self {
            Looks::All => 1.5,
            Looks::First => 2.7,
        }
    }

    /// The rate that the t sequence is asked at for `alpha`; below 1.
    pub fn asked(self, alpha: f64) -> f64 {
        (self.factor() * alpha).min(RATE_MAX)
    }

    /// The inverse: the p-value that evidence gives.
    fn p(self, evidence: f64) -> f64 {
        (1.0 / (evidence * self.factor())).min(1.0)
    }
}

/// 1 is no rate.
const RATE_MAX: f64 = 1.0 - 1e-9;

/// Radius of the t confidence sequence after `n` values with standard deviation `sd`. With
/// `A = 1 + n` and `k = (A / alpha^2)^(1/n)` it is
/// `sd / sqrt(n) * sqrt((n - 1) (k - 1) / (1 - k / A))`; infinite while `k >= A` (up to n = 4 at
/// alpha 0.05, n = 3 at 0.10). Infinite for input out of range.
pub fn t_sequence_radius(n: usize, sd: f64, alpha: f64) -> f64 {
    let usable = sd >= 0.0 && is_rate(alpha);
    if n < 2 || !usable {
        return f64::INFINITY;
    }
    let n = n as f64;
    let a = 1.0 + n;
    // k - 1 by expm1: for large n the exponent is tiny.
    let exponent = libm::log(a / (alpha * alpha)) / n;
    let (k, above_one) = (libm::exp(exponent), libm::expm1(exponent));
    if k >= a {
        return f64::INFINITY;
    }
    sd / libm::sqrt(n) * libm::sqrt((n - 1.0) * above_one / (1.0 - k / a))
}

/// The t confidence sequence at the end of `d`; its centre is the mean.
pub fn t_sequence(d: &[f64], alpha: f64, looks: Looks) -> Estimate {
    if !is_usable(d, alpha) {
        return Estimate::open(f64::NAN);
    }
    let (centre, radius) = (mean(d), t_sequence_radius(d.len(), sd(d), looks.asked(alpha)));
    if !radius.is_finite() {
        return Estimate::open(centre);
    }
    Estimate { centre, interval: Interval::around(centre, radius) }
}

/// Evidence against "the mean is `mu`" after all of `d`: with t the t statistic,
/// `A^(-1/2) ((1 + t^2/(n-1)) / (1 + t^2/((n-1) A)))^(n/2)`. Reject at rate alpha when it is at
/// least `1 / alpha`, at any time; the radius of [`t_sequence`] is its exact inverse. 1 (no
/// evidence) below two values or for values that are not finite.
pub fn e_value(d: &[f64], mu: f64) -> f64 {
    let spread = if no_spread(d) { 0.0 } else { sd(d) };
    e_value_of(d.len(), mean(d) - mu, spread)
}

/// As [`e_value`], from the number of values, their mean less `mu`, and their standard deviation.
pub(crate) fn e_value_of(n: usize, shift: f64, spread: f64) -> f64 {
    let usable = shift.is_finite() && spread.is_finite();
    if n < 2 || !usable {
        return 1.0;
    }
    let n = n as f64;
    let a = 1.0 + n;
    // x = t^2 / (n - 1); the ratio tends to A as x grows without bound.
    let x = n * shift * shift / (spread * spread * (n - 1.0));
    let ratio = match x {
        _ if shift == 0.0 => 1.0,
        _ if x.is_infinite() => a,
        _ => (1.0 + x) / (1.0 + x / a),
    };
    libm::exp(0.5 * (n * libm::log(ratio) - libm::log(a)))
}

/// Anytime-valid p-value of "the mean is zero": by the largest [`e_value`] reached at any of the
/// looks, or at the end of fewer values; at most 1.
pub fn anytime_p(d: &[f64], looks: Looks) -> f64 {
    let (mut centre, mut squares, mut largest, mut alike) = (0.0, 0.0, 0.0_f64, true);
    for (before, &x) in d.iter().enumerate() {
        // Mean and squares grow with each value (Welford 1962).
        let (n, deviation) = (before + 1, x - centre);
        centre += deviation / n as f64;
        squares += deviation * (x - centre);
        alike &= x == d[0];
        if n < LOOKS_MIN.min(d.len()) {
            continue;
        }
        let spread = if alike { 0.0 } else { libm::sqrt(squares / before as f64) };
        largest = largest.max(e_value_of(n, centre, spread));
    }
    looks.p(largest)
}

/// Anytime-valid p-value of "the mean lies outside -delta..delta", for equivalence: half of the
/// smallest alpha at which the interval of the t sequence lies inside. At most 0.05 exactly when
/// the 90 % interval does: as with two one-sided tests, only one of the two ends can be wrong at a
/// time. 1 if the mean itself lies outside.
pub fn anytime_equivalence_p(d: &[f64], delta: f64, looks: Looks) -> f64 {
    let evidence = |mu: f64| looks.factor() * e_value(d, mu);
    let inside = mean(d).abs() < delta;
    if inside { (0.5 / evidence(delta).min(evidence(-delta))).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_multipliers() {
        let rows = [
            (5, 3.7804, 2.2753),
            (6, 2.2249, 1.6949),
            (8, 1.5029, 1.2589),
            (10, 1.2237, 1.0572),
            (20, 0.7658, 0.6898),
            (100, 0.3347, 0.3109),
        ];
        for (n, at_5, at_10) in rows {
            assert!((t_sequence_radius(n, 1.0, 0.05) - at_5).abs() < 5e-5, "{n}");
            assert!((t_sequence_radius(n, 1.0, 0.10) - at_10).abs() < 5e-5, "{n}");
        }
    }

    #[test]
    fn too_few_and_bad_input() {
        let d = [1.0, 2.0, 3.0, 4.0, 5.0];
        let of = |n: usize, alpha: f64| t_sequence(&d[..n], alpha, Looks::All);
        for (alpha, need) in [(0.02, 5), (0.07, 4)] {
            assert_eq!([0, need - 1].map(|n| of(n, alpha).interval), [Interval::WHOLE; 2]);
            assert!(of(need, alpha).interval.width().is_finite(), "{alpha}");
        }
        assert_eq!(of(4, 0.02).centre, 2.5);
        assert_eq!(t_sequence_radius(10, -1.0, 0.05), f64::INFINITY);
        assert_eq!(e_value(&[1.0], 0.0), 1.0);
        assert_eq!(e_value(&[1.0, f64::NAN], 0.0), 1.0);
        assert_eq!(anytime_p(&[], Looks::All), 1.0);
    }

    #[test]
    fn equal_values_have_bounded_evidence() {
        let e = e_value(&[0.1; 8], 0.0);
        assert!((e / libm::pow(9.0, 3.5) - 1.0).abs() < 1e-12, "{e}");
        assert!((e_value(&[0.5; 8], 0.5) - 1.0 / 3.0).abs() < 1e-12);
        let point = t_sequence(&[0.5; 8], 0.05, Looks::All).interval;
        assert_eq!(point, Interval { low: 0.5, high: 0.5 });
    }
}
