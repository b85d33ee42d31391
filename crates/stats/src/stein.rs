//! Ranges of a mean where the noise of the first values had a part in how many there are.
//!
//! The standard deviation of the first values says nothing of the mean of all, so the t of the
//! first ones' noise keeps its law however their number was chosen from it (Stein, "A two-sample
//! test for a linear hypothesis whose power is independent of the variance", 1945). That of all
//! values does not: whoever stops when it is small has stopped where it is too small. So a range
//! has to be as wide as both ask for.

use crate::special::{t_upper, t_upper_quantile};
use crate::summary::sd;

/// The noise of the first values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct First {
    sd: f64,
    degrees: f64,
}

impl First {
    /// Of the first `n` of `d`, or all of fewer; `None` below two or where one is not finite.
    pub fn of(d: &[f64], n: usize) -> Option<First> {
        let first = &d[..n.min(d.len())];
        First::known(sd(first), first.len()).filter(|_| first.iter().all(|x| x.is_finite()))
    }

    /// Of `n` values with standard deviation `sd`.
    pub fn known(sd: f64, n: usize) -> Option<First> {
        (n > 1 && sd >= 0.0).then(|| First { sd, degrees: (n - 1) as f64 })
    }

    /// Half-width of the range of the mean of `n` values.
    pub fn radius(&self, n: usize, alpha: f64) -> f64 {
        t_upper_quantile(alpha / 2.0, self.degrees) * self.error(n)
    }

    /// p-value of "the mean is zero" of `n` values whose mean is `mean`; 1 if it is.
    pub fn p(&self, mean: f64, n: usize) -> f64 {
        if mean == 0.0 {
            return 1.0;
        }
        (2.0 * t_upper(libm::fabs(mean) / self.error(n), self.degrees)).min(1.0)
    }

    /// p-value of "the mean lies outside -delta..delta", by two one-sided tests.
    pub fn equivalence_p(&self, mean: f64, delta: f64, n: usize) -> f64 {
        if delta.is_nan() || delta <= 0.0 {
            return 1.0;
        }
        let room = delta - libm::fabs(mean);
        if room == 0.0 { 0.5 } else { t_upper(room / self.error(n), self.degrees) }
    }

    fn error(&self, n: usize) -> f64 {
        self.sd / libm::sqrt(n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Alternative;
    use crate::{equivalence, paired_t};

    const D: [f64; 8] = [0.3, -0.1, 0.4, 0.2, 0.0, 0.5, 0.1, 0.2];

    /// Of no more than the first values all is Student's.
    #[test]
    fn the_first_values_by_themselves_are_students() {
        let first = First::of(&D, 8).unwrap();
        let (mean, radius) = (0.2, paired_t::radius(8, sd(&D), 0.05));
        assert!((first.radius(8, 0.05) - radius).abs() < 1e-12);
        assert!((first.p(mean, 8) - paired_t::t_p(&D, Alternative::TwoSided)).abs() < 1e-9);
        let same = equivalence::tost_t(&D, 0.5);
        assert!((first.equivalence_p(mean, 0.5, 8) - same).abs() < 1e-9);
    }

    #[test]
    fn more_values_narrow_the_range_and_keep_the_quantile() {
        let all = [D, D].concat();
        let first = First::of(&all, 8).unwrap();
        let ratio = first.radius(8, 0.05) / first.radius(16, 0.05);
        assert!((ratio - core::f64::consts::SQRT_2).abs() < 1e-12);
        // p and range are one test.
        let end = first.radius(16, 0.05);
        assert!((first.p(end, 16) - 0.05).abs() < 1e-9);
        assert!((first.equivalence_p(0.0, first.radius(16, 0.10), 16) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn what_tells_no_noise() {
        assert_eq!((First::of(&[1.0], 8), First::of(&[1.0, f64::NAN], 8)), (None, None));
        let none = First::of(&[0.5; 8], 8).unwrap();
        assert_eq!((none.radius(8, 0.05), none.p(0.5, 8), none.p(0.0, 8)), (0.0, 0.0, 1.0));
        assert_eq!((none.equivalence_p(0.5, 0.1, 8), none.equivalence_p(0.05, 0.1, 8)), (1.0, 0.0));
    }
}
