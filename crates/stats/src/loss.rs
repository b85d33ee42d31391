//! Interval for a share of events, such as packets lost in one trial.
//!
//! Assumes independent events. Packets are lost in bursts, so within a trial this is a *lower*
//! bound on the uncertainty; comparisons use one loss figure per trial.

use crate::estimate::Interval;
use crate::special::beta_quantile;

/// Exact binomial interval (Clopper & Pearson 1934) for the share behind `k` events in `n`, at
/// confidence `conf` in (0, 1). No events in n at 95 %: the upper end is 3.689 / n. Without
/// information (`n` = 0, `k` > `n`, a confidence out of range) it is 0..=1.
pub fn interval(k: u64, n: u64, conf: f64) -> Interval {
    let miss = (1.0 - conf) / 2.0;
    let mut interval = Interval { low: 0.0, high: 1.0 };
    if k > n || !(miss > 0.0 && miss < 0.5) {
        return interval;
    }
    let (events, others) = (k as f64, (n - k) as f64);
    if k > 0 {
        interval.low = beta_quantile(events, others + 1.0, miss);
    }
    if k < n {
        interval.high = beta_quantile(events + 1.0, others, 1.0 - miss);
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges() {
        assert_eq!(interval(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(interval(3, 2, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(interval(1, 2, f64::NAN), Interval { low: 0.0, high: 1.0 });
        let (none, all) = (interval(0, 50, 0.95), interval(50, 50, 0.95));
        assert_eq!((none.low, all.high), (0.0, 1.0));
        assert!((none.high - (1.0 - all.low)).abs() < 1e-14);
        // 0 of n has a closed form: 1 - miss^(1/n).
        assert!((none.high - (1.0 - libm::pow(0.025, 1.0 / 50.0))).abs() < 1e-14);
    }
}
