//! A server on all addresses of a host that has several.

use crate::common::{Service, echo, slice, trial};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::Measured;
use v6gap_core::task::Task;
use v6gap_core::workload::{Transport, UdpBulk, Wait, Workload};
use v6gap_engine::trial::client::ClientContext;
use v6gap_sys::socket::Datagram;

/// All of 127.0.0.0/8 is this host, and what comes from there is answered from 127.0.0.1 unless
/// somebody says otherwise.
fn other_address(service: &Service) -> ClientContext {
    let port = |family| service.udp(family).port();
    Service::context_at(PerFamily {
        v4: SocketAddr::new(Ipv4Addr::new(127, 0, 0, 2).into(), port(Family::V4)),
        v6: SocketAddr::new(Ipv6Addr::LOCALHOST.into(), port(Family::V6)),
    })
}

#[test]
fn datagrams_are_answered_from_the_address_that_they_came_to() {
    if !Datagram::can_be_apart() {
        return println!("not tested: sockets cannot share a port here");
    }
    let service = Service::at(PerFamily::from_fn(Family::unspecified));
    let context = other_address(&service);
    let echoes = || Workload::Echo(echo(Transport::Udp, 64, Wait::Block));
    let bulk = UdpBulk { duration_ns: 100_000_000, warmup_ns: 0, ..UdpBulk::default() };
    for task in [
        slice(echoes(), PerArm::FAMILIES),
        slice(echoes(), PerArm::null(Family::V4)),
        trial(Workload::UdpBulk(bulk), Family::V4),
    ] {
        let task = Task { to: context.to(), ..task };
        let (client, server) = service.perform(&task, &context);
        let (client, server) = (client.unwrap(), server.unwrap());
        let peer = client[0].1.endpoints.unwrap().peer;
        assert_eq!(
            (peer, server[0].1.endpoints.unwrap().local),
            (context.server.v4.unwrap(), peer)
        );
        assert_ne!(client[0].1.measured, Measured::Nothing);
    }
}

/// An address that a translator made of the server's changes nothing.
#[test]
fn what_is_no_address_of_the_server_is_passed_over() {
    let service = Service::at(PerFamily::from_fn(Family::unspecified));
    let context = service.context(Transport::Udp);
    let at =
        PerFamily::from_fn(|family| SocketAddr::new(family.loopback(), service.udp(family).port()));
    let context = ClientContext { server: at.map(Some), ..context };
    for foreign in [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(224, 0, 0, 1), Ipv4Addr::UNSPECIFIED]
    {
        let to = PerFamily { v4: Some(foreign.into()), v6: None };
        let task = slice(Workload::Echo(echo(Transport::Udp, 64, Wait::Block)), PerArm::FAMILIES);
        let (client, server) = service.perform(&Task { to, ..task }, &context);
        assert_eq!((client.unwrap().len(), server.unwrap().len()), (2, 2));
    }
}
