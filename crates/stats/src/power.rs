//! How many blocks it takes, and what a given number can show.
//!
//! All figures assume independent normal differences with a *known* standard deviation `sigma`
//! (from null blocks or from the run so far) and a power of 80 %. An error rate `alpha` is that of
//! a two-sided range for a difference, and of each of two one-sided tests for equivalence. Power is
//! computed exactly, by averaging over the distribution of the sample standard deviation. [`NEVER`]
//! means that no number of blocks up to 2^32 will do, or that the question makes no sense (a margin
//! that is not positive). The answer is never below 3: two blocks say next to nothing about their
//! own noise.

use crate::sequence::t_sequence_radius;
use crate::solve::{first_integer, first_true};
use crate::special::{normal_upper, stirling_error, t_upper_quantile};
use core::f64::consts::PI;

/// The answer when no number of blocks is enough.
pub const NEVER: usize = usize::MAX;

const POWER: f64 = 0.8;

/// Blocks for two one-sided t tests to show equivalence within `± delta` when the true difference
/// is zero (about `8.56 (sigma / delta)^2` at 5 %).
pub fn blocks_for_equivalence(sigma: f64, delta: f64, alpha: f64) -> usize {
    blocks(sigma, delta, |n, ratio| equivalence_power(n, ratio, alpha))
}

/// Blocks until the radius of the t confidence sequence at `alpha` is at most `target_radius`.
pub fn blocks_for_sequence_radius(sigma: f64, target_radius: f64, alpha: f64) -> usize {
    blocks(sigma, target_radius, |n, ratio| {
        let radius = t_sequence_radius(n as usize, 1.0, alpha);
        if radius <= ratio { 1.0 } else { 0.0 }
    })
}

/// The smallest true difference that a paired t test on `n` blocks finds, in the unit of `sigma`.
/// Infinite below two blocks.
pub fn smallest_detectable(n: usize, sigma: f64, alpha: f64) -> f64 {
    if n < 2 {
        return f64::INFINITY;
    }
    let (n, t) = (n as u64, t_difference(n as u64, alpha));
    sigma * first_true(0.0, 1e6, |ratio| difference_power(n, ratio, t) >= POWER)
}

fn blocks(sigma: f64, delta: f64, power: impl Fn(u64, f64) -> f64) -> usize {
    // Without noise every answer is as good as with next to none.
    let ratio = (delta / sigma).min(1e9);
    let sensible = sigma >= 0.0 && delta > 0.0;
    if !sensible {
        return NEVER;
    }
    first_integer(3, 1 << 32, |n| power(n, ratio) >= POWER)
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(NEVER)
}

fn t_difference(n: u64, alpha: f64) -> f64 {
    t_upper_quantile(alpha / 2.0, (n - 1) as f64)
}

/// P(|mean| > t s / sqrt(n)) at a true mean of `ratio` standard deviations.
fn difference_power(n: u64, ratio: f64, t: f64) -> f64 {
    let shift = ratio * libm::sqrt(n as f64);
    average_over_sd(n, f64::INFINITY, |w| normal_upper(t * w - shift) + normal_upper(t * w + shift))
}

/// P(|mean| + t s / sqrt(n) < delta) at a true mean of zero, `ratio` = delta / sigma.
fn equivalence_power(n: u64, ratio: f64, alpha: f64) -> f64 {
    let t = t_upper_quantile(alpha, (n - 1) as f64);
    let room = ratio * libm::sqrt(n as f64);
    average_over_sd(n, room / t, |w| 1.0 - 2.0 * normal_upper(room - t * w))
}

/// Mean of `f(w)` for w = s / sigma below `limit`, by Simpson's rule; w^2 (n - 1) is chi-squared.
fn average_over_sd(n: u64, limit: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 256;
    let half_df = 0.5 * (n - 1) as f64;
    let reach = 8.0 / libm::sqrt(4.0 * half_df);
    let (low, high) = ((1.0 - reach).max(0.0), (1.0 + reach).min(limit));
    if high <= low {
        return 0.0;
    }
    let log_scale = 0.5 * libm::log(2.0 * half_df / PI) - stirling_error(half_df);
    let density = |w: f64| {
        let u = w - 1.0;
        let shape = half_df * (2.0 * libm::log1p(u) - u * (2.0 + u));
        libm::exp(log_scale + shape) / w
    };
    let step = (high - low) / f64::from(STEPS);
    let sum: f64 = (0..=STEPS)
        .map(|i| {
            // At w = 0 the density is 0, or for n = 2 finite: next to 0 stands for both.
            let w = (low + f64::from(i) * step).max(1e-12);
            let weight = match i {
                0 | STEPS => 1.0,
                _ if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density(w) * f(w)
        })
        .sum();
    sum * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_of_one_is_one() {
        for n in [2, 3, 4, 10, 100, 100_000, 1 << 32] {
            let total = average_over_sd(n, f64::INFINITY, |_| 1.0);
            assert!((total - 1.0).abs() < 1e-6, "{n}: {total}");
        }
    }

    #[test]
    fn nonsense_needs_forever() {
        for (sigma, delta) in [(1.0, 0.0), (1.0, -1.0), (-1.0, 1.0), (f64::NAN, 1.0)] {
            assert_eq!(blocks_for_equivalence(sigma, delta, 0.05), NEVER);
            assert_eq!(blocks_for_sequence_radius(sigma, delta, 0.05), NEVER);
        }
        assert_eq!(blocks_for_sequence_radius(1.0, 1e-9, 0.05), NEVER);
        assert_eq!(smallest_detectable(1, 1.0, 0.05), f64::INFINITY);
    }

    #[test]
    fn sequence_radius_is_reached_and_not_before() {
        for (target, alpha) in [(4.0, 0.05), (1.0, 0.05), (0.5, 0.05), (0.1, 0.05), (0.5, 0.01)] {
            let n = blocks_for_sequence_radius(1.0, target, alpha);
            assert!(t_sequence_radius(n, 1.0, alpha) <= target);
            assert!(t_sequence_radius(n - 1, 1.0, alpha) > target);
        }
        assert_eq!(blocks_for_sequence_radius(0.0, 1.0, 0.05), 5);
    }
}
