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
//!   unknown variance" (2024).
//! * [`symmetric_e_value`]: for any distribution that is symmetric about its centre, however heavy
//!   its tails; needs about twelve values. de la Pena, "A general class of exponential inequalities
//!   for martingales and ratios" (1999); Howard, Ramdas, McAuliffe & Sekhon, "Time-uniform Chernoff
//!   bounds" (2020).

use crate::estimate::{Estimate, Interval, Warning, faults, is_rate, no_spread};
use crate::solve::{first_integer, first_true};
use crate::summary::{mean, sd};

/// Prior scale of the t sequence in units of the standard deviation: tuned for effects about as
/// large as the noise of one block, and close to the best over a wide range around it.
pub const DEFAULT_SCALE: f64 = 1.0;

/// When a t sequence is looked at. Nobody looks before the first few values, so its error level is
/// spent from there: it is asked at `factor` times the rate, which errs at the rate itself over
/// those looks, or less, for normal values (`tests/simulated` draws them again). The mean over the
/// deviation has a law without unknowns, so the factors hold for any mean and noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// At each n from [`LOOKS_MIN`] to 400. One look at fewer values errs less.
    All,
    /// At each n from [`LOOKS_MIN`] to 11, and spending half of the rate: the other half is for
    /// what takes over from 12 values on.
    First,
}

/// Values before the first look.
pub const LOOKS_MIN: usize = 8;

impl Looks {
    /// What a rate is multiplied with.
    pub const fn factor(self) -> f64 {
        match self {
            Looks::All => 1.5,
            Looks::First => 2.4,
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

/// Share of alpha that pays for leaving out what lies far away, see [`symmetric_radius`].
const FAR_SHARE: f64 = 0.02;

/// Logarithm of the share that is left for the rest.
pub(crate) const NEAR_SHARE_LOG: f64 = -0.020_202_707_317_519_466;

/// Radius of the t confidence sequence after `n` values with standard deviation `sd`. With
/// `A = 1 + n g` and `k = (A / alpha^2)^(1/n)` it is
/// `sd / sqrt(n) * sqrt((n - 1) (k - 1) / (1 - k / A))`; infinite while `k >= A` (up to n = 4 at
/// alpha 0.05, n = 3 at 0.10, for `g` = 1). `g` is the prior scale, see [`DEFAULT_SCALE`].
/// Infinite for input out of range.
pub fn t_sequence_radius(n: usize, sd: f64, g: f64, alpha: f64) -> f64 {
    let usable = sd >= 0.0 && g > 0.0 && is_rate(alpha);
    if n < 2 || !usable {
        return f64::INFINITY;
    }
    let n = n as f64;
    let a = 1.0 + n * g;
    // k - 1 by expm1: for large n the exponent is tiny.
    let exponent = libm::log(a / (alpha * alpha)) / n;
    let (k, above_one) = (libm::exp(exponent), libm::expm1(exponent));
    if k >= a {
        return f64::INFINITY;
    }
    sd / libm::sqrt(n) * libm::sqrt((n - 1.0) * above_one / (1.0 - k / a))
}

/// The t confidence sequence at the end of `d`, with [`DEFAULT_SCALE`]; its centre is the mean.
pub fn t_sequence(d: &[f64], alpha: f64, looks: Looks) -> Estimate {
    let n = d.len();
    let mut warnings = faults(d, alpha);
    if !warnings.is_empty() {
        return Estimate::open(f64::NAN, n, warnings);
    }
    let asked = looks.asked(alpha);
    let bounded = |n: u64| t_sequence_radius(n as usize, 1.0, DEFAULT_SCALE, asked).is_finite();
    if !bounded(n as u64) {
        let need = first_integer(2, 1 << 32, bounded).map_or(usize::MAX, |n| n as usize);
        warnings.push(Warning::TooFewBlocks { have: n, need });
        return Estimate::open(mean(d), n, warnings);
    }
    if no_spread(d) {
        warnings.push(Warning::NoSpread);
    }
    let radius = t_sequence_radius(n, sd(d), DEFAULT_SCALE, asked);
    Estimate {
        centre: mean(d),
        interval: Interval::around(mean(d), radius),
        level: 1.0 - alpha,
        n,
        warnings,
    }
}

/// Evidence against "the mean is `mu`" after all of `d`: with t the t statistic,
/// `A^(-1/2) ((1 + t^2/(n-1)) / (1 + t^2/((n-1) A)))^(n/2)`. Reject at rate alpha when it is at
/// least `1 / alpha`, at any time; the radius of [`t_sequence`] is its exact inverse. 1 (no
/// evidence) below two values or for values that are not finite.
pub fn e_value(d: &[f64], mu: f64, g: f64) -> f64 {
    let spread = if no_spread(d) { 0.0 } else { sd(d) };
    e_value_of(d.len(), mean(d) - mu, spread, g)
}

/// As [`e_value`], from the number of values, their mean less `mu`, and their standard deviation.
pub(crate) fn e_value_of(n: usize, shift: f64, spread: f64, g: f64) -> f64 {
    let usable = g > 0.0 && shift.is_finite() && spread.is_finite();
    if n < 2 || !usable {
        return 1.0;
    }
    let n = n as f64;
    let a = 1.0 + n * g;
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
        largest = largest.max(e_value_of(n, centre, spread, DEFAULT_SCALE));
    }
    looks.p(largest)
}

/// Anytime-valid p-value of "the mean lies outside -delta..delta", for equivalence: half of the
/// smallest alpha at which the interval of the t sequence lies inside. At most 0.05 exactly when
/// the 90 % interval does: as with two one-sided tests, only one of the two ends can be wrong at a
/// time. 1 if the mean itself lies outside.
pub fn anytime_equivalence_p(d: &[f64], delta: f64, looks: Looks) -> f64 {
    let evidence = |mu: f64| looks.factor() * e_value(d, mu, DEFAULT_SCALE);
    let inside = mean(d).abs() < delta;
    if inside { (0.5 / evidence(delta).min(evidence(-delta))).min(1.0) } else { 1.0 }
}

/// Tuning constant of the symmetric sequence, which makes it tightest near `n_star` values whose
/// standard deviation is `sigma`: `n_star sigma^2 / (2 ln(1/alpha) + ln(1 + 2 ln(1/alpha)))`. It
/// must be fixed before the data are seen, for instance from null blocks.
pub fn symmetric_rho(sigma: f64, n_star: usize, alpha: f64) -> f64 {
    let twice_log = -2.0 * libm::log(alpha);
    n_star as f64 * sigma * sigma / (twice_log + libm::log1p(twice_log))
}

/// Evidence against "symmetric about `mu`": with S and V the sums of `d - mu` and of its square,
/// `sqrt(rho / (V + rho)) exp(S^2 / (2 (V + rho)))`. Reject at rate alpha when it is at least
/// `1 / alpha`, at any time. 1 for values that are not finite or a `rho` that is not positive.
pub fn symmetric_e_value(d: &[f64], mu: f64, rho: f64) -> f64 {
    let s: f64 = d.iter().map(|x| x - mu).sum();
    let v: f64 = d.iter().map(|x| (x - mu) * (x - mu)).sum();
    let usable = rho > 0.0 && s.is_finite() && v.is_finite();
    if usable { libm::exp(symmetric_log_e(s * s, v, rho)) } else { 1.0 }
}

/// Fewest values for a bounded interval at that rate.
pub(crate) fn symmetric_need(alpha: f64) -> usize {
    libm::ceil(1.0 - libm::log2(FAR_SHARE * alpha)) as usize
}

/// The inverse: `-ln` of the smallest rate at which `n` values have a bounded interval.
pub(crate) fn symmetric_nats(n: usize) -> f64 {
    core::f64::consts::LN_2 * (n as f64 - 1.0) + libm::log(FAR_SHARE)
}

/// Radius of the symmetric self-normalised sequence after `n` values with standard deviation
/// `spread`, `rho` from [`symmetric_rho`]: distance from the mean at which the evidence is enough
/// for `alpha`. It rises up to `n x = (n - 1) (V + rho)`, x the squared distance and V taken at the
/// mean. Infinite if it is never enough.
///
/// The values of mu that [`symmetric_e_value`] cannot reject are a range around the mean and,
/// oddly, everything very far away. Such a far mu has *all* values on one side of it (else `S^2 /
/// V <= n - 1`), which at a centre of symmetry happens with probability `2^(1 - n)` at the first
/// reported n, and from then on only if it happened there. So 2 % of alpha pays for reporting the
/// near range alone: bounded only from the n at which `2^(1 - n) <= 0.02 alpha`, and with `0.98
/// alpha` left for the rest.
pub(crate) fn symmetric_radius(n: usize, spread: f64, alpha: f64, rho: f64) -> f64 {
    let usable = rho > 0.0 && rho.is_finite() && n >= symmetric_need(alpha);
    if !usable {
        return f64::INFINITY;
    }
    let threshold = -libm::log((1.0 - FAR_SHARE) * alpha);
    let n = n as f64;
    let at_mean = (n - 1.0) * spread * spread;
    let peak = libm::sqrt((n - 1.0) * (at_mean + rho) / n);
    let reached = |r: f64| symmetric_log_e(n * n * r * r, at_mean + n * r * r, rho) >= threshold;
    if reached(peak) { first_true(0.0, peak, reached) } else { f64::INFINITY }
}

pub(crate) fn symmetric_log_e(s_squared: f64, v: f64, rho: f64) -> f64 {
    0.5 * (s_squared / (v + rho) - libm::log1p(v / rho))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

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
            assert!((t_sequence_radius(n, 1.0, 1.0, 0.05) - at_5).abs() < 5e-5, "{n}");
            assert!((t_sequence_radius(n, 1.0, 1.0, 0.10) - at_10).abs() < 5e-5, "{n}");
        }
    }

    #[test]
    fn too_few_and_bad_input() {
        let four = t_sequence(&[1.0, 2.0, 3.0, 4.0], 0.02, Looks::All);
        assert_eq!((four.centre, four.interval), (2.5, Interval::WHOLE));
        assert_eq!(four.warnings, [Warning::TooFewBlocks { have: 4, need: 5 }]);
        assert_eq!(
            t_sequence(&[], 0.07, Looks::All).warnings,
            [Warning::TooFewBlocks { have: 0, need: 4 }]
        );
        assert_eq!(t_sequence_radius(10, -1.0, 1.0, 0.05), f64::INFINITY);
        assert_eq!(e_value(&[1.0], 0.0, 1.0), 1.0);
        assert_eq!(e_value(&[1.0, f64::NAN], 0.0, 1.0), 1.0);
        assert_eq!(anytime_p(&[], Looks::All), 1.0);
        assert_eq!(
            (symmetric_radius(9, 1.0, 0.05, 1.0), symmetric_need(0.05)),
            (f64::INFINITY, 11)
        );
    }

    #[test]
    fn equal_values_have_bounded_evidence() {
        let e = e_value(&[0.1; 8], 0.0, 1.0);
        assert!((e / libm::pow(9.0, 3.5) - 1.0).abs() < 1e-12, "{e}");
        assert!((e_value(&[0.5; 8], 0.5, 1.0) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(t_sequence(&[0.5; 8], 0.05, Looks::All).warnings, vec![Warning::NoSpread]);
    }

    #[test]
    fn symmetric_ends_are_where_the_evidence_is_enough() {
        let d: [f64; 16] = core::array::from_fn(|i| libm::sin(i as f64) + 0.3);
        let rho = symmetric_rho(0.7, 20, 0.05);
        let radius = symmetric_radius(d.len(), sd(&d), 0.05, rho);
        for end in [mean(&d) - radius, mean(&d) + radius] {
            let evidence = symmetric_e_value(&d, end, rho);
            assert!((evidence * 0.05 * 0.98 - 1.0).abs() < 1e-9, "{evidence}");
        }
        assert_eq!(symmetric_radius(d.len(), sd(&d), 0.05, 0.0), f64::INFINITY);
    }
}
