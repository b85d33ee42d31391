//! Whether one value goes with another: Spearman's rank correlation (1904), with the share of all
//! ways to match the two that show at least as much ([`crate::permutation`]).
//!
//! Ranks, so neither wild values nor the scale of either matters; what rises and then falls again
//! is not seen.

use crate::permutation::share;
use crate::trend::doubled_mean_ranks;
use alloc::vec::Vec;

/// How two values go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spearman {
    /// The correlation of the mean ranks, −1 to 1; 0 where one value is always the same.
    pub rho: f64,
    /// Share of the ways to match the values that have one as far from 0, two-sided: exact up to
    /// [`ENUMERATED_MAX`] values, above that among [`SHUFFLES`] fixed shuffles.
    ///
    /// [`ENUMERATED_MAX`]: crate::permutation::ENUMERATED_MAX
    /// [`SHUFFLES`]: crate::permutation::SHUFFLES
    pub p: f64,
}

/// How `x` and `y` go together, which are of the same blocks in the same order; what is beyond the
/// shorter of them is left out. With fewer than two, or with one that is NaN, p is 1.
pub fn spearman(x: &[f64], y: &[f64]) -> Spearman {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    if n < 2 || x.iter().chain(y).any(|value| value.is_nan()) {
        return Spearman { rho: 0.0, p: 1.0 };
    }
    let centred = |sample: &[f64]| -> Vec<i64> {
        let middle = n as i64 + 1;
        doubled_mean_ranks(sample).into_iter().map(|rank| rank as i64 - middle).collect()
    };
    let (x, mut y) = (centred(x), centred(y));
    let product = |y: &[i64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<i64>();
    let squares = |ranks: &[i64]| ranks.iter().map(|rank| rank * rank).sum::<i64>() as f64;
    let (seen, scale) = (product(&y), libm::sqrt(squares(&x) * squares(&y)));
    if scale == 0.0 {
        return Spearman { rho: 0.0, p: 1.0 };
    }
    let p = share(&mut y, |y| product(y).abs() >= seen.abs());
    Spearman { rho: seen as f64 / scale, p }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clearest_order_is_one_of_all_and_its_mirror() {
        let x = [1.0, 5.0, 2.0, 9.0, 7.0, 3.0, 8.0, 4.0];
        let rising = x.map(|x| x * x);
        assert_eq!(spearman(&x, &rising), Spearman { rho: 1.0, p: 2.0 / 40_320.0 });
        let falling = x.map(|x| -x);
        assert_eq!(spearman(&x, &falling), Spearman { rho: -1.0, p: 2.0 / 40_320.0 });
    }

    /// Counted one by one by another program: 176 of 5040 ways, two values tied.
    #[test]
    fn ties_share_their_rank() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let y = [2.0, 1.0, 4.0, 3.0, 7.0, 5.0, 5.0];
        let found = spearman(&x, &y);
        assert!((found.rho - 0.810_843_716_426_003_1).abs() < 1e-12, "{found:?}");
        assert!((found.p - 176.0 / 5040.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn nothing_goes_with_what_never_changes_or_is_not_known() {
        let none = Spearman { rho: 0.0, p: 1.0 };
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[4.0; 3]), none);
        assert_eq!(spearman(&[1.0, f64::NAN, 3.0], &[1.0, 2.0, 3.0]), none);
        assert_eq!((spearman(&[], &[]), spearman(&[1.0], &[1.0])), (none, none));
    }

    #[test]
    fn shuffles_stand_for_all_orders() {
        let x: Vec<f64> = (0..30).map(f64::from).collect();
        assert_eq!(spearman(&x, &x).p, 1.0 / 10_000.0);
        let turning: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 30)).collect();
        assert!(spearman(&x, &turning).p > 0.05);
    }
}
