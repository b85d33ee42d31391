//! Quantiles of samples of which some never came, and a distribution-free interval for a quantile:
//! two order statistics of the sample.
//!
//! What was lost took longer than everything that came, so it counts as infinite (RFC 6673 section
//! 5.1, RFC 2330 section 11.3). The `q` quantile is the smallest value whose empirical distribution
//! function reaches `q`.
//!
//! The interval assumes independent values. Inside one trial, where delays follow each other, it
//! describes the trial only; across trials, take one quantile per trial and use
//! [`crate::signed_rank`]. Source: David & Nagaraja, "Order statistics", section 7.1.

use crate::solve::first_integer;
use crate::special::{binomial_lower, binomial_upper};

/// The `q` quantile of `sorted` values and `lost` infinite ones; `None` of nothing, or unless `q`
/// lies above 0 and at most at 1.
pub fn with_losses(sorted: &[f64], lost: u64, q: f64) -> Option<f64> {
    let rank = rank(sorted.len() as u64, lost, q)?;
    let index = usize::try_from(rank - 1).ok();
    Some(index.and_then(|index| sorted.get(index)).copied().unwrap_or(f64::INFINITY))
}

/// The median as RFC 2330 section 11.3 has it: of an even number, the mean of the two values in the
/// middle. `None` of nothing.
pub fn median_with_losses(sorted: &[f64], lost: u64) -> Option<f64> {
    let all = (sorted.len() as u64).checked_add(lost).filter(|&all| all > 0)?;
    let at = |rank: u64| {
        let index = usize::try_from(rank).ok();
        index.and_then(|index| sorted.get(index)).copied().unwrap_or(f64::INFINITY)
    };
    let (low, high) = (at((all - 1) / 2), at(all / 2));
    Some(if low == high { low } else { (low + high) / 2.0 })
}

/// The `q` quantile of a histogram, given as the highest value and the count of each bucket in
/// ascending order, and of `lost` infinite values: the highest value of the bucket that holds it.
/// `None` as for [`with_losses`].
pub fn of_histogram(buckets: &[(u64, u64)], lost: u64, q: f64) -> Option<f64> {
    let came = buckets.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count))?;
    let rank = rank(came, lost, q)?;
    let mut below = 0;
    for (value, count) in buckets {
        below += count;
        if below >= rank {
            return Some(*value as f64);
        }
    }
    Some(f64::INFINITY)
}

/// 1-based number of the value in ascending order that is the `q` quantile.
fn rank(came: u64, lost: u64, q: f64) -> Option<u64> {
    let all = came.checked_add(lost).filter(|&all| all > 0)?;
    if !(q > 0.0 && q <= 1.0) {
        return None;
    }
    // The share of the first k is k / n; what rounding adds to q n must not move the rank.
    let exact = q * all as f64;
    let whole = libm::round(exact);
    let close = libm::fabs(exact - whole) <= 1e-9 * exact;
    let rank = if close { whole } else { libm::ceil(exact) };
    Some((rank as u64).clamp(1, all))
}

/// 1-based indices (l, u) into the ascending sample of `n` values, such that the `q` quantile lies
/// between the two values with probability at least `conf`, each side missing with at most
/// `(1 - conf) / 2`. `None` means that side is unbounded: for the upper one that is so below n =
/// 36, 72, 368, 3688, 36887 for the 90, 95, 99, 99.9, 99.99 % quantile at 95 % confidence. Both
/// are `None` unless `q` and `conf` lie strictly between 0 and 1.
pub fn order_statistic_interval(n: usize, q: f64, conf: f64) -> (Option<usize>, Option<usize>) {
    let open = |x: f64| x > 0.0 && x < 1.0;
    if n == 0 || !open(q) || !open(conf) {
        return (None, None);
    }
    let (n, miss) = (n as u64, (1.0 - conf) / 2.0);
    // l is the number of k with P(X <= k) <= miss, u the first with P(X >= u) <= miss.
    let low = first_integer(0, n, |k| binomial_lower(k, n, q) > miss).unwrap_or(0);
    let high = first_integer(1, n, |k| binomial_upper(k, n, q) <= miss);
    ((low > 0).then_some(low as usize), high.map(|u| u as usize))
}

/// Probability that the `q` quantile lies between the order statistics `interval` of `n` values
/// (as [`order_statistic_interval`] returns them): the confidence really reached.
pub fn order_statistic_level(n: usize, q: f64, interval: (Option<usize>, Option<usize>)) -> f64 {
    let n = n as u64;
    let below = interval.0.map_or(0.0, |l| binomial_lower(l as u64 - 1, n, q));
    let above = interval.1.map_or(0.0, |u| binomial_upper(u as u64, n, q));
    1.0 - below - above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_needed_for_a_bounded_upper_end() {
        let needed = [(0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688), (0.9999, 36887)];
        for (q, n) in needed {
            assert!(order_statistic_interval(n, q, 0.95).1.is_some(), "{q}");
            assert_eq!(order_statistic_interval(n - 1, q, 0.95).1, None, "{q}");
        }
    }

    /// RFC 6673 and RFC 2330 section 11.3: what never came is longer than all that did.
    #[test]
    fn known_answers_with_losses() {
        assert_eq!(with_losses(&[90.0, 100.0, 110.0, 500.0], 1, 0.5), Some(110.0));
        assert_eq!(median_with_losses(&[90.0, 100.0, 110.0], 1), Some(105.0));
        assert_eq!(median_with_losses(&[90.0, 100.0, 110.0, 500.0], 1), Some(110.0));
        assert_eq!(with_losses(&[90.0, 100.0, 110.0, 500.0], 1, 0.8), Some(500.0));
        assert_eq!(with_losses(&[90.0, 100.0, 110.0, 500.0], 1, 0.81), Some(f64::INFINITY));
        assert_eq!(median_with_losses(&[1.0], 1), Some(f64::INFINITY));
        assert_eq!(median_with_losses(&[], 3), Some(f64::INFINITY));
        let rfc = [-5.0, -2.0, 4.0, 7.0, 7.0, 18.0];
        for (q, value) in [(0.25, -2.0), (0.5, 4.0), (1.0, 18.0), (0.15, -5.0)] {
            assert_eq!(with_losses(&rfc, 0, q), Some(value), "{q}");
        }
        assert_eq!(with_losses(&[], 0, 0.5), None);
        assert_eq!(with_losses(&[1.0], 0, 0.0), None);
        assert_eq!(with_losses(&[1.0], 0, f64::NAN), None);
    }

    /// Quantiles of a histogram are those of its values wherever each has a bucket of its own.
    #[test]
    fn a_histogram_has_the_quantiles_of_its_values() {
        let values: alloc::vec::Vec<f64> =
            [1, 1, 2, 5, 5, 5, 9].into_iter().map(f64::from).collect();
        let buckets = [(1, 2), (2, 1), (5, 3), (9, 1)];
        for lost in 0..4 {
            for percent in 1..=100 {
                let q = f64::from(percent) / 100.0;
                let expected = with_losses(&values, lost, q);
                assert_eq!(of_histogram(&buckets, lost, q), expected, "{q} {lost}");
            }
        }
        assert_eq!(of_histogram(&[], 0, 0.5), None);
        assert_eq!(of_histogram(&[], 1, 0.5), Some(f64::INFINITY));
    }

    #[test]
    fn bad_input_is_unbounded() {
        for (n, q, conf) in [(0, 0.5, 0.95), (10, 0.0, 0.95), (10, 0.5, 1.0), (10, f64::NAN, 0.9)] {
            assert_eq!(order_statistic_interval(n, q, conf), (None, None));
        }
        assert_eq!(order_statistic_level(10, 0.5, (None, None)), 1.0);
    }
}
