//! The loop of the user-space link.

use super::{Cable, Orders};
use crate::clock::{Fate, HEADER_BYTES, LinkClock, family_of};
use crate::lateness::Recorder;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use std::io::PipeReader;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::Conditions;
use v6gap_sys::clock;
use v6gap_sys::packet::{self, Frame, Port};

/// The thread goes on spinning for this long after the last frame, in ns.
const SPIN_NS: u64 = 20_000_000;
/// Links that all delay by at least this, in ns, need no spinning: a frame is taken long before it
/// is due, whenever the thread wakes.
const PATIENT_DELAY_NS: u64 = 500_000;
/// Such a thread is awake this long before a frame is due, in ns: more than a timer is late.
const AWAKE_NS: u64 = 200_000;
/// Ring overruns are asked for this often while there is traffic, in ns.
const OVERRUN_CHECK_NS: u64 = 10_000_000;
/// Frames taken from one port before looking at what is due.
const TAKEN_AT_ONCE: usize = 32;
/// A frame whose stamp is older than this, in ns, was stamped before the wall clock was set.
const AGE_NS_MAX: u64 = 1_000_000_000;
/// Buffers kept for reuse.
const SPARE_MAX: usize = 4096;

/// A frame that has been let onto the link.
struct Waiting {
    due_ns: u64,
    bytes: Vec<u8>,
}

/// One direction: from its port's interface to another port.
struct Direction {
    to: usize,
    clock: LinkClock,
    frame_bytes_max: usize,
    /// The shorter of the two families' delays, in ns.
    delay_ns_min: u64,
    random: ChaCha8Rng,
    /// One queue a family: the delays may differ, within a family the order holds.
    waiting: PerFamily<VecDeque<Waiting>>,
}

/// All links and their ports; direction i takes from port i.
pub(super) struct Carrier {
    ports: Vec<Port>,
    directions: Vec<Direction>,
    spare: Vec<Vec<u8>>,
    recorder: Arc<Recorder>,
    orders: Arc<Orders>,
}

impl Carrier {
    pub fn new(
        cables: Vec<Cable>,
        seed: u64,
        recorder: Arc<Recorder>,
        orders: Arc<Orders>,
    ) -> Self {
        let mut ports = Vec::new();
        let mut directions = Vec::new();
        for Cable { link, ports: ends } in cables {
            let first = ports.len();
            for (from, to) in [(first, first + 1), (first + 1, first)] {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(from as u64);
                directions.push(Direction {
                    to,
                    clock: LinkClock::new(&link),
                    frame_bytes_max: link.mtu as usize + HEADER_BYTES,
                    delay_ns_min: shortest_delay_ns(&link.conditions),
                    random,
                    waiting: PerFamily::default(),
                });
            }
            ports.extend(ends);
        }
        Self { ports, directions, spare: Vec::new(), recorder, orders }
    }

    /// Takes new conditions of links; two directions belong to each.
    fn obey(&mut self) {
        for (link, conditions) in self.orders.take() {
            for direction in self.directions.iter_mut().skip(2 * link).take(2) {
                direction.clock.alter(conditions);
                direction.delay_ns_min = shortest_delay_ns(&conditions);
            }
        }
    }

    /// Whether the thread may sleep while frames are under way.
    fn patient(&self) -> bool {
        self.directions.iter().all(|d| d.delay_ns_min >= PATIENT_DELAY_NS)
    }

    /// Carries frames until `stop` is set, which `sleep` must become readable for.
    pub fn run(mut self, stop: &AtomicBool, sleep: &PipeReader) {
        let mut busy_until_ns = 0;
        let mut next_check_ns = 0;
        while !stop.load(Relaxed) {
            self.obey();
            let patient = self.patient();
            let taken = self.take();
            let now_ns = clock::now_ns();
            let waiting = self.deliver(now_ns);
            if taken || waiting.is_some() {
                busy_until_ns = if patient { 0 } else { now_ns + SPIN_NS };
            }
            let nap = match waiting {
                _ if taken => None,
                Some(due_ns) if patient => nap(now_ns, due_ns).map(Some),
                Some(_) => None,
                None => (now_ns > busy_until_ns).then_some(None),
            };
            if let Some(limit) = nap {
                let ports = self.ports.iter().map(AsFd::as_fd);
                let descriptors: Vec<_> = ports.chain([sleep.as_fd()]).collect();
                // An error leaves the loop spinning, which carries frames as well.
                let _ = packet::wait(&descriptors, limit);
            }
            if now_ns > next_check_ns {
                next_check_ns = now_ns + OVERRUN_CHECK_NS;
                let overruns = self.ports.iter().filter_map(|port| port.overruns().ok());
                fault(&self.recorder, overruns.map(u64::from).sum());
            }
            std::hint::spin_loop();
        }
    }

    /// Takes what has arrived and decides on it; whether there was anything.
    fn take(&mut self) -> bool {
        let mut any = false;
        for (port, direction) in self.ports.iter_mut().zip(&mut self.directions) {
            for _ in 0..TAKEN_AT_ONCE {
                let Some(frame) = port.receive() else { break };
                any = true;
                direction.admit(&frame, &mut self.spare, &self.recorder);
            }
        }
        any
    }

    /// Sends what is due; when the first of those that still wait is.
    fn deliver(&mut self, now_ns: u64) -> Option<u64> {
        let mut next: Option<u64> = None;
        for direction in &mut self.directions {
            for family in Family::BOTH {
                let queue = direction.waiting.get_mut(family);
                while let Some(frame) = queue.pop_front_if(|frame| frame.due_ns <= now_ns) {
                    match self.ports[direction.to].send(&frame.bytes) {
                        Ok(()) => self.recorder.delivered(now_ns - frame.due_ns),
                        Err(_) => fault(&self.recorder, 1),
                    }
                    if self.spare.len() < SPARE_MAX {
                        self.spare.push(frame.bytes);
                    }
                }
                let due_ns = queue.front().map(|frame| frame.due_ns);
                next = [next, due_ns].into_iter().flatten().min();
            }
        }
        next
    }
}

/// How long a thread whose links all delay for long may sleep before the next frame is due; `None`
/// if that is too short.
fn nap(now_ns: u64, due_ns: u64) -> Option<Duration> {
    let left_ns = due_ns.saturating_sub(now_ns).saturating_sub(AWAKE_NS);
    (left_ns > 0).then(|| Duration::from_nanos(left_ns))
}

impl Direction {
    fn admit(&mut self, frame: &Frame<'_>, spare: &mut Vec<Vec<u8>>, recorder: &Recorder) {
        recorder.seen(frame.length);
        if frame.length > self.frame_bytes_max {
            return fault(recorder, 1);
        }
        let now_ns = clock::now_ns();
        let age_ns = clock::wall_ns().saturating_sub(frame.arrival_realtime_ns).min(AGE_NS_MAX);
        let family = family_of(frame.bytes);
        let draw = || uniform(&mut self.random);
        match self.clock.admit(now_ns.saturating_sub(age_ns), family, frame.length, draw) {
            Fate::Due(due_ns) => {
                let mut bytes = spare.pop().unwrap_or_default();
                bytes.clear();
                bytes.extend_from_slice(frame.bytes);
                self.waiting.get_mut(family).push_back(Waiting { due_ns, bytes });
            }
            Fate::QueueFull => drop(recorder.queue_drops.fetch_add(1, Relaxed)),
            Fate::Lost => drop(recorder.lost.fetch_add(1, Relaxed)),
            Fate::BlackHole => drop(recorder.black_holed.fetch_add(1, Relaxed)),
        }
    }
}

/// The shorter of the two families' delays, in ns.
fn shortest_delay_ns(conditions: &PerFamily<Conditions>) -> u64 {
    conditions.v4.delay_ns.min(conditions.v6.delay_ns)
}

fn fault(recorder: &Recorder, count: u64) {
    recorder.faults.fetch_add(count, Relaxed);
}

/// A uniform random number in [0, 1) with the 53 bits that a double holds.
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nap_ends_before_the_next_frame_is_due() {
        assert_eq!(nap(1_000_000, 3_000_000), Some(Duration::from_micros(1_800)));
        assert_eq!(nap(1_000_000, 1_200_001), Some(Duration::from_nanos(1)));
        for due_ns in [0, 1_000_000, 1_200_000] {
            assert_eq!(nap(1_000_000, due_ns), None, "{due_ns}");
        }
    }
}
