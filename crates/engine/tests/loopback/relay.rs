//! Datagrams that are lost, doubled and swapped on the way, by a relay that does so by count.

use crate::common::relay::{self, Fate, Rule};
use crate::common::{Service, echo, slice, trial, values_of};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::Measured;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Asked, Direction, Transport, UdpBulk, Wait, Workload};
use v6gap_engine::trial::client::{self, ClientContext};
use v6gap_sys::socket::Datagram;

/// All but those that begin and end a transfer.
fn is_payload(message: &[u8]) -> bool {
    let flags = Header::decode(message).expect("only messages of ours").flags;
    [Flags::NONE, Flags::ANSWER].contains(&flags)
}

/// A lost exchange is repeated, counted, and has no time; the server finds its way back whichever
/// message was lost, the last of a turn included.
#[test]
fn echo_survives_loss_and_counts_it() {
    let lossy: Rule = |number| if number % 7 == 6 { Fate::Lose } else { Fate::Pass };
    for (families, wait) in [
        (PerArm::FAMILIES, Wait::Block),
        (PerArm::FAMILIES, Wait::Yield),
        (PerArm::null(Family::V6), Wait::Block),
    ] {
        let service = Service::new();
        let mut workload = echo(Transport::Udp, 64, wait);
        workload.turns = 3;
        workload.turn_exchanges = 4;
        let task = slice(Workload::Echo(workload), families);
        let (client, server) = relay::through(
            service.datagrams(),
            [lossy; 2],
            |_| true,
            |addresses| service.perform(&task, &Service::context_at(addresses)),
        );
        server.unwrap();
        let mut lost = 0;
        for (_, report) in client.unwrap() {
            let Measured::Times(times) = &report.measured else { panic!() };
            assert_eq!(times.count + times.lost, 12);
            assert_eq!(times.turns_ns.len(), 3);
            // What took longer than the patience of 200 ms was repeated.
            assert!(times.max_ns < 200_000_000, "{}", times.max_ns);
            lost += times.lost;
        }
        assert!(lost > 0, "the relay loses");
    }
}

#[test]
fn a_path_that_loses_everything_is_an_error_that_names_it() {
    let service = Service::new();
    let workload = UdpBulk {
        payload_bytes: 100,
        rate_bps: Some(1_000_000),
        duration_ns: 1_000_000,
        warmup_ns: 0,
        ..UdpBulk::default()
    };
    let task = trial(Workload::UdpBulk(workload), Family::V6);
    let all: Rule = |_| Fate::Lose;
    let (error, address) = relay::through(
        service.datagrams(),
        [all; 2],
        |_| true,
        |addresses| {
            let context =
                ClientContext { timeout_ns: 300_000_000, ..Service::context_at(addresses) };
            let (client, server) = service.perform(&task, &context);
            assert!(server.is_err());
            (client.unwrap_err().to_string(), addresses.v6.to_string())
        },
    );
    assert!(error.contains(&address) && error.contains("UDP over IPv6 is blocked"), "{error}");
}

#[test]
fn lost_doubled_and_swapped_datagrams_are_counted_exactly() {
    let fate: Rule = |number| match number % 10 {
        3 => Fate::Lose,
        5 => Fate::Double,
        7 => Fate::Swap,
        _ => Fate::Pass,
    };
    let service = Service::new();
    let ways = [Direction::Send, Direction::Receive];
    for (family, direction) in Family::BOTH.into_iter().flat_map(|f| ways.map(|way| (f, way))) {
        // 2 Mbit/s of 800 bits each: 100 datagrams take 40 ms.
        let workload = UdpBulk {
            payload_bytes: 100,
            rate_bps: Some(2_000_000),
            duration_ns: 10_000_000_000,
            warmup_ns: 0,
            packets: Some(100),
            direction,
            asked: Asked { packet_rate: false, reordering: true, duplication: true },
            ..UdpBulk::default()
        };
        let task = trial(Workload::UdpBulk(workload), family);
        let (client, server) =
            relay::through(service.datagrams(), [fate; 2], is_payload, |addresses| {
                service.perform(&task, &Service::context_at(addresses))
            });
        let (client, server) = (client.unwrap(), server.unwrap());
        let (near, far) = (&client[0].1.measured, &server[0].1.measured);
        let (sender, receiver) = match direction {
            Direction::Send => (near, far),
            _ => (far, near),
        };
        let Measured::Sent(sent) = sender else { panic!("{direction:?}") };
        let Measured::Received(received) = receiver else { panic!("{direction:?}") };
        assert_eq!(sent.packets, 100);
        assert_eq!((received.packets, received.duplicates, received.reordered), (90, 10, 10));
        assert_eq!(received.bytes, 9000);
        let arrivals = received.arrivals.as_ref().unwrap();
        assert_eq!(arrivals.replicated, 10);
        assert_eq!(
            (&arrivals.extents[..], &arrivals.n_reordered[..]),
            (&[(1, 10)][..], &[(1, 10)][..])
        );
        assert_eq!(arrivals.loss_periods, [(1, 10)]);
        assert_eq!(arrivals.loss_distances, [(10, 9)]);
        if received.dropped == Some(0) {
            let values = &values_of(&task, &client, &server)[0];
            let value = |metric| values[&metric];
            assert!((value(Metric::Loss) - 0.1).abs() < 1e-12);
            assert!((value(Metric::Reordering) - 10.0 / 90.0).abs() < 1e-12);
            assert!((value(Metric::Duplication) - 10.0 / 90.0).abs() < 1e-12);
        }
    }
}

/// The server answers nobody who does not know the task's token, and is not disturbed by him.
#[test]
fn strangers_get_no_answer() {
    let service = Service::new();
    for family in Family::BOTH {
        let workload = Workload::Echo(echo(Transport::Udp, 64, Wait::Block));
        let task = slice(workload, PerArm::FAMILIES);
        let address = service.udp(family);
        let stranger = Datagram::bind((address.ip(), 0).into()).expect("loopback");
        let (client, server) = service.perform_with(&task, || {
            for length in [0, 1, 19, 20, 64, 1000] {
                stranger.send_to(&vec![0; length], address).expect("loopback");
            }
            client::run(&task, &service.context(Transport::Udp))
        });
        assert!(client.is_ok() && server.is_ok(), "{client:?} {server:?}");
        stranger.set_nonblocking(true).expect("a socket can");
        assert!(stranger.recv(&mut [0; 2000]).is_err());
    }
}
