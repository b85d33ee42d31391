//! A distribution-free interval for a quantile: two order statistics of the sample.
//!
//! It assumes independent values. Inside one trial, where delays follow each other, it
//! describes the trial only; across trials, take one quantile per trial and use
//! [`crate::signed_rank`]. Source: David & Nagaraja, "Order statistics", section 7.1.

use crate::solve::first_integer;
use crate::special::{binomial_lower, binomial_upper};

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

    #[test]
    fn bad_input_is_unbounded() {
        for (n, q, conf) in [(0, 0.5, 0.95), (10, 0.0, 0.95), (10, 0.5, 1.0), (10, f64::NAN, 0.9)] {
            assert_eq!(order_statistic_interval(n, q, conf), (None, None));
        }
    }
}
