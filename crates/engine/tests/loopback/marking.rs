//! Marked packets over loopback: what is asked for is granted at both ends, and what comes in at
//! the server is what was sent, for both families.

use crate::common::{Service, echo, slice, trial};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::workload::{Marking, TcpBulk, Transport, UdpBulk, Wait, Workload};

const MS: u64 = 1_000_000;

const MARKING: Marking = Marking {
    traffic_class: Some(0x88),
    hop_limit: Some(40),
    flow_label: Some(0x1_2345),
    dont_fragment: true,
};

/// The same for a transport, of which TCP has nothing that could be cut.
fn marks(transport: Transport) -> Marking {
    Marking { dont_fragment: transport.is_datagram(), ..MARKING }
}

fn granted(family: Family, marking: &Marking, labelled: bool) {
    assert_eq!((marking.traffic_class, marking.hop_limit), (Some(0x88), Some(40)), "{family}");
    if labelled {
        assert_eq!(marking.flow_label, (family == Family::V6).then_some(0x1_2345));
    }
}

#[test]
fn a_transfer_is_marked_at_both_ends_and_arrives_so() {
    let service = Service::new();
    for family in Family::BOTH {
        let bulk = TcpBulk { duration_ns: 50 * MS, warmup_ns: 0, ..TcpBulk::default() };
        let task = trial(Workload::TcpBulk(bulk).marked(marks(Transport::Tcp)), family);
        // Twice: a flow label may be used again at once.
        for _ in 0..2 {
            let (client, server) = service.perform(&task, &service.context(Transport::Tcp));
            let (client, server) = (client.unwrap(), server.unwrap());
            granted(family, &client[0].1.granted.marking, true);
            granted(family, &server[0].1.granted.marking, false);
            let arrived = server[0].1.granted.arrived.unwrap();
            granted(family, &arrived, true);
            // Linux keeps nothing of what came to the end that connected.
            assert_eq!(client[0].1.granted.arrived, None);
        }
    }
}

#[test]
fn datagrams_are_marked_and_the_service_s_socket_is_left_as_it_was() {
    let service = Service::new();
    for family in Family::BOTH {
        let bulk = UdpBulk {
            payload_bytes: 500,
            rate_bps: Some(4_000_000),
            duration_ns: 50 * MS,
            warmup_ns: 0,
            ..UdpBulk::default()
        };
        for marking in [MARKING, Marking::default()] {
            let task = trial(Workload::UdpBulk(bulk.clone()).marked(marking), family);
            let (client, server) = service.perform(&task, &service.context(Transport::Udp));
            let (client, server) = (client.unwrap(), server.unwrap());
            for report in [&client[0].1, &server[0].1] {
                let class = report.granted.marking.traffic_class;
                assert_eq!(class, Some(marking.traffic_class.unwrap_or(0)), "{family}");
                // Other platforms refuse to mark at all.
                assert_eq!(report.granted.marking.dont_fragment, marking.dont_fragment);
            }
        }
    }
}

#[test]
fn exchanges_are_marked() {
    let service = Service::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        let workload = Workload::Echo(echo(transport, 64, Wait::Block));
        let task = slice(workload.marked(marks(transport)), PerArm::FAMILIES);
        let (client, server) = service.perform(&task, &service.context(transport));
        for reports in [client.unwrap(), server.unwrap()] {
            for (arm, report) in reports {
                let family = *PerArm::FAMILIES.get(arm);
                granted(family, &report.granted.marking, false);
            }
        }
    }
}

/// Both arms of a null block share the service's socket, which must not keep their marks.
#[test]
fn a_null_block_leaves_the_service_s_socket_as_it_was() {
    let service = Service::new();
    for family in Family::BOTH {
        let workload = Workload::Echo(echo(Transport::Udp, 64, Wait::Block)).marked(MARKING);
        let marked = slice(workload, PerArm::null(family));
        let plain =
            slice(Workload::Echo(echo(Transport::Udp, 64, Wait::Block)), PerArm::null(family));
        for (task, class) in [(marked, 0x88), (plain, 0)] {
            let (client, server) = service.perform(&task, &service.context(Transport::Udp));
            client.unwrap();
            for (arm, report) in server.unwrap() {
                let granted = report.granted.marking;
                assert_eq!(granted.traffic_class, Some(class), "{family} {arm:?}");
                assert_eq!(granted.dont_fragment, class != 0, "{family} {arm:?}");
            }
        }
    }
}
