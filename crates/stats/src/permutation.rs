//! p-values for few values: the share of all orders of the values, each as likely as any other,
//! that show at least as much (Fisher 1935; Pitman 1937). Nothing is assumed of the law of the
//! values, and values that are equal need no correction.
//!
//! Below [`EXACT_BELOW`] values the formulas for many are far off: 8 values with the clearest
//! step there is have p = 2/70, where Pettitt's formula gives 0.14. Every share here is counted in
//! whole numbers, but for that of [`neighbours`] above [`ENUMERATED_MAX`] values: no recursion is
//! known for it, so it is that among a fixed sequence of shuffles, the order that was seen among
//! them (Phipson and Smyth 2010).

use crate::shuffles::Shuffles;
use alloc::vec;
use alloc::vec::Vec;

/// Values from which on the formulas for many values take over.
pub const EXACT_BELOW: usize = 20;

/// Values of which all orders are tried one by one: 8! = 40,320.
pub const ENUMERATED_MAX: usize = 8;

/// Shuffles that stand for all orders where those are too many.
pub const SHUFFLES: usize = 9_999;

/// Two sums that differ by less than this share of the larger are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// What counts as reaching `seen`.
pub(crate) fn reached(seen: f64) -> f64 {
    seen - ROUNDING * seen.abs()
}

/// Share of the orders of n things in which a set of the first so many, for any number of them,
/// reaches `seen`. `of_set` has the statistic of each of the 2^n sets, things as bits.
///
/// The orders that stay below are the paths through the lattice of sets that avoid those that reach
/// it, counted set by set. For fewer than [`EXACT_BELOW`] things; more have p = 1.
pub fn first_sets(of_set: &[f64], seen: f64) -> f64 {
    let n = of_set.len().checked_ilog2().unwrap_or(0);
    if n == 0 || n as usize >= EXACT_BELOW || of_set.len() != 1 << n {
        return 1.0;
    }
    let limit = reached(seen);
    let mut below = vec![0_u64; of_set.len()];
    below[0] = 1;
    for set in 1..of_set.len() {
        // The whole is no set of the first so many: nothing follows it.
        if of_set[set] >= limit && set + 1 < of_set.len() {
            continue;
        }
        let mut left = set;
        let mut count = 0;
        while left != 0 {
            count += below[set ^ (left & left.wrapping_neg())];
            left &= left - 1;
        }
        below[set] = count;
    }
    let all: u64 = (1..=u64::from(n)).product();
    (all - below[of_set.len() - 1]) as f64 / all as f64
}

/// Share of the orders of values, of which `tied` are equal to each other, whose rising pairs less
/// falling pairs are at least as far from 0 as `s`: Mann's S (1945) and Kendall's, exact with ties.
///
/// Orders of equal things by the number of falling pairs are counted by the Gaussian multinomial
/// coefficient (MacMahon 1916). For fewer than [`EXACT_BELOW`] values; more have p = 1.
pub fn rising_less_falling(tied: &[usize], s: f64) -> f64 {
    let n: usize = tied.iter().sum();
    if n >= EXACT_BELOW {
        return 1.0;
    }
    let pairs = |t: usize| t * t.saturating_sub(1) / 2;
    let differing = pairs(n) - tied.iter().map(|&t| pairs(t)).sum::<usize>();
    let mut counts = vec![0_i128; pairs(n) + 1];
    counts[0] = 1;
    for j in 2..=n {
        times_geometric(&mut counts, j);
    }
    for j in tied.iter().flat_map(|&t| 2..=t) {
        over_geometric(&mut counts, j);
    }
    counts.truncate(differing + 1);
    let far = |falling: usize| (differing as f64 - 2.0 * falling as f64).abs() >= s.abs();
    let (mut all, mut at_least) = (0, 0);
    for (falling, count) in counts.into_iter().enumerate() {
        all += count;
        at_least += if far(falling) { count } else { 0 };
    }
    at_least as f64 / all as f64
}

/// Multiplies a polynomial by 1 + q + … + q^(j − 1), cut to its length.
fn times_geometric(polynomial: &mut [i128], j: usize) {
    for i in (j..polynomial.len()).rev() {
        polynomial[i] -= polynomial[i - j];
    }
    for i in 1..polynomial.len() {
        polynomial[i] += polynomial[i - 1];
    }
}

/// Divides a polynomial by 1 + q + … + q^(j − 1), cut to its length.
fn over_geometric(polynomial: &mut [i128], j: usize) {
    for i in (1..polynomial.len()).rev() {
        polynomial[i] -= polynomial[i - 1];
    }
    for i in j..polynomial.len() {
        polynomial[i] += polynomial[i - j];
    }
}

/// Share of the orders of `sample` whose neighbours resemble each other at least as much: the
/// one-sided p-value of its lag-1 autocorrelation. For fewer than [`EXACT_BELOW`] values; more have
/// p = 1.
pub fn neighbours(sample: &[f64]) -> f64 {
    let n = sample.len();
    if !(2..EXACT_BELOW).contains(&n) {
        return 1.0;
    }
    let centre = crate::summary::mean(sample);
    let mut values: Vec<f64> = sample.iter().map(|x| x - centre).collect();
    let alike = |x: &[f64]| x.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    let limit = alike(&values) - ROUNDING * squares;
    if limit.is_nan() {
        return 1.0;
    }
    share(&mut values, |x| alike(x) >= limit)
}

/// Share of the orders of `values` of which `reaches` is true: of all up to [`ENUMERATED_MAX`]
/// values, above that of the order that they have and [`SHUFFLES`] fixed shuffles.
pub(crate) fn share<T>(values: &mut [T], reaches: impl Fn(&[T]) -> bool) -> f64 {
    let (mut all, mut at_least) = (0_u32, 0_u32);
    let mut count = |x: &[T]| {
        all += 1;
        at_least += u32::from(reaches(x));
    };
    if values.len() <= ENUMERATED_MAX {
        every_order(values, &mut count);
    } else {
        count(values);
        let mut shuffles = Shuffles::new();
        for _ in 0..SHUFFLES {
            shuffles.shuffle(values);
            count(values);
        }
    }
    f64::from(at_least) / f64::from(all)
}

/// Shows every order of the values, each once (Heap 1963).
pub(crate) fn every_order<T>(values: &mut [T], seen: &mut impl FnMut(&[T])) {
    let mut turns = vec![0; values.len()];
    seen(values);
    let mut i = 1;
    while i < values.len() {
        if turns[i] < i {
            values.swap(if i % 2 == 0 { 0 } else { turns[i] }, i);
            seen(values);
            turns[i] += 1;
            i = 1;
        } else {
            turns[i] = 0;
            i += 1;
        }
    }
}

/// Share of the ways to deal all values to two samples of these sizes in which the means differ at
/// least as much (Pitman 1937). For fewer than [`EXACT_BELOW`] values in all, both samples with one
/// at least; otherwise p = 1.
pub fn two_samples(first: &[f64], second: &[f64]) -> f64 {
    let n = first.len() + second.len();
    if n >= EXACT_BELOW || first.is_empty() || second.is_empty() {
        return 1.0;
    }
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let centre = crate::summary::mean(&all);
    let all: Vec<f64> = all.iter().map(|x| x - centre).collect();
    // With the mean of all values at 0 the sum of one sample tells the difference of the means.
    let scale: f64 = all.iter().map(|x| x.abs()).sum();
    let limit = all[..first.len()].iter().sum::<f64>().abs() - ROUNDING * scale;
    if limit.is_nan() {
        return 1.0;
    }
    let (mut ways, mut at_least) = (0_u32, 0_u32);
    for set in 0_u32..1 << n {
        if set.count_ones() as usize != first.len() {
            continue;
        }
        let chosen = all.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        ways += 1;
        at_least += u32::from(chosen.map(|(_, x)| x).sum::<f64>().abs() >= limit);
    }
    f64::from(at_least) / f64::from(ways)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples of four, one above the other: 2 of 70 ways.
    #[test]
    fn the_clearest_separation() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(two_samples(&low, &high), 2.0 / 70.0);
        assert_eq!(two_samples(&[1.0; 3], &[1.0; 3]), 1.0);
        assert_eq!(two_samples(&[1.0; 10], &[2.0; 10]), 1.0);
        assert_eq!(two_samples(&[f64::NAN], &[2.0]), 1.0);
    }

    #[test]
    fn one_order_of_all() {
        assert_eq!(rising_less_falling(&[1; 8], 28.0), 2.0 / 40_320.0);
        assert_eq!(rising_less_falling(&[8], 0.0), 1.0);
        // 1, 1, 2: of three orders one rises throughout and one falls.
        assert_eq!(rising_less_falling(&[2, 1], 2.0), 2.0 / 3.0);
        assert_eq!(rising_less_falling(&[1; 19], 0.0), 1.0);
    }

    #[test]
    fn neighbours_of_three_by_hand() {
        // Sums of products of neighbours: 1 2 6 gives the least distance, with its mirror.
        assert_eq!(neighbours(&[1.0, 2.0, 6.0]), 2.0 / 6.0);
        assert_eq!(neighbours(&[2.0, 2.0, 2.0]), 1.0);
        assert_eq!(neighbours(&[f64::NAN, 2.0, 2.0]), 1.0);
    }

    #[test]
    fn shuffles_stand_for_all_orders() {
        let rising: Vec<f64> = (0..12).map(f64::from).collect();
        assert!(neighbours(&rising) < 0.001);
        let turning: Vec<f64> = (0..12).map(|i| f64::from(i % 2)).collect();
        assert!(neighbours(&turning) > 0.99);
    }

    #[test]
    fn sets_that_nothing_reaches_and_that_all_do() {
        let of_set: Vec<f64> = (0..16_u32).map(|set| f64::from(set.count_ones() % 4)).collect();
        assert_eq!(first_sets(&of_set, 4.0), 0.0);
        assert_eq!(first_sets(&of_set, 3.0), 1.0);
        assert_eq!(first_sets(&[], 1.0), 1.0);
    }
}
