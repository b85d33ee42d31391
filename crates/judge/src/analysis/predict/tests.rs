//! What the headers alone are said to cost, by the wire model worked out by hand.

use super::*;
use alloc::vec;
use v6gap_core::plan::{defaults, preset};
use v6gap_core::tunnel::{Tunnel, TunnelKind};
use v6gap_core::workload::{Connect, Http, Purpose, Visit, Wait};
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
    // Between two rows of the table the lower one is the highest that is tried.
    let low = Capacity { rate_bps_max: 50_500_000, ..Capacity::default() };
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
    let paced = TcpBulk { pacing_bps: Some(80_000_000), ..defaults::tcp_bulk(true) };
    assert_eq!(of(&world, Workload::TcpBulk(paced), Metric::Throughput, 0.0), None);
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
    let keeps_full = |bytes: u32, world: &World| {
        is_beyond(f64::from(bytes), WINDOW_OF_PATH, world, Direction::Send)
    };
    // 0.26 ms at 100 Mbit/s are 3.3 kB.
    assert!(!keeps_full(8 << 10, &switch) && keeps_full(16 << 10, &switch));
    let mut far = switch.clone();
    for link in &mut far.links {
        (link.conditions.v4.delay_ns, link.conditions.v6.delay_ns) = (5_000_000, 5_000_000);
    }
    assert!(!keeps_full(64 << 10, &far) && keeps_full(2 << 20, &far));
    let bare = World::client_router_server(LinkModel::Bare, None);
    assert!(!keeps_full(1 << 30, &bare));
    // 10 Mbit/s there and a hundred times as much back.
    let mut uneven = switch.clone();
    for link in &mut uneven.links {
        let slow = Conditions { rate_bps: Some(10_000_000), ..link.conditions.v4 };
        link.conditions = PerFamily { v4: slow, v6: slow };
        let fast = Conditions { rate_bps: Some(1_000_000_000), ..slow };
        link.back = Some(PerFamily { v4: fast, v6: fast });
    }
    let beyond = |way| is_beyond(30e3, WINDOW_OF_PATH, &uneven, way);
    assert!(beyond(Direction::Send) && !beyond(Direction::Receive));
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

/// Datagrams of 64 B pass at 49.231 and 42.667 Mbit/s.
#[test]
fn a_pace_between_the_families_holds_up_one_of_them() {
    let plan = preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), 1);
    let of = |rate| {
        let bulk = UdpBulk { payload_bytes: 64, rate_bps: rate, ..UdpBulk::default() };
        predict(&plan, &Cell::named(Workload::UdpBulk(bulk)), Metric::Throughput, &[], 0.0)
    };
    let values = of(Some(45_000_000)).unwrap().values.unwrap();
    assert!(values.a == 45e6 && (values.b - 42.667e6).abs() < 1e3, "{values:?}");
    assert_eq!(of(Some(40_000_000)).unwrap().effect, 0.0);
}

/// 100 kB are over before the line is full.
#[test]
fn a_short_transfer_is_no_full_line() {
    let mut world = preset::demo_world();
    for link in &mut world.links {
        (link.conditions.v4.delay_ns, link.conditions.v6.delay_ns) = (5_000_000, 5_000_000);
    }
    let of = |world: Option<World>, bytes| {
        let plan = preset::first_look(PerArm::FAMILIES, world, 1);
        let bulk = TcpBulk { bytes: Some(bytes), ..TcpBulk::default() };
        predict(&plan, &Cell::named(Workload::TcpBulk(bulk)), Metric::Throughput, &[], 0.0)
    };
    assert_eq!(of(Some(world.clone()), 100_000), None);
    assert!(of(Some(world), 100_000_000).is_some());
    assert_eq!(of(None, 100_000_000), None, "of a line that is not known");
}

#[test]
fn connections_that_wait_for_each_other_have_no_prediction() {
    let of = |concurrent| {
        let plan = preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), 1);
        let connect = Connect { concurrent, purpose: Purpose::Rate, ..Connect::default() };
        predict(&plan, &Cell::named(Workload::Connect(connect)), Metric::Connect, &[], 1e-3)
    };
    assert!(of(1).is_some() && of(64).is_none());
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
    assert_eq!(segments(Family::V6, sent, Some(1_228)).mtu, 1_300);
    assert_eq!(segments(Family::V4, sent, Some(1_448)).mtu, 1_500);
    assert_eq!(segments(Family::V4, sent, None).mtu, 1_500);
}

#[test]
fn a_cable_without_a_rate_has_no_prediction() {
    assert_eq!(of_search(Capacity::default(), LinkModel::Bare, None), None);
}
