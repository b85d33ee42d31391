//! What the blocks of a cell in one round say together. They share the processes that measured them
//! and the lab, so they are no independent repetitions: what enters ranges and tests is one value.

use alloc::vec::Vec;
use v6gap_core::metric::Scale;
use v6gap_stats::{signed_rank, summary};

/// What values of one round say together: of ratios their centre, as of all rounds, so that a block
/// or two that other work has hit move it little; of shares the mean (docs/method.md B.1).
pub fn together(scale: Scale, values: &[f64]) -> f64 {
    match (values, scale) {
        ([one], _) => *one,
        (_, Scale::Ratio) => signed_rank::centre(values),
        (_, Scale::Difference) => summary::mean(values),
    }
}

/// One value for each round, of values with the numbers of their rounds, in the order of time.
pub fn values(scale: Scale, values: impl IntoIterator<Item = (u32, f64)>) -> Vec<f64> {
    let all: Vec<(u32, f64)> = values.into_iter().collect();
    let of_round = |round: &[(u32, f64)]| {
        together(scale, &round.iter().map(|(_, value)| *value).collect::<Vec<f64>>())
    };
    all.chunk_by(|a, b| a.0 == b.0).map(of_round).collect()
}

/// How many rounds there are, of their numbers in the order of time.
pub fn count(rounds: impl IntoIterator<Item = u32>) -> usize {
    let mut last = None;
    rounds.into_iter().filter(|round| last.replace(*round) != Some(*round)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_one_value() {
        let of = |scale| values(scale, [(1, 0.1), (2, 1.0), (2, 3.0), (4, 0.3)]);
        assert_eq!(
            (of(Scale::Ratio), of(Scale::Difference)),
            (of(Scale::Difference), of(Scale::Ratio))
        );
        assert_eq!(of(Scale::Ratio), [0.1, 2.0, 0.3]);
        assert!(values(Scale::Ratio, []).is_empty());
        assert_eq!((count([1, 2, 2, 4]), count([])), (3, 0));
    }

    #[test]
    fn a_block_that_is_far_off_moves_a_ratio_little_and_a_share_as_it_must() {
        let round = [(1, 0.01), (1, 0.02), (1, 0.9), (1, 0.02)];
        assert!(values(Scale::Ratio, round)[0] < 0.025);
        assert!((values(Scale::Difference, round)[0] - 0.2375).abs() < 1e-12);
    }
}
