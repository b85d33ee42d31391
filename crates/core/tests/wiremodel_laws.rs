//! Laws of the wire model for all sizes, and figures of the RFCs and papers that it restates.

use proptest::prelude::*;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::tunnel::{Tunnel, TunnelKind};
use v6gap_core::wiremodel::*;
use v6gap_core::workload::Transport;
use v6gap_core::world::model::{
    bottleneck_bps, link_packet_max, path_mtu, world_round_trip_ns, world_tcp_goodput_bps,
    world_udp_goodput_bps,
};
use v6gap_core::world::{LaidTunnel, Link, LinkModel, Translation, TranslationKind, World};

const PLAIN: Framing = Framing { vlan_tags: 0 };
const STAMPS: TcpOptions = TcpOptions::TIMESTAMPS;
const NONE: TcpOptions = TcpOptions::NONE;

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= expected.abs() * 1e-9
}

fn assert_near(value: f64, expected: f64, half_unit: f64) {
    assert!((value - expected).abs() <= half_unit, "{value} is not {expected}");
}

/// Line time in bytes of `packets` frames over `links` equal links, in closed form: full frames in
/// a pipeline, the last one no longer than they are.
fn pipeline_bytes(packets: u32, links: u32, full_frame: u32, last_frame: u32) -> u32 {
    if packets == 1 {
        return links * (8 + last_frame);
    }
    (packets + links - 2) * (8 + full_frame) + 12 * (packets - 1) + (8 + last_frame)
}

fn any_family() -> impl Strategy<Value = Family> {
    prop_oneof![Just(Family::V4), Just(Family::V6)]
}

fn any_encapsulation() -> impl Strategy<Value = Encapsulation> {
    use Encapsulation::*;
    (any_family(), 68_u32..10_000).prop_flat_map(|(outer, interface_mtu)| {
        prop::sample::select(vec![
            IpInIp { outer },
            Gre { outer },
            Vxlan { outer },
            EspTunnel { outer },
            WireGuard { outer, interface_mtu },
            SegmentRouting,
        ])
    })
}

proptest! {
    #[test]
    fn the_recursion_equals_the_closed_form(
        packets in 1_u32..60, hops in 1_usize..6, full in 20_u32..9000, last in 20_u32..9000,
        rate in 1e6_f64..1e11, vlan_tags in 0_u32..3,
    ) {
        let framing = Framing { vlan_tags };
        let last = last.min(full);
        let mut lengths = vec![full; packets as usize - 1];
        lengths.push(last);
        let links = vec![LinkTiming::plain(rate, 0.0); hops];
        let (frame, last_frame) = (frame_bytes(full, framing), frame_bytes(last, framing));
        let bytes = pipeline_bytes(packets, hops as u32, frame, last_frame);
        let expected = f64::from(bytes) * 8e9 / rate;
        prop_assert!(close(one_way_ns(&lengths, &links, framing), expected));
        prop_assert!(close(round_trip_ns(&lengths, &links, framing), 2.0 * expected));
    }

    #[test]
    fn propagation_adds_once_per_link(
        payload in 0_u32..65_507, family in any_family(),
        rates in prop::collection::vec(1e6_f64..1e10, 1..6), propagation in 0_f64..1e9,
    ) {
        let packets = udp_packets(payload, family, 1500).unwrap();
        let links = |propagation_ns| -> Vec<_> {
            rates.iter().map(|&rate_bps| LinkTiming::plain(rate_bps, propagation_ns)).collect()
        };
        let without = one_way_ns(&packets, &links(0.0), PLAIN);
        let with = one_way_ns(&packets, &links(propagation), PLAIN);
        prop_assert!((with - without - propagation * rates.len() as f64).abs() <= with * 1e-9);
    }

    #[test]
    fn fragments_carry_the_datagram_and_fit(
        payload in 0_u32..=65_507, mtu in 68_u32..70_000, family in any_family(),
    ) {
        let packets = udp_packets(payload, family, mtu).unwrap();
        let headers = match packets.len() {
            1 => family.header_bytes(),
            _ => family.header_bytes() + family.fragment_header_bytes(),
        };
        prop_assert!(packets.iter().all(|&packet| packet <= mtu && packet > headers));
        prop_assert_eq!(packets.iter().map(|packet| packet - headers).sum::<u32>(), payload + 8);
        let (_, before_last) = packets.split_last().unwrap();
        prop_assert!(before_last.iter().all(|packet| (packet - headers) % 8 == 0));
        prop_assert!(before_last.iter().all(|packet| packet + 8 > mtu));
    }

    #[test]
    fn segments_carry_the_message_and_fit(
        message in 1_u32..1_000_000, mtu in 100_u32..10_000, family in any_family(),
    ) {
        let packets = tcp_packets(message, family, mtu, STAMPS);
        let headers = family.header_bytes() + TCP_HEADER_BYTES + STAMPS.bytes;
        prop_assert!(packets.iter().all(|&packet| packet <= mtu && packet > headers));
        prop_assert_eq!(packets.iter().map(|packet| packet - headers).sum::<u32>(), message);
        prop_assert_eq!(packets.len() as u32, message.div_ceil(mtu - headers));
    }

    #[test]
    fn the_inner_mtu_is_the_largest_that_fits(
        encapsulation in any_encapsulation(), outer_mtu in 0_u32..10_000,
    ) {
        let inner = encapsulation.inner_mtu(outer_mtu);
        if inner > 0 {
            prop_assert!(encapsulation.outer_bytes(inner) <= outer_mtu);
        }
        let bound = match encapsulation {
            Encapsulation::WireGuard { interface_mtu, .. } => interface_mtu,
            _ => u32::MAX,
        };
        if inner < bound {
            prop_assert!(encapsulation.outer_bytes(inner + 1) > outer_mtu);
        }
    }

    #[test]
    fn nothing_panics_on_any_number(
        numbers in any::<[u32; 4]>(), encapsulation in any_encapsulation(), family in any_family(),
    ) {
        let [ip_bytes, vlan_tags, bytes, mtu] = numbers;
        let (framing, options) = (Framing { vlan_tags }, TcpOptions { bytes });
        prop_assert!(wire_bytes(ip_bytes, framing) >= 84);
        let _ = (udp_packets(ip_bytes, family, mtu), udp_packets(64, family, mtu));
        let _ = (udp_packets(64, family, mtu % 80), tcp_mss(mtu, family, options));
        let _ = tcp_packets(ip_bytes % 1_000_000, family, mtu % 1500, options);
        let _ = (encapsulation.overhead_bytes(ip_bytes), encapsulation.inner_mtu(mtu));
        let _ = translated_bytes(ip_bytes, family, true);
        for transport in [Transport::Tcp, Transport::Udp] {
            let parts = header_composition(transport, family, ip_bytes, options, framing);
            let _ = (parts.headers_share_of_frame(), parts.line_overhead_share());
            let _ = (parts.headers_per_payload(), parts.line_overhead_per_payload());
            let _ = packet_payload_max(transport, family, mtu, options);
        }
    }
}

#[test]
fn unlike_links_match_the_reference() {
    // 8192 bytes of UDP over 100 Mbit/s and 1 ms, 10 Mbit/s and 2 ms, 1 Gbit/s and 5 µs, and back
    // over the same links in reverse; computed by the program described in the table of vectors.
    let links = [(1e8, 1e6), (1e7, 2e6), (1e9, 5e3)]
        .map(|(rate_bps, propagation_ns)| LinkTiming::plain(rate_bps, propagation_ns));
    let packets = |family| udp_packets(8192, family, 1500).unwrap();
    assert!(close(one_way_ns(&packets(Family::V4), &links, PLAIN), 9_962_648.0));
    assert!(close(one_way_ns(&packets(Family::V6), &links, PLAIN), 10_098_232.0));
    let there_and_back = Family::BOTH.map(|f| round_trip_ns(&packets(f), &links, PLAIN));
    assert!(close(there_and_back[0], 9_962_648.0 + 9_913_688.0));
    assert!(close(there_and_back[1], 10_098_232.0 + 10_063_096.0));
    assert_eq!(one_way_ns(&[], &links, PLAIN), 0.0);
    assert_eq!(one_way_ns(&[1500], &[], PLAIN), 0.0);
}

#[test]
fn a_single_packet_pays_twenty_bytes_per_link() {
    for (rate_bps, extra_ns) in [(100e6, 6400.0), (10e6, 64_000.0)] {
        let links = [LinkTiming::plain(rate_bps, 0.0); 2];
        let [v4, v6] =
            Family::BOTH.map(|f| round_trip_ns(&udp_packets(64, f, 1500).unwrap(), &links, PLAIN));
        assert_near(v6 - v4, extra_ns, 1e-6);
    }
}

#[test]
fn ethernet_pads_short_frames() {
    assert_eq!(frame_bytes(20, PLAIN), 64);
    assert_eq!(frame_bytes(46, PLAIN), 64);
    assert_eq!(frame_bytes(47, PLAIN), 65);
    assert_eq!(wire_bytes(1500, PLAIN), 1538);
    assert_eq!(wire_bytes(1500, Framing { vlan_tags: 1 }), 1542);
    // An empty IPv6 datagram is above the minimum, an IPv4 one with less than 18 bytes is below.
    assert_eq!(frame_bytes(udp_packets(0, Family::V6, 1500).unwrap()[0], PLAIN), 66);
    assert_eq!(frame_bytes(udp_packets(18, Family::V4, 1500).unwrap()[0], PLAIN), 64);
    assert_eq!(frame_bytes(udp_packets(19, Family::V4, 1500).unwrap()[0], PLAIN), 65);
}

#[test]
fn windows_bound_a_line_above_their_round_trip() {
    for (window, limit_ms) in [(8, 0.690), (16, 1.381), (32, 2.761), (64, 5.523)]
        .map(|(kib, ms)| (kib as f64 * 1024.0, ms))
    {
        let goodput = tcp_goodput_bps(100e6, 1500, Family::V4, NONE, PLAIN);
        let round_trip_ns = window * 8e9 / goodput;
        assert_near(round_trip_ns / 1e6, limit_ms, 0.5e-3);
        assert!(close(window_limited_bps(window, round_trip_ns), goodput));
    }
}

/// IPv6 goodput over IPv4 goodput on the same line.
fn tcp_ratio(options: TcpOptions) -> f64 {
    let goodput = |family| tcp_goodput_bps(100e6, 1500, family, options, PLAIN);
    goodput(Family::V6) / goodput(Family::V4)
}

fn udp_ratio(payload: u32) -> f64 {
    let goodput = |family| udp_goodput_bps(100e6, payload, family, 1500, PLAIN).unwrap();
    goodput(Family::V6) / goodput(Family::V4)
}

#[test]
fn ratios_have_their_closed_forms() {
    assert_near(tcp_ratio(STAMPS), 0.986188, 0.5e-6);
    assert_near(tcp_ratio(NONE), 0.986301, 0.5e-6);
    for payload in 18..=1452 {
        let expected = f64::from(payload + 66) / f64::from(payload + 86);
        assert!(close(udp_ratio(payload), expected));
    }
}

#[test]
fn between_1453_and_1472_bytes_only_one_family_fragments() {
    let counts = |payload| Family::BOTH.map(|f| udp_packets(payload, f, 1500).unwrap().len());
    assert_eq!(counts(1452), [1, 1]);
    for payload in 1453..=1472 {
        assert_eq!(counts(payload), [1, 2], "{payload}");
    }
    assert_eq!(counts(1473), [2, 2]);
    assert_near(udp_ratio(1472), 0.9310, 0.5e-4);
}

#[test]
fn segments_at_their_edges() {
    assert_eq!(tcp_packets(1448, Family::V4, 1500, STAMPS), [1500]);
    assert_eq!(tcp_packets(2 * 1428, Family::V6, 1500, STAMPS), [1500, 1500]);
    assert_eq!(tcp_packets(1449, Family::V4, 1500, STAMPS), [1500, 53]);
    assert!(tcp_packets(0, Family::V4, 1500, STAMPS).is_empty());
    assert!(tcp_packets(1, Family::V6, 72, STAMPS).is_empty());
}

#[test]
fn what_does_not_fit_a_datagram_is_refused() {
    for family in Family::BOTH {
        let max = family.udp_payload_bytes_max();
        assert!(udp_packets(max, family, 1500).is_ok());
        let error = udp_packets(max + 1, family, 1500).unwrap_err();
        assert_eq!(error, Unsendable::TooLarge { payload: max + 1, family, max });
        let room = family.header_bytes() + family.fragment_header_bytes() + 8;
        assert!(udp_packets(1000, family, room).is_ok());
        let error = udp_packets(1000, family, room - 1).unwrap_err();
        assert_eq!(error, Unsendable::MtuTooSmall { mtu: room - 1, family });
    }
}

#[test]
fn inner_mtus_at_1500_outside() {
    use Encapsulation::*;
    let cases = [
        (IpInIp { outer: Family::V4 }, 1480),
        (IpInIp { outer: Family::V6 }, 1460),
        (Gre { outer: Family::V4 }, 1476),
        (Gre { outer: Family::V6 }, 1456),
        (Vxlan { outer: Family::V4 }, 1450),
        (Vxlan { outer: Family::V6 }, 1430),
        // 8 + 8 + 16 + 16 of 1480 and 1460 leave 1432 and 1412, whole blocks of which hold 2 bytes
        // more than the packet.
        (EspTunnel { outer: Family::V4 }, 1422),
        (EspTunnel { outer: Family::V6 }, 1406),
        (WireGuard { outer: Family::V4, interface_mtu: 1440 }, 1440),
        (WireGuard { outer: Family::V4, interface_mtu: 1420 }, 1420),
        (WireGuard { outer: Family::V6, interface_mtu: 1500 }, 1408),
        (SegmentRouting, 1436),
    ];
    for (encapsulation, inner_mtu) in cases {
        assert_eq!(encapsulation.inner_mtu(1500), inner_mtu, "{encapsulation:?}");
    }
    assert_eq!(WireGuard { outer: Family::V4, interface_mtu: 1420 }.overhead_bytes(1408), 60);
    assert_eq!(WireGuard { outer: Family::V6, interface_mtu: 1420 }.overhead_bytes(100), 92);
}

#[test]
fn translation_exchanges_the_headers() {
    assert_eq!(translated_bytes(1480, Family::V4, false), 1500);
    assert_eq!(translated_bytes(1480, Family::V4, true), 1508);
    assert_eq!(translated_bytes(1500, Family::V6, false), 1480);
    assert_eq!(translated_bytes(1508, Family::V6, true), 1480);
}

/// Goyal et al. with Q = 100 Mbit/s, one stream, one direction.
#[test]
fn the_channel_formula_gives_the_goodput() {
    let one = Channel { gross_bps: 100e6, streams: 1 };
    let [v4, v6] = Family::BOTH.map(|family| tcp_layers(&one, 1500, family, STAMPS, PLAIN));
    for (layers, family) in [(&v4, Family::V4), (&v6, Family::V6)] {
        assert_near(layers[0].overhead_bps / 1e6, 1.300390, 0.5e-6);
        assert_near(layers[1].overhead_bps / 1e6, 1.170351, 0.5e-6);
        assert_near(layers[3].overhead_bps / 1e6, 2.080624, 0.5e-6);
        let goodput = tcp_goodput_bps(100e6, 1500, family, STAMPS, PLAIN);
        assert!(close(layers[3].throughput_bps, goodput));
    }
    assert_near(v4[2].overhead_bps / 1e6, 1.300390, 0.5e-6);
    assert_near(v6[2].overhead_bps / 1e6, 2.600780, 0.5e-6);
    assert_near(v4[3].throughput_bps / 1e6, 94.148244, 0.5e-6);
    assert_near(v6[3].throughput_bps / 1e6, 92.847854, 0.5e-6);

    let shared = Channel { gross_bps: 100e6, streams: 4 };
    let layers = tcp_layers(&shared, 1500, Family::V4, STAMPS, PLAIN);
    assert!(close(layers[3].throughput_bps, v4[3].throughput_bps / 4.0));
    assert!(close(shared.throughput_bps(&[]), 25e6));
}

/// Raicu's Table 1 (TCP and UDP in both families, MTU 1500, no options): overhead in percent of
/// payload as printed there, with the line's own bytes, and as a share of the frame of 1514 bytes.
#[test]
fn table_1_of_raicu() {
    let rows = [
        (Transport::Tcp, Family::V4, 1460, 54, 3.6986, 5.3425, 3.57),
        (Transport::Tcp, Family::V6, 1440, 74, 5.1389, 6.8056, 4.89),
        (Transport::Udp, Family::V4, 1472, 42, 2.8533, 4.4837, 2.77),
        (Transport::Udp, Family::V6, 1452, 62, 4.2700, 5.9229, 4.10),
    ];
    for (transport, family, payload, headers, per_payload, line, of_frame) in rows {
        assert_eq!(packet_payload_max(transport, family, 1500, NONE), payload);
        let parts = header_composition(transport, family, payload, NONE, PLAIN);
        assert_eq!(parts.headers_bytes(), headers);
        assert_eq!(parts.wire_bytes, 1538);
        assert_near(parts.headers_per_payload() * 100.0, per_payload, 0.5e-4);
        assert_near(parts.line_overhead_per_payload() * 100.0, line, 0.5e-4);
        assert_near(parts.headers_share_of_frame() * 100.0, of_frame, 0.5e-2);
        let share = f64::from(1538 - payload) / 1538.0;
        assert!(close(parts.line_overhead_share(), share));
    }
}

/// The "about 30 %" for small packets is a difference of ratios to payload, in percentage points.
#[test]
fn small_packets_of_raicu() {
    let rows = [(Transport::Tcp, 84.38, 115.63), (Transport::Udp, 65.63, 96.88)];
    for (transport, v4_percent, v6_percent) in rows {
        let [v4, v6] = Family::BOTH.map(|family| {
            header_composition(transport, family, 64, NONE, PLAIN).headers_per_payload() * 100.0
        });
        assert_near(v4, v4_percent, 0.5e-2 + 1e-9);
        assert_near(v6, v6_percent, 0.5e-2 + 1e-9);
        assert!(close(v6 - v4, 31.25));
    }
}

#[test]
fn a_world_is_predicted_from_its_links() {
    let mut world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let round_trip = |world: &World, family| {
        world_round_trip_ns(world, family, &udp_packets(64, family, 1500).unwrap())
    };
    assert_near(round_trip(&world, Family::V4), 37_760.0, 1e-6);
    assert_near(round_trip(&world, Family::V6), 44_160.0, 1e-6);
    let goodput = world_tcp_goodput_bps(&world, Family::V6).unwrap();
    assert_near(goodput / 1e6, 92.847854, 0.5e-6);

    // A slower second link, a delay for one family, a smaller MTU.
    world.links[1].conditions.v4.rate_bps = Some(10_000_000);
    world.links[0].conditions.v6.delay_ns = 1_000_000;
    world.links[0].mtu = 1280;
    assert_eq!(bottleneck_bps(&world, Family::V4), Some(10_000_000));
    assert_eq!(bottleneck_bps(&world, Family::V6), Some(100_000_000));
    assert_eq!(path_mtu(&world, Family::V6), 1280);
    assert_near(round_trip(&world, Family::V6), 44_160.0 + 2e6, 1e-6);
    let goodput =
        PerFamily::from_fn(|family| world_udp_goodput_bps(&world, family, 1200).unwrap().unwrap());
    assert!(close(goodput.v4, 10e6 * 1200.0 / f64::from(1200 + 66)));
    // An MTU of one family leaves the other as it is.
    world.links[0].mtu = 1500;
    world.links[0].mtus.v6 = Some(1280);
    assert_eq!(Family::BOTH.map(|family| path_mtu(&world, family)), [1500, 1280]);
    let six = world_udp_goodput_bps(&world, Family::V6, 1400).unwrap().unwrap();
    assert!(close(six, 100e6 * 1400.0 / f64::from(1280 + 38 + 40 + 8 + 1408 - 1232 + 38)));
    assert_eq!(udp_packets(1400, Family::V6, path_mtu(&world, Family::V6)).unwrap().len(), 2);
    world.links[0].mtus.v6 = None;
    world.links[0].mtu = 1280;
    assert!(close(goodput.v6, 100e6 * 1200.0 / f64::from(1200 + 86)));
}

/// Between the routers of the chain a packet of 1,480 bytes fills one of 1,500; the links at the
/// ends carry it as it is.
#[test]
fn a_tunnel_costs_its_header_on_the_links_under_it() {
    let mut world = World::chain(LinkModel::Wire, vec![Link::ethernet(Some(100_000_000)); 3]);
    let carries = PerFamily { v4: false, v6: true };
    let tunnel = Tunnel { kind: TunnelKind::IpInIp, outer: Family::V4 };
    world.tunnels = vec![LaidTunnel { ends: [1, 2], tunnel, carries }];
    assert_eq!([Family::V4, Family::V6].map(|family| path_mtu(&world, family)), [1500, 1480]);
    let goodput = |family| world_tcp_goodput_bps(&world, family).unwrap();
    assert!(close(goodput(Family::V4), 100e6 * 1448.0 / 1538.0));
    assert!(close(goodput(Family::V6), 100e6 * 1408.0 / 1538.0));
    assert_eq!(link_packet_max(&world), 1500);
    // 64 bytes are 132 with the headers of UDP, IPv6 and Ethernet with its check sequence and
    // preamble, on each of three links and both ways, and 20 more on the middle one.
    let round_trip = world_round_trip_ns(&world, Family::V6, &[112]);
    assert_near(round_trip, 2.0 * 80.0 * (3.0 * 138.0 + 20.0), 1e-6);
    // An MTU that leaves room for the tunnel costs no payload, but line time all the same.
    world.links[1].mtu = 1520;
    assert_eq!((path_mtu(&world, Family::V6), link_packet_max(&world)), (1500, 1520));
    let goodput = world_tcp_goodput_bps(&world, Family::V6).unwrap();
    assert!(close(goodput, 100e6 * 1428.0 / 1558.0));
}

/// Method.md A.5: translated segments are those of IPv6 at both ends, 20 bytes shorter on links
/// that see IPv4.
#[test]
fn a_translated_family_has_the_other_s_header_on_part_of_the_path() {
    let mut world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let goodput = |world: &World, family| world_tcp_goodput_bps(world, family).unwrap();
    for (kind, mtus) in
        [(TranslationKind::Nat64, [1500, 1500]), (TranslationKind::Xlat464, [1480, 1500])]
    {
        world.translation = Some(Translation { kind, at: 1, client: 0 });
        assert_eq!([Family::V4, Family::V6].map(|family| path_mtu(&world, family)), mtus);
        let family = kind.translates();
        assert_eq!(world.mtu_translated(family), path_mtu(&world, family));
        // W31: the leg with IPv6 bounds the rate, that with IPv4 where it is the slower one.
        assert!(close(goodput(&world, family), 100e6 * 1428.0 / 1538.0));
        let mut slow = world.clone();
        slow.links[1] = Link::ethernet(Some(10_000_000)).between(1, 2);
        assert!(close(goodput(&slow, family), 10e6 * 1428.0 / 1518.0));
        assert_eq!(link_packet_max(&world), 1500);
        // 64 bytes of UDP are 138 on the line over IPv6 and 118 over IPv4, once each way.
        let sent = 72 + family.header_bytes();
        let round_trip = world_round_trip_ns(&world, family, &[sent]);
        assert_near(round_trip, 2.0 * 80.0 * (138.0 + 118.0), 1e-6);
    }
    // A link behind the router that takes less bounds what may be sent before it.
    world.translation = Some(Translation { kind: TranslationKind::Nat64, at: 1, client: 0 });
    world.links[1].mtu = 1300;
    assert_eq!(path_mtu(&world, Family::V6), 1320);
}

#[test]
fn a_world_without_rates_predicts_no_goodput_and_no_serialisation() {
    let mut world = World::client_router_server(LinkModel::Bare, None);
    for family in Family::BOTH {
        assert_eq!(world_tcp_goodput_bps(&world, family), None);
        assert_eq!(world_udp_goodput_bps(&world, family, 64), Ok(None));
        assert!(world_udp_goodput_bps(&world, family, 65_536).is_err());
        assert_eq!(world_round_trip_ns(&world, family, &[1500, 1500]), 0.0);
    }
    // One link with a rate is enough for a bound.
    world.links[1] = Link::ethernet(Some(1_000_000_000)).between(1, 2);
    assert!(world_tcp_goodput_bps(&world, Family::V4).is_some());
}
