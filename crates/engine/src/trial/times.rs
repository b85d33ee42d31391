//! Single times of a trial into what is stored of them: centre, spread, histogram, one figure a
//! turn.

use crate::hot::Tally;
use hdrhistogram::Histogram;
use v6gap_core::observation::{Held, Times};
use v6gap_core::workload::{Echo, Timing};

/// A single time is worth its digits only if the clock steps by at most this share of it
/// (docs/method.md section B.9).
const STEP_SHARE_MAX: f64 = 0.01;

/// The clock's step if it is more than a hundredth of the median of either arm: single times mean
/// nothing then. Both arms are timed alike, for a turn has in it what single times leave out.
pub(super) fn too_coarse(tallies: [&Tally; 2], echo: &Echo, step_ns: u64) -> Option<u64> {
    let measured = tallies.into_iter().filter(|tally| !tally.times_ns.is_empty());
    let mut medians = measured.map(|tally| median(&mut tally.times_ns.clone()));
    let is_coarse = medians.any(|median_ns| step_ns as f64 > STEP_SHARE_MAX * median_ns);
    (is_coarse && echo.outstanding == 1).then_some(step_ns)
}

/// Summary of the exchanges of one arm, and a note if it is not what was asked: turns are timed as
/// a whole where the clock steps by more than single times bear, see [`too_coarse`].
pub(super) fn exchanges(
    tally: &Tally,
    echo: &Echo,
    too_coarse: Option<u64>,
) -> (Times, Option<String>) {
    if echo.timing == Timing::Each && too_coarse.is_none() {
        return (times(&tally.times_ns, &tally.turn_ends, tally.lost), None);
    }
    let note = too_coarse.filter(|_| echo.timing == Timing::Each).map(|step_ns| {
        format!(
            "times of single exchanges unavailable, because the clock steps by {step_ns} ns; whole \
             turns were timed"
        )
    });
    (batches(tally, echo), note)
}

/// What a far end held of the exchanges of one arm; `None` if it told nothing of them.
pub(super) fn held(tally: &Tally) -> Option<Held> {
    let held_ns = &tally.held_ns;
    let mut whole: Vec<u64> =
        tally.times_ns.iter().zip(held_ns).map(|(time, held)| time + held).collect();
    let max_ns = held_ns.iter().copied().max()?;
    Some(Held {
        mean_ns: mean(held_ns),
        median_ns: median(&mut held_ns.clone()),
        max_ns,
        whole_ns: trimmed_mean(&mut whole),
    })
}

/// One time for each turn without losses: that of the turn, divided by its exchanges. The mean of
/// them is that of all their exchanges (docs/method.md section B.9).
fn batches(tally: &Tally, echo: &Echo) -> Times {
    let exchanges = u64::from(echo.turn_exchanges.max(1));
    let (mut samples, mut ends) = (Vec::new(), Vec::new());
    for total in &tally.turn_totals_ns {
        // Rounded to the nearest.
        samples.extend(total.map(|ns| (ns + exchanges / 2) / exchanges));
        ends.push(samples.len());
    }
    Times { exchanges_each: echo.turn_exchanges, ..times(&samples, &ends, tally.lost) }
}

/// Summary of `samples_ns`, given in the order of time. `turn_ends` holds how many samples there
/// were at the end of each turn, ascending; empty for workloads without turns. `lost` exchanges
/// have no sample.
pub fn times(samples_ns: &[u64], turn_ends: &[usize], lost: u64) -> Times {
    let mut scratch = samples_ns.to_vec();
    Times {
        count: samples_ns.len() as u64,
        lost,
        trimmed_mean_ns: trimmed_mean(&mut scratch),
        mean_ns: mean(samples_ns),
        median_ns: median(&mut scratch),
        min_ns: samples_ns.iter().copied().min().unwrap_or(0),
        max_ns: samples_ns.iter().copied().max().unwrap_or(0),
        histogram: histogram(samples_ns).into_iter().collect(),
        turns_ns: turns(samples_ns, turn_ends),
        exchanges_each: 1,
    }
}

/// Mean without the lowest 5 % and the highest 10 %: a single hold-up of some ms moves a plain mean
/// by more than the difference looked for. 0 of nothing. Leaves the values in another order: what
/// is left out is parted from the rest, which takes a fraction of the time of sorting.
fn trimmed_mean(values: &mut [u64]) -> f64 {
    let n = values.len();
    let (low, high) = (n * 5 / 100, n - n * 10 / 100);
    if high < n {
        values.select_nth_unstable(high);
    }
    if low < high {
        values[..high].select_nth_unstable(low);
    }
    mean(&values[low..high])
}

fn mean(values: &[u64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    sum as f64 / values.len() as f64
}

/// RFC 2330 section 11.3: of an even number, the mean of the two in the middle. Leaves the values
/// in another order.
fn median(values: &mut [u64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return 0.0;
    }
    let (below, &mut middle, _) = values.select_nth_unstable(n / 2);
    match below.iter().max() {
        Some(&lower) if n.is_multiple_of(2) => f64::midpoint(lower as f64, middle as f64),
        _ => middle as f64,
    }
}

fn turns(samples_ns: &[u64], turn_ends: &[usize]) -> Vec<f64> {
    let starts = std::iter::once(0).chain(turn_ends.iter().copied());
    let turn = |(start, &end): (usize, &usize)| trimmed_mean(&mut samples_ns[start..end].to_vec());
    starts.zip(turn_ends).map(turn).collect()
}

fn histogram(samples_ns: &[u64]) -> Vec<(u64, u64)> {
    let highest = samples_ns.iter().copied().max().unwrap_or(0).max(2);
    let mut histogram = Histogram::<u64>::new_with_max(highest, Times::DIGITS)
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
        assert_eq!(times.histogram.iter().count(), 100);
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

    fn turns_of(totals: &[Option<u64>], singles: u64) -> Tally {
        let times_ns = vec![singles; 10 * totals.len()];
        let turn_ends = (1..=totals.len()).map(|turn| 10 * turn).collect();
        let turn_totals_ns = totals.to_vec();
        Tally { times_ns, turn_ends, turn_totals_ns, lost: 1, ..Tally::default() }
    }

    #[test]
    fn a_batch_is_the_time_of_a_turn_by_its_exchanges() {
        let echo = Echo { turn_exchanges: 10, timing: Timing::Batch, ..Echo::default() };
        let tally = turns_of(&[Some(1_004), None, Some(2_006)], 1_000);
        let (times, note) = exchanges(&tally, &echo, None);
        assert_eq!((times.count, times.lost, times.exchanges_each), (2, 1, 10));
        assert_eq!((times.min_ns, times.max_ns, times.mean_ns), (100, 201, 150.5));
        assert_eq!(times.turns_ns.len(), 3);
        assert_eq!(note, None, "as asked");
    }

    #[test]
    fn a_coarse_clock_times_turns_and_says_so() {
        let echo = Echo { turn_exchanges: 10, ..Echo::default() };
        let tally = turns_of(&[Some(10_000), Some(12_000)], 1_000);
        let coarse = |step_ns| too_coarse([&tally; 2], &echo, step_ns);
        let (times, note) = exchanges(&tally, &echo, coarse(10));
        assert_eq!((times.exchanges_each, times.count, note), (1, 20, None), "1 % is fine");
        let (times, note) = exchanges(&tally, &echo, coarse(11));
        assert_eq!((times.exchanges_each, times.count, times.mean_ns), (10, 2, 1_100.0));
        assert!(note.is_some_and(|note| note.contains("11 ns")));
        let several = Echo { outstanding: 2, ..echo };
        assert_eq!(too_coarse([&tally; 2], &several, 1_000), None, "no round trip");
    }

    /// One arm just above a hundred steps and one just below: both are timed by turns, or what one
    /// leaves out would be a difference.
    #[test]
    fn both_arms_are_timed_alike() {
        let echo = Echo { turn_exchanges: 10, ..Echo::default() };
        let [quick, slow] = [990, 1_010].map(|singles| turns_of(&[Some(10_000)], singles));
        for pair in [[&quick, &slow], [&slow, &quick]] {
            assert_eq!(too_coarse(pair, &echo, 10), Some(10));
        }
        assert_eq!(too_coarse([&slow; 2], &echo, 10), None);
        assert_eq!(too_coarse([&slow, &Tally::default()], &echo, 10), None, "measured alone");
    }

    /// The longest round trip was held the shortest: what both take together is summed by pairs.
    #[test]
    fn what_was_held_is_added_to_each_time() {
        let (times_ns, held_ns) = (vec![10, 20, 30, 40], vec![90, 80, 70, 65]);
        let tally = Tally { times_ns, held_ns, ..Tally::default() };
        let found = held(&tally).unwrap();
        assert_eq!((found.mean_ns, found.median_ns, found.max_ns), (76.25, 75.0, 90));
        assert_eq!(found.whole_ns, 101.25);
        assert_eq!(held(&Tally::default()), None);
    }

    #[test]
    fn of_nothing() {
        let times = times(&[], &[], 5);
        assert_eq!((times.count, times.lost, times.trimmed_mean_ns), (0, 5, 0.0));
    }
}
