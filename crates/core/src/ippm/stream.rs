//! All that one end can say of a stream of packets which it received: how many came, in which
//! order, and how their one-way delays varied.

use super::order::{Copies, reordered};
use super::skew;
use super::variation::Jitter;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// Clocks that drift apart faster than this are not believed: a queue that grows during the trial
/// looks the same. Quartz is within 100 ppm, and a time daemon slews by 500 ppm at most.
pub const SKEW_PPM_MAX: f64 = 1_000.0;

/// Fewest packets from which a skew is taken.
const SKEW_PACKETS_MIN: usize = 100;

/// From this n on, TCP takes an n-reordered packet for lost (RFC 4737 section 5.4).
const REORDERED_FOR_TCP: u64 = 3;

/// A packet that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Number of the packet among those sent, without gaps.
    pub number: u32,
    /// The stretch of the stream that it belongs to: packets of different stretches are not
    /// consecutive.
    pub stretch: u16,
    /// What tells the path that it took from others, such as the hop limit seen: delays over
    /// different paths are not compared (RFC 5481 section 6.2).
    pub path: u8,
    /// When it was sent, by the sender's clock, in ns; 0 to [`TIME_NS_MAX`].
    pub sent_ns: i64,
    /// When it came, by the receiver's clock, in ns; 0 to [`TIME_NS_MAX`].
    pub came_ns: i64,
}

/// Latest time of a packet: differences of differences of times up to this fit their type. Later
/// ones, which may come from anyone, count as this.
pub const TIME_NS_MAX: i64 = (1 << 62) - 1;

impl Packet {
    /// Delay of the packet, wrong by what the clocks are apart.
    fn delay_ns(&self) -> i64 {
        self.came_ns - self.sent_ns
    }
}

/// What a receiver saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reception {
    /// Packets that came in time, each counted once.
    pub packets: u64,
    /// Packets that came, but longer than the waiting time after what the fastest one took: lost by
    /// the definition of RFC 7680.
    pub late: u64,
    /// Copies.
    pub copies: Copies,
    /// Packets that came after one sent later.
    pub reordered: u64,
    /// The largest extent of those.
    pub extent_max: u64,
    /// How many of them TCP would have taken for lost (3-reordered).
    pub reordered_for_tcp: u64,
    /// Differences in delay of consecutive packets (ipdv), in ns, in the order of sending.
    pub ipdv_ns: Vec<i64>,
    /// Delays above the smallest over the same path, in ns, in the order of sending.
    pub pdv_ns: Vec<u64>,
    /// Delays as the two clocks show them, in ns, in the order of sending: mean nothing unless the
    /// clocks are set alike.
    pub delays_ns: Vec<i64>,
    /// Interarrival jitter of RFC 3550, in ns.
    pub jitter_ns: f64,
    /// How fast the clocks drifted apart, in parts per million; taken out of the above unless it is
    /// beyond belief. `None` if too few packets came.
    pub skew_ppm: Option<f64>,
    /// Whether it was taken out.
    pub skew_removed: bool,
}

/// What to take into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A packet that takes longer than the fastest one by more than this is lost, in ns.
    pub timeout_ns: u64,
    /// Whether the clocks of the ends are kept alike by other means, so that a trend of the delays
    /// is the path's.
    pub clocks_alike: bool,
}

/// What `arrivals` say, given in the order in which the packets came.
pub fn reception(arrivals: &[Packet], rules: Rules) -> Reception {
    let within = |time_ns: i64| time_ns.clamp(0, TIME_NS_MAX);
    let arrivals: Vec<Packet> = arrivals
        .iter()
        .map(|p| Packet { sent_ns: within(p.sent_ns), came_ns: within(p.came_ns), ..*p })
        .collect();
    let first = first_copies(&arrivals);
    let mut by_number = first.clone();
    by_number.sort_unstable_by_key(|p| p.number);
    let skew_ppm = if rules.clocks_alike { None } else { remove_skew(&mut by_number) };
    let skew_removed = skew_ppm.is_some_and(is_believable);
    let least = fastest(&by_number);
    let above = |p: &Packet| p.delay_ns().abs_diff(least.get(&p.path).copied().unwrap_or(0));
    let (in_time, late): (Vec<Packet>, Vec<Packet>) =
        by_number.into_iter().partition(|p| above(p) <= rules.timeout_ns);
    // What is lost has neither an order nor copies (RFC 4737 section 3.3, RFC 5560 section 3).
    let lost: BTreeSet<u32> = late.iter().map(|p| p.number).collect();
    let of_those_in_time = |p: &Packet| (!lost.contains(&p.number)).then_some(u64::from(p.number));
    let copies = Copies::of(arrivals.iter().filter_map(of_those_in_time));
    let numbers: Vec<u64> = first.iter().filter_map(of_those_in_time).collect();
    let order = reordered(&numbers);
    let mut jitter = Jitter::default();
    first.iter().for_each(|p| jitter.add(p.delay_ns()));
    Reception {
        packets: in_time.len() as u64,
        late: late.len() as u64,
        copies,
        reordered: order.len() as u64,
        extent_max: order.iter().map(|r| r.extent).max().unwrap_or(0),
        reordered_for_tcp: order.iter().filter(|r| r.n >= REORDERED_FOR_TCP).count() as u64,
        ipdv_ns: consecutive(&in_time).collect(),
        pdv_ns: in_time.iter().map(above).collect(),
        delays_ns: in_time.iter().map(Packet::delay_ns).collect(),
        jitter_ns: jitter.value(),
        skew_ppm,
        skew_removed,
    }
}

/// The first copy of each packet, in the order of arrival.
fn first_copies(arrivals: &[Packet]) -> Vec<Packet> {
    let mut places: Vec<(u32, usize)> =
        arrivals.iter().enumerate().map(|(place, p)| (p.number, place)).collect();
    places.sort_unstable();
    places.dedup_by_key(|(number, _)| *number);
    let mut firsts: Vec<usize> = places.into_iter().map(|(_, place)| place).collect();
    firsts.sort_unstable();
    firsts.into_iter().map(|place| arrivals[place]).collect()
}

/// Takes what the clocks drifted apart out of the times of arrival, if it can be told, and returns
/// it in ppm.
fn remove_skew(packets: &mut [Packet]) -> Option<f64> {
    let path = most_used(packets)?;
    let points: Vec<(i64, i64)> =
        packets.iter().filter(|p| p.path == path).map(|p| (p.sent_ns, p.delay_ns())).collect();
    let ascending = points.is_sorted_by_key(|&(time, _)| time);
    let line = skew::under(&points).filter(|_| ascending && points.len() >= SKEW_PACKETS_MIN)?;
    if is_believable(line.ppm()) {
        for packet in packets {
            packet.came_ns = packet.came_ns.saturating_sub(line.drift_ns(packet.sent_ns));
        }
    }
    Some(line.ppm())
}

fn is_believable(ppm: f64) -> bool {
    ppm.abs() <= SKEW_PPM_MAX
}

fn most_used(packets: &[Packet]) -> Option<u8> {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for packet in packets {
        *counts.entry(packet.path).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(_, count)| count).map(|(path, _)| path)
}

/// The smallest delay over each path.
fn fastest(packets: &[Packet]) -> BTreeMap<u8, i64> {
    let mut least: BTreeMap<u8, i64> = BTreeMap::new();
    for packet in packets {
        let delay = packet.delay_ns();
        least.entry(packet.path).and_modify(|d| *d = delay.min(*d)).or_insert(delay);
    }
    least
}

/// Differences in delay between packets sent one after the other over the same path.
fn consecutive(by_number: &[Packet]) -> impl Iterator<Item = i64> {
    by_number.windows(2).filter_map(|pair| {
        let [a, b] = pair else { return None };
        let next = a.number.checked_add(1) == Some(b.number);
        let same = a.stretch == b.stretch && a.path == b.path;
        (next && same).then(|| b.delay_ns() - a.delay_ns())
    })
}
