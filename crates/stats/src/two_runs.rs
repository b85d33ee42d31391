//! What changed from one run to another: two independent samples, and the difference of their
//! centres.
//!
//! * Both of a size fixed beforehand: Welch's t test ([`crate::drift::welch`]), which does not
//!   assume that both runs are equally noisy.
//! * Otherwise each run may have been stopped at any time, so an interval for a fixed size would
//!   promise too much. Each has a p-value for every centre that holds at any stopping time: one
//!   over its e-value ([`crate::sequence`]). The runs are independent, so both together are judged
//!   by the product of the two (Fisher, "Statistical methods for research workers", 4th edition
//!   1932, section 21.1): under the truth `P(p q <= x) <= x (1 - ln x)`. A difference is possible
//!   if some pair of centres that far apart is.
//!
//! What neither can know: whatever changes from run to run but not within one is not in the spread
//! of the values, and so not in the interval.

use crate::drift::{self, Moments};
use crate::estimate::{Interval, is_rate, no_spread};
use crate::sequence::{e_value_of, t_sequence_radius};
use crate::solve::first_true;
use crate::summary::{mean, sd};

/// What is known of how the values of a run came about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// So many as were fixed beforehand.
    Fixed,
    /// Roughly normal, stopped at any time.
    Normal,
}

/// The values of one run, summed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Mean, standard deviation, number.
    pub moments: Moments,
    /// How they came about.
    pub law: Law,
}

/// Steps in which the split of the evidence between two runs is searched.
const STEPS: u32 = 48;

/// Halvings that follow.
const REFINEMENTS: u32 = 30;

/// Nothing is asked of evidence beyond this: p-values there are below 1e-300.
const EVIDENCE_MAX: f64 = 700.0;

impl Run {
    /// Sums up `values`.
    pub fn new(values: &[f64], law: Law) -> Self {
        // Equal values may have a mean that differs in its last digit.
        let spread = if no_spread(values) { 0.0 } else { sd(values) };
        let centre = if no_spread(values) && !values.is_empty() { values[0] } else { mean(values) };
        Run { moments: Moments { mean: centre, sd: spread, n: values.len() }, law }
    }

    fn usable(&self) -> bool {
        let Moments { mean, sd, n } = self.moments;
        n >= 2 && mean.is_finite() && sd.is_finite()
    }

    /// Distance from the mean within which the centre lies unless an event of rate `exp(-nats)`
    /// happened; infinite if so few values cannot say.
    fn radius(&self, nats: f64) -> f64 {
        let Moments { sd, n, .. } = self.moments;
        // At a rate of exactly 1 the formulas still hold, but 1 is no rate.
        let alpha = libm::exp(-nats.max(1e-9));
        t_sequence_radius(n, sd, alpha)
    }

    /// The inverse: logarithm of the evidence against a centre at `distance` from the mean, at
    /// least 0 and at most what is asked of it. It never falls as the distance grows.
    fn evidence(&self, distance: f64) -> f64 {
        let Moments { sd, n, .. } = self.moments;
        libm::log(e_value_of(n, distance, sd)).clamp(0.0, EVIDENCE_MAX)
    }
}

/// The interval of `second - first`, the difference of the two centres, at the two-sided rate
/// `alpha`; the whole line where the values do not suffice.
pub fn change(first: &Run, second: &Run, alpha: f64) -> Interval {
    let difference = second.moments.mean - first.moments.mean;
    if !first.usable() || !second.usable() || !is_rate(alpha) {
        return Interval::WHOLE;
    }
    if first.law == Law::Fixed && second.law == Law::Fixed {
        // Without any spread there is nothing to estimate it from: the values say what they say.
        let welch = drift::welch(second.moments, first.moments, alpha);
        return welch.map_or(Interval::around(difference, 0.0), |welch| welch.interval);
    }
    let nats = fisher_nats(alpha);
    let apart = |share: f64| first.radius(share) + second.radius(nats - share);
    let radius = -least(0.0, nats, |share| -apart(share));
    if radius.is_finite() { Interval::around(difference, radius) } else { Interval::WHOLE }
}

/// Two-sided p-value of "the centres differ by `shift`": the smallest rate at which [`change`]
/// leaves `shift` out.
pub fn change_p(first: &Run, second: &Run, shift: f64) -> f64 {
    if !first.usable() || !second.usable() || !shift.is_finite() {
        return 1.0;
    }
    let distance = libm::fabs(second.moments.mean - first.moments.mean - shift);
    if distance == 0.0 {
        return 1.0;
    }
    if first.law == Law::Fixed && second.law == Law::Fixed {
        let moved = Moments { mean: second.moments.mean - shift, ..second.moments };
        return drift::welch(moved, first.moments, 0.05).map_or(0.0, |welch| welch.p);
    }
    let against = |a: f64| first.evidence(a) + second.evidence(distance - a);
    let nats = least(0.0, distance, against);
    fisher(nats)
}

/// p-value of "the centres differ by `delta` or more", either way: half of the smallest two-sided
/// rate at which [`change`] lies inside the margin, as with two one-sided tests; 1 if the
/// difference of the means does not.
pub fn change_same_p(first: &Run, second: &Run, delta: f64) -> f64 {
    let difference = second.moments.mean - first.moments.mean;
    let inside = libm::fabs(difference) < delta;
    if !inside {
        return 1.0;
    }
    let ends = change_p(first, second, delta).max(change_p(first, second, -delta));
    (0.5 * ends).min(1.0)
}

/// p-value of two independent p-values whose product is `exp(-nats)`.
fn fisher(nats: f64) -> f64 {
    libm::exp(-nats) * (1.0 + nats)
}

/// The inverse of [`fisher`].
fn fisher_nats(alpha: f64) -> f64 {
    first_true(0.0, EVIDENCE_MAX, |nats| fisher(nats) <= alpha)
}

/// The smallest value of `f` in `low..=high`: on a grid that holds both ends, then by thirds round
/// the best of it.
fn least(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let at = |step: u32| low + (high - low) * f64::from(step) / f64::from(STEPS);
    let (mut best, mut place) = (f(low), 0);
    for step in 1..=STEPS {
        let value = f(if step == STEPS { high } else { at(step) });
        if value < best {
            (best, place) = (value, step);
        }
    }
    let (mut left, mut right) = (at(place.saturating_sub(1)), at((place + 1).min(STEPS)));
    for _ in 0..REFINEMENTS {
        let third = (right - left) / 3.0;
        let (near, far) = (left + third, right - third);
        let (value, other) = (f(near), f(far));
        best = best.min(value).min(other);
        if value < other {
            right = far;
        } else {
            left = near;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 10] = [5.1, 4.9, 5.0, 5.3, 4.8, 5.2, 5.0, 4.7, 5.1, 4.9];
    const B: [f64; 12] = [5.6, 5.2, 5.5, 5.9, 5.3, 5.4, 5.8, 5.1, 5.7, 5.4, 5.6, 5.5];

    #[test]
    fn two_fixed_sizes_are_welch() {
        let (a, b) = (Run::new(&A, Law::Fixed), Run::new(&B, Law::Fixed));
        let welch = drift::welch(b.moments, a.moments, 0.05).unwrap();
        assert_eq!(change(&a, &b, 0.05), welch.interval);
        assert_eq!(change_p(&a, &b, 0.0), welch.p);
    }

    /// P(p q <= x) = x (1 - ln x) for two uniforms: at 5 %, x = 0.00870.
    #[test]
    fn the_product_of_two_p_values() {
        assert!((libm::exp(-fisher_nats(0.05)) - 0.008_704_940_696).abs() < 1e-12);
        assert!((fisher(fisher_nats(0.01)) - 0.01).abs() < 1e-12);
        assert_eq!(fisher(0.0), 1.0);
    }

    /// The interval and the p-value are each other's inverse, whatever the laws.
    #[test]
    fn ends_are_where_the_p_value_is_the_rate() {
        let wide: [f64; 16] = core::array::from_fn(|i| libm::sin(i as f64 * 1.7));
        let far: [f64; 20] = core::array::from_fn(|i| 3.0 + 2.0 * libm::cos(i as f64 * 2.3));
        let pairs = [
            (Run::new(&A, Law::Normal), Run::new(&B, Law::Normal)),
            (Run::new(&A, Law::Fixed), Run::new(&B, Law::Normal)),
            (Run::new(&far, Law::Normal), Run::new(&wide, Law::Normal)),
        ];
        for (first, second) in pairs {
            for alpha in [0.05, 0.10] {
                let interval = change(&first, &second, alpha);
                for end in [interval.low, interval.high] {
                    let p = change_p(&first, &second, end);
                    assert!((p / alpha - 1.0).abs() < 1e-4, "{first:?} {second:?}: {p}");
                }
            }
        }
    }

    /// Turning the runs round turns the interval round, and nothing else.
    #[test]
    fn the_other_way_round() {
        for law in [Law::Fixed, Law::Normal] {
            let (a, b) = (Run::new(&A, law), Run::new(&B, law));
            let (there, back) = (change(&a, &b, 0.05), change(&b, &a, 0.05));
            assert!((there.low + back.high).abs() < 1e-12, "{there:?} {back:?}");
            assert!((there.high + back.low).abs() < 1e-12, "{there:?} {back:?}");
            assert!((change_p(&a, &b, 0.0) / change_p(&b, &a, 0.0) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_cannot_answer_leaves_all_open() {
        let (none, few) = (Run::new(&[], Law::Normal), Run::new(&A[..4], Law::Normal));
        let many = Run::new(&A, Law::Normal);
        assert_eq!(change(&none, &many, 0.05), Interval::WHOLE);
        assert_eq!(change(&few, &many, 0.05), Interval::WHOLE);
        assert_eq!(change(&many, &many, 1.0), Interval::WHOLE);
        assert_eq!(change_p(&none, &many, 0.0), 1.0);
        assert_eq!(change_p(&many, &many, 0.0), 1.0);
        assert_eq!(change_same_p(&many, &many, 0.0), 1.0);
        let infinite = Run::new(&[f64::INFINITY, 1.0], Law::Fixed);
        assert_eq!(change(&many, &infinite, 0.05), Interval::WHOLE);
    }

    /// What so many values have against a centre far off is more than a double holds.
    #[test]
    fn long_runs_that_agree_are_the_same() {
        let values: [f64; 300] = core::array::from_fn(|i| if i % 2 == 0 { 0.001 } else { -0.001 });
        for values in [values, [0.0; 300]] {
            let run = Run::new(&values, Law::Normal);
            assert!(change_p(&run, &run, 0.05) < 1e-300);
            assert!(change_same_p(&run, &run, 0.05) < 1e-300);
            assert_eq!(change_p(&run, &run, 0.0), 1.0);
        }
    }

    #[test]
    fn without_spread_the_values_say_what_they_say() {
        for law in [Law::Fixed, Law::Normal] {
            let (one, two) = (Run::new(&[0.1; 8], law), Run::new(&[0.3; 8], law));
            let change = change(&one, &two, 0.05);
            assert!((change.low - 0.2).abs() < 1e-15 && change.width() == 0.0, "{change:?}");
            assert!(change_p(&one, &two, 0.0) < 0.05);
            assert_eq!(change_p(&one, &one, 0.0), 1.0);
            assert!(change_same_p(&one, &one, 0.01) < 0.05);
        }
    }
}
