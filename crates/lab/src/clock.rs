//! The user-space link's decisions: when a frame's last bit arrives at the far end, or why never.
//!
//! One direction of a link is a line with a virtual clock: frames wait their turn, each keeps the
//! line busy for its bits on the wire, and the delay comes afterwards. Only arithmetic; time,
//! frames and random numbers come from outside.
//!
//! Where some packets have priority there are two queues before the line. A frame that has begun is
//! sent to its end, so a packet with priority waits for that one and for those of its kind that
//! came before it, and for nothing else.

mod chance;

use chance::{Chance, Fortune};
use std::collections::VecDeque;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::world::Conditions;

/// Shortest Ethernet frame with its frame check sequence, in bytes (IEEE 802.3 section 4.4.2).
const FRAME_BYTES_MIN: u64 = 64;
/// Frame check sequence, in bytes.
const CHECK_BYTES: u64 = 4;
/// A tag of IEEE 802.1Q, in bytes.
const TAG_BYTES: u64 = 4;
/// Preamble and start of frame delimiter, in bytes.
const PREAMBLE_BYTES: u64 = 8;
/// Gap between two frames, in bytes (IEEE 802.3 section 4.4.2).
const GAP_BYTES: u64 = 12;
/// Ethernet header, in bytes: what a frame has before the IP packet.
pub(crate) const HEADER_BYTES: usize = 14;
/// EtherTypes of IPv4 (RFC 894) and IPv6 (RFC 2464 section 3), in the order of the wire.
const ETHER_TYPE: PerFamily<[u8; 2]> = PerFamily { v4: [0x08, 0x00], v6: [0x86, 0xdd] };

const PS_PER_NS: u128 = 1_000;
const PS_PER_S: u128 = 1_000_000_000_000;

/// How one direction of a link behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineSettings {
    /// What each family meets.
    pub conditions: PerFamily<Conditions>,
    /// Frames that may wait, of those with priority and of the others each.
    pub queue_frames: u32,
    /// IEEE 802.1Q tags that each frame is counted with.
    pub vlan_tags: u32,
    /// Whether some frames have priority.
    pub priority: bool,
}

/// A frame that comes to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arriving {
    /// When it came, in ns.
    pub at_ns: u64,
    /// Whose conditions it meets.
    pub family: Family,
    /// Bytes from its destination address on, without frame check sequence.
    pub frame_bytes: usize,
    /// Whether it goes before others, on a line that has priorities.
    pub priority: bool,
}

/// When a frame has arrived at the far end, in ns, counted as its arrival time was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The frame.
    pub at_ns: u64,
    /// The frame's copy, if the link doubled it.
    pub copy_at_ns: Option<u64>,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Due(Due),
    /// It waits without priority, and who may still pass it is not known yet;
    /// [`start`](LinkClock::start) will tell, in the order in which such frames came.
    Waits,
    /// The queue was full.
    QueueFull,
    /// It was lost at random.
    Lost,
    /// It was longer than the black hole lets pass.
    BlackHole,
}

/// A frame without priority that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    family: Family,
    frame_bytes: usize,
    fortune: Fortune,
}

/// One direction of a link.
///
/// Drops are decided on arrival, before the line, so a dropped frame takes no line time.
#[derive(Debug, Clone)]
pub struct LinkClock {
    line: LineSettings,
    /// When the line is free again, in ps.
    free_at_ps: u128,
    /// When each frame that may still be waiting gets the line, in ps, ascending; without the
    /// frames in `ordinary`.
    starts_ps: VecDeque<u128>,
    /// Frames without priority that wait for a line that has priorities.
    ordinary: VecDeque<Waiting>,
    chance: PerFamily<Chance>,
    /// When the last of the frames that keep their order arrives, in ns.
    last_ns: PerFamily<u64>,
}

impl LinkClock {
    /// One direction of a link, with its line free.
    pub fn new(line: LineSettings) -> Self {
        Self {
            line,
            free_at_ps: 0,
            starts_ps: VecDeque::new(),
            ordinary: VecDeque::new(),
            chance: PerFamily::default(),
            last_ns: PerFamily::default(),
        }
    }

    /// From now on frames meet these conditions; those on the line keep the times they were given.
    pub fn alter(&mut self, conditions: PerFamily<Conditions>) {
        self.line.conditions = conditions;
    }

    /// Decides on a frame. Arrivals must be given in order, and before each what
    /// [`start`](Self::start) gives up to its time must be taken. `draw` gives uniform random
    /// numbers in [0, 1) and is called only where the conditions need any; a family's fortunes
    /// depend on nothing but its own frames and numbers.
    ///
    /// `start = max(arrival, free)`, `due = start + bits up to the last one / rate + delay`, and
    /// the line is free again after the gap that follows.
    pub fn admit(&mut self, frame: Arriving, draw: &mut impl FnMut() -> f64) -> Fate {
        let conditions = *self.line.conditions.get(frame.family);
        let packet_bytes = frame.frame_bytes.saturating_sub(HEADER_BYTES);
        if conditions.black_hole_above.is_some_and(|limit| packet_bytes > limit as usize) {
            return Fate::BlackHole;
        }
        let arrival_ps = u128::from(frame.at_ns) * PS_PER_NS;
        while self.starts_ps.front().is_some_and(|&start| start <= arrival_ps) {
            self.starts_ps.pop_front();
        }
        let at_once = frame.priority || !self.line.priority;
        let waiting = if at_once { self.starts_ps.len() } else { self.ordinary.len() };
        let busy = self.free_at_ps > arrival_ps || (!at_once && waiting > 0);
        let limit = conditions.queue_frames.unwrap_or(self.line.queue_frames);
        if busy && waiting >= limit as usize {
            return Fate::QueueFull;
        }
        let chance = self.chance.get_mut(frame.family);
        let Some(fortune) = chance.fortune(&conditions, draw) else { return Fate::Lost };
        let waits = Waiting { family: frame.family, frame_bytes: frame.frame_bytes, fortune };
        if busy && !at_once {
            self.ordinary.push_back(waits);
            return Fate::Waits;
        }
        Fate::Due(self.send(arrival_ps, waits, at_once))
    }

    /// The next frame without priority that gets the line by `until_ns`, with its family.
    ///
    /// Nothing may come later that arrived by then: give the time up to which all arrivals are
    /// known.
    pub fn start(&mut self, until_ns: u64) -> Option<(Family, Due)> {
        if self.free_at_ps > u128::from(until_ns) * PS_PER_NS {
            return None;
        }
        let next = self.ordinary.pop_front()?;
        Some((next.family, self.send(self.free_at_ps, next, false)))
    }

    /// When [`start`](Self::start) will give a frame, in ns, if none with priority comes.
    pub fn next_start_ns(&self) -> Option<u64> {
        let free_at_ns = || u64::try_from(self.free_at_ps.div_ceil(PS_PER_NS)).unwrap_or(u64::MAX);
        (!self.ordinary.is_empty()).then(free_at_ns)
    }

    /// How long the line takes for the frames that it has at `now_ns`, in ns.
    pub fn queued_ns(&self, now_ns: u64) -> u64 {
        let sent = self.free_at_ps.saturating_sub(u128::from(now_ns) * PS_PER_NS);
        let waits = self.ordinary.iter().map(|frame| {
            let bytes = wire_bytes(frame.frame_bytes, self.line.vlan_tags);
            line_ps(bytes, self.line.conditions.get(frame.family).rate_bps)
        });
        u64::try_from((sent + waits.sum::<u128>()) / PS_PER_NS).unwrap_or(u64::MAX)
    }

    /// Puts a frame that came at `arrival_ps` on the line as soon as it is free, and its copy
    /// behind it; `queued` if it counts among those in `starts_ps` until then.
    fn send(&mut self, arrival_ps: u128, frame: Waiting, queued: bool) -> Due {
        let conditions = *self.line.conditions.get(frame.family);
        let mut pass = |extra_ns, held_ns| {
            let start = arrival_ps.max(self.free_at_ps);
            let bytes = wire_bytes(frame.frame_bytes, self.line.vlan_tags);
            let last_bit = start + line_ps(bytes - GAP_BYTES, conditions.rate_bps);
            self.free_at_ps = start + line_ps(bytes, conditions.rate_bps);
            if queued && start > arrival_ps {
                self.starts_ps.push_back(start);
            }
            let last_bit_ns = u64::try_from(last_bit.div_ceil(PS_PER_NS)).unwrap_or(u64::MAX);
            let delay_ns = conditions.delay_ns.saturating_add_signed(extra_ns);
            let due_ns = last_bit_ns.saturating_add(delay_ns);
            let in_turn_ns = if conditions.jitter.is_some_and(|jitter| jitter.reorders) {
                due_ns
            } else {
                let last_ns = self.last_ns.get_mut(frame.family);
                *last_ns = due_ns.max(*last_ns);
                *last_ns
            };
            in_turn_ns.saturating_add(held_ns)
        };
        let Fortune { own, copy } = frame.fortune;
        Due {
            at_ns: pass(own.extra_ns, own.held_ns),
            copy_at_ns: copy.map(|copy| pass(copy.extra_ns, copy.held_ns)),
        }
    }
}

/// Which family's conditions a frame meets: IPv6 by its EtherType, all else as IPv4 (whose ARP goes
/// with it).
pub fn family_of(frame: &[u8]) -> Family {
    if frame.get(12..14) == Some(&ETHER_TYPE.v6[..]) { Family::V6 } else { Family::V4 }
}

/// Differentiated services code point of the packet in a frame (RFC 2474 section 3); `None` if it
/// is of neither family.
pub fn dscp_of(frame: &[u8]) -> Option<u8> {
    let (kind, start) = (frame.get(12..14)?, frame.get(HEADER_BYTES..HEADER_BYTES + 2)?);
    let family = Family::BOTH.into_iter().find(|family| ETHER_TYPE.get(*family) == kind)?;
    // The second byte of IPv4; the eight bits behind the version of IPv6.
    let class = match family {
        Family::V4 => start[1],
        Family::V6 => (start[0] << 4) | (start[1] >> 4),
    };
    Some(class >> 2)
}

/// Bytes that a frame takes on the wire: tagged, padded to the shortest frame, with frame check
/// sequence, preamble and gap.
fn wire_bytes(frame_bytes: usize, vlan_tags: u32) -> u64 {
    let tags = TAG_BYTES * u64::from(vlan_tags);
    FRAME_BYTES_MIN.max(frame_bytes as u64 + tags + CHECK_BYTES) + PREAMBLE_BYTES + GAP_BYTES
}

/// Time that `bytes` take on the line, in ps; none on a line without a rate.
fn line_ps(bytes: u64, rate_bps: Option<u64>) -> u128 {
    rate_bps.map_or(0, |rate| u128::from(bytes) * 8 * PS_PER_S / u128::from(rate.max(1)))
}

#[cfg(test)]
mod tests;
