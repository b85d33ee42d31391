//! When the packets of a paced stream are due and how long they are: a law of traffic and its
//! schedule.
//!
//! A schedule is a function of the law, the pace and a seed alone, and its times are absolute from
//! the start, so that errors of single waits do not add up. Constant and periodic streams are exact
//! in whole nanoseconds however long they last.

use core::fmt;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

const NS_PER_S: u64 = 1_000_000_000;

/// Parts of a ns that are kept for random gaps, which are no whole numbers.
const PARTS: u64 = 1 << 10;

/// Stream of random numbers of a seed that is used for laws; others are for ports and payload.
const LAW_STREAM: u64 = 3;

/// How the packets of a paced stream follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Law {
    /// Equal gaps, the first packet at once.
    #[default]
    Constant,
    /// Equal gaps after a random start inside the first one (RFC 3432 section 4).
    Periodic,
    /// Exponentially distributed gaps of the same mean (RFC 2330 section 11.1).
    Poisson,
    /// Equal gaps for a time, then silence for a time, again and again. The pace is that of the
    /// time that is on.
    OnOff {
        /// Time with packets, in ns; at least 1.
        on_ns: u64,
        /// Time without, in ns.
        off_ns: u64,
    },
    /// Frames as of a video: so many bytes at once in every period, split into datagrams of the
    /// payload size. Has a pace of its own.
    Frames {
        /// Bytes of payload of a frame; at least 1.
        frame_bytes: u32,
        /// Time from one frame to the next, in ns; at least 1.
        every_ns: u64,
    },
}

/// How long the datagrams of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Sizes {
    /// All of the payload size.
    #[default]
    Fixed,
    /// Uniformly from the smallest to the payload size, both included.
    Random {
        /// Smallest payload, in bytes.
        least_bytes: u32,
    },
    /// From the smallest upwards in equal steps while not above the payload size, then again.
    Stepped {
        /// Smallest payload, in bytes.
        least_bytes: u32,
        /// Step, in bytes; at least 1.
        step_bytes: u32,
    },
}

impl Law {
    /// Name of the law in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Law::Constant => "constant",
            Law::Periodic => "periodic",
            Law::Poisson => "poisson",
            Law::OnOff { .. } => "on-off",
            Law::Frames { .. } => "frames",
        }
    }

    /// Names of all laws.
    pub const NAMES: [&'static str; 5] = ["constant", "periodic", "poisson", "on-off", "frames"];

    /// The mean rate in bit/s of a stream of this law whose pace is `pace_bps`.
    pub fn mean_bps(self, pace_bps: u64) -> u64 {
        let share = |bits: u64, part: u64, whole: u64| {
            let value = u128::from(bits) * u128::from(part) / u128::from(whole.max(1));
            u64::try_from(value).unwrap_or(u64::MAX)
        };
        match self {
            Law::Constant | Law::Periodic | Law::Poisson => pace_bps,
            Law::OnOff { on_ns, off_ns } => share(pace_bps, on_ns, on_ns.saturating_add(off_ns)),
            Law::Frames { frame_bytes, every_ns } => {
                share(u64::from(frame_bytes) * 8, NS_PER_S, every_ns)
            }
        }
    }

    /// Bytes of the last datagram of a frame that does not fill it, if there are frames.
    pub fn rest_bytes(self, payload_bytes: u32) -> Option<u32> {
        match self {
            Law::Frames { frame_bytes, .. } => {
                Some(frame_bytes % payload_bytes.max(1)).filter(|&rest| rest > 0)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Sizes {
    /// Smallest payload of a stream whose largest is `payload_bytes`, in bytes.
    pub fn least_bytes(self, payload_bytes: u32) -> u32 {
        match self {
            Sizes::Fixed => payload_bytes,
            Sizes::Random { least_bytes } | Sizes::Stepped { least_bytes, .. } => least_bytes,
        }
    }
}

/// How much time a packet takes on the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As long as its payload lasts at so many bit/s.
    BitsPerSecond(u64),
    /// As much time for each packet, in ns.
    Gap(u64),
}

/// A packet of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When, in ns since the start.
    pub at_ns: u64,
    /// Payload of the datagram, in bytes.
    pub bytes: u32,
}

/// The packets of a stream one after the other, without end. Allocates nothing.
#[derive(Debug, Clone)]
pub struct Schedule {
    law: Law,
    sizes: Sizes,
    payload_bytes: u32,
    pace: Pace,
    rng: ChaCha12Rng,
    clock: Clock,
    next_bytes: u32,
    frame_left: u32,
    frames: u64,
}

impl Schedule {
    /// Packets of at most `payload_bytes`. A pace or a payload of 0 counts as 1.
    pub fn new(law: Law, sizes: Sizes, payload_bytes: u32, pace: Pace, seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        rng.set_stream(LAW_STREAM);
        let payload_bytes = payload_bytes.max(1);
        let mut schedule = Schedule {
            law,
            sizes,
            payload_bytes,
            pace,
            rng,
            clock: Clock { ns: 0, rest: 0, divisor: divisor(pace) },
            next_bytes: sizes.least_bytes(payload_bytes),
            frame_left: 0,
            frames: 0,
        };
        match law {
            Law::Periodic => {
                let first = schedule.gap_ns(payload_bytes);
                schedule.clock.ns = (unit(&mut schedule.rng) * first) as u64;
            }
            // The first packet also follows a gap: the stream starts at no special moment.
            Law::Poisson => schedule.pass(payload_bytes),
            Law::Constant | Law::OnOff { .. } | Law::Frames { .. } => {}
        }
        schedule
    }

    fn size(&mut self) -> u32 {
        match self.sizes {
            Sizes::Fixed => self.payload_bytes,
            Sizes::Random { least_bytes } => {
                let least = least_bytes.min(self.payload_bytes);
                let span = u64::from(self.payload_bytes - least) + 1;
                // The bias of taking the upper half of a product is below 2^-32 of a step.
                least + ((u64::from(self.rng.next_u32()) * span) >> 32) as u32
            }
            Sizes::Stepped { least_bytes, step_bytes } => {
                let bytes = self.next_bytes.min(self.payload_bytes);
                let next = bytes.saturating_add(step_bytes.max(1));
                self.next_bytes = if next > self.payload_bytes { least_bytes } else { next };
                bytes
            }
        }
    }

    fn cost(&self, bytes: u32) -> u64 {
        match self.pace {
            Pace::BitsPerSecond(_) => u64::from(bytes).saturating_mul(8 * NS_PER_S),
            Pace::Gap(gap_ns) => gap_ns.max(1).saturating_mul(PARTS),
        }
    }

    fn gap_ns(&self, bytes: u32) -> f64 {
        self.cost(bytes) as f64 / self.clock.divisor as f64
    }

    /// Moves the clock past a packet.
    fn pass(&mut self, bytes: u32) {
        match self.law {
            Law::Poisson => {
                let mean_ns = self.gap_ns(bytes);
                let gap = -libm::log(1.0 - unit(&mut self.rng)) * mean_ns + self.clock.fraction();
                self.clock.ns = self.clock.ns.saturating_add(gap as u64);
                self.clock.set_fraction(gap - libm::floor(gap));
            }
            _ => self.clock.advance(self.cost(bytes)),
        }
    }

    fn next_of_frame(&mut self, frame_bytes: u32, every_ns: u64) -> Due {
        if self.frame_left == 0 {
            self.frame_left = frame_bytes.max(1);
            self.frames += 1;
        }
        let bytes = self.frame_left.min(self.payload_bytes);
        self.frame_left -= bytes;
        Due { at_ns: (self.frames - 1).saturating_mul(every_ns.max(1)), bytes }
    }
}

impl Iterator for Schedule {
    type Item = Due;

    #[inline]
    fn next(&mut self) -> Option<Due> {
        if let Law::Frames { frame_bytes, every_ns } = self.law {
            return Some(self.next_of_frame(frame_bytes, every_ns));
        }
        let bytes = self.size();
        let due_ns = self.clock.due_ns();
        let at_ns = match self.law {
            Law::OnOff { on_ns, off_ns } => {
                let on_ns = on_ns.max(1);
                due_ns.saturating_add((due_ns / on_ns).saturating_mul(off_ns))
            }
            _ => due_ns,
        };
        self.pass(bytes);
        Some(Due { at_ns, bytes })
    }
}

/// Time that has passed on the schedule: whole ns and a rest in parts of the divisor.
#[derive(Debug, Clone)]
struct Clock {
    ns: u64,
    rest: u64,
    divisor: u64,
}

impl Clock {
    /// Passes `cost` divided by the divisor, exactly.
    #[inline]
    fn advance(&mut self, cost: u64) {
        self.ns = self.ns.saturating_add(cost / self.divisor);
        // Both are below the divisor, which is at most 2^62.
        self.rest += cost % self.divisor;
        if self.rest >= self.divisor {
            self.rest -= self.divisor;
            self.ns = self.ns.saturating_add(1);
        }
    }

    /// Never before the exact time.
    #[inline]
    fn due_ns(&self) -> u64 {
        self.ns.saturating_add(u64::from(self.rest > 0))
    }

    fn fraction(&self) -> f64 {
        self.rest as f64 / self.divisor as f64
    }

    fn set_fraction(&mut self, fraction: f64) {
        self.rest = ((fraction * self.divisor as f64) as u64).min(self.divisor - 1);
    }
}

fn divisor(pace: Pace) -> u64 {
    match pace {
        Pace::BitsPerSecond(rate) => rate.clamp(1, 1 << 62),
        Pace::Gap(_) => PARTS,
    }
}

/// Uniform in [0, 1), 53 bits.
fn unit(rng: &mut ChaCha12Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const MS: u64 = 1_000_000;

    fn schedule(law: Law, sizes: Sizes, payload: u32, rate: u64) -> Schedule {
        Schedule::new(law, sizes, payload, Pace::BitsPerSecond(rate), 7)
    }

    #[test]
    fn a_constant_stream_does_not_drift() {
        // 1000 B at 24 Mbit/s is one datagram in 333 333.3 ns.
        let mut stream = schedule(Law::Constant, Sizes::Fixed, 1000, 24_000_000);
        let found: Vec<u64> = stream.by_ref().take(4).map(|due| due.at_ns).collect();
        assert_eq!(found, [0, 333_334, 666_667, MS]);
        assert_eq!(stream.nth(2_999_993).map(|due| due.at_ns), Some(999_999_000_000));
    }

    #[test]
    fn a_periodic_stream_is_a_constant_one_that_starts_at_random() {
        let starts: Vec<u64> = (0..200)
            .map(|seed| {
                let pace = Pace::Gap(20 * MS);
                let mut stream = Schedule::new(Law::Periodic, Sizes::Fixed, 100, pace, seed);
                let first = stream.next().map_or(0, |due| due.at_ns);
                assert_eq!(stream.next().map(|due| due.at_ns), Some(first + 20 * MS));
                first
            })
            .collect();
        assert!(starts.iter().all(|&start| start < 20 * MS));
        let mean = starts.iter().sum::<u64>() / 200;
        // 10 ms, give or take 5 standard errors of 0.41 ms.
        assert!((8 * MS..12 * MS).contains(&mean), "{mean}");
    }

    /// RFC 2330 section 11.1.1: mean and variance of an exponential distribution, and no memory.
    #[test]
    fn gaps_of_a_poisson_stream_are_exponential() {
        let mut stream = Schedule::new(Law::Poisson, Sizes::Fixed, 100, Pace::Gap(MS), 3);
        let times: Vec<u64> = stream.by_ref().take(100_001).map(|due| due.at_ns).collect();
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64 / MS as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let spread = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / gaps.len() as f64;
        let above = |x: f64| gaps.iter().filter(|&&g| g > x).count() as f64 / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
        assert!((spread - 1.0).abs() < 0.05, "{spread}");
        assert!((above(1.0) - libm::exp(-1.0)).abs() < 0.008);
        assert!((above(3.0) - libm::exp(-3.0)).abs() < 0.004);
    }

    #[test]
    fn an_on_off_stream_keeps_its_pace_while_it_is_on() {
        // One datagram a ms, 3 ms on and 7 ms off.
        let law = Law::OnOff { on_ns: 3 * MS, off_ns: 7 * MS };
        let stream = schedule(law, Sizes::Fixed, 125, 1_000_000);
        let found: Vec<u64> = stream.take(7).map(|due| due.at_ns / MS).collect();
        assert_eq!(found, [0, 1, 2, 10, 11, 12, 20]);
        assert_eq!(law.mean_bps(1_000_000), 300_000);
    }

    #[test]
    fn a_frame_comes_at_once_in_datagrams_of_the_payload_size() {
        let law = Law::Frames { frame_bytes: 2500, every_ns: 40 * MS };
        let stream = schedule(law, Sizes::Fixed, 1000, 1);
        let found: Vec<(u64, u32)> =
            stream.take(5).map(|due| (due.at_ns / MS, due.bytes)).collect();
        assert_eq!(found, [(0, 1000), (0, 1000), (0, 500), (40, 1000), (40, 1000)]);
        assert_eq!(law.mean_bps(0), 500_000);
        assert_eq!(law.rest_bytes(1000), Some(500));
        assert_eq!(law.rest_bytes(1250), None);
    }

    #[test]
    fn sizes_vary_as_asked_and_the_rate_stays() {
        let stepped = Sizes::Stepped { least_bytes: 100, step_bytes: 450 };
        let found: Vec<u32> = schedule(Law::Constant, stepped, 1000, 8_000_000)
            .take(5)
            .map(|due| due.bytes)
            .collect();
        assert_eq!(found, [100, 550, 1000, 100, 550]);
        let random = Sizes::Random { least_bytes: 100 };
        let dues: Vec<Due> =
            schedule(Law::Constant, random, 1000, 8_000_000).take(20_001).collect();
        assert!(dues.iter().all(|due| (100..=1000).contains(&due.bytes)));
        assert!(dues.iter().any(|due| due.bytes < 120) && dues.iter().any(|due| due.bytes > 980));
        let bytes: u64 = dues[..20_000].iter().map(|due| u64::from(due.bytes)).sum();
        // A byte lasts a µs at 8 Mbit/s.
        assert_eq!(dues[20_000].at_ns, bytes * 1000);
        assert!((bytes as f64 / 20_000.0 - 550.0).abs() < 10.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_stream_and_another_seed_another() {
        let stream = |seed| {
            let sizes = Sizes::Random { least_bytes: 20 };
            Schedule::new(Law::Poisson, sizes, 1400, Pace::BitsPerSecond(10_000_000), seed)
                .take(50)
                .collect::<Vec<Due>>()
        };
        assert_eq!(stream(5), stream(5));
        assert_ne!(stream(5), stream(6));
    }

    #[test]
    fn extreme_parameters_neither_panic_nor_go_back_in_time() {
        let laws = [
            Law::Constant,
            Law::Periodic,
            Law::Poisson,
            Law::OnOff { on_ns: 0, off_ns: u64::MAX },
            Law::Frames { frame_bytes: 0, every_ns: u64::MAX },
        ];
        let sizes = [
            Sizes::Fixed,
            Sizes::Random { least_bytes: u32::MAX },
            Sizes::Stepped { least_bytes: 0, step_bytes: u32::MAX },
        ];
        let paces = [0, 1, u64::MAX].map(Pace::BitsPerSecond);
        for law in laws {
            for sizes in sizes {
                for pace in paces.into_iter().chain([Pace::Gap(0), Pace::Gap(u64::MAX)]) {
                    for payload in [0, 1, u32::MAX] {
                        let stream = Schedule::new(law, sizes, payload, pace, 1);
                        let times: Vec<u64> = stream.take(50).map(|due| due.at_ns).collect();
                        assert!(times.is_sorted(), "{law:?} {sizes:?} {pace:?} {payload}");
                    }
                }
            }
        }
    }
}
