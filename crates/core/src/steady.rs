//! The settled part of a bulk transfer, from the bytes that had arrived over time (docs/method.md,
//! section B.12).

use crate::observation::Steady;
use alloc::vec::Vec;
use v6gap_stats::steady::mser;

/// Time over which one rate of the series is taken, in ns, where the transfer is long enough.
const STEP_NS: u64 = 100_000_000;

/// Rates wanted of a shorter transfer, as long as they are not taken over less than
/// [`STEP_NS_MIN`].
const STEPS: u64 = 30;

/// Shortest time over which a rate is taken, in ns: receivers note their bytes every 10 ms.
const STEP_NS_MIN: u64 = 20_000_000;

/// Fewest rates that can show that anything settled.
const STEPS_MIN: usize = 10;

/// Bytes that had arrived by `t_ns`, on the line between the two nearest of `samples`, which are
/// pairs of (time in ns, bytes) in the order of time. 0 before the first, and after the last what
/// it says.
pub fn bytes_at(samples: &[(u64, u64)], t_ns: u64) -> f64 {
    let after = samples.partition_point(|(t, _)| *t <= t_ns);
    let Some((t0, b0)) = after.checked_sub(1).and_then(|i| samples.get(i)) else { return 0.0 };
    match samples.get(after) {
        None => *b0 as f64,
        Some((t1, b1)) => {
            let share = (t_ns - t0) as f64 / (t1 - t0) as f64;
            *b0 as f64 + share * (*b1 as f64 - *b0 as f64)
        }
    }
}

/// The part of a transfer from which on its rate had settled, by MSER on its rates in steps of
/// 100 ms, or of a thirtieth of a shorter transfer. What came later than `until_ns` after the first
/// byte is left out, as queues were then emptying. `None` if it never settled, or is too short to
/// tell.
pub fn steady(samples: &[(u64, u64)], until_ns: u64) -> Option<Steady> {
    let within = samples.get(..samples.partition_point(|(t, _)| *t <= until_ns))?;
    let (start_ns, end_ns) = (within.first()?.0, within.last()?.0);
    let span_ns = end_ns - start_ns;
    let step_ns = STEP_NS.min(span_ns / STEPS).max(STEP_NS_MIN);
    let count = span_ns / step_ns;
    let at = |step: u64| bytes_at(within, start_ns + step * step_ns);
    let rate = |from: u64, to: u64| (at(to) - at(from)) * 8e9 / ((to - from) * step_ns) as f64;
    let rates: Vec<f64> = (0..count).map(|step| rate(step, step + 1)).collect();
    if rates.len() < STEPS_MIN {
        return None;
    }
    let cut = mser(&rates).filter(|cut| cut.settled)?;
    let from_ns = start_ns + cut.first as u64 * step_ns;
    Some(Steady { from_ns, rate_bps: cut.mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Samples every 10 ms of a transfer whose rate in B/ms is `rate(ms)`.
    fn samples(ms: u64, rate: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        let mut bytes = 0;
        let each = |t: u64| {
            bytes += rate(t);
            (t * MS, bytes)
        };
        let all: Vec<(u64, u64)> = (0..ms).map(each).collect();
        all.into_iter().step_by(10).collect()
    }

    #[test]
    fn slow_start_is_cut_off() {
        let samples = samples(5_000, |ms| if ms < 800 { ms } else { 1_000 });
        let steady = steady(&samples, 5_000 * MS).unwrap();
        assert!((700 * MS..=900 * MS).contains(&steady.from_ns), "{steady:?}");
        assert!((steady.rate_bps / 8e6 - 1.0).abs() < 0.01, "{steady:?}");
    }

    #[test]
    fn what_never_settles_has_no_steady_part() {
        assert_eq!(steady(&samples(5_000, |ms| ms), 5_000 * MS), None);
    }

    #[test]
    fn emptying_queues_are_left_out() {
        let samples = samples(1_300, |ms| if ms < 1_000 { 1_000 } else { 50_000 });
        let steady = steady(&samples, 990 * MS).unwrap();
        assert!((steady.rate_bps / 8e6 - 1.0).abs() < 1e-6, "{steady:?}");
    }

    #[test]
    fn too_short_to_tell() {
        assert_eq!(steady(&[], 1), None);
        assert_eq!(steady(&samples(150, |_| 1), 150 * MS), None);
    }

    #[test]
    fn bytes_between_samples_lie_on_the_line() {
        let samples = [(10, 100), (20, 300)];
        let at = |t| bytes_at(&samples, t);
        assert_eq!([at(0), at(10), at(15), at(20), at(99)], [0.0, 100.0, 200.0, 300.0, 300.0]);
    }
}
