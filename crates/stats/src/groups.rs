//! Several small groups of values that share their noise: means with ranges whose spread comes from
//! all groups together, as in an analysis of variance. Assumes independent and nearly normal values
//! of one standard deviation within all groups; the means may differ.

use crate::estimate::{Interval, is_rate};
use crate::special::t_upper_quantile;
use crate::summary::mean;

/// The spread of all groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Standard deviation within the groups.
    pub sd: f64,
    /// Its degrees of freedom: values less groups.
    pub freedom: usize,
}

impl Spread {
    /// That of the groups; without freedom the standard deviation is 0 and no range has ends.
    pub fn of(groups: &[&[f64]]) -> Spread {
        let freedom: usize = groups.iter().map(|group| group.len().saturating_sub(1)).sum();
        let squares = |group: &&[f64]| {
            let centre = mean(group);
            group.iter().map(|x| (x - centre) * (x - centre)).sum::<f64>()
        };
        let squares: f64 = groups.iter().map(squares).sum();
        let sd = if freedom == 0 { 0.0 } else { libm::sqrt(squares / freedom as f64) };
        Spread { sd, freedom }
    }

    /// The range of the mean of `n` values around `centre` at error rate `alpha`.
    pub fn interval(&self, centre: f64, n: usize, alpha: f64) -> Interval {
        if self.freedom == 0 || n == 0 || !is_rate(alpha) || !self.sd.is_finite() {
            return Interval::WHOLE;
        }
        Interval::around(centre, self.quantile(alpha / 2.0) * self.error(n))
    }

    /// The mean of `n` values that a range at error rate `alpha` excludes 0 for with this `power`,
    /// nearly: infinite without freedom.
    pub fn detectable(&self, n: usize, alpha: f64, power: f64) -> f64 {
        if self.freedom == 0 || n == 0 || !is_rate(alpha) || !is_rate(power) {
            return f64::INFINITY;
        }
        (self.quantile(alpha / 2.0) + self.quantile(1.0 - power)) * self.error(n)
    }

    fn quantile(&self, tail: f64) -> f64 {
        t_upper_quantile(tail, self.freedom as f64)
    }

    fn error(&self, n: usize) -> f64 {
        self.sd / libm::sqrt(n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_tell_nothing() {
        let spread = Spread::of(&[&[1.0], &[5.0], &[]]);
        assert_eq!(spread, Spread { sd: 0.0, freedom: 0 });
        assert_eq!(spread.interval(1.0, 1, 0.05), Interval::WHOLE);
        assert_eq!(spread.detectable(1, 0.05, 0.9), f64::INFINITY);
    }

    /// Of one group it is Student's range.
    #[test]
    fn one_group_is_student() {
        let d = [0.3, -0.1, 0.4, 0.2, 0.6];
        let found = Spread::of(&[&d]).interval(mean(&d), d.len(), 0.01);
        let student = crate::paired_t::t_interval(&d, 0.01).interval;
        assert!((found.low - student.low).abs() < 1e-15, "{found:?} {student:?}");
        assert!((found.high - student.high).abs() < 1e-15, "{found:?} {student:?}");
    }
}
