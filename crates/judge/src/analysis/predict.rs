//! What the headers alone predict for a question (docs/method.md part A).
//!
//! The prediction never knows what was measured of the second arm: it takes the sizes of the
//! packets of both arms over the *same* link, and for times the measured value of the first arm as
//! the base.

mod window;

use super::collect::Block;
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::capacity::{PATH_MTU_USUAL, row_bps, row_up_to};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Granted;
use v6gap_core::plan::Plan;
use v6gap_core::record::TrialRecord;
use v6gap_core::wiremodel::{self, Carried, Framing, LinkTiming, TcpOptions};
use v6gap_core::workload::{
    Capacity, Cell, Direction, Echo, Law, Search, Sizes, TcpBulk, Transport, UdpBulk, Workload,
};
use v6gap_core::world::model;
use v6gap_core::world::{Conditions, LinkModel, Side, World};

/// A predicted effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Predicted {
    /// b/a − 1.
    pub effect: f64,
    /// Values, where the link is known and alike for both arms.
    pub values: Option<PerArm<f64>>,
}

/// What the packets of an arm were made of, as the kernels said.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packets {
    pub mtu: u32,
    /// Whether the MTU is that of the path, or taken for want of one.
    pub mtu_known: bool,
    pub options: TcpOptions,
}

/// The prediction for `metric` in `cell`; `base` is the measured value of the first arm.
pub(super) fn predict(
    plan: &Plan,
    cell: &Cell,
    metric: Metric,
    blocks: &[&Block<'_>],
    base: f64,
) -> Option<Predicted> {
    let arms = plan.design.arms;
    let packets =
        PerArm::from_fn(|arm| packets(plan, *arms.get(arm), blocks, |b| b.trials.get(arm)));
    let world = plan.world.as_ref();
    match &cell.workload {
        Workload::TcpBulk(bulk) if metric == Metric::Throughput => {
            // What the sender uses was agreed on and may be less than its own route takes.
            let agreed = |arm| {
                let granted = |b: &&Block<'_>| sender(b.trials.get(arm), bulk.direction)?.mss;
                segments(*arms.get(arm), *packets.get(arm), blocks.iter().rev().find_map(granted))
            };
            let packets = if world.is_some() { packets } else { PerArm::from_fn(agreed) };
            tcp_bulk(plan, bulk, arms, &packets)
                .or_else(|| window::held(world?, bulk, arms, &packets, blocks, base))
        }
        Workload::UdpBulk(bulk) if metric == Metric::Throughput => {
            udp_bulk(plan, bulk, arms, &packets)
        }
        Workload::Capacity(search) => capacity(plan, search, arms, &packets),
        Workload::Echo(echo) => {
            let ways = Ways::of(world?, arms.a)?;
            timed(arms, &packets, base, |family, p| {
                round_trip_ns(echo, family, p, &ways.carrying(world?, family))
            })
        }
        // Those under way together wait for each other.
        Workload::Connect(connect) if metric == Metric::Connect && connect.concurrent == 1 => {
            let ways = Ways::of(world?, arms.a)?;
            timed(arms, &packets, base, |family, _| {
                let syn = [wiremodel::tcp_header_bytes(family, TcpOptions::SYN)];
                Some(ways.carrying(world?, family).exchange_ns(&syn, &syn))
            })
        }
        // What TLS and HTTP add is the same over both families, as a share of what TCP carries.
        Workload::Visit(_)
            if metric == Metric::Throughput && cell.workload.transport() == Transport::Tcp =>
        {
            let sizes = |arm: Arm| {
                let granted = |b: &&Block<'_>| b.trials.get(arm).ends.client.granted.mss;
                blocks.iter().filter_map(granted).max()
            };
            let came = |arm| segments(*arms.get(arm), *packets.get(arm), sizes(arm));
            tcp_bulk(plan, &TcpBulk::default(), arms, &PerArm::from_fn(came))
        }
        Workload::TcpBulk(_)
        | Workload::UdpBulk(_)
        | Workload::Connect(_)
        | Workload::Probe(_)
        | Workload::Frames(_)
        | Workload::Visit(_)
        | Workload::Lookup(_) => None,
    }
}

/// What the packets of an arm were made of in these blocks.
pub(super) fn packets<'a>(
    plan: &Plan,
    family: Family,
    blocks: &[&'a Block<'a>],
    trial: impl Fn(&'a Block<'a>) -> &'a &'a TrialRecord,
) -> Packets {
    let granted = blocks.iter().rev().map(|&b| &trial(b).ends.client.granted);
    let mut mtu = None;
    let mut timestamps = None;
    for granted in granted {
        mtu = mtu.or(granted.path_mtu);
        timestamps = timestamps.or(granted.timestamps);
    }
    let of_world = plan.world.as_ref().map(|world| model::path_mtu(world, family));
    let options = match timestamps {
        Some(false) => TcpOptions::NONE,
        _ => TcpOptions::TIMESTAMPS,
    };
    let known = of_world.or(mtu);
    Packets { mtu: known.unwrap_or(PATH_MTU_USUAL), mtu_known: known.is_some(), options }
}

/// What the end that sends was granted, if it was seen.
fn sender(trial: &TrialRecord, direction: Direction) -> Option<&Granted> {
    match direction {
        Direction::Receive => trial.ends.server.seen().map(|end| &end.granted),
        Direction::Send | Direction::Both => Some(&trial.ends.client.granted),
    }
}

/// What packets were made of whose segments had so many bytes: the path MTU that an end knows may
/// be that of the other way, or more than the other end takes.
fn segments(family: Family, packets: Packets, mss: Option<u32>) -> Packets {
    let headers = wiremodel::tcp_header_bytes(family, packets.options);
    match mss {
        Some(mss) => Packets { mtu: mss.saturating_add(headers), mtu_known: true, ..packets },
        None => packets,
    }
}

/// Rate of the slowest link of the path, if every link has one and it is the same for both families
/// and both ways.
pub(super) fn link_rate(world: Option<&World>) -> Option<f64> {
    let world = world?;
    let mut slowest = f64::INFINITY;
    for hop in world.path() {
        let link = world.links.get(hop.link)?;
        let first = link.conditions.v4.rate_bps;
        let same =
            |met: &PerFamily<Conditions>| [met.v4, met.v6].iter().all(|m| m.rate_bps == first);
        if !Side::BOTH.iter().all(|side| same(link.met(*side))) {
            return None;
        }
        slowest = slowest.min(first? as f64);
    }
    slowest.is_finite().then_some(slowest)
}

/// The links that packets of a family go over: the world's where [`link_rate`] knows one, otherwise
/// one line of any rate, which cancels out. `None` where a tunnel or translation makes that another
/// line for each family.
fn lines(world: Option<&World>, family: Family) -> Option<Vec<LinkTiming>> {
    let Some(world) = world else { return Some(alloc::vec![LinkTiming::plain(1e9, 0.0)]) };
    match link_rate(Some(world)) {
        Some(_) => {
            let [there, _] = model::link_timings(world, family);
            Some(there)
        }
        None if is_changed(world) => None,
        None => Some(alloc::vec![LinkTiming::plain(1e9, 0.0)]),
    }
}

/// Whether packets of either family are in a tunnel or translated somewhere on the path.
fn is_changed(world: &World) -> bool {
    let changed = |family| world.on_path(family).iter().any(|on| on.carried != Carried::Plain);
    Family::BOTH.into_iter().any(changed)
}

/// Whether the model knows these packets of a datagram on all links: what becomes of fragments by
/// translation is not in it.
fn is_known(links: &[LinkTiming], packets: &[u32]) -> bool {
    let translated = |link: &LinkTiming| matches!(link.carried, Carried::Translated { .. });
    packets.len() == 1 || !links.iter().any(translated)
}

/// The links there and back as the first arm meets them: both arms are sent over these.
struct Ways {
    links: [Vec<LinkTiming>; 2],
    framing: Framing,
}

impl Ways {
    fn of(world: &World, first: Family) -> Option<Ways> {
        let links = model::link_timings(world, first);
        let timed = links.iter().flatten().all(|link| link.rate_bps.is_finite());
        let framing = model::framing(Some(world));
        (world.model == LinkModel::Wire && timed).then_some(Ways { links, framing })
    }

    /// These links with what becomes of packets of another family on them.
    fn carrying(&self, world: &World, family: Family) -> Ways {
        let own = model::link_timings(world, family);
        let mut ways = Ways { links: self.links.clone(), framing: self.framing };
        for (link, own) in ways.links.iter_mut().flatten().zip(own.iter().flatten()) {
            link.carried = own.carried;
        }
        ways
    }

    fn exchange_ns(&self, request: &[u32], answer: &[u32]) -> f64 {
        let [there, back] = &self.links;
        wiremodel::one_way_ns(request, there, self.framing)
            + wiremodel::one_way_ns(answer, back, self.framing)
    }
}

fn ratio(
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
    absolute: bool,
    value: impl Fn(Family, &Packets) -> Option<f64>,
) -> Option<Predicted> {
    let value = |arm| value(*arms.get(arm), packets.get(arm));
    let values = PerArm { a: value(Arm::A)?, b: value(Arm::B)? };
    let effect = values.b / values.a - 1.0;
    Some(Predicted { effect, values: absolute.then_some(values) })
}

/// So many times what is under way on a full line a window must hold to be no limit: segments and
/// acknowledgements come in pairs, and a buffer holds more than their payload.
const WINDOW_OF_PATH: f64 = 4.0;

/// So many round trips a transfer of a number of bytes must last for its slow start to be no part
/// of it that matters.
const LASTING: f64 = 50.0;

/// Whether so many bytes are at least `times` what is under way on the path of `world` when it is
/// full, over both families.
fn is_beyond(bytes: f64, times: f64, world: &World, direction: Direction) -> bool {
    let is = |family: Family| {
        let [mut there, mut back] = model::link_timings(world, family);
        if direction == Direction::Receive {
            (there, back) = (back, there);
        }
        let rate = there.iter().map(|link| link.rate_bps).fold(f64::INFINITY, f64::min);
        let framing = model::framing(Some(world));
        let ack = [wiremodel::tcp_header_bytes(family, TcpOptions::TIMESTAMPS)];
        let mtu = [model::path_mtu(world, family)];
        let trip_ns = wiremodel::one_way_ns(&mtu, &there, framing)
            + wiremodel::one_way_ns(&ack, &back, framing);
        rate.is_finite() && bytes >= times * trip_ns * rate / 8e9
    };
    Family::BOTH.into_iter().all(is)
}

/// A full line carries less payload the longer its headers are. Where the line need not be full,
/// as with a window that limits or may do so, or carries acknowledgements of the other direction,
/// there is no prediction.
fn tcp_bulk(
    plan: &Plan,
    bulk: &TcpBulk,
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
) -> Option<Predicted> {
    let world = plan.world.as_ref();
    let window = bulk.settings.buffer_bytes;
    let beyond = |bytes: f64, times: f64| {
        world.is_some_and(|world| is_beyond(bytes, times, world, bulk.direction))
    };
    let open = window.is_none_or(|bytes| beyond(f64::from(bytes), WINDOW_OF_PATH));
    let lasts = bulk.bytes.is_none_or(|bytes| beyond(bytes as f64, LASTING));
    let fills = open && lasts && bulk.direction != Direction::Both;
    if !fills || world.is_some_and(|w| w.model == LinkModel::Bare) {
        return None;
    }
    let rate = link_rate(world);
    let goodput = |family: Family, p: &Packets| {
        // The largest segment counts TCP options, but not the headers (RFC 6691 section 2).
        let asked = bulk.settings.mss_bytes.map(|mss| {
            mss.saturating_add(family.header_bytes()).saturating_add(wiremodel::TCP_HEADER_BYTES)
        });
        let largest = asked.map_or(p.mtu, |packet| packet.min(p.mtu));
        let payload = wiremodel::tcp_mss(largest, family, p.options);
        let links = lines(world, family)?;
        Some(model::packets_goodput_bps(payload, &[largest], &links, model::framing(world)))
    };
    paced(|_| bulk.pacing_bps, rate, arms, packets, goodput)
}

/// The slower of the pace of the sender and of what the packets of each arm let through. Where no
/// rate is known, both arrive at their pace.
fn paced(
    pace_bps: impl Fn(Family) -> Option<u64>,
    rate: Option<f64>,
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
    goodput: impl Fn(Family, &Packets) -> Option<f64>,
) -> Option<Predicted> {
    match (pace_bps(arms.a).zip(pace_bps(arms.b)), rate) {
        (Some((a, b)), None) => {
            // On a line for each family nothing is known of either.
            goodput(arms.a, &packets.a).and(goodput(arms.b, &packets.b))?;
            Some(Predicted { effect: b as f64 / a.max(1) as f64 - 1.0, values: None })
        }
        (_, rate) => {
            let most = |family| pace_bps(family).map_or(f64::INFINITY, |pace| pace as f64);
            let value = |family, p: &Packets| Some(goodput(family, p)?.min(most(family)));
            ratio(arms, packets, rate.is_some(), value)
        }
    }
}

fn udp_bulk(
    plan: &Plan,
    bulk: &UdpBulk,
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
) -> Option<Predicted> {
    let world = plan.world.as_ref();
    let rate = link_rate(world);
    let goodput = |family, p: &Packets| {
        let payload_bytes = bulk.over(family).payload_bytes;
        let sizes = wiremodel::udp_packets(payload_bytes, family, p.mtu).ok()?;
        let links = lines(world, family)?;
        let links = is_known(&links, &sizes).then_some(links)?;
        Some(model::packets_goodput_bps(payload_bytes, &sizes, &links, model::framing(world)))
    };
    // Of so few datagrams most would be gone before the rate is taken.
    let short = bulk.packets.is_some_and(|packets| {
        let bits = packets as f64 * f64::from(bulk.payload_bytes) * 8.0;
        bits * 1e9 / rate.unwrap_or(1e9) < 2.0 * bulk.warmup_ns as f64
    });
    // Shorter datagrams have a larger share of headers, and pauses leave part of a link unused.
    if bulk.law != Law::Constant || bulk.sizes != Sizes::Fixed || short {
        return None;
    }
    match (bulk.rate_bps, rate) {
        (None, None) => None,
        (_, rate) => paced(|family| bulk.over(family).rate_bps, rate, arms, packets, goodput),
    }
}

/// At the IP layer a full line carries nearly the same in both families: a longer header makes the
/// packet a larger part of its frame. Without a link that is known, the same is said of any line
/// that counts Ethernet's framing. A share of packets that may be lost lets the sender send more
/// than arrives, but what arrives is what is told.
fn capacity(
    plan: &Plan,
    search: &Capacity,
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
) -> Option<Predicted> {
    let world = plan.world.as_ref();
    if world.is_some_and(|w| w.model == LinkModel::Bare) {
        return None;
    }
    let known = link_rate(world).is_some();
    let through = |family: Family, p: &Packets| {
        let sizes = wiremodel::udp_packets(search.payload_bytes, family, p.mtu).ok()?;
        let links = lines(world, family)?;
        let links = is_known(&links, &sizes).then_some(links)?;
        let own = sizes.iter().sum();
        Some(model::packets_goodput_bps(own, &sizes, &links, model::framing(world)))
    };
    // The highest rate that is tried: a load comes from a table.
    let most = match search.search {
        Search::Load { .. } => row_bps(row_up_to(search.rate_bps_max)),
        Search::Halving { .. } => search.rate_bps_max,
    };
    let most = if known { most as f64 } else { f64::INFINITY };
    ratio(arms, packets, known, |family, p| Some(through(family, p)?.min(most)))
}

fn round_trip_ns(echo: &Echo, family: Family, p: &Packets, ways: &Ways) -> Option<f64> {
    // Requests on the way together wait for each other, and that is not in the model.
    if echo.outstanding > 1 {
        return None;
    }
    let (request, answer) = exchange(echo, family, p, &ways.links[0])?;
    Some(ways.exchange_ns(&request, &answer))
}

/// IP lengths of the packets of a request and of its answer; `None` if a family has no such
/// datagram, or what becomes of its fragments on these links is not known.
pub(super) fn exchange(
    echo: &Echo,
    family: Family,
    p: &Packets,
    links: &[LinkTiming],
) -> Option<(Vec<u32>, Vec<u32>)> {
    let packets = |bytes| match echo.transport {
        Transport::Tcp => Some(wiremodel::tcp_packets(bytes, family, p.mtu, p.options)),
        Transport::Udp | Transport::Icmp => wiremodel::udp_packets(bytes, family, p.mtu)
            .ok()
            .filter(|packets| is_known(links, packets)),
    };
    let (request, answer) = echo.bytes_over(family);
    Some((packets(request)?, packets(answer)?))
}

/// Times add: the second arm takes as much longer as its packets take longer on the line.
fn timed(
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
    base: f64,
    line_ns: impl Fn(Family, &Packets) -> Option<f64>,
) -> Option<Predicted> {
    let a = line_ns(arms.a, &packets.a)?;
    let b = line_ns(arms.b, &packets.b)?;
    let values = PerArm { a: base, b: base + (b - a) / 1e9 };
    Some(Predicted { effect: values.b / values.a - 1.0, values: Some(values) })
}

#[cfg(test)]
mod tests;
