//! The exact sign test of pairs in which something happened to one side more than to the other.

use crate::special::binomial_upper;

/// The two-sided p-value of the sign test (Arbuthnott 1710; Dixon and Mood 1946): given that so
/// many pairs had more of it on the `first` side and so many on the `second`, the chance to see one
/// side so often if either is as likely. Pairs that are even say nothing and are left out. On
/// pairs with yes or no on each side it is the exact form of McNemar's test (1947). 1 without
/// pairs.
pub fn sign_p(first: u64, second: u64) -> f64 {
    let Some(pairs) = first.checked_add(second) else { return 1.0 };
    (2.0 * binomial_upper(first.max(second), pairs, 0.5)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 (C(n, k) + ... + C(n, n)) / 2^n in whole numbers.
    fn counted(first: u64, second: u64) -> f64 {
        let n = first + second;
        let (mut ways, mut tail) = (1_u128, 0_u128);
        for k in 0..=n {
            tail += if k >= first.max(second) { ways } else { 0 };
            ways = ways * u128::from(n - k) / u128::from(k + 1);
        }
        (2.0 * tail as f64 / (1_u128 << n) as f64).min(1.0)
    }

    #[test]
    fn it_agrees_with_counting_all_outcomes() {
        for first in 0..=40 {
            for second in 0..=40 {
                let (p, exact) = (sign_p(first, second), counted(first, second));
                assert!((p - exact).abs() <= 1e-12 * exact, "{first} {second}: {p} {exact}");
                assert_eq!(p, sign_p(second, first));
            }
        }
    }

    #[test]
    fn six_of_six_are_the_fewest_that_tell_at_5_percent() {
        assert_eq!(sign_p(0, 0), 1.0);
        assert!(sign_p(5, 0) > 0.05 && (sign_p(6, 0) - 0.031_25).abs() < 1e-15);
        assert_eq!(sign_p(u64::MAX, 1), 1.0);
    }
}
