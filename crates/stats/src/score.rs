//! Ranges for the centre of a symmetric law that hold at any time of stopping and that a few wild
//! values hardly widen: each value counts by its *score*, the distance from a candidate centre in
//! units of a scale, cut at -1 and 1 (Huber, "Robust estimation of a location parameter", 1964).
//!
//! Shares of a stake are bet on either side of the candidate. If the law is symmetric about it,
//! given all values before, no bet gains on average, so the mean of the stakes exceeds `1 / alpha`
//! with probability alpha at most, ever (Ville 1939; Waudby-Smith & Ramdas, "Estimating means of
//! bounded random variables by betting", 2024; Ramdas, Ruf, Larsson & Koolen, "Admissible anytime-
//! valid sequential inference must rely on nonnegative martingales", 2020). The scale of a value
//! comes from earlier ones alone, so a bad one costs width, never validity; where there is none
//! (no values yet, or most of them equal) the sign alone counts.
//!
//! The estimate is that of Hodges and Lehmann, as for a fixed number of values
//! ([`crate::signed_rank`]): under symmetry there is one centre. Of a law that is not symmetric
//! all this describes the bulk, not the mean.

use crate::estimate::{Estimate, Interval, is_usable};
use crate::signed_rank;
use crate::solve::falls_below_zero;
use crate::summary::median;
use alloc::vec::Vec;

/// Scale of a score in median absolute deviations from the median: about one standard deviation of
/// a normal law.
pub const SCALE: f64 = 1.5;

/// Shares of the stake that are bet, each by itself and on either side.
pub const BETS: [f64; 4] = [0.25, 0.5, 0.75, 0.95];

/// Factors that are multiplied before a logarithm is taken: their product stays in range.
const CHUNK: usize = 64;

/// Most rounds in which an end of a range is moved; two are usual.
const ROUNDS_MAX: u32 = 100;

/// The score of `x` about `mu`, from -1 to 1; the sign if `scale` is 0.
fn score(x: f64, mu: f64, scale: f64) -> f64 {
    let far = x - mu;
    if far == 0.0 { 0.0 } else { (far / scale).clamp(-1.0, 1.0) }
}

fn ends(d: &[f64]) -> [f64; 2] {
    let low = d.iter().copied().fold(f64::INFINITY, f64::min);
    [low, d.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
}

/// What values say that were looked at one after another.
#[derive(Debug, Clone)]
pub struct Sequence<'a> {
    d: &'a [f64],
    /// Of each value, from what was known before it.
    scales: Vec<f64>,
}

impl<'a> Sequence<'a> {
    /// Of the values `d` in the order they were taken. `before` are values of another centre and
    /// about the same noise that were known before the first of them; there may be none.
    pub fn new(d: &'a [f64], before: &[f64]) -> Self {
        let off = |sample: &[f64]| -> Vec<f64> {
            let centre = median(sample);
            sample.iter().map(|x| libm::fabs(x - centre)).collect()
        };
        let of_before = off(before);
        let scale = |seen: usize| {
            let mut all = off(&d[..seen]);
            all.extend(&of_before);
            let scale = SCALE * median(&all);
            if scale.is_finite() { scale } else { 0.0 }
        };
        Sequence { d, scales: (0..d.len()).map(scale).collect() }
    }

    /// Logarithm of the evidence against "the centre is `mu`" after all values: the mean over
    /// [`BETS`] and both sides of the products of `1 ± bet score`. Reject at rate alpha where it is
    /// at least `-ln alpha`, at any time.
    pub fn log_e(&self, mu: f64) -> f64 {
        mean_exp(&[self.log_bets(mu, 1.0), self.log_bets(mu, -1.0)])
    }

    /// The estimate of Hodges and Lehmann, and the smallest range that holds all candidates whose
    /// evidence is below `1 / alpha`. They may have gaps, which the range keeps. At 0.05 it is
    /// bounded from 7 values on, at 0.002 from 13, if they lie far enough to one side.
    pub fn estimate(&self, alpha: f64) -> Estimate {
        let centre = signed_rank::centre(self.d);
        if self.d.is_empty() || !is_usable(self.d, alpha) {
            return Estimate::open(centre);
        }
        let mirror: Vec<f64> = self.d.iter().map(|x| -x).collect();
        let mirror = Sequence { d: &mirror, scales: self.scales.clone() };
        let (low, high) = (self.low(alpha), -mirror.low(alpha));
        // Where most values are equal, evidence may leave nothing; the ends then meet or cross.
        let interval = Interval { low: low.min(high).min(centre), high: high.max(low).max(centre) };
        Estimate { centre, interval }
    }

    /// The lowest candidate whose evidence is below `1 / alpha`; minus infinity where even one
    /// below all values is not rejected.
    ///
    /// The bets on "higher" gain less the higher the candidate is, those on "lower" more. So no
    /// candidate is left below the first one at which the former alone, with what the latter have
    /// at the end found so far, fall short; that end rises to the answer, round by round.
    fn low(&self, alpha: f64) -> f64 {
        let wanted = -libm::log(alpha);
        let reach = self.scales.iter().copied().fold(0.0, f64::max);
        let [low, high] = ends(self.d);
        // One step below all values, where every score is 1.
        let mut end = (low - reach) - libm::fabs(low - reach) * f64::EPSILON - f64::MIN_POSITIVE;
        if self.log_e(end) < wanted {
            return f64::NEG_INFINITY;
        }
        for _ in 0..ROUNDS_MAX {
            let other = libm::exp(self.log_bets(end, -1.0) - wanted);
            let room = wanted + libm::log(2.0 - other);
            if room.is_nan() {
                break;
            }
            let next = falls_below_zero(end, high + reach, |mu| self.log_bets(mu, 1.0) - room);
            if next <= end {
                break;
            }
            end = next;
        }
        end
    }

    /// Anytime-valid p-value of "the values are symmetric about `mu`": one over the largest
    /// evidence reached after any number of them, at most 1.
    pub fn anytime_p(&self, mu: f64) -> f64 {
        if !mu.is_finite() || self.d.iter().any(|x| !x.is_finite()) {
            return 1.0;
        }
        let mut logs = [0.0; 2 * BETS.len()];
        let mut largest = 0.0_f64;
        for (x, scale) in self.d.iter().zip(&self.scales) {
            let score = score(*x, mu, *scale);
            for (place, log) in logs.iter_mut().enumerate() {
                let bet = BETS[place / 2];
                *log += libm::log1p(if place % 2 == 0 { bet * score } else { -bet * score });
            }
            largest = largest.max(mean_exp(&logs));
        }
        libm::exp(-largest)
    }

    /// Anytime-valid p-value of "the centre lies outside -delta..delta": the larger one of two one-
    /// sided tests, each by the bets on its side alone. At most 0.05 only if the 90 % range lies
    /// inside; 1 if no margin is left.
    pub fn equivalence_p(&self, delta: f64) -> f64 {
        let usable = delta > 0.0 && self.d.iter().all(|x| x.is_finite());
        if !usable {
            return 1.0;
        }
        let least = self.log_bets(-delta, 1.0).min(self.log_bets(delta, -1.0));
        libm::exp(-least).min(1.0)
    }

    /// Logarithm of the mean of the stakes that were bet on one side of `mu`.
    fn log_bets(&self, mu: f64, side: f64) -> f64 {
        let (mut logs, mut products) = ([0.0; BETS.len()], [1.0; BETS.len()]);
        for (place, (x, scale)) in self.d.iter().zip(&self.scales).enumerate() {
            let score = side * score(*x, mu, *scale);
            for (product, bet) in products.iter_mut().zip(BETS) {
                *product *= 1.0 + bet * score;
            }
            if place % CHUNK == CHUNK - 1 {
                logs.iter_mut().zip(products).for_each(|(log, product)| *log += libm::log(product));
                products = [1.0; BETS.len()];
            }
        }
        logs.iter_mut().zip(products).for_each(|(log, product)| *log += libm::log(product));
        mean_exp(&logs)
    }
}

/// Logarithm of the mean of what these are the logarithms of.
fn mean_exp(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| libm::exp(log - most)).sum();
    most + libm::log(sum / logs.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_values_are_needed() {
        let alike = [1.0; 13];
        for (alpha, need) in [(0.10, 6), (0.05, 7), (0.002, 13)] {
            let of = |n: usize| Sequence::new(&alike[..n], &[]).estimate(alpha).interval;
            assert_eq!([of(0), of(need - 1)], [Interval::WHOLE; 2], "{alpha}");
            let found = of(need);
            assert!(found.contains(1.0) && found.width() < 1e-12, "{alpha}: {found:?}");
        }
    }

    /// An outlier costs one value, however far away it lies.
    #[test]
    fn one_wild_value_hardly_widens_the_range() {
        let mut d: Vec<f64> = (0..16).map(|i| libm::sin(f64::from(i) * 1.7)).collect();
        let calm = Sequence::new(&d, &[]).estimate(0.05).interval.width();
        for wild in [20.0, 2e6] {
            d[9] = wild;
            let found = Sequence::new(&d, &[]).estimate(0.05).interval;
            assert!(found.width() < 1.5 * calm && found.high < 1.5, "{found:?}");
        }
    }

    /// The ends are where the evidence is enough, and nothing beyond them is left.
    #[test]
    fn the_range_is_that_of_all_candidates_left() {
        let d: Vec<f64> = (0..40).map(|i| libm::sin(f64::from(i) * 2.3) + 0.1).collect();
        let sequence = Sequence::new(&d, &[0.3, -0.4, 0.6, -0.1]);
        let range = sequence.estimate(0.05).interval;
        let wanted = libm::log(20.0);
        for end in [range.low, range.high] {
            assert!((sequence.log_e(end) - wanted).abs() < 1e-9, "{range:?}");
        }
        for step in 0..2000 {
            let mu = -3.0 + 6.0 * f64::from(step) / 2000.0;
            assert!(range.contains(mu) || sequence.log_e(mu) >= wanted, "{mu}");
        }
    }

    #[test]
    fn values_far_apart_leave_no_hole_in_the_range() {
        // No candidate is symmetric: half are equal, and the rest lie on one side.
        let d: Vec<f64> = (0..48).map(|i| if i % 2 == 0 { 0.0 } else { f64::from(i) }).collect();
        let found = Sequence::new(&d, &[]).estimate(0.05);
        assert!(found.interval.contains(found.centre), "{found:?}");
        let lumps: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { -5.0 } else { 5.0 }).collect();
        assert!(Sequence::new(&lumps, &[]).estimate(0.05).interval.contains(0.0));
    }

    #[test]
    fn equivalence_needs_a_margin() {
        let d: Vec<f64> = (0..20).map(|i| 0.1 * libm::sin(f64::from(i))).collect();
        let sequence = Sequence::new(&d, &[]);
        for delta in [0.0, -1.0, f64::NAN] {
            assert_eq!(sequence.equivalence_p(delta), 1.0);
        }
        assert!(sequence.equivalence_p(0.5) < 1e-3);
        assert!(sequence.equivalence_p(0.02) > 0.05);
    }
}
