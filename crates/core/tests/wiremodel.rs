//! The wire model against worked vectors: twenty-nine cases for both families.
//!
//! Two figures stand for each case. The printed one is matched to half a unit of its last digit.
//! The reference is matched to 1e-9 of its value; it was recomputed in full double precision by an
//! independent program in another language, which builds each packet list by a loop over what is
//! left of the message and adds up line time link by link, and for tunnels divides the inner
//! payload by the wire length of the outer packet, both counted by hand.

use v6gap_core::family::Family;
use v6gap_core::wiremodel::*;

const LINE: f64 = 100e6;
const PLAIN: Framing = Framing { vlan_tags: 0 };
const TAGGED: Framing = Framing { vlan_tags: 1 };
const STAMPS: TcpOptions = TcpOptions::TIMESTAMPS;
const NONE: TcpOptions = TcpOptions::NONE;

/// One case: figures for IPv4 and IPv6 and for their ratio as printed, references, and the model.
#[derive(Clone)]
struct Case {
    name: &'static str,
    printed: [&'static str; 2],
    ratio: &'static str,
    reference: [f64; 2],
    model: fn(Family) -> f64,
}

fn case(
    name: &'static str,
    printed: [&'static str; 2],
    ratio: &'static str,
    reference: [f64; 2],
    model: fn(Family) -> f64,
) -> Case {
    Case { name, printed, ratio, reference, model }
}

/// TCP goodput in Mbit/s.
fn tcp(rate: f64, mtu: u32, family: Family, options: TcpOptions, framing: Framing) -> f64 {
    tcp_goodput_bps(rate, mtu, family, options, framing) / 1e6
}

/// UDP goodput in Mbit/s.
fn udp(payload: u32, family: Family) -> f64 {
    udp_goodput_bps(LINE, payload, family, 1500, PLAIN).unwrap() / 1e6
}

/// TCP goodput inside an encapsulation, in Mbit/s.
fn inside(encapsulation: Encapsulation, family: Family) -> f64 {
    let outer = encapsulation.outer_bytes(encapsulation.inner_mtu(1500));
    let payload = inner_mss(encapsulation, family);
    LINE * f64::from(payload) / f64::from(wire_bytes(outer, PLAIN)) / 1e6
}

/// Payload of a full segment inside an encapsulation, in bytes.
fn inner_mss(encapsulation: Encapsulation, family: Family) -> u32 {
    tcp_mss(encapsulation.inner_mtu(1500), family, STAMPS)
}

fn segments(family: Family, options: TcpOptions) -> Vec<u32> {
    tcp_packets(65_536, family, 1500, options)
}

fn two_links(rate_bps: f64) -> [LinkTiming; 2] {
    [LinkTiming::plain(rate_bps, 0.0); 2]
}

/// Round trip over host, router, host in µs.
fn echo(packets: &[u32], rate_bps: f64) -> f64 {
    round_trip_ns(packets, &two_links(rate_bps), PLAIN) / 1e3
}

fn datagram(payload: u32, family: Family) -> Vec<u32> {
    udp_packets(payload, family, 1500).unwrap()
}

#[rustfmt::skip]
fn goodput_cases() -> Vec<Case> {
    vec![
        case("W1 TCP", ["94.148244", "92.847854"], "0.986188",
            [94.148244473342, 92.8478543563069], |f| tcp(LINE, 1500, f, STAMPS, PLAIN)),
        case("W2 no timestamps", ["94.928479", "93.628088"], "0.986301",
            [94.92847854356307, 93.62808842652797], |f| tcp(LINE, 1500, f, NONE, PLAIN)),
        case("W3 one VLAN tag", ["93.9040", "92.6070"], "0.986188",
            [93.90402075226977, 92.60700389105058], |f| tcp(LINE, 1500, f, STAMPS, TAGGED)),
        case("W4 MTU 1280", ["93.1715", "91.6540"], "0.983713",
            [93.17147192716236, 91.65402124430956], |f| tcp(LINE, 1280, f, STAMPS, PLAIN)),
        case("W5 MTU 9000", ["99.0042", "98.7829"], "0.997765",
            [99.0042044700155, 98.78291657446339], |f| tcp(LINE, 9000, f, STAMPS, PLAIN)),
        case("W6 10 Gbit/s", ["9414.8244", "9284.7854"], "0.986188",
            [9414.8244473342, 9284.785435630689], |f| tcp(1e10, 1500, f, STAMPS, PLAIN)),
        case("W7 UDP 18", ["21.428571", "17.307692"], "0.807692",
            [21.42857142857143, 17.307692307692307], |f| udp(18, f)),
        case("W7 packets per second", ["148809.52", "120192.31"], "0.807692",
            [148809.52380952382, 120192.30769230769], |f| udp(18, f) * 1e6 / (8.0 * 18.0)),
        case("W8 UDP 64", ["49.230769", "42.666667"], "0.866667",
            [49.23076923076923, 42.666666666666664], |f| udp(64, f)),
        case("W9 UDP 128", ["65.979381", "59.813084"], "0.906542",
            [65.97938144329896, 59.81308411214953], |f| udp(128, f)),
        case("W10 UDP 1408", ["95.522388", "94.243641"], "0.986613",
            [95.52238805970148, 94.24364123159305], |f| udp(1408, f)),
        case("W11 UDP 1472", ["95.708713", "89.104116"], "0.930993",
            [95.70871261378413, 89.1041162227603], |f| udp(1472, f)),
        case("W12 UDP 8192", ["95.8353", "93.9881"], "0.980725",
            [95.83528310715957, 93.98806792106471], |f| udp(8192, f)),
        case("W13 UDP 57344", ["96.1922", "94.3282"], "0.980622",
            [96.19216962458482, 94.32820107908935], |f| udp(57_344, f)),
        case("W14 UDP 65507", ["96.1571", "94.2940"], "0.980625",
            [96.15706422018349, 94.2940219660002], |f| udp(65_507, f)),
    ]
}

#[rustfmt::skip]
fn message_cases() -> Vec<Case> {
    vec![
        case("W15 64 KiB, wire bytes", ["69046", "70044"], "1.01445", [69046.0, 70044.0],
            |f| wire_bytes_total(&segments(f, NONE), PLAIN) as f64),
        case("W16 with timestamps", ["69676", "70596"], "1.01320", [69676.0, 70596.0],
            |f| wire_bytes_total(&segments(f, STAMPS), PLAIN) as f64),
        case("W17 round trip TCP 64", ["41.600", "48.000"], "1.15385", [41.6, 48.0],
            |f| echo(&tcp_packets(64, f, 1500, NONE), LINE)),
        case("W18 round trip UDP 64", ["37.760", "44.160"], "1.16949", [37.76, 44.16],
            |f| echo(&datagram(64, f), LINE)),
        case("W19 round trip TCP 64 KiB", ["11289.600", "11449.280"], "1.01414",
            [11289.6, 11449.28], |f| echo(&segments(f, NONE), LINE)),
        case("W20 round trip UDP 57344", ["9780.480", "9968.320"], "1.01921",
            [9780.48, 9968.32], |f| echo(&datagram(57_344, f), LINE)),
        case("W21 UDP 1024 at 10 Mbit/s", ["3449.60", "3513.60"], "1.01855", [3449.6, 3513.6],
            |f| echo(&datagram(1024, f), 10e6)),
        case("W22 connect", ["27.52", "33.92"], "1.23256", [27.52, 33.92],
            |f| echo(&[tcp_header_bytes(f, TcpOptions::SYN)], LINE)),
        case("W23 SYN and SYN/ACK", ["98", "118"], "1.20408", [98.0, 118.0],
            |f| f64::from(wire_bytes(f.header_bytes() + TCP_HEADER_BYTES + 20, PLAIN))),
        case("W23 ACK", ["90", "110"], "1.22222", [90.0, 110.0],
            |f| f64::from(wire_bytes(f.header_bytes() + TCP_HEADER_BYTES + 12, PLAIN))),
        case("W24 ping of 56, IP", ["84", "104"], "1.23810", [84.0, 104.0],
            |f| f64::from(datagram(56, f)[0])),
        case("W24 frame", ["102", "122"], "1.19608", [102.0, 122.0],
            |f| f64::from(frame_bytes(datagram(56, f)[0], PLAIN))),
        case("W24 wire", ["122", "142"], "1.16393", [122.0, 142.0],
            |f| f64::from(wire_bytes(datagram(56, f)[0], PLAIN))),
    ]
}

fn wireguard(outer: Family) -> Encapsulation {
    Encapsulation::WireGuard { outer, interface_mtu: 1420 }
}

#[rustfmt::skip]
fn tunnel_cases() -> Vec<Case> {
    vec![
        // Only IPv6 travels in 6in4; the figure for IPv4 in IPv4 is that of the same outer header.
        case("W25 6in4", ["92.8479", "91.547464"], "0.985994",
            [92.8478543563069, 91.54746423927178],
            |f| inside(Encapsulation::IpInIp { outer: Family::V4 }, f)),
        case("W26 WireGuard in IPv4", ["90.1186", "88.8011"], "0.985380",
            [90.11857707509881, 88.80105401844533], |f| inside(wireguard(Family::V4), f)),
        case("W27 WireGuard in IPv6", ["88.9467", "87.6463"], "0.985380",
            [88.94668400520156, 87.64629388816644], |f| inside(wireguard(Family::V6), f)),
        case("W30 VXLAN in IPv4", ["90.8973", "89.5969"], "0.985694",
            [90.89726918075424, 89.59687906371911],
            |f| inside(Encapsulation::Vxlan { outer: Family::V4 }, f)),
        case("W31 NAT64 legs", ["94.0711", "92.8479"], "0.986996",
            [94.07114624505928, 92.8478543563069], translated_leg),
    ]
}

/// What one leg of a translated connection bounds: IPv6 gives the segments, 1500 bytes long there.
fn translated_leg(family: Family) -> f64 {
    let payload = tcp_mss(1500, Family::V6, STAMPS);
    let ip_bytes = match family {
        Family::V4 => translated_bytes(1500, Family::V6, false),
        Family::V6 => 1500,
    };
    LINE * f64::from(payload) / f64::from(wire_bytes(ip_bytes, PLAIN)) / 1e6
}

fn assert_printed(name: &str, printed: &str, value: f64) {
    let decimals = printed.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
    let printed: f64 = printed.parse().unwrap();
    let half_unit = 0.5 * 10_f64.powi(-decimals) + printed * 1e-12;
    assert!((value - printed).abs() <= half_unit, "{name}: {value} is not {printed}");
}

#[test]
fn all_worked_vectors_hold() {
    let cases = [goodput_cases(), message_cases(), tunnel_cases()].concat();
    for case in &cases {
        let values = Family::BOTH.map(case.model);
        for ((value, printed), reference) in values.iter().zip(case.printed).zip(case.reference) {
            assert_printed(case.name, printed, *value);
            assert!((value / reference - 1.0).abs() <= 1e-9, "{}: {value}, {reference}", case.name);
        }
        assert_printed(case.name, case.ratio, values[1] / values[0]);
    }
    let numbered: std::collections::BTreeSet<_> =
        cases.iter().filter_map(|case| case.name.split(' ').next()).collect();
    assert_eq!(numbered.len(), 29);
}

#[test]
fn packets_and_segment_sizes_of_the_vectors() {
    let counts = |payload| Family::BOTH.map(|family| datagram(payload, family).len());
    assert_eq!(counts(1472), [1, 2]);
    assert_eq!(counts(8192), [6, 6]);
    assert_eq!(counts(57_344), [39, 40]);
    assert_eq!(counts(65_507), [45, 46]);
    let wires =
        |payload| Family::BOTH.map(|family| wire_bytes_total(&datagram(payload, family), PLAIN));
    assert_eq!(wires(1472), [1538, 1652]);
    assert_eq!(wires(8192), [8548, 8716]);
    assert_eq!(wires(57_344), [59_614, 60_792]);
    assert_eq!(wires(65_507), [68_125, 69_471]);
    assert_eq!(Family::BOTH.map(|family| segments(family, NONE).len()), [45, 46]);
    assert_eq!(Family::BOTH.map(|family| segments(family, STAMPS).len()), [46, 46]);

    let mss =
        |encapsulation: Encapsulation| Family::BOTH.map(|family| inner_mss(encapsulation, family));
    let in_ip = Encapsulation::IpInIp { outer: Family::V4 };
    assert_eq!(mss(in_ip)[1], 1408);
    assert_eq!(mss(wireguard(Family::V4)), [1368, 1348]);
    assert_eq!(mss(wireguard(Family::V6)), [1368, 1348]);
    assert_eq!(mss(Encapsulation::Vxlan { outer: Family::V4 }), [1398, 1378]);
}

/// Lengths of frames captured on a Linux veth pair, without the check sequence.
#[test]
fn captured_frames_have_the_predicted_lengths() {
    let captured = |ip_bytes| frame_bytes(ip_bytes, PLAIN) - FRAME_CHECK_BYTES;
    let control = |family: Family, options: u32| captured(family.header_bytes() + 20 + options);
    assert_eq!(Family::BOTH.map(|family| control(family, 20)), [74, 94]);
    assert_eq!(Family::BOTH.map(|family| control(family, 12)), [66, 86]);
    let message = Family::BOTH.map(|family| {
        let packets = segments(family, STAMPS);
        (packets.len(), packets.into_iter().map(captured).sum::<u32>())
    });
    assert_eq!(message, [(46, 68_572), (46, 69_492)]);
    let beside_the_frame = PREAMBLE_BYTES + FRAME_CHECK_BYTES + INTER_PACKET_GAP_BYTES;
    for (family, (packets, bytes)) in Family::BOTH.into_iter().zip(message) {
        let wire = wire_bytes_total(&segments(family, STAMPS), PLAIN);
        assert_eq!(u64::from(bytes + packets as u32 * beside_the_frame), wire);
    }
    // Kernel counters for three datagrams of 4000 bytes: fragments made and IP octets sent.
    let three = Family::BOTH.map(|family| {
        let packets = datagram(4000, family);
        (3 * packets.len(), 3 * packets.iter().sum::<u32>())
    });
    assert_eq!(three, [(9, 12_204), (9, 12_456)]);
}
