//! Bytes over time at a receiver: preallocated samples and the rate between two of them.
//!
//! Each sample stands at the time of the read that delivered its last byte. The rate is the slope
//! between a sample near the end of the warm-up and one near the moment when the sender stopped, so
//! that neither slow start nor the emptying of queues is in it.
//!
//! A receiver that was scheduled away reads late what had arrived in time, and a sample taken then
//! lies below the line of the arrivals. So at either end the sample that lies highest above the
//! mean slope is taken: there the receiver had caught up. Both ends are treated alike, which leaves
//! a steady rate as it is. Where no sample lies near an end, the end itself is taken: a path that
//! delivers nothing there is slower by that, as it is in the middle.

use v6gap_core::capacity::EDGE_NS;
use v6gap_core::observation::Received;
use v6gap_core::steady::{bytes_at, steady};

/// Time between samples, in ns.
const STEP_NS: u64 = 10_000_000;

/// Most samples that are kept, whatever the duration.
const SAMPLES_MAX: u64 = 100_000;

/// The ends of the window in which a caught-up sample is looked for are this part of it each.
const EDGE_PARTS: usize = 5;

/// Counts bytes and samples their number.
#[derive(Debug, Clone)]
pub struct Series {
    samples: Vec<(u64, u64)>,
    step_ns: u64,
    start_ns: Option<u64>,
    last_ns: u64,
    due_ns: u64,
    bytes: u64,
    /// How far from an end of the window a sample may be that stands for it, in ns.
    edge_ns: u64,
}

impl Series {
    /// Room for a transfer that lasts `duration_ns`; later samples are left out.
    pub fn new(duration_ns: u64) -> Self {
        Self::one_of(1, duration_ns)
    }

    /// As [`Series::new`] for one of `streams` that share the room of one.
    pub fn one_of(streams: u32, duration_ns: u64) -> Self {
        let samples_max = (SAMPLES_MAX / u64::from(streams.max(1))).max(1);
        let step_ns = STEP_NS.max(duration_ns / samples_max);
        // Half as much again for queues that empty, and the first and the last sample.
        let room = (duration_ns / step_ns) * 3 / 2 + 2;
        let samples = Vec::with_capacity(room as usize);
        Series {
            samples,
            step_ns,
            start_ns: None,
            last_ns: 0,
            due_ns: 0,
            bytes: 0,
            edge_ns: EDGE_NS,
        }
    }

    /// Notes that `bytes` had arrived at `now_ns`. Allocates nothing.
    #[inline]
    pub fn add(&mut self, now_ns: u64, bytes: u64) {
        let start_ns = *self.start_ns.get_or_insert(now_ns);
        self.bytes += bytes;
        self.last_ns = now_ns - start_ns;
        if self.last_ns >= self.due_ns && self.samples.len() < self.samples.capacity() {
            self.samples.push((self.last_ns, self.bytes));
            self.due_ns = self.last_ns + self.step_ns;
        }
    }

    /// Time since the first byte, in ns; 0 before it.
    #[inline]
    pub fn elapsed_ns(&self, now_ns: u64) -> u64 {
        self.start_ns.map_or(0, |start| now_ns.saturating_sub(start))
    }

    /// Application bytes so far.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the last bytes came, in ns since the first.
    pub fn span_ns(&self) -> u64 {
        self.last_ns
    }

    /// For a sender that says nothing for so long by itself: no path that delivers nothing.
    pub fn pauses(&mut self, pause_ns: u64) {
        self.edge_ns = self.edge_ns.max(pause_ns);
    }

    /// Nothing so far, in the same memory.
    pub fn clear(&mut self) {
        self.samples.clear();
        (self.start_ns, self.last_ns, self.due_ns, self.bytes) = (None, 0, 0, 0);
    }

    /// Application bit/s after `warmup_ns`, of a sender that sent for `duration_ns`; `None` if
    /// there are no two samples to take it from.
    pub fn rate_bps(&self, warmup_ns: u64, duration_ns: u64) -> Option<f64> {
        Some(self.slope(warmup_ns, duration_ns)).filter(|&rate_bps| rate_bps > 0.0)
    }

    /// The sum of several that ran at the same time, as one series whose samples lie on the lines
    /// between theirs; a single one as it is.
    pub fn sum(mut all: Vec<Series>) -> Series {
        if all.len() == 1 {
            return all.remove(0);
        }
        let started = all.iter().filter_map(|series| series.start_ns);
        let Some(start_ns) = started.min() else { return Series::new(0) };
        let step_ns = all.iter().map(|series| series.step_ns).max().unwrap_or(STEP_NS);
        let bytes = all.iter().map(|series| series.bytes).sum();
        let edge_ns = all.iter().map(|series| series.edge_ns).max().unwrap_or(EDGE_NS);
        for series in &mut all {
            let later = series.start_ns.unwrap_or(start_ns) - start_ns;
            series.samples.push((series.last_ns, series.bytes));
            series.samples.iter_mut().for_each(|sample| sample.0 += later);
            series.last_ns += later;
        }
        let last_ns = all.iter().map(|series| series.last_ns).max().unwrap_or(0);
        let sum_at = |t: u64| all.iter().map(|series| bytes_at(&series.samples, t)).sum::<f64>();
        let times = (0..=last_ns / step_ns).map(|step| step * step_ns);
        let samples = times.map(|t| (t, sum_at(t) as u64)).collect();
        Series { samples, step_ns, start_ns: Some(start_ns), last_ns, due_ns: 0, bytes, edge_ns }
    }

    /// The figures of a sender that sent for `duration_ns`, the first `warmup_ns` left out of the
    /// rate; without a warm-up given, the rate is that of the whole transfer. A rate is 0 if there
    /// are no two samples to take it from.
    pub fn received(self, warmup_ns: Option<u64>, duration_ns: u64) -> Received {
        let first = self.samples.first().map_or(0, |(_, bytes)| *bytes);
        let whole_bps = match self.last_ns {
            0 => 0.0,
            span_ns => self.bytes.saturating_sub(first) as f64 * 8e9 / span_ns as f64,
        };
        let rate = |warmup_ns| self.slope(warmup_ns, duration_ns);
        Received {
            bytes: self.bytes,
            span_ns: self.last_ns,
            rate_bps: warmup_ns.map_or(whole_bps, rate),
            whole_bps,
            steady: steady(&self.samples, duration_ns),
            series: self.samples,
            ..Received::default()
        }
    }

    fn slope(&self, warmup_ns: u64, duration_ns: u64) -> f64 {
        let samples = &self.samples[..];
        let first = samples.partition_point(|(t, _)| *t < warmup_ns);
        let end = samples.partition_point(|(t, _)| *t <= duration_ns);
        let Some(window) = samples.get(first..end).filter(|window| window.len() > 1) else {
            return 0.0;
        };
        let (start, stop) = (window[0], window[window.len() - 1]);
        let mean = per_ns(start, stop);
        let edge = (window.len() / EDGE_PARTS).max(1);
        // Where nothing came so near the end of the window, nothing was delivered: that is in the
        // rate, as it is in the middle. A late receiver has what it missed in its next sample.
        let at = |t: u64| (t, bytes_at(samples, t));
        // Of samples that are alike the last one that is asked, which is the outermost.
        let caught_up = |part: &mut dyn Iterator<Item = &(u64, u64)>, t: u64| {
            let near = part.filter(|sample| sample.0.abs_diff(t) <= self.edge_ns);
            let above = |s: &(u64, u64)| s.1 as f64 - mean * s.0 as f64;
            let best = near.max_by(|x, y| above(x).total_cmp(&above(y)));
            best.map_or_else(|| at(t), |&(t, bytes)| (t, bytes as f64))
        };
        let from = caught_up(&mut window[..edge].iter().rev(), warmup_ns);
        let to = caught_up(&mut window[window.len() - edge..].iter(), duration_ns);
        match to.0 > from.0 {
            true => (to.1 - from.1) / (to.0 - from.0) as f64 * 8.0 * 1e9,
            false => mean * 8.0 * 1e9,
        }
    }
}

/// Bytes per ns between two samples.
fn per_ns((t0, b0): (u64, u64), (t1, b1): (u64, u64)) -> f64 {
    (b1 - b0) as f64 / (t1 - t0).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Trap: a test so short that all of it is slow start, which a longer round trip of one family
    /// turns into a difference between the two.
    #[test]
    fn warm_up_and_emptying_queues_are_not_in_the_rate() {
        let mut series = Series::new(1_000 * MS);
        for ms in 0..1_200 {
            // Ten times as fast in the first 200 ms and after the sender stopped.
            let bytes = if (200..=1_000).contains(&ms) { 1_000 } else { 10_000 };
            series.add(5 + ms * MS, bytes);
        }
        let received = series.received(Some(200 * MS), 1_000 * MS);
        assert_eq!(received.rate_bps, 8e6);
        assert_eq!(received.bytes, 200 * 10_000 + 801 * 1_000 + 199 * 10_000);
        assert_eq!(received.span_ns, 1_199 * MS);
        assert_eq!(received.series[0], (0, 10_000));
    }

    #[test]
    fn a_receiver_that_was_late_at_an_end_does_not_change_the_rate() {
        let with_pause_at = |pause: std::ops::Range<u64>| {
            let mut series = Series::new(1_000 * MS);
            let mut held = 0;
            for ms in 0..1_000 {
                // What arrives during the pause is read in one go behind it.
                held += 1_000;
                if !pause.contains(&ms) {
                    series.add(ms * MS, held);
                    held = 0;
                }
            }
            series.received(Some(200 * MS), 1_000 * MS).rate_bps
        };
        for pause in [195..230, 500..550, 950..999, 0..0] {
            let rate = with_pause_at(pause.clone());
            assert!((rate / 8e6 - 1.0).abs() < 1e-9, "{pause:?}: {rate}");
        }
    }

    /// Nothing comes for so long, be it before, within or behind the window, and then as fast as
    /// ever: that time counts.
    #[test]
    fn a_path_that_delivers_nothing_at_an_end_is_slower() {
        let with_stall = |stall: std::ops::Range<u64>| {
            let mut series = Series::new(1_000 * MS);
            (0..1_600).filter(|ms| !stall.contains(ms)).for_each(|ms| series.add(ms * MS, 1_000));
            series.received(Some(200 * MS), 1_000 * MS).rate_bps / 8e6
        };
        for (stall, share) in [
            (0..0, 1.0),
            (700..1_300, 0.625),
            (800..960, 0.8),
            (100..350, 0.8125),
            (700..1_600, 0.625),
        ] {
            let rate = with_stall(stall.clone());
            // A sample each 10 ms, and edges that may be moved by 50 ms.
            assert!((rate - share).abs() < 0.015, "{stall:?}: {rate} of {share}");
        }
    }

    /// 1408 B each 75 ms, the next one after the end.
    #[test]
    fn a_sender_that_rests_by_itself_is_not_slower_for_it() {
        let mut series = Series::new(600 * MS);
        series.pauses(2 * 75 * MS);
        (0..8).for_each(|number| series.add(number * 75_093_333, 1_408));
        let rate = series.received(Some(150 * MS), 600 * MS).rate_bps;
        assert!((rate / 150e3 - 1.0).abs() < 1e-4, "{rate}");
    }

    #[test]
    fn several_series_are_summed_by_their_own_clocks() {
        let one = |start: u64, per_ms: u64| {
            let mut series = Series::one_of(2, 1_000 * MS);
            (start..=1_000).for_each(|ms| series.add(7 + ms * MS, per_ms));
            series
        };
        let sum = Series::sum(vec![one(0, 1_000), one(105, 3_000)]);
        let received = sum.received(Some(200 * MS), 1_000 * MS);
        assert_eq!(received.bytes, 1_001 * 1_000 + 896 * 3_000);
        assert_eq!(received.span_ns, 1_000 * MS);
        assert!((received.rate_bps / 32e6 - 1.0).abs() < 1e-6, "{}", received.rate_bps);
        let steady = received.steady.expect("a level rate");
        assert!((steady.rate_bps / 32e6 - 1.0).abs() < 1e-6, "{steady:?}");
        assert_eq!(Series::sum(Vec::new()).received(None, 1).rate_bps, 0.0);
    }

    #[test]
    fn a_whole_transfer_counts_its_slow_start() {
        let mut series = Series::new(1_000 * MS);
        (0..=500).for_each(|ms| series.add(ms * MS, if ms < 250 { 100 } else { 900 }));
        let received = series.received(None, 1_000 * MS);
        let whole_bps = (249.0 * 100.0 + 251.0 * 900.0) * 8.0 / 0.5;
        assert!((received.rate_bps / whole_bps - 1.0).abs() < 1e-9, "{}", received.rate_bps);
        assert_eq!(received.rate_bps, received.whole_bps);
    }

    #[test]
    fn no_two_samples_no_rate() {
        assert_eq!(Series::new(0).received(Some(0), 0).rate_bps, 0.0);
        let mut one = Series::new(100 * MS);
        one.add(1, 10);
        assert_eq!(one.received(Some(0), 100 * MS).rate_bps, 0.0);
    }

    #[test]
    fn room_is_never_exceeded() {
        let mut series = Series::new(30 * MS);
        let room = series.samples.capacity();
        for ms in 0..10_000 {
            series.add(ms * MS, 1);
        }
        assert_eq!(series.samples.capacity(), room);
        assert_eq!(series.bytes, 10_000);
    }
}
