//! Single times of a trial into what is stored of them: centre, spread, histogram, one figure a
//! turn.

use hdrhistogram::Histogram;
use v6gap_core::observation::Times;

/// Significant digits of the histogram.
const DIGITS: u8 = 3;

/// Summary of `samples_ns`, given in the order of time. `turn_ends` holds how many samples there
/// were at the end of each turn, ascending; empty for workloads without turns. `lost` exchanges
/// have no sample.
pub fn times(samples_ns: &[u64], turn_ends: &[usize], lost: u64) -> Times {
    let mut sorted = samples_ns.to_vec();
    sorted.sort_unstable();
    Times {
        count: samples_ns.len() as u64,
        lost,
        trimmed_mean_ns: trimmed_mean(&sorted),
        mean_ns: mean(&sorted),
        median_ns: median(&sorted),
        min_ns: sorted.first().copied().unwrap_or(0),
        max_ns: sorted.last().copied().unwrap_or(0),
        histogram: histogram(samples_ns),
        turns_ns: turns(samples_ns, turn_ends),
    }
}

/// Mean without the lowest 5 % and the highest 10 %: a single hold-up of some ms moves a plain mean
/// by more than the difference looked for. 0 of nothing.
fn trimmed_mean(sorted: &[u64]) -> f64 {
    let n = sorted.len();
    mean(&sorted[n * 5 / 100..n - n * 10 / 100])
}

fn mean(values: &[u64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    sum as f64 / values.len() as f64
}

/// RFC 2330 section 11.3: of an even number, the mean of the two in the middle.
fn median(sorted: &[u64]) -> f64 {
    let n = sorted.len();
    match n {
        0 => 0.0,
        _ if n % 2 == 1 => sorted[n / 2] as f64,
        _ => (sorted[n / 2 - 1] as f64 + sorted[n / 2] as f64) / 2.0,
    }
}

fn turns(samples_ns: &[u64], turn_ends: &[usize]) -> Vec<f64> {
    let starts = std::iter::once(0).chain(turn_ends.iter().copied());
    let turn = |(start, &end): (usize, &usize)| {
        let mut sorted = samples_ns[start..end].to_vec();
        sorted.sort_unstable();
        trimmed_mean(&sorted)
    };
    starts.zip(turn_ends).map(turn).collect()
}

fn histogram(samples_ns: &[u64]) -> Vec<(u64, u64)> {
    let highest = samples_ns.iter().copied().max().unwrap_or(0).max(2);
    let mut histogram = Histogram::<u64>::new_with_max(highest, DIGITS)
        .expect("a highest value of at least 2 and at most 5 digits are within bounds");
    for &sample in samples_ns {
        // All are within the highest value, so nothing is cut.
        histogram.saturating_record(sample);
    }
    let bucket = |v: hdrhistogram::iterators::IterationValue<u64>| {
        (v.value_iterated_to(), v.count_since_last_iteration())
    };
    histogram.iter_recorded().map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // 1..=100 in a scrambled order: 37 is coprime to 101.
        let samples: Vec<u64> = (1..=100).map(|i| i * 37 % 101).collect();
        let times = times(&samples, &[], 3);
        assert_eq!((times.count, times.lost), (100, 3));
        assert_eq!((times.min_ns, times.max_ns), (1, 100));
        assert_eq!(times.mean_ns, 50.5);
        assert_eq!(times.median_ns, 50.5);
        // 6..=90.
        assert_eq!(times.trimmed_mean_ns, 48.0);
        assert_eq!(times.histogram.len(), 100);
        assert!(times.turns_ns.is_empty());
    }

    #[test]
    fn one_hold_up_does_not_move_the_trimmed_mean() {
        let mut samples = vec![5_000; 19];
        samples.push(50_000_000);
        let times = times(&samples, &[], 0);
        assert_eq!(times.trimmed_mean_ns, 5_000.0);
        assert!(times.mean_ns > 2_000_000.0);
    }

    #[test]
    fn turns_keep_the_order_of_time() {
        let samples = [3, 1, 2, 10, 30, 20, 20];
        let times = times(&samples, &[3, 3, 7], 0);
        assert_eq!(times.turns_ns, [2.0, 0.0, 20.0]);
    }

    #[test]
    fn buckets_name_their_highest_value_and_lose_nothing() {
        let samples = [1, 1, 2_047, 2_048, 2_049, 123_456_789];
        let histogram = histogram(&samples);
        assert_eq!(histogram.iter().map(|(_, count)| count).sum::<u64>(), 6);
        assert!(histogram.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(histogram[0], (1, 2));
        let (highest, _) = histogram[histogram.len() - 1];
        assert!((123_456_789..123_600_000).contains(&highest), "{highest}");
    }

    #[test]
    fn of_nothing() {
        let times = times(&[], &[], 5);
        assert_eq!((times.count, times.lost, times.trimmed_mean_ns), (0, 5, 0.0));
    }
}
