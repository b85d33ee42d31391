//! What the headers alone predict for a question (docs/method.md part A).
//!
//! The prediction never knows what was measured of the second arm: it takes the sizes of the
//! packets of both arms over the *same* link, and for times the measured value of the first arm as
//! the base.

mod window;

use super::collect::Block;
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::capacity::PATH_MTU_USUAL;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::plan::Plan;
use v6gap_core::wiremodel::{self, Carried, Framing, LinkTiming, TcpOptions};
use v6gap_core::workload::{
    Capacity, Cell, Direction, Echo, Law, Sizes, TcpBulk, Transport, UdpBulk, Workload,
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
        Workload::Connect(_) if metric == Metric::Connect => {
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
            let came = |arm| received(*arms.get(arm), *packets.get(arm), sizes(arm));
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
    trial: impl Fn(&'a Block<'a>) -> &'a &'a v6gap_core::record::TrialRecord,
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

/// What the packets of a download were made of, of which the largest segments that came had so many
/// bytes: what this end may send is the path MTU of the other way.
fn received(family: Family, sent: Packets, mss: Option<u32>) -> Packets {
    let headers = wiremodel::tcp_header_bytes(family, sent.options);
    match mss {
        Some(mss) => Packets { mtu: mss.saturating_add(headers), mtu_known: true, ..sent },
        None => sent,
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

/// What the headers are counted with on the links of a plan.
fn framing(world: Option<&World>) -> Framing {
    world.map(model::framing).unwrap_or_default()
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
        let framing = model::framing(world);
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

/// Whether a window of so many bytes keeps the path of `world` full over both families.
fn keeps_full(window_bytes: u32, world: &World) -> bool {
    let holds = |family: Family| {
        let Some(rate) = model::bottleneck_bps(world, family) else { return false };
        let mtu = model::path_mtu(world, family);
        let [there, back] = model::link_timings(world, family);
        let framing = model::framing(world);
        let ack = [wiremodel::tcp_header_bytes(family, TcpOptions::TIMESTAMPS)];
        let trip_ns = wiremodel::one_way_ns(&[mtu], &there, framing)
            + wiremodel::one_way_ns(&ack, &back, framing);
        f64::from(window_bytes) >= WINDOW_OF_PATH * trip_ns * rate as f64 / 8e9
    };
    Family::BOTH.into_iter().all(holds)
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
    let open = window.is_none_or(|bytes| world.is_some_and(|world| keeps_full(bytes, world)));
    let fills = open && bulk.direction != Direction::Both;
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
        Some(model::packets_goodput_bps(payload, &[largest], &links, framing(world)))
    };
    let least = goodput(arms.a, &packets.a)?.min(goodput(arms.b, &packets.b)?);
    match bulk.pacing_bps.map(|pace| pace as f64) {
        // Paced below what either arm's packets let through: both arrive at the pace.
        Some(pace) if rate.is_none() || pace < least => {
            let values = rate.map(|_| PerArm { a: pace, b: pace });
            Some(Predicted { effect: 0.0, values })
        }
        _ => ratio(arms, packets, rate.is_some(), goodput),
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
        let sizes = wiremodel::udp_packets(bulk.payload_bytes, family, p.mtu).ok()?;
        let links = lines(world, family)?;
        let links = is_known(&links, &sizes).then_some(links)?;
        Some(model::packets_goodput_bps(bulk.payload_bytes, &sizes, &links, framing(world)))
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
    let below = |pace: u64| {
        let least = goodput(arms.a, &packets.a)?.min(goodput(arms.b, &packets.b)?);
        Some((pace as f64) < least)
    };
    match (bulk.rate_bps, rate) {
        // Paced below what either arm's packets let through: both arrive at the pace.
        (Some(pace), Some(_)) if below(pace) == Some(true) => {
            let pace = pace as f64;
            Some(Predicted { effect: 0.0, values: Some(PerArm { a: pace, b: pace }) })
        }
        (Some(_), None) => Some(Predicted { effect: 0.0, values: None }),
        (_, Some(_)) => ratio(arms, packets, true, goodput),
        (None, None) => None,
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
        Some(model::packets_goodput_bps(own, &sizes, &links, framing(world)))
    };
    let values = PerArm { a: through(arms.a, &packets.a)?, b: through(arms.b, &packets.b)? };
    let most = search.rate_bps_max as f64;
    match known {
        // Both reach the highest rate that is tried.
        true if most < values.a.min(values.b) => {
            Some(Predicted { effect: 0.0, values: Some(PerArm { a: most, b: most }) })
        }
        known => {
            let effect = values.b / values.a - 1.0;
            Some(Predicted { effect, values: known.then_some(values) })
        }
    }
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
    Some((packets(echo.message_bytes)?, packets(echo.answer_bytes())?))
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
mod tests {
    use super::*;
    use alloc::vec;
    use v6gap_core::plan::{defaults, preset};
    use v6gap_core::tunnel::{Tunnel, TunnelKind};
    use v6gap_core::workload::{Http, Search, Visit, Wait};
    use v6gap_core::world::{LaidTunnel, Link, Translation, TranslationKind};

    fn of_search(search: Capacity, model: LinkModel, rate_bps: Option<u64>) -> Option<Predicted> {
        let world = World::client_router_server(model, rate_bps);
        let plan = preset::first_look(PerArm::FAMILIES, Some(world), 1);
        let cell = Cell::named(Workload::Capacity(search));
        predict(&plan, &cell, cell.workload.metrics()[0], &[], 0.0)
    }

    #[test]
    fn the_ip_layer_has_nearly_the_same_rate_in_both_families() {
        let halving = Search::Halving { trial_ns: 1, lost_ppm_max: 0, forced: false };
        for search in [Capacity::default().search, halving] {
            let search = Capacity { search, ..Capacity::default() };
            let found = of_search(search, LinkModel::Shaped, Some(100_000_000)).unwrap();
            let values = found.values.unwrap();
            // 1250 of 1288 bytes and 1270 of 1308.
            assert!((values.a - 97.050e6).abs() < 1e3, "{found:?}");
            assert!((values.b - 97.095e6).abs() < 1e3, "{found:?}");
            assert!((found.effect - 0.000_464).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn a_search_is_bounded_by_its_highest_rate() {
        let low = Capacity { rate_bps_max: 50_000_000, ..Capacity::default() };
        let found = of_search(low, LinkModel::Shaped, Some(100_000_000)).unwrap();
        let values = PerArm { a: 50e6, b: 50e6 };
        assert_eq!(found, Predicted { effect: 0.0, values: Some(values) });
    }

    /// 6in4 between the routers of a chain: 1,408 bytes of payload in 1,500 of packet, and 20 bytes
    /// more on one of three links.
    #[test]
    fn a_tunnel_of_one_family_is_part_of_the_prediction() {
        let mut world = World::chain(LinkModel::Wire, vec![Link::ethernet(Some(100_000_000)); 3]);
        let carries = PerFamily { v4: false, v6: true };
        let tunnel = Tunnel { kind: TunnelKind::IpInIp, outer: Family::V4 };
        world.tunnels = vec![LaidTunnel { ends: [1, 2], tunnel, carries }];
        let of = |world: &World, workload, metric, base| {
            let plan = preset::first_look(PerArm::FAMILIES, Some(world.clone()), 1);
            predict(&plan, &Cell::named(workload), metric, &[], base)
        };
        let tcp = || Workload::TcpBulk(defaults::tcp_bulk(true));
        let found = of(&world, tcp(), Metric::Throughput, 0.0).unwrap();
        let values = found.values.unwrap();
        assert!((values.a - 100e6 * 1448.0 / 1538.0).abs() < 1.0, "{found:?}");
        assert!((values.b - 100e6 * 1408.0 / 1538.0).abs() < 1.0, "{found:?}");
        let echo = Workload::Echo(defaults::echo(Transport::Udp, 64, Wait::Yield));
        let values = of(&world, echo, Metric::Rtt, 100e-6).unwrap().values.unwrap();
        assert!((values.b - values.a - 2.0 * 80e-9 * 80.0).abs() < 1e-12, "{values:?}");
        // A line of another rate for each family is not one line with another tunnel.
        world.links[1].conditions.v6.rate_bps = Some(50_000_000);
        assert_eq!(of(&world, tcp(), Metric::Throughput, 0.0), None);
        world.tunnels.clear();
        assert!(of(&world, tcp(), Metric::Throughput, 0.0).is_some());
    }

    /// NAT64: 1,428 bytes in 1,500 of packet before the router, 1,480 behind it (W31).
    #[test]
    fn a_translated_family_is_predicted_by_what_it_is_on_each_link() {
        let mut world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
        world.translation = Some(Translation { kind: TranslationKind::Nat64, at: 1, client: 0 });
        let plan = preset::first_look(PerArm::FAMILIES, Some(world), 1);
        let of = |workload, metric, base| predict(&plan, &Cell::named(workload), metric, &[], base);
        let tcp = Workload::TcpBulk(defaults::tcp_bulk(true));
        let values = of(tcp, Metric::Throughput, 0.0).unwrap().values.unwrap();
        assert!((values.a - 94.148e6).abs() < 1e3, "{values:?}");
        assert!((values.b - 92.848e6).abs() < 1e3, "{values:?}");
        let echo = |bytes| Workload::Echo(defaults::echo(Transport::Udp, bytes, Wait::Yield));
        let values = of(echo(64), Metric::Rtt, 100e-6).unwrap().values.unwrap();
        // Twenty bytes on one of the two links, both ways.
        assert!((values.b - values.a - 2.0 * 80e-9 * 20.0).abs() < 1e-12, "{values:?}");
        // What becomes of fragments is not in the model.
        assert_eq!(of(echo(16384), Metric::Rtt, 100e-6), None);
    }

    #[test]
    fn a_window_that_holds_the_path_four_times_is_no_limit() {
        let switch = World::chain(LinkModel::Wire, [Link::ethernet(Some(100_000_000)); 2].to_vec());
        // 0.26 ms at 100 Mbit/s are 3.3 kB.
        assert!(!keeps_full(8 << 10, &switch) && keeps_full(16 << 10, &switch));
        let mut far = switch.clone();
        for link in &mut far.links {
            (link.conditions.v4.delay_ns, link.conditions.v6.delay_ns) = (5_000_000, 5_000_000);
        }
        assert!(!keeps_full(64 << 10, &far) && keeps_full(2 << 20, &far));
        let bare = World::client_router_server(LinkModel::Bare, None);
        assert!(!keeps_full(1 << 30, &bare));
    }

    #[test]
    fn a_number_of_datagrams_is_predicted_if_it_lasts() {
        let plan = preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), 1);
        let of = |packets| {
            let bulk = UdpBulk { rate_bps: None, packets: Some(packets), ..UdpBulk::default() };
            let cell = Cell::named(Workload::UdpBulk(UdpBulk { payload_bytes: 128, ..bulk }));
            predict(&plan, &cell, Metric::Throughput, &[], 0.0)
        };
        assert_eq!(of(1_000), None);
        // Payload of 128 B in frames of 194 and 214 B.
        let found = of(1_000_000).unwrap();
        assert!((found.effect - (194.0 / 214.0 - 1.0)).abs() < 1e-9, "{found:?}");
    }

    /// What the packets of QUIC carry is not known.
    #[test]
    fn a_download_over_tcp_is_predicted_by_its_headers() {
        let plan = preset::first_look(PerArm::FAMILIES, None, 1);
        let of = |http| {
            let visit = Visit { http: Some(http), body_bytes: 20_000_000, ..Visit::default() };
            let cell = Cell::named(Workload::Visit(visit));
            predict(&plan, &cell, Metric::Throughput, &[], 0.0)
        };
        let found = of(Http::Two).unwrap();
        assert!((found.effect - (1428.0 / 1448.0 - 1.0)).abs() < 1e-9, "{found:?}");
        assert!(found.values.is_none() && of(Http::Three).is_none(), "{found:?}");
    }

    /// A tunnel on the way here alone, or a router that shortens segments.
    #[test]
    fn a_download_is_predicted_by_the_segments_that_came() {
        let sent = Packets { mtu: 1500, mtu_known: true, options: TcpOptions::TIMESTAMPS };
        assert_eq!(received(Family::V6, sent, Some(1_228)).mtu, 1_300);
        assert_eq!(received(Family::V4, sent, Some(1_448)).mtu, 1_500);
        assert_eq!(received(Family::V4, sent, None).mtu, 1_500);
    }

    #[test]
    fn a_cable_without_a_rate_has_no_prediction() {
        assert_eq!(of_search(Capacity::default(), LinkModel::Bare, None), None);
    }
}
