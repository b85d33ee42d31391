//! A server on all addresses of a host that has several.

use crate::common::{Service, echo, slice, trial};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::workload::{Echo, Probe, Transport, UdpBulk, Wait, Workload};
use v6gap_sys::socket::Datagram;

/// All of 127.0.0.0/8 is this host, and what comes from there is answered from 127.0.0.1 unless
/// somebody says otherwise.
fn other_address(service: &Service) -> PerFamily<SocketAddr> {
    let port = |family| service.udp(family).port();
    PerFamily {
        v4: SocketAddr::new(Ipv4Addr::new(127, 0, 0, 2).into(), port(Family::V4)),
        v6: SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port(Family::V6)),
    }
}

/// Whatever the kind of exchange, and the service has its own socket again afterwards.
#[test]
fn datagrams_are_answered_from_the_address_that_they_came_to() {
    if !Datagram::can_be_apart() {
        return println!("not tested: sockets cannot share a port here");
    }
    let service = Service::at(PerFamily::from_fn(Family::unspecified));
    let other = other_address(&service);
    let context = Service::context_at(other);
    let one = Echo { connections: 1, ..echo(Transport::Udp, 64, Wait::Block) };
    let echoes = || Workload::Echo(echo(Transport::Udp, 64, Wait::Block));
    let bulk = UdpBulk { duration_ns: 100_000_000, warmup_ns: 0, ..UdpBulk::default() };
    let probe = Probe { turn_packets: 10, turns: 4, interval_ns: 1_000_000, ..Probe::default() };
    for task in [
        slice(echoes(), PerArm::FAMILIES),
        slice(echoes(), PerArm::null(Family::V4)),
        slice(Workload::Echo(one), PerArm::null(Family::V4)),
        trial(Workload::UdpBulk(bulk), Family::V4),
        slice(Workload::Probe(probe), PerArm::FAMILIES),
        slice(echoes(), PerArm::FAMILIES),
    ] {
        let (client, server) = service.perform(&task, &context);
        let (client, server) = (client.unwrap(), server.unwrap());
        assert_eq!(client[0].1.endpoints.unwrap().peer, other.v4, "{task:?}");
        assert!(!server.is_empty());
    }
}
