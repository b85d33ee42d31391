//! Bytes over time at a receiver: preallocated samples and the rate between two of them.
//!
//! Each sample stands at the time of the read that delivered its last byte. The rate is the slope
//! between the first sample after the warm-up and the last one while the sender was sending, so that
//! neither slow start nor the emptying of queues is in it.

use v6gap_core::observation::Received;

/// Time between samples, in ns.
const STEP_NS: u64 = 10_000_000;

/// Most samples that are kept, whatever the duration.
const SAMPLES_MAX: u64 = 100_000;

/// Counts bytes and samples their number.
#[derive(Debug, Clone)]
pub struct Series {
    samples: Vec<(u64, u64)>,
    step_ns: u64,
    start_ns: Option<u64>,
    last_ns: u64,
    due_ns: u64,
    bytes: u64,
}

impl Series {
    /// Room for a transfer that lasts `duration_ns`; later samples are left out.
    pub fn new(duration_ns: u64) -> Self {
        let step_ns = STEP_NS.max(duration_ns / SAMPLES_MAX);
        // Half as much again for queues that empty, and the first and the last sample.
        let room = (duration_ns / step_ns) * 3 / 2 + 2;
        let samples = Vec::with_capacity(room as usize);
        Series { samples, step_ns, start_ns: None, last_ns: 0, due_ns: 0, bytes: 0 }
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

    /// The figures of a sender that sent for `duration_ns`, the first `warmup_ns` left out of the
    /// rate. The rate is 0 if there are no two samples to take it from.
    pub fn received(self, warmup_ns: u64, duration_ns: u64) -> Received {
        let rate_bps = slope(&self.samples, warmup_ns, duration_ns);
        Received {
            bytes: self.bytes,
            span_ns: self.last_ns,
            rate_bps,
            series: self.samples,
            ..Received::default()
        }
    }
}

fn slope(samples: &[(u64, u64)], warmup_ns: u64, duration_ns: u64) -> f64 {
    let first = samples.iter().find(|(t, _)| *t >= warmup_ns);
    let last = samples.iter().rev().find(|(t, _)| *t <= duration_ns);
    match (first, last) {
        (Some(&(t0, b0)), Some(&(t1, b1))) if t1 > t0 => {
            (b1 - b0) as f64 * 8.0 * 1e9 / (t1 - t0) as f64
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn warm_up_and_emptying_queues_are_not_in_the_rate() {
        let mut series = Series::new(1_000 * MS);
        for ms in 0..1_200 {
            // Ten times as fast in the first 200 ms and after the sender stopped.
            let bytes = if (200..=1_000).contains(&ms) { 1_000 } else { 10_000 };
            series.add(5 + ms * MS, bytes);
        }
        let received = series.received(200 * MS, 1_000 * MS);
        assert_eq!(received.rate_bps, 8e6);
        assert_eq!(received.bytes, 200 * 10_000 + 801 * 1_000 + 199 * 10_000);
        assert_eq!(received.span_ns, 1_199 * MS);
        assert_eq!(received.series[0], (0, 10_000));
    }

    #[test]
    fn no_two_samples_no_rate() {
        assert_eq!(Series::new(0).received(0, 0).rate_bps, 0.0);
        let mut one = Series::new(100 * MS);
        one.add(1, 10);
        assert_eq!(one.received(0, 100 * MS).rate_bps, 0.0);
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
