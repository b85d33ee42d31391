//! How far an open question is from its answer, at the level of those that are decided together,
//! and from where on no number is worth naming (docs/method.md section C.7).

use v6gap_core::plan::Stop;
use v6gap_stats::power;

/// Error rate of a verdict of difference.
pub(crate) const ALPHA: f64 = 0.05;

/// Error rate of the verdict "same".
pub(crate) const ALPHA_SAME: f64 = 0.10;

/// The level of one question among so many that are decided together: that of the first of Holm's
/// steps, which is what a question needs while all others are open.
pub(crate) fn level(alpha: f64, together: usize) -> f64 {
    alpha / together.max(1) as f64
}

/// How many of the longest runs that a plan allows further pairs may take, or of the runs of a
/// planned number, before no run of its kind is worth naming.
const RUNS_WORTH_NAMING: u32 = 10;

/// Whether so many further pairs, at so long a pair, are out of reach of runs of this kind.
pub fn is_out_of_reach(stop: &Stop, pairs: u32, pair_ns: f64) -> bool {
    match stop {
        Stop::Pairs { pairs: planned } => pairs > planned.saturating_mul(RUNS_WORTH_NAMING),
        Stop::Adaptive { time_ns_max, .. } => {
            f64::from(pairs) * pair_ns > f64::from(RUNS_WORTH_NAMING) * *time_ns_max as f64
        }
    }
}

/// Pairs after which one of `open` questions decided together would be settled: its range would be
/// narrow enough for "same" or for "different", whichever is sooner; [`power::NEVER`] if
/// no number is enough. `centre`, `noise` and `margin` are on the scale of single pairs.
pub fn pairs_to_settle(centre: f64, noise: f64, margin: f64, open: usize) -> usize {
    let distance = libm::fabs(centre);
    let different = power::blocks_for_sequence_radius(noise, distance, level(ALPHA, open));
    let same = margin - distance;
    different.min(power::blocks_for_sequence_radius(noise, same, level(ALPHA_SAME, open)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXED: Stop = Stop::Pairs { pairs: 20 };

    #[test]
    fn questions_decided_together_need_more() {
        assert!(pairs_to_settle(0.01, 0.02, 0.02, 9) > pairs_to_settle(0.01, 0.02, 0.02, 1));
        assert_eq!(pairs_to_settle(0.0, 0.02, 0.0, 1), power::NEVER);
    }

    #[test]
    fn pairs_that_no_run_has_time_for_are_out_of_reach() {
        let minute = Stop::within(60_000_000_000);
        assert!(!is_out_of_reach(&minute, 600, 1e9) && is_out_of_reach(&minute, 601, 1e9));
        assert!(!is_out_of_reach(&FIXED, 200, 1e12) && is_out_of_reach(&FIXED, 201, 1.0));
        assert!(is_out_of_reach(&minute, u32::MAX, 1e6));
    }
}
