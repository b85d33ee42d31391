//! Whether values that are near in one thing are near in another: the rank version of von Neumann's
//! ratio (Bartels 1982) of the one in the order of the other, with the share of all ways to match
//! the two that show at least as much ([`crate::permutation`]).
//!
//! Any law that is smooth over a few neighbours is seen, also one that rises and falls again, which
//! a correlation is blind to; of one that only rises [`crate::spearman`] sees more.

use crate::permutation::share;
use crate::trend::doubled_mean_ranks;
use alloc::vec::Vec;

/// How alike neighbours are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bartels {
    /// Sum of the squared differences of neighbours' mean ranks, by that of the squares of the
    /// ranks less their mean: about 2 where nothing goes with anything, near 0 where neighbours are
    /// alike.
    pub ratio: f64,
    /// Share of the ways to match the values that have a ratio as small: exact up to
    /// [`ENUMERATED_MAX`] values, above that among [`SHUFFLES`] fixed shuffles.
    ///
    /// [`ENUMERATED_MAX`]: crate::permutation::ENUMERATED_MAX
    /// [`SHUFFLES`]: crate::permutation::SHUFFLES
    pub p: f64,
}

/// Of `y` in the order of `x`, which are of the same blocks; what is beyond the shorter of them is
/// left out, and equal `x` keep their order. With `around` the last is a neighbour of the first, as
/// of a remainder. With fewer than three, with one that is NaN or all `y` equal, p is 1.
pub fn bartels(x: &[f64], y: &[f64], around: bool) -> Bartels {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    if n < 3 || x.iter().chain(y).any(|value| value.is_nan()) {
        return Bartels { ratio: 2.0, p: 1.0 };
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| x[i].total_cmp(&x[j]));
    let middle = n as i64 + 1;
    let ranks = doubled_mean_ranks(y);
    let mut ranks: Vec<i64> = order.into_iter().map(|i| ranks[i] as i64 - middle).collect();
    let scale = ranks.iter().map(|rank| rank * rank).sum::<i64>() as f64;
    if scale == 0.0 {
        return Bartels { ratio: 2.0, p: 1.0 };
    }
    let apart = |ranks: &[i64]| {
        let between = ranks.windows(2).map(|pair| (pair[0] - pair[1]) * (pair[0] - pair[1]));
        let ends = ranks[0] - ranks[n - 1];
        between.sum::<i64>() + if around { ends * ends } else { 0 }
    };
    let seen = apart(&ranks);
    Bartels { ratio: seen as f64 / scale, p: share(&mut ranks, |ranks| apart(ranks) <= seen) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the rising and the falling order have neighbours one rank apart throughout.
    #[test]
    fn the_clearest_order_is_one_of_all_and_its_mirror() {
        let x = [3.0, 1.0, 4.0, 2.0, 8.0, 6.0, 7.0, 5.0];
        let found = bartels(&x, &x, false);
        assert_eq!(found, Bartels { ratio: 7.0 / 42.0, p: 2.0 / 40_320.0 });
    }

    /// What rises and falls again has no correlation at all.
    #[test]
    fn what_rises_and_falls_again_is_seen() {
        let x: Vec<f64> = (0..21).map(f64::from).collect();
        let arch: Vec<f64> = x.iter().map(|x| -(x - 10.0) * (x - 10.0)).collect();
        assert!(crate::spearman::spearman(&x, &arch).p > 0.9);
        assert!(bartels(&x, &arch, false).p < 0.001);
    }

    /// A step at the ends of a remainder is none where the ends meet.
    #[test]
    fn the_ends_of_a_remainder_are_neighbours() {
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let wave: Vec<f64> = [0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 9.0, 7.0, 5.0, 3.0, 1.5, 0.5].to_vec();
        assert!(bartels(&x, &wave, true).p < 0.001);
        let (open, closed) = (bartels(&x, &x, false), bartels(&x, &x, true));
        assert!(open.ratio < closed.ratio, "{open:?} {closed:?}");
    }

    #[test]
    fn nothing_goes_with_what_never_changes_or_is_not_known() {
        let none = Bartels { ratio: 2.0, p: 1.0 };
        assert_eq!(bartels(&[1.0, 2.0, 3.0], &[4.0; 3], false), none);
        assert_eq!(bartels(&[1.0, f64::NAN, 3.0], &[1.0, 2.0, 3.0], false), none);
        assert_eq!(bartels(&[1.0, 2.0], &[1.0, 2.0], true), none);
        let turning: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 30)).collect();
        let x: Vec<f64> = (0..30).map(f64::from).collect();
        assert!(bartels(&x, &turning, false).p > 0.05);
    }
}
