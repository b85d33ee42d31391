//! Bias-corrected and accelerated bootstrap intervals, for statistics without a formula: ratios of
//! quantiles, CPU time per byte.
//!
//! Efron, "Better bootstrap confidence intervals" (1987); the moving-block bootstrap inside
//! trials is Künsch (1989). Assumes that the resampled units (blocks) are independent and alike.
//! Below [`MIN_BLOCKS`] units the coverage is unreliable, and the estimate says so. Randomness
//! comes from the caller: the same source gives the same interval.

use crate::drift::lag1_autocorrelation;
use crate::estimate::{Estimate, Interval, Warning, is_rate};
use crate::special::{normal_upper, normal_upper_quantile};
use crate::summary::{mean, percentile, sorted};
use alloc::vec;
use alloc::vec::Vec;

/// Resamples that make the ends of a 95 % interval steady to about 1 % of its width.
pub const DEFAULT_RESAMPLES: usize = 10_000;

/// Units below which a bootstrap interval is too narrow to be trusted.
pub const MIN_BLOCKS: usize = 12;

/// Largest sample [`bca_exhaustive`] accepts: 7^7 = 823,543 resamples.
pub const EXHAUSTIVE_LIMIT: usize = 7;

/// Autocorrelation above which the samples of a trial are resampled in runs, not singly.
const DEPENDENT: f64 = 0.1;

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

/// The two samples of one block, in the order of measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTrials<'a> {
    /// Samples of the first arm.
    pub first: &'a [f64],
    /// Samples of the second arm.
    pub second: &'a [f64],
}

/// Interval for `statistic` of `sample`, from `resamples` draws with replacement. A unit may be
/// one difference, or for example the CPU time and the bytes of one trial. `next` gives
/// independent, uniformly distributed 64-bit numbers (a source that repeats one number may never
/// return).
pub fn bca<T: Copy>(
    sample: &[T],
    statistic: impl Fn(&[T]) -> f64,
    resamples: usize,
    alpha: f64,
    mut next: impl FnMut() -> u64,
) -> Bootstrap {
    let mut drawn = Vec::with_capacity(sample.len());
    let replicates = (0..if sample.is_empty() { 0 } else { resamples }).map(|_| {
        drawn.clear();
        drawn.extend((0..sample.len()).map(|_| sample[below(sample.len(), &mut next)]));
        statistic(&drawn)
    });
    let replicates = replicates.collect();
    assemble(statistic(sample), replicates, jackknife(sample, &statistic), alpha)
}

/// As [`bca`], over every one of the n^n resamples: no randomness is left. `None` for an empty
/// sample or one above [`EXHAUSTIVE_LIMIT`].
pub fn bca_exhaustive<T: Copy>(
    sample: &[T],
    statistic: impl Fn(&[T]) -> f64,
    alpha: f64,
) -> Option<Bootstrap> {
    let n = sample.len();
    if n == 0 || n > EXHAUSTIVE_LIMIT {
        return None;
    }
    let replicates = (0..n.pow(n as u32)).map(|number| {
        // The digits of the number in base n are the indices drawn.
        let mut digits = number;
        let drawn: Vec<T> = (0..n)
            .map(|_| {
                let index = digits % n;
                digits /= n;
                sample[index]
            })
            .collect();
        statistic(&drawn)
    });
    let replicates = replicates.collect();
    Some(assemble(statistic(sample), replicates, jackknife(sample, &statistic), alpha))
}

/// Interval that carries the noise of both levels: blocks are drawn with replacement, and inside
/// every drawn block the samples of each arm are drawn again (in runs of `m^(1/3)` when they
/// depend on their neighbours). `effect` compares the two arms of a block, for instance the log
/// ratio of two quantiles; `centre` combines the effects of the blocks.
///
/// From about 200 samples per trial on the inner level changes little, and [`bca`] of the effects
/// is enough.
pub fn hierarchical(
    blocks: &[PairedTrials<'_>],
    effect: impl Fn(&[f64], &[f64]) -> f64,
    centre: impl Fn(&[f64]) -> f64,
    resamples: usize,
    alpha: f64,
    mut next: impl FnMut() -> u64,
) -> Bootstrap {
    let effects: Vec<f64> = blocks.iter().map(|b| effect(b.first, b.second)).collect();
    let runs: Vec<[usize; 2]> =
        blocks.iter().map(|b| [run_length(b.first), run_length(b.second)]).collect();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut drawn = vec![0.0; blocks.len()];
    let replicates = (0..if blocks.is_empty() { 0 } else { resamples }).map(|_| {
        for slot in &mut drawn {
            let index = below(blocks.len(), &mut next);
            moving_blocks(blocks[index].first, runs[index][0], &mut next, &mut first);
            moving_blocks(blocks[index].second, runs[index][1], &mut next, &mut second);
            *slot = effect(&first, &second);
        }
        centre(&drawn)
    });
    let replicates = replicates.collect();
    assemble(centre(&effects), replicates, jackknife(&effects, &centre), alpha)
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

    /// Interval for `figure` of the statistic, as [`bca`] makes it.
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
    let n = jackknife.len();
    let mut warnings = Vec::new();
    if n < MIN_BLOCKS {
        warnings.push(Warning::BootstrapUnreliable { have: n, need: MIN_BLOCKS });
    }
    if !is_rate(alpha) {
        warnings.push(Warning::LevelOutOfRange);
    }
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
    let estimate = if finite && z0.is_finite() && interval.low <= interval.high {
        Estimate { centre: theta, interval, level: 1.0 - alpha, n, warnings }
    } else {
        warnings.push(Warning::BootstrapDegenerate);
        Estimate::open(theta, n, warnings)
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

/// Length of the runs in which the samples of a trial are resampled.
fn run_length(samples: &[f64]) -> usize {
    if lag1_autocorrelation(samples) > DEPENDENT {
        libm::ceil(libm::cbrt(samples.len() as f64)) as usize
    } else {
        1
    }
}

/// Fills `drawn` with as many values as `samples` has, in runs of `run` neighbours.
fn moving_blocks(
    samples: &[f64],
    run: usize,
    next: &mut impl FnMut() -> u64,
    drawn: &mut Vec<f64>,
) {
    drawn.clear();
    while drawn.len() < samples.len() {
        let start = below(samples.len() - run + 1, next);
        let wanted = run.min(samples.len() - drawn.len());
        drawn.extend_from_slice(&samples[start..start + wanted]);
    }
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
    use crate::summary::median;

    fn counter() -> impl FnMut() -> u64 {
        // SplitMix64: enough to spread indices in a test.
        let mut state = 7_u64;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }

    #[test]
    fn degenerate_input_is_flagged() {
        let empty = bca(&[], mean, 100, 0.05, counter());
        assert_eq!(empty.estimate.interval, Interval::WHOLE);
        let nothing_drawn = bca(&[1.0; 20], mean, 0, 0.05, counter());
        assert_eq!(nothing_drawn.estimate.warnings, [Warning::BootstrapDegenerate]);
        let undefined = bca(&[1.0; 20], |_| f64::NAN, 50, 0.05, counter());
        assert_eq!(undefined.estimate.warnings, [Warning::BootstrapDegenerate]);
        let level = bca(&[1.0, 2.0], mean, 50, 2.0, counter()).estimate;
        assert!(level.warnings.contains(&Warning::LevelOutOfRange));
        assert_eq!(bca_exhaustive(&[0.0; 8], mean, 0.05), None);
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
        let alone = bca(&first, mean, 500, 0.05, counter());
        assert_eq!(joint.interval(|[a, _]| *a, 0.05), alone);
        let difference = joint.interval(|[a, b]| b - a, 0.05).estimate;
        assert!(difference.interval.width() < 1e-12, "{difference:?}");
        assert!((joint.whole()[1] - joint.whole()[0] - 2.5).abs() < 1e-12);
        let nothing = Joint::new(0, |_| 1.0, 100, counter()).interval(|x| *x, 0.05);
        assert_eq!(nothing.estimate.interval, Interval::WHOLE);
    }

    #[test]
    fn equal_values_give_a_point() {
        let b = bca(&[3.0; 12], mean, 200, 0.05, counter());
        assert_eq!(b.estimate.interval, Interval { low: 3.0, high: 3.0 });
        assert_eq!((b.bias_correction, b.acceleration), (0.0, 0.0));
        assert_eq!(b.estimate.warnings, []);
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

    #[test]
    fn dependent_samples_move_in_runs() {
        let ramp: Vec<f64> = (0..27).map(f64::from).collect();
        assert_eq!(run_length(&ramp), 3);
        let mut drawn = Vec::new();
        moving_blocks(&ramp, 3, &mut counter(), &mut drawn);
        assert_eq!(drawn.len(), 27);
        assert!(drawn.chunks(3).all(|run| run[1] == run[0] + 1.0 && run[2] == run[0] + 2.0));
    }

    #[test]
    fn inner_noise_widens_the_interval() {
        let mut next = counter();
        let mut draw = |centre: f64| -> Vec<f64> {
            (0..15).map(|_| centre + (next() >> 11) as f64 / (1_u64 << 53) as f64).collect()
        };
        let trials: Vec<[Vec<f64>; 2]> = (0..14).map(|_| [draw(5.0), draw(5.2)]).collect();
        let blocks: Vec<PairedTrials<'_>> =
            trials.iter().map(|t| PairedTrials { first: &t[0], second: &t[1] }).collect();
        let effect = |first: &[f64], second: &[f64]| median(second) - median(first);
        let both = hierarchical(&blocks, effect, mean, 400, 0.05, counter()).estimate;
        let effects: Vec<f64> = blocks.iter().map(|b| effect(b.first, b.second)).collect();
        let outer = bca(&effects, mean, 400, 0.05, counter()).estimate;
        assert!(both.interval.contains(0.2) && both.warnings.is_empty());
        assert!(both.interval.width() > outer.interval.width());
        assert_eq!(both.centre, outer.centre);
    }
}
