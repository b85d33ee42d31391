//! Marks on loopback sockets of both families.

use super::*;
use crate::socket::{Listener, StreamOptions};
use std::net::{Ipv4Addr, Ipv6Addr};

const LOOPBACKS: [SocketAddr; 2] = [
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 0),
];

const MARKS: Marks = Marks {
    traffic_class: Some(0xb8),
    hop_limit: Some(33),
    flow_label: Some(0xa_bcde),
    dont_fragment: Some(true),
};

/// Traffic class, hop limit and flow label are set alike for both families, read back, and are what
/// arrives at the other end; IPv4 has no flow label.
#[test]
#[cfg(target_os = "linux")]
fn marks_of_a_connection_arrive() {
    for loopback in LOOPBACKS {
        let listener = Listener::bind(loopback, 8).unwrap();
        let remote = listener.local().unwrap();
        for _ in 0..2 {
            let options = StreamOptions { marks: MARKS, ..StreamOptions::default() };
            let near = Stream::connect(None, remote, &options, 1_000_000_000).unwrap();
            let far = listener.accept().unwrap();
            let label = remote.is_ipv6().then_some(0xa_bcde);
            let expected = Marks { flow_label: label, ..MARKS };
            assert_eq!(near.marks().unwrap(), expected, "{remote}");
            let arrived = Marks { dont_fragment: None, ..expected };
            assert_eq!(far.arrived_marks().unwrap(), arrived, "{remote}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn marks_of_datagrams_are_read_back_and_the_label_may_be_used_again() {
    for loopback in LOOPBACKS {
        let far = Datagram::bind(loopback).unwrap();
        for _ in 0..2 {
            let near = Datagram::bind(loopback).unwrap();
            near.connect_marked(far.local().unwrap(), &MARKS).unwrap();
            near.send(b"marked").unwrap();
            let marks = near.marks().unwrap();
            assert_eq!((marks.traffic_class, marks.hop_limit), (Some(0xb8), Some(33)));
            assert_eq!(far.recv_from(&mut [0; 8]).unwrap().0, 6);
        }
    }
}

#[test]
fn unmarked_packets_are_as_the_system_has_them() {
    for loopback in LOOPBACKS {
        let socket = Datagram::bind(loopback).unwrap();
        let before = socket.marks().unwrap();
        socket.mark(&Marks::default()).unwrap();
        assert_eq!(socket.marks().unwrap(), before);
    }
}
