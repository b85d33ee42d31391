//! Fisher's exact test of a table of two by two: whether what some have in common is found with a
//! property more often than without it.

/// How many have and have not, among those with the property and among those without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Table {
    /// With the property, and have it.
    pub with_has: u64,
    /// With the property, and have it not.
    pub with_not: u64,
    /// Without the property, and have it.
    pub without_has: u64,
    /// Without the property, and have it not.
    pub without_not: u64,
}

impl Table {
    /// The one-sided p-value: the chance that so many or more of those with the property have it,
    /// if the same number of all had it and chance alone said who (Fisher, "Statistical Methods for
    /// Research Workers", 1934, section 21.02). The sum over k of
    /// `C(w, k) C(n - w, h - k) / C(n, h)` from `with_has` on, where `w` of `n` are with the
    /// property and `h` have it. 1 where nobody has it or nobody is without the property.
    pub fn p_more(&self) -> f64 {
        let with = self.with_has.saturating_add(self.with_not);
        let without = self.without_has.saturating_add(self.without_not);
        let has = self.with_has.saturating_add(self.without_has);
        let n = with.saturating_add(without);
        let most = with.min(has);
        // So many at least, whatever chance says.
        let least = has.saturating_sub(without);
        if self.with_has <= least {
            return 1.0;
        }
        let first = ln_choose(with, self.with_has) + ln_choose(without, self.without_has)
            - ln_choose(n, has);
        // Each term by the one before it; all are positive.
        let (mut term, mut sum) = (1.0, 1.0);
        for k in self.with_has..most {
            let up = (with - k) as f64 * (has - k) as f64;
            let down = (k + 1) as f64 * (without as f64 - has as f64 + k as f64 + 1.0);
            term *= up / down;
            sum += term;
            if term < sum * f64::EPSILON * 0.125 && up < down {
                break;
            }
        }
        (libm::exp(first) * sum).min(1.0)
    }
}

/// The logarithm of the number of ways to choose `k` of `n`.
fn ln_choose(n: u64, k: u64) -> f64 {
    let ln_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n.saturating_sub(k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn p(with_has: u64, with_not: u64, without_has: u64, without_not: u64) -> f64 {
        Table { with_has, with_not, without_has, without_not }.p_more()
    }

    /// Sums of whole numbers, divided at the end.
    #[test]
    fn it_agrees_with_whole_numbers() {
        let known = [
            ([25, 0, 0, 1200], 1.2425604311538873e-52),
            ([3, 1, 1, 3], 0.24285714285714285),
            ([10, 2, 3, 15], 0.00046518094336290503),
            ([24, 1, 3, 1197], 4.3545542735392294e-46),
            ([5, 0, 0, 1], 0.16666666666666666),
            ([1, 0, 0, 1], 0.5),
            ([6, 19, 594, 606], 0.9974406824292482),
            ([1, 9, 1, 89], 0.19090909090909092),
        ];
        for ([a, b, c, d], exact) in known {
            let found = p(a, b, c, d);
            assert!((found / exact - 1.0).abs() < 1e-9, "{a} {b} {c} {d}: {found} {exact}");
        }
    }

    #[test]
    fn all_tables_with_the_same_sums_are_one_certainty() {
        // p(k) - p(k + 1) are the chances of each table, which add up to 1.
        for (with, without, has) in [(5_u64, 9_u64, 6_u64), (12, 3, 7), (4, 4, 8), (1, 30, 2)] {
            let of = |k: u64| p(k, with - k, has - k, without + k - has);
            let tables: Vec<u64> = (has.saturating_sub(without)..=with.min(has)).collect();
            assert_eq!(of(tables[0]), 1.0);
            assert!(tables.windows(2).all(|pair| of(pair[0]) > of(pair[1])));
        }
    }

    #[test]
    fn nothing_to_compare_tells_nothing() {
        assert_eq!(p(0, 0, 0, 0), 1.0);
        assert_eq!(p(7, 0, 0, 0), 1.0);
        assert_eq!(p(0, 9, 0, 4), 1.0);
        assert_eq!(p(9, 0, 4, 0), 1.0);
        let huge = u64::MAX;
        assert!((0.0..=1.0).contains(&p(huge, huge, huge, huge)));
    }
}
