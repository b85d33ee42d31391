//! Change over time in values taken one after another: a step ([`pettitt`]) or a trend
//! ([`mann_kendall`]).
//!
//! Both use ranks, so wild values do not make a trend, and both assume that values without a change
//! would be independent: dependence looks like drift, which is why [`crate::batch`] asks for both.
//! Pettitt, "A non-parametric approach to the change-point problem" (1979); Mann (1945); Kendall,
//! "Rank correlation methods" (1975).

use crate::permutation::{self, EXACT_BELOW};
use crate::special::normal_upper;
use alloc::vec;
use alloc::vec::Vec;

/// Where a series changes its level, if it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The statistic: the largest `|U_t|`.
    pub k: f64,
    /// The change comes after this many values (the earliest, of equals).
    pub after: usize,
    /// The share of all orders of the values with a K as large ([`permutation`]) for fewer than
    /// [`EXACT_BELOW`] values of which Pettitt's formula says less than [`FORMULA_MAX`]. Otherwise
    /// that formula, `2 exp(-6 K^2 / (n^3 + n^2))`, at most 1: an approximation from above.
    pub p: f64,
}

/// What Pettitt's formula must say before orders are counted: above it the exact p-value of 6 and
/// more values is never below 0.15.
pub const FORMULA_MAX: f64 = 0.5;

/// Pettitt's test for one change of level: `U_t` sums the signs of `x_i - x_j` over `i <= t < j`.
/// Without values, or with one that is NaN, p is 1.
pub fn pettitt(sample: &[f64]) -> Step {
    let n = sample.len() as f64;
    let mut found = Step { k: 0.0, after: 0, p: 1.0 };
    if sample.len() < 2 || sample.iter().any(|x| x.is_nan()) {
        return found;
    }
    // Signs inside the first t cancel, so U_t is the sum of 2 R_i - n - 1, R the mean ranks.
    let terms = terms(sample);
    let mut sum = 0_i64;
    for (index, term) in terms.iter().enumerate().take(sample.len() - 1) {
        sum += term;
        if sum.unsigned_abs() as f64 > found.k || index == 0 {
            found.k = sum.unsigned_abs() as f64;
            found.after = index + 1;
        }
    }
    found.p = (2.0 * libm::exp(-6.0 * found.k * found.k / (n * n * n + n * n))).min(1.0);
    if terms.len() < EXACT_BELOW && found.p < FORMULA_MAX {
        found.p = exact_p(sample, found.k);
    }
    found
}

/// Share of all orders of the values with a K of `k` and more.
pub(crate) fn exact_p(sample: &[f64], k: f64) -> f64 {
    permutation::first_sets(&of_sets(&terms(sample)), k)
}

/// Twice the rank of each value, counted from the middle: what it adds to U.
fn terms(sample: &[f64]) -> Vec<i64> {
    let middle = sample.len() as i64 + 1;
    doubled_mean_ranks(sample).into_iter().map(|doubled| doubled as i64 - middle).collect()
}

/// `|U|` of every set of values, values as bits: it depends on which come first, not in what order.
fn of_sets(terms: &[i64]) -> Vec<f64> {
    let mut sums = vec![0_i64; 1 << terms.len()];
    for set in 1..sums.len() {
        sums[set] = sums[set & (set - 1)] + terms[set.trailing_zeros() as usize];
    }
    sums.into_iter().map(|sum| sum.unsigned_abs() as f64).collect()
}

/// Outcome of the Mann-Kendall test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Pairs that rise less pairs that fall.
    pub s: f64,
    /// Variance of S without a trend, corrected for ties.
    pub variance: f64,
    /// S as a normal quantile, with continuity correction.
    pub z: f64,
    /// Two-sided p-value of "no trend": the share of all orders of the values with an S as far from
    /// 0 ([`permutation`]) for fewer than [`EXACT_BELOW`] values, that of z otherwise.
    pub p: f64,
}

/// Mann-Kendall test for a trend in one direction. Without a pair that differs, or with a value
/// that is NaN, p is 1.
pub fn mann_kendall(sample: &[f64]) -> MannKendall {
    let silent = MannKendall { s: 0.0, variance: 0.0, z: 0.0, p: 1.0 };
    if sample.len() < 2 || sample.iter().any(|x| x.is_nan()) {
        return silent;
    }
    let ranks = doubled_mean_ranks(sample);
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let tied = tie_sizes(&ranks);
    let ties: f64 = tied.iter().map(|&t| term(t as f64)).sum();
    let s = rises_less_falls(&ranks);
    let variance = (term(sample.len() as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return silent;
    }
    let z = (s - if s > 0.0 {
        1.0
    } else if s < 0.0 {
        -1.0
    } else {
        0.0
    }) / libm::sqrt(variance);
    let p = match sample.len() < EXACT_BELOW {
        true => permutation::rising_less_falling(&tied, s),
        false => (2.0 * normal_upper(z.abs())).min(1.0),
    };
    MannKendall { s, variance, z, p }
}

/// Twice the rank of each value; equal values share their mean rank.
pub(crate) fn doubled_mean_ranks(sample: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sample.len()).collect();
    order.sort_by(|&i, &j| sample[i].total_cmp(&sample[j]));
    let mut ranks = vec![0; sample.len()];
    let mut before = 0;
    for tied in order.chunk_by(|&i, &j| sample[i] == sample[j]) {
        for &index in tied {
            ranks[index] = 2 * before + tied.len() + 1;
        }
        before += tied.len();
    }
    ranks
}

fn tie_sizes(ranks: &[usize]) -> Vec<usize> {
    let mut order = ranks.to_vec();
    order.sort_unstable();
    order.chunk_by(|a, b| a == b).map(<[usize]>::len).collect()
}

/// Pairs that rise less pairs that fall, counted in O(n log n) by a tree of counts (Fenwick 1994).
fn rises_less_falls(doubled_ranks: &[usize]) -> f64 {
    let size = 2 * doubled_ranks.len() + 1;
    let mut tree = vec![0_i64; size + 1];
    let up_to = |tree: &[i64], mut rank: usize| {
        let mut sum = 0;
        while rank > 0 {
            sum += tree[rank];
            rank &= rank - 1;
        }
        sum
    };
    let mut total = 0_i64;
    for (seen, &rank) in doubled_ranks.iter().enumerate() {
        let (below, not_above) = (up_to(&tree, rank - 1), up_to(&tree, rank));
        total += below - (seen as i64 - not_above);
        let mut place = rank;
        while place <= size {
            tree[place] += 1;
            place += place & place.wrapping_neg();
        }
    }
    total as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(x: f64) -> f64 {
        f64::from(i8::from(x > 0.0) - i8::from(x < 0.0))
    }

    /// The definitions, pair by pair.
    #[test]
    fn ranks_give_what_the_definitions_give() {
        let x: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11) + f64::from(i / 20)).collect();
        let pairs = |t: usize| {
            let before = (0..t).flat_map(|i| (t..x.len()).map(move |j| (i, j)));
            before.map(|(i, j)| sign(x[i] - x[j])).sum::<f64>().abs()
        };
        let largest = (1..x.len()).map(pairs).fold(0.0, f64::max);
        assert_eq!(pettitt(&x).k, largest);
        assert_eq!(pairs(pettitt(&x).after), largest);
        let s: f64 = (0..x.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| sign(x[i] - x[j]))
            .sum();
        assert_eq!(mann_kendall(&x).s, s);
    }

    /// The clearest step of eight values: 2 of 70 ways to choose the first four.
    #[test]
    fn the_clearest_step_of_few_values() {
        let x = [1.0, 2.0, 1.5, 1.2, 8.0, 9.0, 8.5, 8.2];
        assert_eq!((pettitt(&x).after, pettitt(&x).p), (4, 2.0 / 70.0));
    }

    /// Above [`FORMULA_MAX`] the exact p-value would find nothing either.
    #[test]
    fn the_formula_leaves_nothing_out() {
        for n in 6..14_i64 {
            let terms: Vec<i64> = (0..n).map(|i| 2 * i + 1 - n).collect();
            let cubes = (n * n * n + n * n) as f64;
            let largest = libm::sqrt(-libm::log(FORMULA_MAX / 2.0) * cubes / 6.0);
            let exact = permutation::first_sets(&of_sets(&terms), libm::floor(largest));
            assert!(exact > 0.15, "{n}: {exact}");
        }
    }

    #[test]
    fn nothing_changes() {
        for sample in [&[][..], &[1.0], &[2.0; 9], &[1.0, f64::NAN, 3.0]] {
            assert_eq!((pettitt(sample).p, mann_kendall(sample).p), (1.0, 1.0), "{sample:?}");
        }
    }

    #[test]
    fn a_long_series_shows_its_trend() {
        let x: Vec<f64> = (0..25_000).map(|i| f64::from(i) * 0.5 + f64::from(i % 3)).collect();
        assert!(pettitt(&x).p < 1e-9 && mann_kendall(&x).p < 1e-9);
    }
}
