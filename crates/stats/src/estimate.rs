//! What every method of this crate answers with: a centre and an interval, which is the whole line
//! where the sample cannot say.

use crate::special::normal_upper_quantile;

/// A closed range on the real line; either end may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the sample; `-inf` when unbounded.
    pub low: f64,
    /// Upper end, in the unit of the sample; `+inf` when unbounded.
    pub high: f64,
}

impl Interval {
    /// The whole line: what is known when nothing is known.
    pub const WHOLE: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// The interval `centre - radius ..= centre + radius`.
    pub fn around(centre: f64, radius: f64) -> Self {
        Interval { low: centre - radius, high: centre + radius }
    }

    /// The interval around a normal estimate whose standard deviation `sd` is known, that misses
    /// with probability `alpha`; the whole line for a rate or a deviation that is none.
    pub fn normal(centre: f64, sd: f64, alpha: f64) -> Self {
        match is_rate(alpha) && sd >= 0.0 {
            true => Interval::around(centre, sd * normal_upper_quantile(alpha / 2.0)),
            false => Interval::WHOLE,
        }
    }

    /// Whether `x` lies in the interval, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Whether `x` lies outside the interval. Never true of NaN.
    pub fn excludes(&self, x: f64) -> bool {
        x < self.low || x > self.high
    }

    /// Whether the interval lies strictly inside the open range `(low, high)`.
    pub fn within(&self, low: f64, high: f64) -> bool {
        low < self.low && self.high < high
    }

    /// Distance between the ends; infinite when an end is.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// A centre with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Point estimate in the unit of the sample; NaN when there is none.
    pub centre: f64,
    /// Interval at the error rate that was asked for, or at a smaller one: an exact method on few
    /// values can only offer certain rates.
    pub interval: Interval,
}

impl Estimate {
    /// An estimate that leaves the interval open.
    pub(crate) fn open(centre: f64) -> Self {
        Estimate { centre, interval: Interval::WHOLE }
    }
}

/// Which departure from zero a test looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// The centre is above zero.
    Greater,
    /// The centre is below zero.
    Less,
    /// The centre is not zero.
    TwoSided,
}

/// Whether an interval method can work with its input: all values finite, and `alpha` a rate. An
/// empty sample passes, as methods differ in how many values they need.
pub(crate) fn is_usable(sample: &[f64], alpha: f64) -> bool {
    is_rate(alpha) && sample.iter().all(|x| x.is_finite())
}

/// Whether `alpha` is an error rate strictly between 0 and 1.
pub(crate) fn is_rate(alpha: f64) -> bool {
    alpha > 0.0 && alpha < 1.0
}

/// Whether all values are equal (a sample of one value counts as equal).
pub(crate) fn no_spread(sample: &[f64]) -> bool {
    sample.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_questions() {
        let i = Interval::around(1.0, 0.5);
        assert_eq!((i.low, i.high, i.width()), (0.5, 1.5, 1.0));
        assert!(i.contains(0.5) && i.contains(1.5) && !i.contains(1.6));
        assert!(i.excludes(0.0) && !i.excludes(0.5) && !i.excludes(f64::NAN));
        assert!(i.within(0.4, 1.6) && !i.within(0.5, 1.6));
        assert!(Interval::WHOLE.contains(f64::MAX) && Interval::WHOLE.width().is_infinite());
        let normal = Interval::normal(1.0, 0.5, 0.05);
        assert!((normal.high - 1.979_981_992_270_027).abs() < 1e-14, "{normal:?}");
        assert_eq!(Interval::normal(1.0, 0.0, 0.05), Interval::around(1.0, 0.0));
        assert_eq!(Interval::normal(1.0, f64::NAN, 0.05), Interval::WHOLE);
    }

    #[test]
    fn input_is_finite_and_has_a_rate() {
        assert!(is_usable(&[1.0, 2.0], 0.05) && is_usable(&[], 0.05));
        assert!(!is_usable(&[1.0, f64::NAN], 0.05) && !is_usable(&[f64::INFINITY], 0.05));
        for alpha in [0.0, 1.0, f64::NAN] {
            assert!(!is_usable(&[1.0, 2.0], alpha), "{alpha}");
        }
    }
}
