//! The parsers on fixture text, and on Linux the counters of real loopback traffic by family.

use super::parse::*;
use super::*;

/// What one parser makes of a text.
fn parsed(
    parser: fn(&str, &mut Sink<'_>) -> Result<(), String>,
    text: &str,
) -> Result<BTreeMap<String, u64>, String> {
    let mut values = BTreeMap::new();
    let mut sink = Sink::new(&mut values);
    parser(text, &mut sink)?;
    let met = sink.met();
    assert_eq!(met, values.len(), "every fixture names a counter once");
    Ok(values)
}

fn map<const N: usize>(pairs: [(&str, u64); N]) -> BTreeMap<String, u64> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn paired_lines_are_joined_by_name() {
    let text = "Ip: Forwarding InReceives\nIp: 2 6906\nTcp: MaxConn RetransSegs\nTcp: -1 4\n\
                IcmpMsg: InType3\nIcmpMsg: 1\n";
    let expected = map([
        ("IcmpMsg.InType3", 1),
        ("Ip.Forwarding", 2),
        ("Ip.InReceives", 6906),
        ("Tcp.RetransSegs", 4),
    ]);
    assert_eq!(parsed(parse_paired, text), Ok(expected));
}

#[test]
fn malformed_pairs_are_refused_with_the_place() {
    let cases = [
        ("Ip: A\n", "no values below 'Ip:'"),
        ("Ip A\nIp 1\n", "no group in 'Ip A'"),
        ("Ip: A\nUdp: 1\n", "values of 'Udp:' below the names of 'Ip:'"),
        ("Ip: A B\nIp: 1\n", "no value for 'Ip.B'"),
        ("Ip: A\nIp: 1 2\n", "more values than names in 'Ip:'"),
        ("Ip: A\nIp: x\n", "'x' is no number"),
        ("Ip: A\nIp: 18446744073709551616\n", "'18446744073709551616' is no number"),
    ];
    for (text, problem) in cases {
        assert_eq!(parsed(parse_paired, text), Err(problem.to_owned()), "{text:?}");
    }
}

#[test]
fn snmp6_names_are_split_after_the_family() {
    let text = "Ip6InReceives                   \t1\nIcmp6InPktTooBigs\t2\nUdp6RcvbufErrors \t3\n\
                UdpLite6InDatagrams\t4\nIcmp6OutType133\t18446744073709551615\n";
    let expected = map([
        ("Ip6.InReceives", 1),
        ("Icmp6.InPktTooBigs", 2),
        ("Udp6.RcvbufErrors", 3),
        ("UdpLite6.InDatagrams", 4),
        ("Icmp6.OutType133", u64::MAX),
    ]);
    assert_eq!(parsed(parse_snmp6, text), Ok(expected));
    for text in ["Ip6InReceives\n", "\n", "IpInReceives 1\n", "Ip6InReceives x\n", "Ip6A 1 2\n"] {
        assert!(parsed(parse_snmp6, text).is_err(), "{text:?}");
    }
}

#[test]
fn interface_columns_are_found_by_name() {
    let header = "Inter-| Receive | Transmit\n face |drop bytes errs|carrier bytes\n";
    let text = format!("{header}    lo: 1 2 3 4 5\n eth0.7:6 7 8 9 10\n");
    let expected = map([
        ("if.lo.rx_dropped", 1),
        ("if.lo.rx_bytes", 2),
        ("if.lo.rx_errors", 3),
        ("if.lo.tx_carrier", 4),
        ("if.lo.tx_bytes", 5),
        ("if.eth0.7.rx_dropped", 6),
        ("if.eth0.7.rx_bytes", 7),
        ("if.eth0.7.rx_errors", 8),
        ("if.eth0.7.tx_carrier", 9),
        ("if.eth0.7.tx_bytes", 10),
    ]);
    assert_eq!(parsed(parse_dev, &text), Ok(expected));
    for broken in ["", "a\n", "a\nb|c\n", "a\nb|c|d|e\n"] {
        assert!(parsed(parse_dev, broken).is_err(), "{broken:?}");
    }
    for line in ["lo 1 2 3 4 5\n", "lo: 1 2 3 4\n", "lo: 1 2 3 4 x\n"] {
        assert!(parsed(parse_dev, &format!("{header}{line}")).is_err(), "{line:?}");
    }
}

#[test]
fn softnet_sums_processors_in_hexadecimal() {
    let text = "00000012 00000001 0000000a 00000000\n00001aec 00000002 00000001 00000000\n";
    let expected = map([
        ("softnet.processed", 0x12 + 0x1aec),
        ("softnet.dropped", 3),
        ("softnet.time_squeeze", 11),
    ]);
    assert_eq!(parsed(parse_softnet, text), Ok(expected));
    for text in ["12 1\n", "xyz 1 2\n", "\n", "fffffffffffffffff 0 0\n"] {
        assert!(parsed(parse_softnet, text).is_err(), "{text:?}");
    }
}

#[test]
fn difference_lists_what_changed_only() {
    let earlier =
        Snapshot { values: map([("a", 5), ("gone", 3), ("same", 9), ("wrap", u64::MAX)]) };
    let later = Snapshot { values: map([("a", 7), ("new", 4), ("same", 9), ("wrap", 1)]) };
    let expected = [("a", 2), ("gone", -3), ("new", 4), ("wrap", 2)];
    let expected = expected.map(|(name, value): (&str, i64)| (name.to_owned(), value));
    assert_eq!(later.since(&earlier), BTreeMap::from(expected));
    assert_eq!(later.since(&later), BTreeMap::new());
}

#[cfg(not(target_os = "linux"))]
#[test]
fn counters_are_unavailable_with_a_reason() {
    assert!(snapshot().is_err() && queues_told().is_err());
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use crate::socket::Datagram;

    /// Sends `count` datagrams of 100 bytes to this host itself and returns what that changed.
    ///
    /// Other tests may cause more, hence callers compare with "at least".
    fn traffic(address: &str, count: i64) -> BTreeMap<String, i64> {
        let address = address.parse().expect("a literal");
        let receiver = Datagram::bind(address).expect("loopback has this family");
        let sender = Datagram::bind(address).expect("loopback has this family");
        let target = receiver.local().expect("it is bound");
        let before = snapshot().expect("Linux has counters");
        for _ in 0..count {
            sender.send_to(&[7; 100], target).expect("loopback takes it");
            receiver.recv(&mut [0; 200]).expect("loopback delivers it");
        }
        snapshot().expect("Linux has counters").since(&before)
    }

    #[test]
    fn loopback_traffic_shows_under_its_family() {
        let cases = [
            ("127.0.0.1:0", ["Ip.InReceives", "Udp.InDatagrams", "Ip.OutRequests"]),
            ("[::1]:0", ["Ip6.InReceives", "Udp6.InDatagrams", "Ip6.OutRequests"]),
        ];
        for (address, names) in cases {
            let changed = traffic(address, 500);
            for name in names.into_iter().chain(["if.lo.rx_packets", "if.lo.tx_packets"]) {
                let by = changed.get(name).copied().unwrap_or(0);
                assert!(by >= 500, "{address}: {name} changed by {by}");
            }
            assert!(changed["if.lo.rx_bytes"] >= 50_000);
        }
    }

    #[test]
    fn expected_names_are_there() {
        let values = snapshot().expect("Linux has counters").values;
        for name in [
            "Ip.InDiscards",
            "IpExt.InOctets",
            "Ip6.InDiscards",
            "Udp.RcvbufErrors",
            "Udp6.RcvbufErrors",
            "Udp.SndbufErrors",
            "Udp6.SndbufErrors",
            "Udp.InErrors",
            "Udp6.InErrors",
            "Ip.OutDiscards",
            "Ip6.OutDiscards",
            "Ip.FragCreates",
            "Ip6.FragCreates",
            "Ip.OutNoRoutes",
            "Ip6.OutNoRoutes",
            "Icmp.InDestUnreachs",
            "Icmp6.InDestUnreachs",
            "Tcp.RetransSegs",
            "TcpExt.ListenOverflows",
            "Icmp6.InPktTooBigs",
            "softnet.processed",
            "softnet.dropped",
            "softnet.time_squeeze",
            "if.lo.rx_dropped",
            "if.lo.rx_errors",
            "if.lo.tx_carrier",
        ] {
            assert!(values.contains_key(name), "{name} is missing");
        }
    }

    #[test]
    fn every_interface_has_a_queue_or_there_is_a_reason() {
        let values = snapshot().expect("Linux has counters").values;
        match queues_told() {
            Ok(()) => assert!(values.contains_key("queue.lo.drops"), "{:?}", values.keys()),
            Err(missing) => assert!(!missing.because.is_empty()),
        }
    }

    #[test]
    fn refreshing_forgets_what_vanished() {
        let mut snapshot = snapshot().expect("Linux has counters");
        let names = snapshot.values.len();
        snapshot.values.insert("if.gone0.rx_bytes".to_owned(), 1);
        snapshot.refresh().expect("Linux has counters");
        assert!(!snapshot.values.contains_key("if.gone0.rx_bytes"));
        // ICMP types that occur for the first time may add names meanwhile.
        assert!(snapshot.values.len() >= names);
    }

    #[test]
    fn reading_is_cheap() {
        let mut snapshot = snapshot().expect("Linux has counters");
        let start = crate::clock::now_ns();
        for _ in 0..20 {
            snapshot.refresh().expect("Linux has counters");
        }
        let each_us = (crate::clock::now_ns() - start) / 20_000;
        assert!(each_us < 20_000, "{each_us} us for {} counters", snapshot.values.len());
    }
}
