//! The user-space link's decisions: when a frame's last bit arrives at the far end, or why never.
//!
//! One direction of a link is a line with a virtual clock: frames wait their turn, each keeps the
//! line busy for its bits on the wire, and the delay comes afterwards. Only arithmetic; time,
//! frames and random numbers come from outside.

use std::collections::VecDeque;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::{Conditions, Link};

/// Shortest Ethernet frame with its frame check sequence, in bytes (IEEE 802.3 section 4.4.2).
const FRAME_BYTES_MIN: u64 = 64;
/// Frame check sequence, in bytes.
const CHECK_BYTES: u64 = 4;
/// Preamble and start of frame delimiter, in bytes.
const PREAMBLE_BYTES: u64 = 8;
/// Gap between two frames, in bytes (IEEE 802.3 section 4.4.2).
const GAP_BYTES: u64 = 12;
/// Ethernet header, in bytes: what a frame has before the IP packet.
pub(crate) const HEADER_BYTES: usize = 14;
/// EtherType of IPv6 (RFC 2464 section 3), in the order of the wire.
const IPV6_ETHER_TYPE: [u8; 2] = [0x86, 0xdd];

const PS_PER_NS: u128 = 1_000;
const PS_PER_S: u128 = 1_000_000_000_000;

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived at the far end at this time in ns, counted as its arrival time was.
    Due(u64),
    /// The queue was full.
    QueueFull,
    /// It was lost at random.
    Lost,
    /// It was longer than the black hole lets pass.
    BlackHole,
}

/// One direction of a link.
///
/// Drops are decided on arrival, before the line, so a dropped frame takes no line time.
#[derive(Debug, Clone)]
pub struct LinkClock {
    conditions: PerFamily<Conditions>,
    queue_frames: usize,
    /// When the line is free again, in ps.
    free_at_ps: u128,
    /// When each frame that may still be waiting gets the line, in ps, ascending.
    starts_ps: VecDeque<u128>,
}

impl LinkClock {
    /// One direction of `link`, with its line free.
    pub fn new(link: &Link) -> Self {
        Self {
            conditions: link.conditions,
            queue_frames: link.queue_frames as usize,
            free_at_ps: 0,
            starts_ps: VecDeque::new(),
        }
    }

    /// From now on frames meet these conditions; those on the line keep the times they were given.
    pub fn alter(&mut self, conditions: PerFamily<Conditions>) {
        self.conditions = conditions;
    }

    /// Decides on a frame of `frame_bytes` bytes (from its destination address on, without frame
    /// check sequence) that came at `arrival_ns`. Arrivals must be given in order; `draw` gives
    /// uniform random numbers in [0, 1) and is called only where loss is set.
    ///
    /// `start = max(arrival, free)`, `due = start + bits up to the last one / rate + delay`, and
    /// the line is free again after the gap that follows.
    pub fn admit(
        &mut self,
        arrival_ns: u64,
        family: Family,
        frame_bytes: usize,
        draw: impl FnOnce() -> f64,
    ) -> Fate {
        let conditions = *self.conditions.get(family);
        let packet_bytes = frame_bytes.saturating_sub(HEADER_BYTES);
        if conditions.black_hole_above.is_some_and(|limit| packet_bytes > limit as usize) {
            return Fate::BlackHole;
        }
        let arrival_ps = u128::from(arrival_ns) * PS_PER_NS;
        while self.starts_ps.front().is_some_and(|&start| start <= arrival_ps) {
            self.starts_ps.pop_front();
        }
        let start = arrival_ps.max(self.free_at_ps);
        if start > arrival_ps && self.starts_ps.len() >= self.queue_frames {
            return Fate::QueueFull;
        }
        if conditions.loss > 0.0 && draw() < conditions.loss {
            return Fate::Lost;
        }
        let last_bit = start + line_ps(wire_bytes(frame_bytes) - GAP_BYTES, conditions.rate_bps);
        self.free_at_ps = start + line_ps(wire_bytes(frame_bytes), conditions.rate_bps);
        if start > arrival_ps {
            self.starts_ps.push_back(start);
        }
        let last_bit_ns = u64::try_from(last_bit.div_ceil(PS_PER_NS)).unwrap_or(u64::MAX);
        Fate::Due(last_bit_ns.saturating_add(conditions.delay_ns))
    }
}

/// Which family's conditions a frame meets: IPv6 by its EtherType, all else as IPv4 (whose ARP goes
/// with it).
pub fn family_of(frame: &[u8]) -> Family {
    if frame.get(12..14) == Some(&IPV6_ETHER_TYPE[..]) { Family::V6 } else { Family::V4 }
}

/// Bytes that a frame takes on the wire: padded to the shortest frame, with frame check sequence,
/// preamble and gap.
fn wire_bytes(frame_bytes: usize) -> u64 {
    FRAME_BYTES_MIN.max(frame_bytes as u64 + CHECK_BYTES) + PREAMBLE_BYTES + GAP_BYTES
}

/// Time that `bytes` take on the line, in ps; none on a line without a rate.
fn line_ps(bytes: u64, rate_bps: Option<u64>) -> u128 {
    rate_bps.map_or(0, |rate| u128::from(bytes) * 8 * PS_PER_S / u128::from(rate.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UDP_64: usize = 14 + 20 + 8 + 64;

    fn clock(conditions: Conditions, queue_frames: u32) -> LinkClock {
        let conditions = PerFamily { v4: conditions, v6: conditions };
        LinkClock::new(&Link { conditions, queue_frames, ..Link::ethernet(None) })
    }

    fn never() -> f64 {
        panic!("no random number is needed where nothing is lost")
    }

    #[test]
    fn the_last_bit_arrives_before_the_gap_and_the_next_frame_waits_for_it() {
        let mut line = clock(Conditions::rate(Some(100_000_000)), 100);
        // 106 + 4 + 8 bytes at 80 ns; the gap adds 12 bytes before the next frame may start.
        assert_eq!(line.admit(1_000, Family::V4, UDP_64, never), Fate::Due(1_000 + 9_440));
        assert_eq!(line.admit(1_000, Family::V4, UDP_64, never), Fate::Due(1_000 + 10_400 + 9_440));
        assert_eq!(line.admit(50_000, Family::V4, UDP_64, never), Fate::Due(50_000 + 9_440));
    }

    #[test]
    fn short_frames_are_padded_to_84_bytes_on_the_wire() {
        let mut line = clock(Conditions::rate(Some(1_000_000_000)), 100);
        assert_eq!(line.admit(0, Family::V4, 42, never), Fate::Due(72 * 8));
        assert_eq!(line.admit(0, Family::V4, 60, never), Fate::Due((84 + 72) * 8));
        assert_eq!(line.admit(0, Family::V4, 61, never), Fate::Due((84 + 84 + 73) * 8));
    }

    #[test]
    fn a_long_train_has_exactly_the_rate() {
        // 1538 bytes at 7 Mbit/s take 1 757 714.2857... ns: a clock in whole ns would be 28 us off.
        let mut line = clock(Conditions::rate(Some(7_000_000)), 1_000_000);
        let mut last = Fate::Lost;
        for _ in 0..100_000 {
            last = line.admit(0, Family::V6, 1514, never);
        }
        let exact_ns = (99_999 * 1538 + 1526) * 8 * 1_000 / 7;
        let Fate::Due(due) = last else { panic!("the queue is long enough") };
        assert!(due.abs_diff(exact_ns) <= 100, "{due} instead of {exact_ns}");
    }

    #[test]
    fn the_queue_holds_its_frames_besides_the_one_on_the_line() {
        let mut line = clock(Conditions::rate(Some(8_000_000)), 2);
        let fates: Vec<Fate> = (0..4).map(|_| line.admit(0, Family::V4, 1514, never)).collect();
        assert_eq!(fates[..3], [1526, 3064, 4602].map(|us| Fate::Due(us * 1_000)));
        assert_eq!(fates[3], Fate::QueueFull);
        // At 1538 us the second frame has the line, so there is room for one more.
        assert_eq!(line.admit(1_537_999, Family::V4, 1514, never), Fate::QueueFull);
        assert_eq!(line.admit(1_538_000, Family::V4, 1514, never), Fate::Due(6_140_000));
    }

    #[test]
    fn a_queue_of_none_still_passes_a_frame_when_the_line_is_free() {
        let mut line = clock(Conditions::rate(Some(8_000_000)), 0);
        assert_eq!(line.admit(0, Family::V4, 1514, never), Fate::Due(1_526_000));
        assert_eq!(line.admit(1, Family::V4, 1514, never), Fate::QueueFull);
    }

    #[test]
    fn each_family_meets_its_own_conditions_on_one_line() {
        let mut late = Conditions::rate(Some(100_000_000));
        late.delay_ns = 1_000_000;
        let conditions = PerFamily { v4: Conditions::rate(Some(100_000_000)), v6: late };
        let mut line = LinkClock::new(&Link { conditions, ..Link::ethernet(None) });
        assert_eq!(line.admit(0, Family::V6, UDP_64, never), Fate::Due(1_009_440));
        assert_eq!(line.admit(0, Family::V4, UDP_64, never), Fate::Due(19_840));
    }

    #[test]
    fn loss_and_black_hole_take_no_line_time() {
        let mut conditions = Conditions::rate(Some(100_000_000));
        conditions.loss = 0.01;
        conditions.black_hole_above = Some(1400);
        let mut line = clock(conditions, 9);
        assert_eq!(line.admit(0, Family::V4, 1415, never), Fate::BlackHole);
        assert_eq!(line.admit(0, Family::V4, UDP_64, || 0.009_9), Fate::Lost);
        assert_eq!(line.admit(0, Family::V4, UDP_64, || 0.01), Fate::Due(9_440));
        assert_eq!(line.admit(1_000_000, Family::V4, 1414, || 0.5), Fate::Due(1_114_080));
    }

    #[test]
    fn a_line_without_a_rate_only_delays() {
        let mut conditions = Conditions::rate(None);
        conditions.delay_ns = 5;
        let mut line = clock(conditions, 0);
        for arrival in 0..10 {
            assert_eq!(line.admit(arrival, Family::V4, 1514, never), Fate::Due(arrival + 5));
        }
    }

    #[test]
    fn a_frame_belongs_to_the_family_of_its_ether_type() {
        let mut frame = [0_u8; 60];
        assert_eq!(family_of(&frame), Family::V4);
        frame[12..14].copy_from_slice(&IPV6_ETHER_TYPE);
        assert_eq!(family_of(&frame), Family::V6);
        assert_eq!(family_of(&frame[..13]), Family::V4);
    }
}
