//! Values that lie far from the others: found and shown, never removed. What a recorded cause does
//! not explain is part of what was measured.
//!
//! Two marks that a single wild value cannot hide: Tukey's fences, "Exploratory data analysis"
//! (1977), and the modified z score of Iglewicz & Hoaglin (1993). Both describe a sample of one
//! mode; neither is a test.

use crate::estimate::Interval;
use crate::summary::{mad, median, sorted};
use alloc::vec::Vec;

/// Turns a median absolute deviation into the standard deviation of a normal law.
pub const MAD_TO_SD: f64 = 1.4826;

/// Modified z score beyond which a value is marked.
pub const Z_MAX: f64 = 10.0;

/// Quartiles and the fences around them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fences {
    /// Lower quartile, interpolated linearly between neighbours.
    pub q1: f64,
    /// Upper quartile.
    pub q3: f64,
    /// 1.5 interquartile ranges beyond the quartiles.
    pub inner: Interval,
    /// 3 interquartile ranges beyond the quartiles.
    pub outer: Interval,
}

/// A value that lies apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flag {
    /// Index of the value in the sample.
    pub index: usize,
    /// Whether it lies beyond the outer fence or [`Z_MAX`], not only beyond the inner fence.
    pub far: bool,
    /// Modified z score of the value; infinite or undefined if more than half of the values are
    /// equal.
    pub z: f64,
}

/// Tukey's fences; `None` of nothing or of values that are not finite.
pub fn fences(sample: &[f64]) -> Option<Fences> {
    if sample.is_empty() || sample.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let order = sorted(sample);
    let (q1, q3) = (interpolated(&order, 0.25), interpolated(&order, 0.75));
    let beyond =
        |ranges: f64| Interval { low: q1 - ranges * (q3 - q1), high: q3 + ranges * (q3 - q1) };
    Some(Fences { q1, q3, inner: beyond(1.5), outer: beyond(3.0) })
}

/// `(x - median) / (1.4826 MAD)` of each value.
pub fn modified_z(sample: &[f64]) -> Vec<f64> {
    let (centre, scale) = (median(sample), MAD_TO_SD * mad(sample));
    sample.iter().map(|x| (x - centre) / scale).collect()
}

/// The values outside the inner fences or beyond [`Z_MAX`]. Where half of the sample is equal there
/// is no scale to measure with, and nothing is marked.
pub fn flags(sample: &[f64]) -> Vec<Flag> {
    let Some(fences) = fences(sample).filter(|f| f.q3 > f.q1) else {
        return Vec::new();
    };
    let mark = |(index, (x, z)): (usize, (&f64, f64))| {
        let far = fences.outer.excludes(*x) || (z.is_finite() && z.abs() > Z_MAX);
        (far || fences.inner.excludes(*x)).then_some(Flag { index, far, z })
    };
    sample.iter().zip(modified_z(sample)).enumerate().filter_map(mark).collect()
}

/// The `p` quantile of ascending values, linear between neighbours (Hyndman & Fan 1996, type 7).
fn interpolated(order: &[f64], p: f64) -> f64 {
    let place = p * (order.len() - 1) as f64;
    let below = libm::floor(place) as usize;
    let above = (below + 1).min(order.len() - 1);
    order[below] + (place - below as f64) * (order[above] - order[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_value_does_not_hide_itself() {
        let mut x: Vec<f64> = (0..20).map(|i| f64::from(i % 5)).collect();
        assert!(flags(&x).is_empty());
        x[7] = 1e9;
        x[8] = 10.0;
        let found = flags(&x);
        assert_eq!(
            found.iter().map(|f| (f.index, f.far)).collect::<Vec<_>>(),
            [(7, true), (8, false)]
        );
    }

    #[test]
    fn without_a_scale_nothing_is_marked() {
        assert!(flags(&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0]).is_empty());
        assert!(flags(&[]).is_empty() && fences(&[1.0, f64::NAN]).is_none());
        assert_eq!(fences(&[4.0]).unwrap().inner, Interval { low: 4.0, high: 4.0 });
    }
}
