//! Packets of one length over both families: messages over IPv6 are shorter, at both ends alike.

use crate::common::{Service, echo, slice, trial, values_of};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::workload::{Direction, Echo, Parity, Transport, UdpBulk, Wait, Workload};

const MS: u64 = 1_000_000;

/// Over TCP an end that took another length for it would wait for ever, and over UDP take no
/// answer.
#[test]
fn messages_over_ipv6_are_shorter_at_both_ends() {
    let service = Service::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        for (outstanding, response_bytes) in [(1, None), (1, Some(41)), (4, None), (4, Some(41))] {
            let workload = Echo {
                parity: Parity::Packet,
                response_bytes,
                outstanding,
                ..echo(transport, 64, Wait::Block)
            };
            let counted = u64::from(workload.turns * workload.turn_exchanges);
            let task = slice(Workload::Echo(workload), PerArm::FAMILIES);
            let (client, server) = service.perform(&task, &service.context(transport));
            let (client, server) = (client.unwrap(), server.unwrap());
            for (_, report) in &client {
                let Measured::Times(times) = &report.measured else { panic!("{report:?}") };
                assert_eq!(times.count + times.lost, counted, "{transport:?} {outstanding}");
                assert!(times.lost < counted / 4, "{times:?}");
            }
            let values = values_of(&task, &client, &server);
            assert!(values.iter().all(|values| values[&Metric::Rtt] > 0.0), "{values:?}");
        }
    }
}

/// As many datagrams in a time, each with 20 B less: 1.4 % less payload.
#[test]
fn datagrams_over_ipv6_are_shorter_and_as_many() {
    let service = Service::new();
    for (family, bytes) in [(Family::V4, 1408), (Family::V6, 1388)] {
        for direction in [Direction::Send, Direction::Receive] {
            let bulk = UdpBulk {
                parity: Parity::Packet,
                rate_bps: Some(1408 * 8 * 1000),
                duration_ns: 200 * MS,
                warmup_ns: 0,
                direction,
                ..UdpBulk::default()
            };
            let task = trial(Workload::UdpBulk(bulk), family);
            let (client, server) = service.perform(&task, &service.context(Transport::Udp));
            let all: [Vec<(Arm, EndReport)>; 2] = [client.unwrap(), server.unwrap()];
            let mut sent = None;
            for (_, report) in all.iter().flatten() {
                match &report.measured {
                    Measured::Sent(found) => {
                        assert_eq!(found.bytes, found.packets * bytes, "{family}");
                        sent = Some(found.packets);
                    }
                    Measured::Received(found) => {
                        assert_eq!(found.bytes, found.packets * bytes, "{family}");
                    }
                    other => panic!("{other:?}"),
                }
            }
            // 1,000 a second, the first at once.
            assert!(sent.is_some_and(|sent| (199..=201).contains(&sent)), "{family}: {sent:?}");
        }
    }
}
