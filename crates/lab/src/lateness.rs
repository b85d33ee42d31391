//! How late the user-space link was: counts and a histogram that one thread writes and others read
//! without a lock.
//!
//! The link is a program and can be scheduled away; a trial in which it was late did not run over
//! the link that its world describes.

use serde::{Deserialize, Serialize};
use std::array;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets per power of two: a quantile is at most 1/16 above the true value.
const STEPS: usize = 16;
const STEP_BITS: u32 = STEPS.trailing_zeros();
const BUCKETS: usize = (64 - STEP_BITS as usize + 1) * STEPS;

/// What the user-space link did since it was last reset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// Frames delivered.
    pub frames: u64,
    /// Half of the frames were delivered at most this late, in ns; at most 1/16 too high.
    pub p50_ns: u64,
    /// 99 % of the frames were delivered at most this late, in ns; at most 1/16 too high.
    pub p99_ns: u64,
    /// The latest delivery, in ns.
    pub max_ns: u64,
    /// Copies made, as the world says; they are among the frames.
    pub doubled: u64,
    /// Frames dropped because the link's queue was full, as a real link would.
    pub queue_drops: u64,
    /// Frames lost at random, as the world says.
    pub lost: u64,
    /// Frames that a black hole took, as the world says.
    pub black_holed: u64,
    /// Frames that the lab itself failed to carry; any is a fault of the trial.
    pub faults: u64,
    /// Longest frame seen, in bytes from its destination address on; more than MTU + 14 means that
    /// a host sent segments that no Ethernet could carry.
    pub frame_bytes_max: u64,
    /// The same of each link, in the order of the world's; nothing if the lab's holder is of a
    /// version that does not tell.
    #[serde(default)]
    pub link_frame_bytes_max: Vec<u64>,
}

impl Lateness {
    /// Longest frame seen on these links, in bytes; of all where each is not told.
    pub(crate) fn frame_bytes_on(&self, links: &[usize]) -> u64 {
        if self.link_frame_bytes_max.is_empty() {
            return self.frame_bytes_max;
        }
        let of_each = links.iter().filter_map(|&link| self.link_frame_bytes_max.get(link));
        of_each.copied().max().unwrap_or(0)
    }
}

/// The shared counters behind [`Lateness`].
#[derive(Debug)]
pub(crate) struct Recorder {
    buckets: [AtomicU64; BUCKETS],
    max_ns: AtomicU64,
    pub doubled: AtomicU64,
    pub queue_drops: AtomicU64,
    pub lost: AtomicU64,
    pub black_holed: AtomicU64,
    pub faults: AtomicU64,
    /// One for each link.
    frame_bytes_max: Vec<AtomicU64>,
    /// Processor time of the thread since it began, in ns; not reset.
    pub used_ns: AtomicU64,
}

impl Recorder {
    /// Counts of a wire with this many links.
    pub fn new(links: usize) -> Self {
        Self {
            buckets: array::from_fn(|_| AtomicU64::new(0)),
            max_ns: AtomicU64::new(0),
            doubled: AtomicU64::new(0),
            queue_drops: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            black_holed: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            frame_bytes_max: (0..links).map(|_| AtomicU64::new(0)).collect(),
            used_ns: AtomicU64::new(0),
        }
    }

    /// Notes a frame delivered `late_ns` after its time.
    pub fn delivered(&self, late_ns: u64) {
        self.buckets[bucket(late_ns)].fetch_add(1, Relaxed);
        self.max_ns.fetch_max(late_ns, Relaxed);
    }

    /// Notes the length of a frame that came in from a link.
    pub fn seen(&self, link: usize, frame_bytes: usize) {
        if let Some(max) = self.frame_bytes_max.get(link) {
            max.fetch_max(frame_bytes as u64, Relaxed);
        }
    }

    pub fn read(&self) -> Lateness {
        let longest = self.frame_bytes_max.iter().map(|max| max.load(Relaxed));
        let link_frame_bytes_max: Vec<u64> = longest.collect();
        let counts: Vec<u64> = self.buckets.iter().map(|count| count.load(Relaxed)).collect();
        let frames: u64 = counts.iter().sum();
        let max_ns = self.max_ns.load(Relaxed);
        let quantile = |percent: u64| {
            let rank = (frames * percent).div_ceil(100);
            let mut passed = 0;
            let reached = counts.iter().position(|count| {
                passed += count;
                passed >= rank
            });
            reached.map_or(0, |index| highest(index).min(max_ns))
        };
        Lateness {
            frames,
            p50_ns: quantile(50),
            p99_ns: quantile(99),
            max_ns,
            doubled: self.doubled.load(Relaxed),
            queue_drops: self.queue_drops.load(Relaxed),
            lost: self.lost.load(Relaxed),
            black_holed: self.black_holed.load(Relaxed),
            faults: self.faults.load(Relaxed),
            frame_bytes_max: link_frame_bytes_max.iter().copied().max().unwrap_or(0),
            link_frame_bytes_max,
        }
    }

    /// Starts all counts anew. Frames under way at this moment may count on either side.
    pub fn reset(&self) {
        let totals = [
            &self.max_ns,
            &self.doubled,
            &self.queue_drops,
            &self.lost,
            &self.black_holed,
            &self.faults,
        ];
        let counts = self.buckets.iter().chain(totals).chain(&self.frame_bytes_max);
        counts.for_each(|count| count.store(0, Relaxed));
    }
}

/// The bucket of a value: its power of two, divided into [`STEPS`] equal parts.
fn bucket(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let shift = value.ilog2() - STEP_BITS;
    let step = (value >> shift) as usize - STEPS;
    (shift as usize + 1) * STEPS + step
}

/// The highest value of a bucket.
fn highest(index: usize) -> u64 {
    if index < STEPS {
        return index as u64;
    }
    let shift = index / STEPS - 1;
    let lowest = ((index % STEPS + STEPS) as u64) << shift;
    lowest + ((1_u64 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_a_bucket_that_is_at_most_a_sixteenth_wide() {
        let mut values: Vec<u64> = (0..64).map(|bit| 1 << bit).collect();
        values.extend([0, 15, 16, 17, 31, 33, 999, 123_456_789, u64::MAX - 1, u64::MAX]);
        for value in values {
            let highest = highest(bucket(value));
            assert!(highest >= value && highest - value <= value / 16, "{value}: {highest}");
            assert!(bucket(value) < BUCKETS);
        }
    }

    #[test]
    fn quantiles_are_read_and_reset() {
        let recorder = Recorder::new(2);
        assert_eq!(recorder.read().p99_ns, 0);
        for late in 1..=1_000 {
            recorder.delivered(late * 100);
        }
        recorder.seen(0, 1514);
        recorder.lost.fetch_add(3, Relaxed);
        let read = recorder.read();
        assert_eq!(
            (read.frames, read.max_ns, read.lost, read.frame_bytes_max),
            (1000, 100_000, 3, 1514)
        );
        assert!((50_000..=53_200).contains(&read.p50_ns), "{read:?}");
        assert!((99_000..=100_000).contains(&read.p99_ns), "{read:?}");
        recorder.reset();
        assert_eq!(recorder.read(), Recorder::new(2).read());
    }

    /// What others send elsewhere in a lab is nothing to those who measure in it.
    #[test]
    fn the_longest_frame_is_that_of_the_links_that_are_asked_for() {
        let recorder = Recorder::new(3);
        for (link, bytes) in [(0, 1514), (1, 9014), (2, 600), (2, 60)] {
            recorder.seen(link, bytes);
        }
        let read = recorder.read();
        assert_eq!(read.link_frame_bytes_max, [1514, 9014, 600]);
        assert_eq!(read.frame_bytes_max, 9014);
        assert_eq!(read.frame_bytes_on(&[0, 2]), 1514);
        assert_eq!(read.frame_bytes_on(&[]), 0);
        let untold = Lateness { link_frame_bytes_max: Vec::new(), ..read };
        assert_eq!(untold.frame_bytes_on(&[0, 2]), 9014);
    }
}
