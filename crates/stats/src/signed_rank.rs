//! The Hodges-Lehmann estimate with the interval of the Wilcoxon signed-rank test, and the test.
//!
//! Assumes independent differences, symmetric about their centre; nothing about their shape, so
//! a few wild values cost little. The exact distribution is used up to [`EXACT_LIMIT`] values,
//! beyond it the normal approximation with continuity correction. Sources: Hodges & Lehmann,
//! "Estimates of location based on rank tests" (1963); Hollander, Wolfe & Chicken,
//! "Nonparametric statistical methods", chapter 3; Pratt, "Remarks on zeros and ties in the
//! Wilcoxon signed rank procedures" (1959).

use crate::estimate::{Alternative, Estimate, Interval, is_rate, is_usable};
use crate::solve::{first_integer, first_true};
use crate::special::{normal_upper, normal_upper_quantile};
use crate::summary::{midpoint, sorted};
use alloc::vec;
use alloc::vec::Vec;

/// Largest sample for which the distribution of the signed-rank sum is enumerated exactly.
pub const EXACT_LIMIT: usize = 60;

/// Hodges-Lehmann estimate: the median of the Walsh averages `(d_i + d_j) / 2`, `i <= j`, with
/// the interval from the `k + 1`-th smallest to the `k + 1`-th largest of them (see
/// [`critical_rank`]). Differences of zero are kept: they can only widen. Bounded from n = 6 on
/// at alpha 0.05 and from n = 5 at 0.10; below, the interval is the whole line.
pub fn hodges_lehmann(d: &[f64], alpha: f64) -> Estimate {
    let n = d.len();
    if n == 0 || !is_usable(d, alpha) {
        return Estimate::open(f64::NAN);
    }
    let (order, pairs) = (sorted(d), pairs(n));
    let centre = middle(&order);
    let (Some(k), _) = critical_rank(n, alpha) else {
        return Estimate::open(centre);
    };
    let interval = Interval { low: walsh(&order, k + 1), high: walsh(&order, pairs - k) };
    Estimate { centre, interval }
}

/// The Hodges-Lehmann estimate alone. NaN for an empty sample and for values that are not finite.
pub fn centre(d: &[f64]) -> f64 {
    let usable = !d.is_empty() && d.iter().all(|x| x.is_finite());
    if usable { middle(&sorted(d)) } else { f64::NAN }
}

/// The median of the Walsh averages of ascending values.
fn middle(order: &[f64]) -> f64 {
    let pairs = pairs(order.len());
    midpoint(walsh(order, pairs.div_ceil(2)), walsh(order, pairs / 2 + 1))
}

/// The largest k with P(W+ <= k) <= alpha / 2 under the null hypothesis, for `n` values without
/// ties, and the coverage `1 - 2 P(W+ <= k)` of the interval it gives. `None` and 1 when even
/// k = 0 is too likely.
pub fn critical_rank(n: usize, alpha: f64) -> (Option<u64>, f64) {
    if n == 0 || !is_rate(alpha) {
        return (None, 1.0);
    }
    let k = if n <= EXACT_LIMIT {
        let doubled_ranks: Vec<usize> = (1..=n).map(|rank| 2 * rank).collect();
        let null = Exact::new(&doubled_ranks);
        let last = pairs(n);
        let first_too_likely = first_integer(0, last, |k| null.at_most(2 * k) > alpha / 2.0);
        return match first_too_likely {
            Some(0) | None => (None, 1.0),
            Some(k) => (Some(k - 1), 1.0 - 2.0 * null.at_most(2 * (k - 1))),
        };
    } else {
        let (centre, spread) = (pairs(n) as f64 / 2.0, null_sd(n));
        libm::floor(centre - 0.5 - normal_upper_quantile(alpha / 2.0) * spread)
    };
    if k < 0.0 {
        return (None, 1.0);
    }
    let z = (pairs(n) as f64 / 2.0 - 0.5 - k) / null_sd(n);
    (Some(k as u64), 1.0 - 2.0 * normal_upper(z))
}

/// p-value of the signed-rank test that the centre is zero (shift `d` to ask about another
/// value). Zeros take part in the ranking and then drop out (Pratt); tied magnitudes share their
/// mean rank; the p-value is taken from the permutation distribution given those ranks, which is
/// exact whatever the ties. Without a nonzero value, or with one that is not finite: 1.
pub fn wilcoxon_p(d: &[f64], alternative: Alternative) -> f64 {
    if d.iter().any(|x| !x.is_finite()) {
        return 1.0;
    }
    let (positive, negative) = doubled_ranks(d);
    let observed = |ranks: &[usize]| ranks.iter().map(|&r| r as u64).sum::<u64>();
    let (above, below) = (observed(&positive), observed(&negative));
    let ranks = [positive, negative].concat();
    if ranks.is_empty() {
        return 1.0;
    }
    // By symmetry P(W+ >= w) = P(W+ <= total - w), and total - w is the sum over the negatives.
    let lower_tail: &dyn Fn(u64) -> f64 = if d.len() <= EXACT_LIMIT {
        let null = Exact::new(&ranks);
        &move |sum| null.at_most(sum)
    } else {
        &|sum| approximate_at_most(&ranks, sum)
    };
    match alternative {
        Alternative::Greater => lower_tail(below),
        Alternative::Less => lower_tail(above),
        Alternative::TwoSided => (2.0 * lower_tail(above.min(below))).min(1.0),
    }
}

/// Number of Walsh averages of n values.
fn pairs(n: usize) -> u64 {
    let n = n as u64;
    n * (n + 1) / 2
}

/// Standard deviation of W+ under the null hypothesis, without ties.
fn null_sd(n: usize) -> f64 {
    let n = n as f64;
    libm::sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0)
}

/// The `rank`-th smallest Walsh average (1-based) of ascending values, in O(n) memory: bisection
/// on the answer, counting the averages not above it with two indices that move towards each
/// other. Exact, because rounding keeps the order of sums.
fn walsh(order: &[f64], rank: u64) -> f64 {
    let not_above = |limit: f64| {
        let mut count = 0;
        let mut end = order.len();
        for (i, &low) in order.iter().enumerate() {
            while end > i && midpoint(low, order[end - 1]) > limit {
                end -= 1;
            }
            if end <= i {
                break;
            }
            count += (end - i) as u64;
        }
        count
    };
    first_true(order[0], order[order.len() - 1], |limit| not_above(limit) >= rank)
}

/// Twice the mid-ranks of the magnitudes of the positive and of the negative differences; zeros
/// are ranked and left out. Doubling keeps shared ranks whole.
fn doubled_ranks(d: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let mut by_size: Vec<f64> = d.to_vec();
    by_size.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut positive, mut negative) = (Vec::new(), Vec::new());
    let mut before = 0;
    for tied in by_size.chunk_by(|a, b| a.abs() == b.abs()) {
        let doubled = 2 * before + tied.len() + 1;
        for &value in tied.iter().filter(|v| **v != 0.0) {
            if value > 0.0 { positive.push(doubled) } else { negative.push(doubled) }
        }
        before += tied.len();
    }
    (positive, negative)
}

/// Distribution of the sum of a random subset of the given doubled ranks, every subset alike.
struct Exact {
    /// Subsets with a sum of at most the index.
    cumulative: Vec<u64>,
    subsets: f64,
}

impl Exact {
    /// For at most [`EXACT_LIMIT`] ranks, so that the counts fit 64 bits.
    fn new(doubled_ranks: &[usize]) -> Self {
        let total: usize = doubled_ranks.iter().sum();
        let mut counts = vec![0_u64; total + 1];
        counts[0] = 1;
        let mut reached = 0;
        for &rank in doubled_ranks {
            reached += rank;
            for sum in (rank..=reached).rev() {
                counts[sum] += counts[sum - rank];
            }
        }
        let mut running = 0;
        for count in &mut counts {
            running += *count;
            *count = running;
        }
        Exact { cumulative: counts, subsets: running as f64 }
    }

    fn at_most(&self, sum: u64) -> f64 {
        let last = self.cumulative.len() - 1;
        self.cumulative[last.min(sum as usize)] as f64 / self.subsets
    }
}

/// P(W+ <= sum) by the normal approximation; ranks and sum doubled. The continuity correction is
/// half a rank.
fn approximate_at_most(doubled_ranks: &[usize], doubled_sum: u64) -> f64 {
    let ranks = || doubled_ranks.iter().map(|&r| r as f64 / 2.0);
    let centre = ranks().sum::<f64>() / 2.0;
    let spread = libm::sqrt(ranks().map(|r| r * r).sum::<f64>() / 4.0);
    normal_upper((centre - doubled_sum as f64 / 2.0 - 0.5) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_and_scarce_input() {
        let d = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let of = |n: usize, alpha: f64| hodges_lehmann(&d[..n], alpha);
        for (n, alpha) in [(0, 0.05), (5, 0.05), (4, 0.10), (6, 0.0)] {
            assert_eq!(of(n, alpha).interval, Interval::WHOLE, "{n} {alpha}");
        }
        assert_eq!(of(5, 0.05).centre, 3.0);
        assert_eq!(of(6, 0.05).interval, Interval { low: 1.0, high: 6.0 });
        assert_eq!(of(5, 0.10).interval, Interval { low: 1.0, high: 5.0 });
        let wild = hodges_lehmann(&[1.0, f64::INFINITY], 0.05);
        assert!(wild.centre.is_nan() && wild.interval == Interval::WHOLE);
    }

    #[test]
    fn walsh_selection_equals_sorting() {
        let order = [-3.0, -1.5, -1.5, 0.0, 0.0, 0.25, 7.0, 1e9];
        let mut all: Vec<f64> = (0..order.len())
            .flat_map(|i| (i..order.len()).map(move |j| midpoint(order[i], order[j])))
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        for (index, expected) in all.iter().enumerate() {
            assert_eq!(walsh(&order, index as u64 + 1), *expected);
        }
    }

    /// Enumerates every sign pattern: slow, obviously right.
    fn brute_force_greater(d: &[f64]) -> f64 {
        let (positive, negative) = doubled_ranks(d);
        let observed: usize = positive.iter().sum();
        let ranks = [positive, negative].concat();
        let sum = |pattern: u32| -> usize {
            ranks.iter().enumerate().filter(|(i, _)| pattern >> i & 1 == 1).map(|(_, r)| r).sum()
        };
        let patterns = 1_u32 << ranks.len();
        (0..patterns).filter(|&p| sum(p) >= observed).count() as f64 / f64::from(patterns)
    }

    #[test]
    fn zeros_and_ties_by_brute_force() {
        let samples: [&[f64]; 4] = [
            &[0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 0.0],
            &[2.0, 2.0, 2.0, -2.0, -2.0, 1.0],
            &[0.0, 0.0, 0.0, 5.0],
            &[1.0, -2.0, 3.0, -4.0, 5.0, 6.0, 7.0],
        ];
        for d in samples {
            assert_eq!(wilcoxon_p(d, Alternative::Greater), brute_force_greater(d));
        }
        assert_eq!(wilcoxon_p(&[0.0; 8], Alternative::TwoSided), 1.0);
        // Without its zeros this would be five values, too few for an end.
        let e = hodges_lehmann(&[0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 0.0], 0.05);
        assert_eq!(e.interval, Interval { low: -0.5, high: 2.0 });
    }

    #[test]
    fn approximation_joins_the_exact_distribution() {
        let d: Vec<f64> =
            (1..=EXACT_LIMIT).map(|i| if i % 3 == 0 { -(i as f64) } else { i as f64 }).collect();
        let exact = wilcoxon_p(&d, Alternative::TwoSided);
        let (positive, negative) = doubled_ranks(&d);
        let below = negative.iter().map(|&r| r as u64).sum();
        let near = 2.0 * approximate_at_most(&[positive, negative].concat(), below);
        assert!((near / exact - 1.0).abs() < 0.03, "{near} {exact}");
        let (at, after) = (critical_rank(60, 0.05).0, critical_rank(61, 0.05).0);
        assert_eq!((at, after), (Some(648), Some(672)));
    }
}
