//! Bias-corrected and accelerated bootstrap intervals, for statistics without a formula: ratios of
//! quantiles, CPU time per byte.
//!
//! Efron, "Better bootstrap confidence intervals" (1987). Assumes that the resampled units (blocks)
//! are independent and alike. Below [`MIN_BLOCKS`] units the coverage is unreliable, which whoever
//! asks has to say. Randomness comes from the caller: the same source gives the same interval.

use crate::estimate::{Estimate, Interval, is_rate};
use crate::special::{normal_upper, normal_upper_quantile};
use crate::summary::{mean, percentile, sorted};
use alloc::vec::Vec;

/// Units below which a bootstrap interval is too narrow to be trusted.
pub const MIN_BLOCKS: usize = 12;

/// A bootstrap interval with the quantities it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the whole sample with its bias-corrected and accelerated interval.
    pub estimate: Estimate,
    /// The plain percentile interval, for comparison.
    pub percentile: Interval,
    /// z0: how far the resamples lie to one side, as a normal quantile.
    pub bias_correction: f64,
    /// a: how fast the spread changes with the centre, from the jackknife.
    pub acceleration: f64,
    /// Shares of the resamples below the two ends of the interval.
    pub levels: [f64; 2],
}

/// Resamples of which several figures are wanted: every one is taken from the same draws, so a
/// difference of two figures is that of the same units (for instance of a term of two families).
#[derive(Debug, Clone, PartialEq)]
pub struct Joint<R> {
    whole: R,
    replicates: Vec<R>,
    jackknife: Vec<R>,
}

impl<R> Joint<R> {
    /// Draws `resamples` times as many of `units` numbered units with replacement, and keeps what
    /// `statistic` makes of their numbers; and that of all units, and of all but one in turn.
    ///
    /// `next` gives independent, uniformly distributed 64-bit numbers (a source that repeats one
    /// number may never return).
    pub fn new(
        units: usize,
        statistic: impl Fn(&[usize]) -> R,
        resamples: usize,
        mut next: impl FnMut() -> u64,
    ) -> Self {
        let all: Vec<usize> = (0..units).collect();
        let mut drawn = all.clone();
        let replicates = (0..if units == 0 { 0 } else { resamples }).map(|_| {
            drawn.iter_mut().for_each(|slot| *slot = below(units, &mut next));
            statistic(&drawn)
        });
        let replicates = replicates.collect();
        Joint { whole: statistic(&all), replicates, jackknife: jackknife(&all, &statistic) }
    }

    /// What the statistic makes of all units.
    pub fn whole(&self) -> &R {
        &self.whole
    }

    /// Interval for `figure` of the statistic at error rate `alpha`.
    pub fn interval(&self, figure: impl Fn(&R) -> f64, alpha: f64) -> Bootstrap {
        let replicates = self.replicates.iter().map(&figure).collect();
        let jackknife = self.jackknife.iter().map(&figure).collect();
        assemble(figure(&self.whole), replicates, jackknife, alpha)
    }
}

/// The statistic with each unit left out in turn.
fn jackknife<T: Copy, R>(sample: &[T], statistic: impl Fn(&[T]) -> R) -> Vec<R> {
    let without = |i: usize| statistic(&[&sample[..i], &sample[i + 1..]].concat());
    (0..sample.len()).map(without).collect()
}

fn assemble(theta: f64, replicates: Vec<f64>, jackknife: Vec<f64>, alpha: f64) -> Bootstrap {
    let replicates = sorted(&replicates);
    let z0 = bias_correction(theta, &replicates);
    let a = acceleration(&jackknife);
    let level = |tail: f64| {
        let z = z0 - normal_upper_quantile(tail);
        normal_upper(-(z0 + z / (1.0 - a * z)))
    };
    let levels =
        if is_rate(alpha) { [level(alpha / 2.0), level(1.0 - alpha / 2.0)] } else { [f64::NAN; 2] };
    let between = |low: f64, high: f64| Interval {
        low: percentile(&replicates, low),
        high: percentile(&replicates, high),
    };
    let interval = between(levels[0], levels[1]);
    let finite = replicates.iter().all(|x| x.is_finite()) && theta.is_finite();
    // Of one unit every resample is the whole.
    let several = jackknife.len() > 1;
    let estimate = if several && finite && z0.is_finite() && interval.low <= interval.high {
        Estimate { centre: theta, interval }
    } else {
        Estimate::open(theta)
    };
    let percentile = between(alpha / 2.0, 1.0 - alpha / 2.0);
    Bootstrap { estimate, percentile, bias_correction: z0, acceleration: a, levels }
}

/// z0: the normal quantile of the share of ascending replicates below `theta`, ties counted half.
fn bias_correction(theta: f64, replicates: &[f64]) -> f64 {
    // The same sum in another order may differ in the last digits: that is a tie.
    let tie = 1e-12 * replicates.iter().fold(theta.abs(), |m, x| m.max(x.abs()));
    let less = replicates.partition_point(|x| *x < theta - tie);
    let not_more = replicates.partition_point(|x| *x <= theta + tie);
    let share = (less + not_more) as f64 / (2 * replicates.len()) as f64;
    if share > 0.0 && share < 1.0 { -normal_upper_quantile(share) } else { f64::NAN }
}

/// a: one sixth of the skewness of the jackknife; 0 when all its values are equal.
fn acceleration(jackknife: &[f64]) -> f64 {
    let centre = mean(jackknife);
    let (squares, cubes) = jackknife.iter().fold((0.0, 0.0), |(squares, cubes), x| {
        let u = centre - x;
        (squares + u * u, cubes + u * u * u)
    });
    if squares > 0.0 { cubes / (6.0 * squares * libm::sqrt(squares)) } else { 0.0 }
}

/// A uniform index below `n > 0`, without the bias of a remainder (Lemire 2019).
pub(crate) fn below(n: usize, next: &mut impl FnMut() -> u64) -> usize {
    let n = n as u64;
    let unfair = n.wrapping_neg() % n;
    loop {
        let product = u128::from(next()) * u128::from(n);
        if product as u64 >= unfair {
            return (product >> 64) as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shuffles::Shuffles;

    fn counter() -> impl FnMut() -> u64 {
        let mut shuffles = Shuffles::new();
        move || shuffles.next()
    }

    /// Interval for the mean of `sample`.
    fn of_mean(sample: &[f64], resamples: usize, alpha: f64) -> Bootstrap {
        let drawn = |units: &[usize]| -> Vec<f64> { units.iter().map(|&i| sample[i]).collect() };
        let joint = Joint::new(sample.len(), |units| mean(&drawn(units)), resamples, counter());
        joint.interval(|x| *x, alpha)
    }

    #[test]
    fn degenerate_input_leaves_the_range_open() {
        let whole = |sample: &[f64], resamples: usize, alpha: f64| {
            let found = of_mean(sample, resamples, alpha).estimate.interval;
            assert_eq!(found, Interval::WHOLE, "{sample:?} {resamples} {alpha}");
        };
        whole(&[], 100, 0.05);
        whole(&[1.0], 100, 0.05);
        whole(&[1.0; 20], 0, 0.05);
        whole(&[f64::NAN; 20], 50, 0.05);
        whole(&[1.0, 2.0], 50, 2.0);
    }

    #[test]
    fn figures_of_one_draw_go_together() {
        let first: Vec<f64> = (0..15).map(|i| f64::from(i * i % 11)).collect();
        // The second is the first and a constant: each mean varies, their difference does not.
        let statistic = |units: &[usize]| {
            let drawn: Vec<f64> = units.iter().map(|&i| first[i]).collect();
            [mean(&drawn), mean(&drawn) + 2.5]
        };
        let joint = Joint::new(first.len(), statistic, 500, counter());
        let alone = of_mean(&first, 500, 0.05);
        assert_eq!(joint.interval(|[a, _]| *a, 0.05), alone);
        let difference = joint.interval(|[a, b]| b - a, 0.05).estimate;
        assert!(difference.interval.width() < 1e-12, "{difference:?}");
        assert!((joint.whole()[1] - joint.whole()[0] - 2.5).abs() < 1e-12);
    }

    #[test]
    fn equal_values_give_a_point() {
        let b = of_mean(&[3.0; 12], 200, 0.05);
        assert_eq!(b.estimate.interval, Interval { low: 3.0, high: 3.0 });
        assert_eq!((b.bias_correction, b.acceleration), (0.0, 0.0));
    }

    #[test]
    fn indices_are_fair() {
        let (mut seen, mut next) = ([0_u32; 5], counter());
        for _ in 0..5000 {
            seen[below(5, &mut next)] += 1;
        }
        // Five standard deviations of a binomial share of 1/5.
        assert!(seen.iter().all(|&count| count.abs_diff(1000) < 142), "{seen:?}");
    }
}
