//! Permutation tests: how often chance alone, which might as well have dealt the labels another
//! way, gives a difference at least as large as the one seen.
//!
//! * [`sign_flip`] for paired differences: under the hypothesis that the arms are alike, a block's
//!   difference is as likely as its negative. Assumes only that the blocks are independent; tests
//!   the mean. Fisher, "The design of experiments" (1935), section 21.
//! * [`two_samples`] for unpaired trials: under the hypothesis, any trial could have borne either
//!   label. The unit is the trial, never the sample inside it: samples of one trial resemble each
//!   other, and dealing them out singly would find differences that are not there. Pitman,
//!   "Significance tests which may be applied to samples from any populations" (1937).
//!
//! Where there are too many ways to count them all, a number of them is drawn, and the p-value
//! counts the one seen among them: `(1 + extreme) / (1 + drawn)`, which never promises too much
//! (Phipson & Smyth 2010). Randomness comes from the caller.

use crate::bootstrap::below;
use alloc::vec::Vec;

/// Largest number of differences for which every pattern of signs is counted: 65,536 of them.
pub const EXACT_SIGNS: usize = 16;

/// Largest number of ways to deal labels that are all counted.
pub const EXACT_SPLITS: u64 = 50_000;

/// Draws that make a p-value of 5 % steady to about 0.1 %.
pub const DEFAULT_DRAWS: u32 = 100_000;

/// Sums of the same numbers in another order may differ in the last digits: that is a tie.
const TIE: f64 = 1e-12;

/// The outcome of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// Ways at least as extreme as the one seen.
    pub extreme: u64,
    /// Ways counted or drawn.
    pub of: u64,
    /// Whether they were all counted.
    pub exact: bool,
    /// Two-sided p-value.
    pub p: f64,
}

impl Permutation {
    /// Nothing can be said: p is 1.
    const SILENT: Permutation = Permutation { extreme: 1, of: 1, exact: true, p: 1.0 };

    fn counted(extreme: u64, of: u64) -> Self {
        Permutation { extreme, of, exact: true, p: extreme as f64 / of as f64 }
    }

    fn drawn(extreme: u64, of: u64) -> Self {
        Permutation { extreme, of, exact: false, p: (extreme + 1) as f64 / (of + 1) as f64 }
    }
}

/// Is the mean of the paired differences `d` zero? All patterns of signs are counted up to
/// [`EXACT_SIGNS`] differences, beyond it `draws` of them. p is 1 for no differences or for one
/// that is not finite.
pub fn sign_flip(d: &[f64], draws: u32, mut next: impl FnMut() -> u64) -> Permutation {
    let size: f64 = d.iter().map(|x| x.abs()).sum();
    if d.is_empty() || !size.is_finite() {
        return Permutation::SILENT;
    }
    let limit = d.iter().sum::<f64>().abs() - TIE * size;
    let flipped = |signs: &dyn Fn(usize) -> bool| -> f64 {
        d.iter().enumerate().map(|(i, x)| if signs(i) { *x } else { -*x }).sum()
    };
    if d.len() <= EXACT_SIGNS {
        let of = 1_u64 << d.len();
        let extreme = (0..of).filter(|bits| flipped(&|i| bits >> i & 1 == 1).abs() >= limit);
        return Permutation::counted(extreme.count() as u64, of);
    }
    let mut words: Vec<u64> = Vec::with_capacity(d.len().div_ceil(64));
    let extreme = (0..draws).filter(|_| {
        words.clear();
        words.extend((0..d.len().div_ceil(64)).map(|_| next()));
        flipped(&|i| words[i / 64] >> (i % 64) & 1 == 1).abs() >= limit
    });
    Permutation::drawn(extreme.count() as u64, u64::from(draws))
}

/// Do two independent sets of trials differ in `statistic` (for instance the difference of their
/// means, or of the quantile of their merged histograms)? Every way to deal the labels is counted
/// up to [`EXACT_SPLITS`], beyond it `draws` of them. p is 1 if a set is empty or the statistic is
/// not finite.
pub fn two_samples<T: Copy>(
    first: &[T],
    second: &[T],
    statistic: impl Fn(&[T], &[T]) -> f64,
    draws: u32,
    mut next: impl FnMut() -> u64,
) -> Permutation {
    if first.is_empty() || second.is_empty() {
        return Permutation::SILENT;
    }
    let seen = statistic(first, second).abs();
    if !seen.is_finite() {
        return Permutation::SILENT;
    }
    let limit = seen * (1.0 - TIE);
    let mut pool: Vec<T> = [first, second].concat();
    let k = first.len();
    if let Some(of) = splits(pool.len(), k) {
        let mut chosen: Vec<usize> = (0..k).collect();
        let mut extreme = 0;
        loop {
            let (mut a, mut b) = (Vec::with_capacity(k), Vec::with_capacity(second.len()));
            for (i, &trial) in pool.iter().enumerate() {
                if chosen.binary_search(&i).is_ok() { a.push(trial) } else { b.push(trial) }
            }
            extreme += u64::from(statistic(&a, &b).abs() >= limit);
            if !advance(&mut chosen, pool.len()) {
                return Permutation::counted(extreme, of);
            }
        }
    }
    let extreme = (0..draws).filter(|_| {
        // The first k of a shuffle (Fisher and Yates 1938).
        for i in 0..k {
            let other = i + below(pool.len() - i, &mut next);
            pool.swap(i, other);
        }
        statistic(&pool[..k], &pool[k..]).abs() >= limit
    });
    Permutation::drawn(extreme.count() as u64, u64::from(draws))
}

/// Number of ways to choose `k` of `n`, if it is at most [`EXACT_SPLITS`].
fn splits(n: usize, k: usize) -> Option<u64> {
    let mut ways = 1_u64;
    for i in 0..k.min(n - k) {
        ways = ways * (n - i) as u64 / (i as u64 + 1);
        if ways > EXACT_SPLITS {
            return None;
        }
    }
    Some(ways)
}

/// The next ascending choice out of `n`; false after the last.
fn advance(chosen: &mut [usize], n: usize) -> bool {
    let k = chosen.len();
    let Some(place) = (0..k).rev().find(|&i| chosen[i] < n - k + i) else {
        return false;
    };
    chosen[place] += 1;
    for i in place + 1..k {
        chosen[i] = chosen[i - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::mean;

    fn counter() -> impl FnMut() -> u64 {
        let mut state = 3_u64;
        move || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
            state ^ state >> 29
        }
    }

    fn difference(a: &[f64], b: &[f64]) -> f64 {
        mean(a) - mean(b)
    }

    #[test]
    fn every_split_is_counted_once() {
        // 1 2 3 | 4 5 6: only the two extreme ones of 20 splits are as far apart.
        let p = two_samples(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], difference, 0, counter());
        assert_eq!((p.extreme, p.of, p.exact), (2, 20, true));
        assert_eq!(splits(20, 10), None);
        assert_eq!(splits(16, 8), Some(12_870));
    }

    #[test]
    fn drawing_comes_near_counting() {
        let d: Vec<f64> = (0..17).map(|i| libm::sin(f64::from(i) * 2.1) + 0.3).collect();
        let drawn = sign_flip(&d, 20_000, counter());
        let (extreme, of) = (0..1_u32 << 17).fold((0, 0), |(extreme, of), bits| {
            let sum: f64 =
                d.iter().enumerate().map(|(i, x)| if bits >> i & 1 == 1 { *x } else { -x }).sum();
            (extreme + u32::from(sum.abs() >= d.iter().sum::<f64>().abs() - 1e-9), of + 1)
        });
        let exact = f64::from(extreme) / f64::from(of);
        assert!(!drawn.exact && (drawn.p - exact).abs() < 0.01, "{} {exact}", drawn.p);
        let (a, b): (Vec<f64>, Vec<f64>) = (d[..9].to_vec(), d[..10].to_vec());
        let p = two_samples(&a, &b, difference, 2_000, counter());
        assert!(!p.exact && p.p > 0.3, "{}", p.p);
    }

    #[test]
    fn nothing_to_test() {
        assert_eq!(sign_flip(&[], 10, counter()).p, 1.0);
        assert_eq!(sign_flip(&[1.0, f64::NAN], 10, counter()).p, 1.0);
        assert_eq!(sign_flip(&[0.0; 20], 10, counter()).p, 1.0);
        assert_eq!(two_samples(&[], &[1.0], difference, 10, counter()).p, 1.0);
    }
}
