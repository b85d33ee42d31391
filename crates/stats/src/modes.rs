//! Is a sample of one mode or of several? Hartigan & Hartigan, "The dip test of unimodality"
//! (1985): the dip is the largest distance between the empirical distribution and the nearest one
//! with a single mode. Computed as Hartigan's algorithm AS 217 does, with the correction of the
//! step that could go on for ever (Maechler 2003), and never below `1 / (2 n)`.
//!
//! Assumes independent values of a continuous law: where values repeat each other, each of them
//! looks like a mode, so [`is_continuous`] should be asked first. The uniform law is the unimodal
//! one with the largest dips; the p-values refer to it and are cautious for others.

use crate::dips::{CHANCES, DIPS};
use crate::summary::{mean, sorted};
use alloc::vec;
use alloc::vec::Vec;

/// Fewest values for which a p-value is given.
pub const VALUES_MIN: usize = 6;

/// Share of a sample that a mode must hold, for a gap to count as one between modes.
const SHARE_MIN: f64 = 0.1;

/// The dip of `sample`; NaN of nothing or of a value that is not finite.
pub fn dip(sample: &[f64]) -> f64 {
    if sample.is_empty() || sample.iter().any(|x| !x.is_finite()) {
        return f64::NAN;
    }
    dip_of_sorted(&sorted(sample))
}

/// p-value of "one mode" for a dip of `n` values, from a table of simulated dips of uniform values
/// (interpolated; see `examples/dips.rs`). Never below 0.0001, and 1 below [`VALUES_MIN`] values.
pub fn dip_p(dip: f64, n: usize) -> f64 {
    if n < VALUES_MIN || dip.is_nan() {
        return 1.0;
    }
    // The dip shrinks with the root of n, and its scaled law changes slowly with ln n.
    let scaled = dip * libm::sqrt(n as f64);
    let after = DIPS.iter().position(|(size, _)| *size >= n).unwrap_or(DIPS.len() - 1).max(1);
    let ((below, low), (above, high)) = (&DIPS[after - 1], &DIPS[after]);
    let ln = |n: usize| libm::log(n as f64);
    let way = ((ln(n) - ln(*below)) / (ln(*above) - ln(*below))).min(1.0);
    let limit = |i: usize| low[i] + way * (high[i] - low[i]);
    let Some(next) = (0..CHANCES.len()).find(|&i| limit(i) > scaled) else {
        return CHANCES[CHANCES.len() - 1];
    };
    if next == 0 {
        return 1.0;
    }
    let share = (scaled - limit(next - 1)) / (limit(next) - limit(next - 1));
    let (from, to) = (libm::log(CHANCES[next - 1]), libm::log(CHANCES[next]));
    libm::exp(from + share * (to - from))
}

/// Whether at least three quarters of the values differ from all others: fewer, and the dip finds
/// the steps in which they were taken.
pub fn is_continuous(sample: &[f64]) -> bool {
    let order = sorted(sample);
    let alone = order.chunk_by(|a, b| a == b).filter(|tied| tied.len() == 1).count();
    4 * alone >= 3 * sample.len()
}

/// One of two modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Mean of its values.
    pub mean: f64,
    /// Share of the sample in it.
    pub share: f64,
}

/// A sample taken apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Halfway between the modes: values up to here belong to the lower one.
    pub cut: f64,
    /// The lower mode.
    pub low: Mode,
    /// The upper mode.
    pub high: Mode,
}

/// Splits a sample at its largest gap, with at least a tenth of the values (and two of them) on
/// either side. `None` if there is no gap. Assumes that there are two modes: ask [`dip_p`] first.
pub fn split(sample: &[f64]) -> Option<Split> {
    if sample.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let (order, n) = (sorted(sample), sample.len());
    let least = (libm::ceil(SHARE_MIN * n as f64) as usize).max(2);
    let gap = |i: usize| order[i] - order[i - 1];
    let place =
        (least..(n + 1).saturating_sub(least)).max_by(|&i, &j| gap(i).total_cmp(&gap(j)))?;
    let mode = |values: &[f64]| Mode { mean: mean(values), share: values.len() as f64 / n as f64 };
    (gap(place) > 0.0).then(|| Split {
        cut: order[place - 1] + gap(place) / 2.0,
        low: mode(&order[..place]),
        high: mode(&order[place..]),
    })
}

/// The dip of ascending values. Distances are counted in values until the end, so the least dip,
/// half a value, is 1 here. The modal interval `low..=high` shrinks until the distances between
/// the two hulls inside it are no larger than those outside.
fn dip_of_sorted(x: &[f64]) -> f64 {
    let n = x.len();
    let scale = 2.0 * n as f64;
    if n < 2 || x[0] == x[n - 1] {
        return 1.0 / scale;
    }
    let (below, above) = (convex_below(x), concave_above(x));
    let (mut low, mut high, mut largest) = (0, n - 1, 1.0_f64);
    loop {
        // Touching points of the hulls: of the convex one downwards, of the concave one upwards.
        let convex = walk(high, low, &below);
        let concave = walk(low, high, &above);
        let (distance, i, j) = between(x, &convex, &concave);
        if distance < largest {
            break;
        }
        let outside = convex[i..].windows(2).map(|p| beyond(x, p[1], p[0], 1.0));
        let outside = outside.chain(concave[j..].windows(2).map(|p| beyond(x, p[0], p[1], -1.0)));
        largest = outside.fold(largest, f64::max);
        if (low, high) == (convex[i], concave[j]) {
            break;
        }
        (low, high) = (convex[i], concave[j]);
    }
    largest / scale
}

/// For each value the one before it on the greatest convex minorant of what lies up to it.
fn convex_below(x: &[f64]) -> Vec<usize> {
    let mut to = vec![0; x.len()];
    for j in 1..x.len() {
        to[j] = j - 1;
        while to[j] != 0 {
            let (a, b) = (to[to[j]], to[j]);
            if (x[j] - x[b]) * ((b - a) as f64) < (x[b] - x[a]) * ((j - b) as f64) {
                break;
            }
            to[j] = a;
        }
    }
    to
}

/// For each value the one after it on the least concave majorant of what lies from it on.
fn concave_above(x: &[f64]) -> Vec<usize> {
    let last = x.len() - 1;
    let mut to = vec![last; x.len()];
    for j in (0..last).rev() {
        to[j] = j + 1;
        while to[j] != last {
            let (a, b) = (to[to[j]], to[j]);
            if (x[b] - x[j]) * ((a - b) as f64) < (x[a] - x[b]) * ((b - j) as f64) {
                break;
            }
            to[j] = a;
        }
    }
    to
}

/// The touching points from one end of an interval to the other.
fn walk(from: usize, until: usize, to: &[usize]) -> Vec<usize> {
    let mut points = vec![from];
    let mut at = from;
    while at != until {
        at = to[at];
        // A hull of the whole sample may step over the end of an interval inside it.
        at = if from > until { at.max(until) } else { at.min(until) };
        points.push(at);
    }
    points
}

/// The largest distance between the two hulls, and the places in each from which on its points lie
/// outside the new modal interval.
fn between(x: &[f64], convex: &[usize], concave: &[usize]) -> (f64, usize, usize) {
    if convex.len() == 2 && concave.len() == 2 {
        return (1.0, 1, 1);
    }
    let (mut i, mut j) = (convex.len() - 2, 1);
    let mut found = (0.0, convex.len() - 1, concave.len() - 1);
    loop {
        let (on_convex, on_concave) = (convex[i], concave[j]);
        if on_convex > on_concave {
            let before = convex[i + 1];
            let slope = (on_convex - before) as f64 / (x[on_convex] - x[before]);
            let distance = (on_concave + 1 - before) as f64 - (x[on_concave] - x[before]) * slope;
            j += 1;
            if distance >= found.0 {
                found = (distance, i + 1, j - 1);
            }
        } else {
            let before = concave[j - 1];
            let slope = (on_concave - before) as f64 / (x[on_concave] - x[before]);
            let distance =
                (x[on_convex] - x[before]) * slope - on_convex as f64 + before as f64 + 1.0;
            let at = i;
            i = i.saturating_sub(1);
            if distance >= found.0 {
                found = (distance, at, j);
            }
        }
        j = j.min(concave.len() - 1);
        if convex[i] == concave[j] {
            return found;
        }
    }
}

/// The largest distance of the empirical distribution from the chord between two touching points,
/// on the side that `sign` tells.
fn beyond(x: &[f64], from: usize, to: usize, sign: f64) -> f64 {
    if to - from <= 1 || x[from] == x[to] {
        return 1.0;
    }
    let slope = (to - from) as f64 / (x[to] - x[from]);
    let distance = |k: usize| sign * ((k - from) as f64 - (x[k] - x[from]) * slope) + 1.0;
    (from..=to).map(distance).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heaps_dip_and_one_does_not() {
        let two: Vec<f64> =
            (0..20).map(|i| f64::from(i % 10) + f64::from(i / 10) * 100.0).collect();
        let one: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(dip_p(dip(&two), 20) <= 0.0005 && dip(&two) > 0.2);
        assert_eq!((dip(&one), dip_p(dip(&one), 20)), (1.0 / 40.0, 1.0));
    }

    #[test]
    fn a_sample_is_split_between_its_modes() {
        let found = split(&[94.0, 90.1, 94.1, 90.2, 94.2, 90.0, 94.1, 120.0]).unwrap();
        // 120 is alone, so the gap before it is not one between modes.
        assert!(found.cut > 90.2 && found.cut < 94.0);
        assert_eq!((found.low.share, found.high.share), (0.375, 0.625));
        assert!((found.low.mean - 90.1).abs() < 1e-12);
        assert!(split(&[1.0, 2.0, 3.0]).is_none() && split(&[4.0; 9]).is_none());
    }

    #[test]
    fn values_on_a_grid_are_not_continuous() {
        assert!(!is_continuous(&[1.0, 2.0, 1.0, 2.0]));
        assert!(is_continuous(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 7.0]));
    }

    #[test]
    fn nothing_dips() {
        assert!(dip(&[]).is_nan() && dip(&[f64::INFINITY]).is_nan());
        assert_eq!((dip(&[3.0]), dip(&[3.0; 4])), (0.5, 0.125));
        assert_eq!((dip_p(f64::NAN, 20), dip_p(0.5, 5)), (1.0, 1.0));
    }
}
