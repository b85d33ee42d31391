//! Interval for a share of events, such as packets lost in one trial, and the comparison of two.
//!
//! Both assume independent events. Packets are lost in bursts, so within a trial that is a *lower*
//! bound on the uncertainty; comparisons use one loss figure per trial, and say by
//! [`unseen_in_bursts`] what may have been missed.

use crate::estimate::Interval;
use crate::special::{beta_lower, beta_quantile};

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

/// Range of the second share less the first, of two counts `(events, of)`, at confidence `conf` in
/// (0, 1): both ends recover the variance from those of [`interval`] (Newcombe 1998, method 10;
/// Zou & Donner 2008). Where neither count has an event it reaches as far as their own ranges do.
pub fn difference(first: (u64, u64), second: (u64, u64), conf: f64) -> Interval {
    let of = |(k, n): (u64, u64)| {
        let (share, Interval { low, high }) = (k as f64 / n.max(1) as f64, interval(k, n, conf));
        (share, share - low, high - share)
    };
    let ((a, a_below, a_above), (b, b_below, b_above)) = (of(first), of(second));
    let difference = b - a;
    Interval {
        low: difference - libm::hypot(b_below, a_above),
        high: difference + libm::hypot(b_above, a_below),
    }
}

/// Most neighbouring events that are taken for one burst: 60 ms of outage at 100 Mbit/s.
pub const BURST_MAX: u64 = 500;

/// Independent looks for bursts of up to [`BURST_MAX`] events each that `n` things in `trials`
/// trials, which begin apart, are worth: one at the start of each trial, and one for each further
/// burst that would fit.
pub fn looks(trials: u64, n: u64) -> f64 {
    trials as f64 + n as f64 / BURST_MAX as f64
}

/// By how much a share may be larger than the `k` events seen in `n` say, at confidence `conf` as
/// the upper end of [`interval`], where events come in bursts of up to [`BURST_MAX`]: those seen
/// are taken for as few bursts as they can make, of so many [`looks`]. With `n` = 0 that is the
/// bound on the share of trials with an event.
pub fn unseen_in_bursts(k: u64, n: u64, trials: u64, conf: f64) -> f64 {
    let miss = (1.0 - conf) / 2.0;
    let (bursts, looks) = (k.div_ceil(BURST_MAX) as f64, looks(trials, n));
    if bursts >= looks || !(miss > 0.0 && miss < 0.5) {
        return 1.0;
    }
    let seen = if n == 0 { 0.0 } else { k as f64 / n as f64 };
    (beta_quantile(bursts + 1.0, looks - bursts, 1.0 - miss) - seen).max(0.0)
}

/// How likely a `share` in such bursts leaves no more than `k` events in `n`.
pub fn few_in_bursts_p(k: u64, n: u64, trials: u64, share: f64) -> f64 {
    let (bursts, looks) = (k.div_ceil(BURST_MAX) as f64, looks(trials, n));
    if bursts >= looks {
        return 1.0;
    }
    let share = share.clamp(0.0, 1.0);
    beta_lower(looks - bursts, bursts + 1.0, 1.0 - share, share)
}

/// Fisher's exact test (1922) of whether two counts, each of `(events, trials)`, come from one
/// share: the two-sided p-value, which adds up all tables with the same sums that are no likelier
/// than the one seen. Assumes independent events, so for losses in bursts it is too small; use it
/// to describe one trial. 1 if a count exceeds its trials.
pub fn fisher_p(first: (u64, u64), second: (u64, u64)) -> f64 {
    let (Some(others), true) =
        (first.1.checked_add(second.1), first.0 <= first.1 && second.0 <= second.1)
    else {
        return 1.0;
    };
    let events = first.0 + second.0;
    let (least, most) = (events.saturating_sub(second.1), events.min(first.1));
    // P(k + 1) / P(k) of the hypergeometric law; the law itself is scaled to 1 at its mode.
    let ratio = |k: u64| {
        let up = (first.1 - k) as f64 * (events - k) as f64;
        up / ((k + 1) as f64 * (second.1 + k + 1 - events) as f64)
    };
    let mode = (first.1 as f64 + 1.0) * (events as f64 + 1.0) / (others as f64 + 2.0);
    let mode = (libm::floor(mode) as u64).clamp(least, most);
    let weight_at = |target: u64| {
        let (up, down) = (mode..target, target..mode);
        up.fold(1.0, |w, k| w * ratio(k)) * down.rev().fold(1.0, |w, k| w / ratio(k))
    };
    // As likely up to rounding counts as no likelier, as in R and scipy.
    let limit = weight_at(first.0) * (1.0 + 1e-7);
    let (mut all, mut rare) = (0.0, 0.0);
    let mut add = |weight: f64| {
        all += weight;
        rare += if weight <= limit { weight } else { 0.0 };
        weight > 0.0
    };
    let mut weight = 1.0;
    let mut k = mode;
    while add(weight) && k < most {
        weight *= ratio(k);
        k += 1;
    }
    (weight, k) = (1.0, mode);
    while k > least {
        k -= 1;
        weight /= ratio(k);
        if !add(weight) {
            break;
        }
    }
    (rare / all).min(1.0)
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

    #[test]
    fn the_difference_of_two_counts() {
        // Newcombe's example of 56 of 70 and 48 of 80, with exact ends (0.6873, 0.8861) and
        // (0.4844, 0.7080) in place of Wilson's.
        let found = difference((48, 80), (56, 70), 0.95);
        let (low, high) = (
            0.2 - libm::hypot(0.8 - 0.6873, 0.7080 - 0.6),
            0.2 + libm::hypot(0.8861 - 0.8, 0.6 - 0.4844),
        );
        assert!((found.low - low).abs() < 2e-4 && (found.high - high).abs() < 2e-4, "{found:?}");
        let none = difference((0, 4800), (0, 2400), 0.95);
        let bounds = (interval(0, 4800, 0.95).high, interval(0, 2400, 0.95).high);
        assert_eq!((-none.low, none.high), bounds);
        assert_eq!(difference((0, 0), (0, 0), 0.95), Interval { low: -1.0, high: 1.0 });
    }

    #[test]
    fn of_bursts_the_trials_alone_or_the_bursts_that_fit_tell() {
        // 1 - 0.025^(1/8), and 8 + 41,280 / 500 looks.
        assert!((unseen_in_bursts(0, 0, 8, 0.95) - 0.369_42).abs() < 1e-5);
        let bound = unseen_in_bursts(0, 41_280, 8, 0.95);
        assert!((bound - (1.0 - libm::pow(0.025, 1.0 / 90.56))).abs() < 1e-12, "{bound}");
        assert!((few_in_bursts_p(0, 41_280, 8, bound) - 0.025).abs() < 1e-12);
        assert!(interval(0, 41_280, 0.95).high < bound);
        // One burst seen, of a thousand looks.
        let one = unseen_in_bursts(400, 400_000, 200, 0.95);
        assert!((one - (interval(1, 1000, 0.95).high - 0.001)).abs() < 1e-12, "{one}");
        assert!((few_in_bursts_p(400, 400_000, 200, one + 0.001) - 0.025).abs() < 1e-9);
        assert_eq!((unseen_in_bursts(0, 0, 0, 0.95), few_in_bursts_p(9, 9, 0, 0.5)), (1.0, 1.0));
        assert_eq!(unseen_in_bursts(0, 9, 8, f64::NAN), 1.0);
    }

    #[test]
    fn fisher_by_hand() {
        // 3 of 4 against 1 of 4 (the lady and her tea): (1 + 16 + 16 + 1) / 70.
        assert!((fisher_p((3, 4), (1, 4)) - 34.0 / 70.0).abs() < 1e-15);
        assert_eq!(fisher_p((3, 4), (1, 4)), fisher_p((1, 4), (3, 4)));
        assert_eq!((fisher_p((0, 10), (0, 20)), fisher_p((3, 2), (0, 1))), (1.0, 1.0));
        assert_eq!((fisher_p((0, 0), (0, 0)), fisher_p((5, 5), (7, 7))), (1.0, 1.0));
        assert!(fisher_p((0, 1_000_000), (400_000, 1_000_000)) < 1e-300);
    }
}
