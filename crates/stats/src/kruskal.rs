//! Whether groups differ in a value: the test of Kruskal and Wallis (1952), with the share of all
//! ways to deal the values to the groups that show at least as much ([`crate::permutation`]).

use crate::permutation::{reached, share};
use crate::trend::doubled_mean_ranks;
use alloc::vec::Vec;

/// How far groups are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KruskalWallis {
    /// H, corrected for ties.
    pub h: f64,
    /// Share of the ways to deal the values that have an H as large: exact up to
    /// [`ENUMERATED_MAX`] values, above that among [`SHUFFLES`] fixed shuffles.
    ///
    /// [`ENUMERATED_MAX`]: crate::permutation::ENUMERATED_MAX
    /// [`SHUFFLES`]: crate::permutation::SHUFFLES
    pub p: f64,
}

/// How far the groups of `y` are apart, of which `group` says to which each value belongs; what is
/// beyond the shorter of them is left out. With one group, a value that is NaN or all of them equal
/// p is 1.
pub fn kruskal_wallis(group: &[u32], y: &[f64]) -> KruskalWallis {
    let n = group.len().min(y.len());
    let (group, y) = (&group[..n], &y[..n]);
    let none = KruskalWallis { h: 0.0, p: 1.0 };
    if y.iter().any(|value| value.is_nan()) {
        return none;
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| group[i]);
    let sizes: Vec<usize> =
        order.chunk_by(|&i, &j| group[i] == group[j]).map(<[usize]>::len).collect();
    let middle = n as i64 + 1;
    let ranks = doubled_mean_ranks(y);
    let mut ranks: Vec<i64> = order.into_iter().map(|i| ranks[i] as i64 - middle).collect();
    let scale = ranks.iter().map(|rank| rank * rank).sum::<i64>() as f64;
    if sizes.len() < 2 || scale == 0.0 {
        return none;
    }
    let between = |ranks: &[i64]| {
        let mut rest = ranks;
        let of_group = |&size: &usize| {
            let (own, others) = rest.split_at(size);
            rest = others;
            let sum = own.iter().sum::<i64>();
            (sum * sum) as f64 / size as f64
        };
        sizes.iter().map(of_group).sum::<f64>()
    };
    let seen = between(&ranks);
    let p = share(&mut ranks, |ranks| between(ranks) >= reached(seen));
    KruskalWallis { h: (n as f64 - 1.0) * seen / scale, p }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of four, one above the other: 2 of 70 ways, H = 16/3.
    #[test]
    fn the_clearest_separation() {
        let group = [1, 2, 1, 2, 1, 2, 1, 2];
        let y = [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0];
        let found = kruskal_wallis(&group, &y);
        assert!((found.h - 16.0 / 3.0).abs() < 1e-12 && found.p == 2.0 / 70.0, "{found:?}");
    }

    /// Mean ranks 7/3, 14/3 and 7 about 4: H = 6 · (56/3) / 26.
    #[test]
    fn ties_share_their_rank() {
        let found = kruskal_wallis(&[0, 0, 0, 1, 1, 1, 7], &[1.0, 2.0, 2.0, 2.0, 4.0, 5.0, 9.0]);
        assert!((found.h - 56.0 / 13.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn nothing_differs_within_one_group_or_of_what_never_changes() {
        let none = KruskalWallis { h: 0.0, p: 1.0 };
        assert_eq!(kruskal_wallis(&[3; 4], &[1.0, 2.0, 3.0, 4.0]), none);
        assert_eq!(kruskal_wallis(&[1, 2], &[4.0; 2]), none);
        assert_eq!(kruskal_wallis(&[1, 2], &[f64::NAN, 1.0]), none);
        assert_eq!(kruskal_wallis(&[], &[]), none);
    }
}
