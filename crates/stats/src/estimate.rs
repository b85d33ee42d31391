//! What every method of this crate answers with: a centre, an interval, and reasons for doubt.

use alloc::vec::Vec;
use core::fmt;

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

/// A centre with its interval and whatever makes them doubtful.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Point estimate in the unit of the sample; NaN when there is none.
    pub centre: f64,
    /// Interval of the stated level.
    pub interval: Interval,
    /// Coverage the interval really has, in (0, 1]. An exact method on few values can only offer
    /// certain levels, so this is at least what was asked for; 1 belongs to the whole line.
    pub level: f64,
    /// Number of values the estimate rests on.
    pub n: usize,
    /// Reasons for doubt, each at most once.
    pub warnings: Vec<Warning>,
}

impl Estimate {
    /// An estimate that leaves the interval open: the whole line, at level 1.
    pub(crate) fn open(centre: f64, n: usize, warnings: Vec<Warning>) -> Self {
        Estimate { centre, interval: Interval::WHOLE, level: 1.0, n, warnings }
    }
}

/// Why an estimate may be worth less than it looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warning {
    /// Too few values for a bounded interval at this level.
    TooFewBlocks {
        /// Values there are.
        have: usize,
        /// Values the method needs.
        need: usize,
    },
    /// Values equal to zero were kept; they can only widen the interval.
    ZerosKept {
        /// How many.
        count: usize,
    },
    /// Equal magnitudes: an exact interval becomes conservative.
    Ties,
    /// All values are equal, so the sample says nothing about its own noise.
    NoSpread,
    /// Infinite or undefined values: no estimate is possible.
    NotFinite {
        /// How many.
        count: usize,
    },
    /// The asked level is not strictly between 0 and 1.
    LevelOutOfRange,
    /// Too few values for a bootstrap interval to have its nominal coverage.
    BootstrapUnreliable {
        /// Values there are.
        have: usize,
        /// Values the bootstrap needs.
        need: usize,
    },
    /// The resampled statistic does not surround the observed one, or is undefined.
    BootstrapDegenerate,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::TooFewBlocks { have, need } => {
                write!(f, "{have} blocks are too few for a bounded range: {need} are needed")
            }
            Warning::ZerosKept { count: 1 } => write!(f, "1 difference of zero was kept"),
            Warning::ZerosKept { count } => write!(f, "{count} differences of zero were kept"),
            Warning::Ties => write!(f, "some differences have equal size: the range is cautious"),
            Warning::NoSpread => {
                write!(f, "all values are equal: the sample cannot show its own noise")
            }
            Warning::NotFinite { count } => {
                write!(f, "not a finite number in {count} of the values: no estimate is possible")
            }
            Warning::LevelOutOfRange => {
                write!(f, "the error rate must lie strictly between 0 and 1")
            }
            Warning::BootstrapUnreliable { have, need } => {
                write!(f, "bootstrap unreliable: {have} values, {need} are needed")
            }
            Warning::BootstrapDegenerate => {
                write!(f, "bootstrap failed: the resamples do not surround the observed value")
            }
        }
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

/// Checks shared by all interval methods: finite values and a level that makes sense.
pub(crate) fn faults(sample: &[f64], alpha: f64) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let count = sample.iter().filter(|x| !x.is_finite()).count();
    if count > 0 {
        warnings.push(Warning::NotFinite { count });
    }
    if !is_rate(alpha) {
        warnings.push(Warning::LevelOutOfRange);
    }
    warnings
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
    use alloc::string::ToString;

    #[test]
    fn interval_questions() {
        let i = Interval::around(1.0, 0.5);
        assert_eq!((i.low, i.high, i.width()), (0.5, 1.5, 1.0));
        assert!(i.contains(0.5) && i.contains(1.5) && !i.contains(1.6));
        assert!(i.excludes(0.0) && !i.excludes(0.5) && !i.excludes(f64::NAN));
        assert!(i.within(0.4, 1.6) && !i.within(0.5, 1.6));
        assert!(Interval::WHOLE.contains(f64::MAX) && Interval::WHOLE.width().is_infinite());
    }

    #[test]
    fn warnings_speak_in_words() {
        let w = Warning::TooFewBlocks { have: 4, need: 6 };
        assert_eq!(w.to_string(), "4 blocks are too few for a bounded range: 6 are needed");
        assert_eq!(Warning::ZerosKept { count: 1 }.to_string(), "1 difference of zero was kept");
    }

    #[test]
    fn faults_are_found() {
        assert_eq!(faults(&[1.0, 2.0], 0.05), []);
        assert_eq!(faults(&[1.0, f64::NAN], 0.05), [Warning::NotFinite { count: 1 }]);
        assert_eq!(faults(&[], 1.0), [Warning::LevelOutOfRange]);
        assert_eq!(faults(&[], f64::NAN), [Warning::LevelOutOfRange]);
    }
}
