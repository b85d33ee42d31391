//! The loop of the user-space link.

use super::forwarded::{Deliveries, Delivery};
use super::rests::Rests;
use super::{Cable, Orders};
use crate::clock::{
    Arriving, Due, Fate, HEADER_BYTES, LineSettings, LinkClock, dscp_of, family_of,
};
use crate::lateness::Recorder;
use crate::shape::fed_frames;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;
use std::io::PipeReader;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{Conditions, Link, Side};
use v6gap_sys::clock;
use v6gap_sys::packet::{self, Frame, Port};
use v6gap_sys::usage;

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
/// The two clocks are read within this time of each other, in ns, if they can in so many tries.
const APART_NS_MAX: u64 = 1_000;
const READS_MAX: usize = 3;
/// Buffers kept for reuse.
const SPARE_MAX: usize = 4096;

/// A frame whose time of arrival is known.
struct Waiting {
    due_ns: u64,
    bytes: Vec<u8>,
}

/// One direction: from its port's interface to another port.
struct Direction {
    /// The link that it is of.
    link: usize,
    to: usize,
    /// The node that it comes from, if that only forwards, and what was delivered to it.
    forwarder: Option<usize>,
    fed: u32,
    delivered: Deliveries,
    /// When the last frame came, in ns.
    last_ns: u64,
    clock: LinkClock,
    /// The code points that have priority, one bit each.
    priority: u64,
    frame_bytes_max: usize,
    /// The shorter of the two families' shortest delays, in ns.
    delay_ns_min: u64,
    /// Each family draws its own numbers, so that no frame of the other one changes its fortunes.
    random: PerFamily<ChaCha8Rng>,
    /// Frames without priority whose turn the line will tell.
    ordinary: VecDeque<Vec<u8>>,
    /// One queue a family, by time of arrival: the delays may differ, and within a family the
    /// order holds but where the conditions say otherwise.
    waiting: PerFamily<VecDeque<Waiting>>,
}

/// All links and their ports; direction i takes from port i.
pub(super) struct Carrier {
    ports: Vec<Port>,
    directions: Vec<Direction>,
    spare: Vec<Vec<u8>>,
    /// Deliveries of one look, with the port of each.
    delivered: Vec<(usize, Delivery)>,
    recorder: Arc<Recorder>,
    orders: Arc<Orders>,
}

/// Frames that may wait for a line beside those of its queue: what feeds one from a bucket lets
/// some through at once, which must not be lost behind it.
fn fed(link: &Link, forwarder: Option<usize>) -> u32 {
    if forwarder.is_some() { 0 } else { fed_frames(link) }
}

/// What frames meet on a line that is fed so.
fn as_fed(conditions: PerFamily<Conditions>, fed: u32) -> PerFamily<Conditions> {
    conditions.map(|met| {
        let queue_frames = met.queue_frames.map(|frames| frames.saturating_add(fed));
        Conditions { queue_frames, ..met }
    })
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
        for (number, cable) in cables.into_iter().enumerate() {
            let Cable { link, vlan_tags, priority, forwarders, ports: ends } = cable;
            let first = ports.len();
            let ways = Side::BOTH.map(|side| *link.met(side));
            for ((from, conditions), forwarder) in (first..).zip(ways).zip(forwarders) {
                let fed = fed(&link, forwarder);
                let conditions = as_fed(conditions, fed);
                let stream = |number: usize| {
                    let mut random = ChaCha8Rng::seed_from_u64(seed);
                    random.set_stream(number as u64);
                    random
                };
                let queue_frames = link.queue_frames.saturating_add(fed);
                let prioritised = priority != 0;
                let line =
                    LineSettings { conditions, queue_frames, vlan_tags, priority: prioritised };
                directions.push(Direction {
                    link: number,
                    to: if from == first { first + 1 } else { first },
                    forwarder,
                    fed,
                    delivered: Deliveries::default(),
                    last_ns: 0,
                    clock: LinkClock::new(line),
                    priority,
                    frame_bytes_max: link.mtu as usize + HEADER_BYTES,
                    delay_ns_min: shortest_delay_ns(&conditions),
                    random: PerFamily { v4: stream(2 * from), v6: stream(2 * from + 1) },
                    ordinary: VecDeque::new(),
                    waiting: PerFamily::default(),
                });
            }
            ports.extend(ends);
        }
        let (spare, delivered) = (Vec::new(), Vec::new());
        Self { ports, directions, spare, delivered, recorder, orders }
    }

    /// Takes new conditions of links; two directions belong to each.
    fn obey(&mut self) {
        for (link, ways) in self.orders.take() {
            for (direction, conditions) in self.directions.iter_mut().skip(2 * link).zip(ways) {
                let conditions = as_fed(conditions, direction.fed);
                direction.clock.alter(conditions);
                direction.delay_ns_min = shortest_delay_ns(&conditions);
            }
        }
    }

    /// Whether the thread may sleep while frames are under way.
    fn patient(&self) -> bool {
        self.directions.iter().all(|d| d.delay_ns_min >= PATIENT_DELAY_NS)
    }

    /// How long the busiest line takes for what it has to send, in ns.
    fn queued_ns(&self, now_ns: u64) -> u64 {
        self.directions.iter().map(|d| d.clock.queued_ns(now_ns)).max().unwrap_or(0)
    }

    /// Carries frames until `stop` is set, which `wake` must become readable for; `rests` says when
    /// others of its processor must have some of its time.
    pub fn run(mut self, mut rests: Rests, stop: &AtomicBool, wake: &PipeReader) {
        let mut busy_ns = 0;
        let mut next_check_ns = 0;
        while !stop.load(Relaxed) {
            self.obey();
            let patient = self.patient();
            let taken = self.take();
            let now_ns = clock::now_ns();
            let waiting = self.deliver(now_ns);
            if taken || waiting.is_some() {
                busy_ns = now_ns;
            }
            let idle_ns = now_ns - busy_ns;
            let nap = match waiting {
                _ if taken => None,
                Some(due_ns) if patient => nap(now_ns, due_ns).map(Some),
                Some(_) => None,
                None => {
                    let long = patient || idle_ns > SPIN_NS || rests.free(now_ns, idle_ns);
                    long.then_some(None)
                }
            };
            if let Some(limit) = nap {
                let ports = self.ports.iter().map(AsFd::as_fd);
                let descriptors: Vec<_> = ports.chain([wake.as_fd()]).collect();
                // An error leaves the loop spinning, which carries frames as well.
                let _ = packet::wait(&descriptors, limit);
                rests.slept(now_ns, clock::now_ns());
            } else if let Some(rest) = rests.urgent(now_ns, || self.queued_ns(now_ns)) {
                // No frame ends it, or it would be none.
                let _ = packet::wait(&[wake.as_fd()], Some(rest));
                rests.slept(now_ns, clock::now_ns());
            }
            if now_ns > next_check_ns {
                next_check_ns = now_ns + OVERRUN_CHECK_NS;
                self.check();
            }
            std::hint::spin_loop();
        }
    }

    /// Notes what the ports could not hold and what the thread used.
    fn check(&self) {
        let overruns = self.ports.iter().filter_map(|port| port.overruns().ok());
        fault(&self.recorder, overruns.map(u64::from).sum());
        if let Ok(used) = usage::thread() {
            self.recorder.used_ns.store(used.user_ns + used.system_ns, Relaxed);
        }
    }

    /// Takes what has arrived and decides on it; whether there was anything.
    fn take(&mut self) -> bool {
        let mut any = false;
        let now = Moment::now();
        for (port, direction) in self.ports.iter_mut().zip(&mut self.directions) {
            let mut all = false;
            for _ in 0..TAKEN_AT_ONCE {
                let Some(frame) = port.receive() else {
                    all = true;
                    break;
                };
                any = true;
                direction.admit(&frame, now, &mut self.spare, &self.recorder);
            }
            if all && direction.priority != 0 {
                // Whatever came until then has been seen.
                direction.last_ns = direction.last_ns.max(now.steady_ns);
                direction.start(now.steady_ns, &mut self.spare, &self.recorder);
            }
        }
        any
    }

    /// Sends what is due by `now_ns`; when the first of those that still wait is.
    fn deliver(&mut self, now_ns: u64) -> Option<u64> {
        let mut next: Option<u64> = None;
        // Sending takes microseconds, by which the next one is later.
        let mut sent_ns = now_ns;
        for direction in &mut self.directions {
            for family in Family::BOTH {
                let queue = direction.waiting.get_mut(family);
                while let Some(frame) = queue.pop_front_if(|frame| frame.due_ns <= now_ns) {
                    match self.ports[direction.to].send(&frame.bytes) {
                        Ok(()) => self.recorder.delivered(sent_ns - frame.due_ns),
                        Err(_) => fault(&self.recorder, 1),
                    }
                    let (due_ns, from_ns) = (frame.due_ns, sent_ns);
                    sent_ns = clock::now_ns();
                    let delivery = Delivery { due_ns, from_ns, to_ns: sent_ns };
                    self.delivered.push((direction.to, delivery));
                    if self.spare.len() < SPARE_MAX {
                        self.spare.push(frame.bytes);
                    }
                }
                let due_ns = queue.front().map(|frame| frame.due_ns);
                next = [next, due_ns].into_iter().flatten().min();
            }
            next = [next, direction.clock.next_start_ns()].into_iter().flatten().min();
        }
        self.tell_forwarders();
        next
    }

    /// Tells each direction that leaves a forwarding node what has been delivered to that.
    fn tell_forwarders(&mut self) {
        for (port, delivery) in self.delivered.drain(..) {
            let Some(node) = self.directions[port].forwarder else { continue };
            let own = |(from, direction): &(usize, &mut Direction)| {
                *from != port && direction.forwarder == Some(node)
            };
            for (_, direction) in self.directions.iter_mut().enumerate().filter(own) {
                direction.delivered.push(delivery);
            }
        }
    }
}

/// One moment by both clocks, in ns.
#[derive(Clone, Copy)]
struct Moment {
    steady_ns: u64,
    wall_ns: u64,
}

impl Moment {
    /// Read close to each other: a thread that is interrupted in between reads again.
    fn now() -> Self {
        let read = || {
            let steady_ns = clock::now_ns();
            let wall_ns = clock::wall_ns();
            (Moment { steady_ns, wall_ns }, clock::now_ns() - steady_ns)
        };
        let apart = |(_, apart_ns): &(Moment, u64)| *apart_ns;
        let (mut best, mut tries) = (read(), 1);
        while best.1 > APART_NS_MAX && tries < READS_MAX {
            best = [best, read()].into_iter().min_by_key(apart).unwrap_or(best);
            tries += 1;
        }
        best.0
    }

    /// The steady time of a stamp of the wall clock from about now: this moment itself if the wall
    /// clock was set since.
    fn steady_ns_of(self, stamp_ns: u64) -> u64 {
        let since_ns = stamp_ns.wrapping_sub(self.wall_ns).cast_signed();
        let near = since_ns.unsigned_abs() < AGE_NS_MAX;
        self.steady_ns.saturating_add_signed(if near { since_ns } else { 0 })
    }
}

/// How long a thread whose links all delay for long may sleep before the next frame is due; `None`
/// if that is too short.
fn nap(now_ns: u64, due_ns: u64) -> Option<Duration> {
    let left_ns = due_ns.saturating_sub(now_ns).saturating_sub(AWAKE_NS);
    (left_ns > 0).then(|| Duration::from_nanos(left_ns))
}

impl Direction {
    fn admit(
        &mut self,
        frame: &Frame<'_>,
        now: Moment,
        spare: &mut Vec<Vec<u8>>,
        recorder: &Recorder,
    ) {
        recorder.seen(self.link, frame.length);
        if frame.length > self.frame_bytes_max {
            return fault(recorder, 1);
        }
        let stamped_ns = now.steady_ns_of(frame.arrival_realtime_ns);
        let at_ns = self.delivered.undelayed_ns(stamped_ns).max(self.last_ns);
        self.last_ns = at_ns;
        self.start(at_ns, spare, recorder);
        let family = family_of(frame.bytes);
        let marked = || dscp_of(frame.bytes).is_some_and(|class| self.priority >> class & 1 == 1);
        let priority = self.priority != 0 && marked();
        let arriving = Arriving { at_ns, family, frame_bytes: frame.length, priority };
        let random = self.random.get_mut(family);
        match self.clock.admit(arriving, &mut || uniform(random)) {
            Fate::Due(due) => {
                self.wait(family, due, copy(frame.bytes, spare), spare, recorder);
            }
            Fate::Waits => self.ordinary.push_back(copy(frame.bytes, spare)),
            Fate::QueueFull => drop(recorder.queue_drops.fetch_add(1, Relaxed)),
            Fate::Lost => drop(recorder.lost.fetch_add(1, Relaxed)),
            Fate::BlackHole => drop(recorder.black_holed.fetch_add(1, Relaxed)),
        }
    }

    /// Gives frames without priority the line where that is free by `until_ns`, up to which all
    /// arrivals are known.
    fn start(&mut self, until_ns: u64, spare: &mut Vec<Vec<u8>>, recorder: &Recorder) {
        while let Some((family, due)) = self.clock.start(until_ns) {
            // The line has as many of them as are here.
            let Some(bytes) = self.ordinary.pop_front() else { return };
            self.wait(family, due, bytes, spare, recorder);
        }
    }

    /// Keeps a frame until it is due, and its copy.
    fn wait(
        &mut self,
        family: Family,
        due: Due,
        bytes: Vec<u8>,
        spare: &mut Vec<Vec<u8>>,
        recorder: &Recorder,
    ) {
        let queue = self.waiting.get_mut(family);
        let second = due.copy_at_ns.map(|due_ns| Waiting { due_ns, bytes: copy(&bytes, spare) });
        insert(queue, Waiting { due_ns: due.at_ns, bytes });
        if let Some(second) = second {
            recorder.doubled.fetch_add(1, Relaxed);
            insert(queue, second);
        }
    }
}

/// Puts a frame before those that are due later, which is the end but where frames overtake.
fn insert(queue: &mut VecDeque<Waiting>, frame: Waiting) {
    if queue.back().is_none_or(|last| last.due_ns <= frame.due_ns) {
        return queue.push_back(frame);
    }
    let place = queue.partition_point(|other| other.due_ns <= frame.due_ns);
    queue.insert(place, frame);
}

/// `bytes` in a buffer that was used before, if there is one.
fn copy(bytes: &[u8], spare: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let mut buffer = spare.pop().unwrap_or_default();
    buffer.clear();
    buffer.extend_from_slice(bytes);
    buffer
}

/// The shorter of the two families' shortest delays, in ns.
fn shortest_delay_ns(conditions: &PerFamily<Conditions>) -> u64 {
    let of = |met: &Conditions| {
        let reach_ns = met.jitter.map_or(0, |jitter| jitter.reach_ns());
        met.delay_ns.saturating_sub(reach_ns)
    };
    of(&conditions.v4).min(of(&conditions.v6))
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
    fn a_stamp_is_moved_to_the_steady_clock_unless_the_wall_clock_was_set() {
        let now = Moment { steady_ns: 5_000_000_000, wall_ns: 90_000_000_000 };
        assert_eq!(now.steady_ns_of(89_999_999_000), 4_999_999_000);
        assert_eq!(now.steady_ns_of(90_000_000_700), 5_000_000_700);
        for set_ns in [0, 89_000_000_000, 91_000_000_000, u64::MAX] {
            assert_eq!(now.steady_ns_of(set_ns), 5_000_000_000, "{set_ns}");
        }
    }

    #[test]
    fn a_nap_ends_before_the_next_frame_is_due() {
        assert_eq!(nap(1_000_000, 3_000_000), Some(Duration::from_micros(1_800)));
        assert_eq!(nap(1_000_000, 1_200_001), Some(Duration::from_nanos(1)));
        for due_ns in [0, 1_000_000, 1_200_000] {
            assert_eq!(nap(1_000_000, due_ns), None, "{due_ns}");
        }
    }
}
