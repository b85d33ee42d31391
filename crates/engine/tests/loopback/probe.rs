//! Probes over both families with real sockets on loopback, both halves in this process.

use crate::common::proving::NOWHERE;
use crate::common::{Service, assert_proved, slice, trial, values_of};
use std::net::SocketAddr;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Measured, OneWay, Probed, Returned};
use v6gap_core::session::access::Access;
use v6gap_core::session::validation::Validation;
use v6gap_core::workload::{
    Direction, Law, Load, LoadFamily, Probe, Transport, UdpLoad, Wait, Workload,
};
use v6gap_engine::hot::probe::{
    self as hot, ClientBuffers, ClientNotes, Clock, Manner, ServerNotes,
};
use v6gap_engine::hot::{Cause, Watch};
use v6gap_engine::trial::TrialError;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Datagram, KernelTimes};

const MS: u64 = 1_000_000;

/// The port of "discard" (RFC 863), where nobody listens.
const DISCARD: u16 = 9;

fn probe() -> Probe {
    Probe { turns: 4, turn_packets: 25, interval_ns: MS / 2, ..Probe::default() }
}

/// Both ends' notes of each arm.
fn probed(workload: &Probe, families: PerArm<Family>) -> Vec<(Probed, Returned)> {
    let service = Service::new();
    let task = slice(Workload::Probe(workload.clone()), families);
    let (client, server) = service.perform(&task, &service.context(Transport::Udp));
    let (client, server) = (client.unwrap(), server.unwrap());
    for (place, arm) in Arm::BOTH.into_iter().enumerate() {
        assert_eq!((client[place].0, server[place].0), (arm, arm));
        assert_proved(*families.get(arm), &client[place].1, &server[place].1, &task);
    }
    for values in values_of(&task, &client, &server) {
        assert!(values[&Metric::Rtt] > 0.0 && values[&Metric::Rtt] < 1.0, "{values:?}");
        assert_eq!((values[&Metric::Loss], values[&Metric::LossBack]), (0.0, 0.0));
        assert!(values[&Metric::Ipdv] > 0.0 && values[&Metric::Pdv] > 0.0, "{values:?}");
    }
    let both = client.into_iter().zip(server);
    both.map(|((_, client), (_, server))| {
        let Measured::Probed(probed) = client.measured else { panic!("{client:?}") };
        let Measured::Returned(returned) = server.measured else { panic!("{server:?}") };
        (*probed, *returned)
    })
    .collect()
}

fn assert_whole(way: &OneWay, packets: u64, turns: u64) {
    assert_eq!((way.packets, way.late, way.beyond), (packets, 0, 0));
    assert_eq!((way.duplicates, way.reordered), (0, 0));
    // A sender that was held up for long may have left out a whole turn.
    assert!((packets - turns..packets).contains(&way.ipdv.count), "{}", way.ipdv.count);
    assert_eq!(way.pdv.count, packets);
    assert_eq!(way.pdv.min_ns, 0);
}

#[test]
fn all_that_is_sent_comes_back_and_both_ways_are_told() {
    for wait in [Wait::Block, Wait::Yield] {
        for families in [PerArm::FAMILIES, PerArm::null(Family::V4), PerArm::null(Family::V6)] {
            for (probed, returned) in probed(&Probe { wait, ..probe() }, families) {
                let sent = probed.sent;
                assert_eq!(sent + probed.skipped, 100);
                assert_eq!((returned.returned, returned.refused), (sent, 0));
                assert_eq!((probed.round_trip.count, probed.round_trip.lost), (sent, 0));
                assert!((1..=4).contains(&probed.round_trip.turns_ns.len()));
                assert!(probed.round_trip.min_ns >= probed.round_trip_sent.min_ns);
                assert!(probed.round_trip_sent.median_ns > probed.server.median_ns);
                assert_whole(&returned.there, sent, 4);
                assert_whole(&probed.back, sent, 4);
                assert_eq!(returned.there.delay, None);
            }
        }
    }
}

/// The kernels' part lies inside the program's.
#[test]
fn kernel_times_split_the_round_trip() {
    let socket = Datagram::bind(SocketAddr::new(Family::V6.loopback(), 0)).unwrap();
    let told = socket.report_times(KernelTimes::Both).is_ok();
    for (probed, returned) in probed(&probe(), PerArm::FAMILIES) {
        assert_eq!((probed.outside.is_some(), returned.inside.is_some()), (told, told));
        let (Some(outside), Some(inside)) = (probed.outside, returned.inside) else { continue };
        assert_eq!(outside.count, probed.sent);
        assert!(inside.count > probed.sent / 2, "{} of {}", inside.count, probed.sent);
        assert!(outside.min_ns <= probed.round_trip_sent.min_ns);
        assert!(inside.median_ns < outside.median_ns, "{inside:?} {outside:?}");
        assert!(probed.back.kernel.is_some() && returned.there.kernel.is_some());
        for way in [&probed.back, &returned.there] {
            assert_eq!(way.hop_limits.len(), 1, "{:?}", way.hop_limits);
            assert_eq!(way.traffic_classes, [(0, probed.sent)]);
        }
    }
}

/// Two ends that never answer: the first family was asked once, the second ever since.
#[test]
fn silence_is_that_of_the_arm_that_was_asked_last() {
    let mute = PerArm::FAMILIES
        .map(|family| Datagram::bind(SocketAddr::new(family.loopback(), 0)).unwrap());
    let sockets = PerArm::FAMILIES.map(|family| {
        let socket = Datagram::bind(SocketAddr::new(family.loopback(), 0)).unwrap();
        let end = mute.get(PerArm::FAMILIES.arm_of(family));
        socket.connect(end.local().unwrap()).unwrap();
        Some(socket)
    });
    let slot = |at_ns, arm| hot::Slot { at_ns, arm, turn: 0 };
    let course = [slot(0, Arm::A), slot(MS, Arm::B), slot(10_000 * MS, Arm::B)];
    let (interval_ns, timeout_ns) = (MS, MS);
    let manner = Manner { tag: [7; 8], clock: Clock::Monotonic, interval_ns, timeout_ns };
    let bytes = |length| Bytes::zeroed(length);
    let mut buffers = ClientBuffers { message: bytes(100), back: bytes(101), expected: bytes(100) };
    let mut notes = PerArm::from_fn(|_| ClientNotes::with_room(3));
    let watch = Watch::silence(Wait::Block, 50 * MS);
    let broken = hot::client(&course, &manner, &sockets, &mut buffers, &mut notes, &watch);
    let broken = broken.unwrap_err();
    assert!(matches!((broken.arm, &broken.cause), (Arm::B, Cause::Silent)), "{broken:?}");
}

#[test]
fn without_kernel_times_none_are_made_up() {
    let workload = Probe { kernel_times: false, ..probe() };
    for (probed, returned) in probed(&workload, PerArm::FAMILIES) {
        assert_eq!((probed.outside, returned.inside), (None, None));
        assert_eq!((probed.back.kernel, returned.there.kernel), (None, None));
    }
}

/// On one host the clocks are alike indeed, so delays there and back make up the round trip.
#[test]
fn one_way_delays_are_told_only_with_clocks_declared_alike() {
    let workload = Probe { clock_error_ns: Some(1_000), law: Law::Poisson, ..probe() };
    for (probed, returned) in probed(&workload, PerArm::FAMILIES) {
        let (there, back) = (returned.there.delay.unwrap(), probed.back.delay.unwrap());
        assert_eq!((there.error_ns, back.error_ns), (1_000, 1_000));
        assert!(there.min_ns > 0 && back.min_ns > 0, "{there:?} {back:?}");
        let sum_ns = there.min_ns + back.min_ns;
        assert!(sum_ns as u64 <= probed.round_trip_sent.max_ns, "{there:?} {back:?}");
        assert_eq!((returned.there.skew_ppm, probed.back.skew_ppm), (None, None));
    }
}

#[test]
fn the_next_task_finds_the_sockets_of_the_service_as_they_were() {
    let service = Service::new();
    for _ in 0..2 {
        let task = slice(Workload::Probe(probe()), PerArm::FAMILIES);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        client.unwrap();
        server.unwrap();
        let echo = crate::common::echo(Transport::Udp, 64, Wait::Block);
        let task = slice(Workload::Echo(echo), PerArm::FAMILIES);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        client.unwrap();
        server.unwrap();
    }
}

/// The server says on which arm's socket it failed, whichever of the two that is.
#[test]
fn the_socket_that_fails_is_named_by_its_arm() {
    let manner =
        Manner { tag: [7; 8], clock: Clock::Monotonic, interval_ns: MS, timeout_ns: 100 * MS };
    for arm in Arm::BOTH {
        let sockets = PerArm::FAMILIES.map(|family| {
            let socket = Datagram::bind(SocketAddr::new(family.loopback(), 0)).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        });
        let broken = sockets.get(arm);
        // Nobody is there, and its peer's ICMP errors are told to a socket.
        broken.connect(SocketAddr::new(broken.local().unwrap().ip(), DISCARD)).unwrap();
        broken.send(b"anybody?").unwrap();
        let room = PerArm { a: 1, b: 1 };
        let mut valid = Validation::new(manner.tag, &[3; 16], &Access::Near, NOWHERE, room);
        let (mut buffer, mut answer) = ([0; 65], [0; 64]);
        let failed = hot::server(
            &manner,
            &mut valid,
            (&sockets.a, Some(&sockets.b)),
            (&mut buffer[..], &mut answer[..]),
            &mut PerArm::from_fn(|_| ServerNotes::with_room(1)),
            &Watch::silence(Wait::Block, 10_000 * MS),
        );
        let failed = failed.unwrap_err();
        assert!(matches!(failed.cause, Cause::Io(_)), "{failed:?}");
        assert_eq!(failed.arm, arm, "{failed:?}");
    }
}

/// Streams of either family move beside the probes of one arm, as they were asked to.
#[test]
fn probes_under_load_come_back_and_the_load_is_counted() {
    let service = Service::new();
    let cases = [
        (Family::V4, Direction::Send, LoadFamily::Same, 1),
        (Family::V6, Direction::Receive, LoadFamily::Other, 1),
        (Family::V6, Direction::Both, LoadFamily::Same, 2),
    ];
    for (family, direction, beside, streams) in cases {
        let load = Load { direction, streams, family: beside, lead_ns: 20 * MS, ..Load::default() };
        let workload = Probe { load: Some(load), turns: 2, ..probe() };
        let task = trial(Workload::Probe(workload), family);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        let (client, server) = (client.unwrap(), server.unwrap());
        assert_eq!((client.len(), server.len()), (1, 1));
        assert_proved(family, &client[0].1, &server[0].1, &task);
        let Measured::Probed(probed) = &client[0].1.measured else { panic!() };
        let Measured::Returned(returned) = &server[0].1.measured else { panic!() };
        assert_eq!(probed.sent + probed.skipped, 50);
        assert!(probed.round_trip.count > 0);
        let (near, far) = (probed.load.unwrap(), returned.load.unwrap());
        let sends = direction != Direction::Receive;
        let receives = direction != Direction::Send;
        assert_eq!((near.sent_bytes > 0, far.received_bytes > 0), (sends, sends));
        assert_eq!((near.received_bytes > 0, far.sent_bytes > 0), (receives, receives));
        assert!(far.received_bytes <= near.sent_bytes && near.received_bytes <= far.sent_bytes);
        assert!(near.span_ns >= 20 * MS);
    }
}

/// Datagrams of either family move beside the probes of one arm, from sources and sockets of their
/// own, and their loss is counted.
#[test]
fn probes_under_a_load_of_datagrams_come_back_and_the_load_is_counted() {
    let service = Service::new();
    let cases = [
        (Family::V4, Direction::Send, LoadFamily::Same, 1, Some(8_000_000)),
        (Family::V6, Direction::Send, LoadFamily::Other, 3, Some(4_000_000)),
        (Family::V4, Direction::Receive, LoadFamily::Same, 2, Some(4_000_000)),
        (Family::V6, Direction::Both, LoadFamily::Same, 2, None),
    ];
    for (family, direction, beside, streams, rate_bps) in cases {
        let udp = UdpLoad { payload_bytes: 1000, rate_bps };
        let load = Load {
            direction,
            streams,
            family: beside,
            lead_ns: 20 * MS,
            udp: Some(udp),
            ..Load::default()
        };
        let workload = Probe { load: Some(load), turns: 2, ..probe() };
        let task = trial(Workload::Probe(workload), family);
        let (client, server) = service.perform(&task, &service.context(Transport::Udp));
        if let Err(TrialError::Unavailable { missing, .. }) = &server {
            return println!("not tested: {missing}");
        }
        let (server, client) = (server.unwrap(), client.unwrap());
        assert_proved(family, &client[0].1, &server[0].1, &task);
        let Measured::Probed(probed) = &client[0].1.measured else { panic!() };
        let Measured::Returned(returned) = &server[0].1.measured else { panic!() };
        assert_eq!(probed.sent + probed.skipped, 50);
        assert!(probed.round_trip.count > 0);
        let (near, far) = (probed.load.unwrap(), returned.load.unwrap());
        // Who sends, who receives, and the direction in which that does not happen.
        let ways = [(near, far, Direction::Receive), (far, near, Direction::Send)];
        for (from, to, not) in ways {
            let (from, to) = (from.datagrams.unwrap(), to.datagrams.unwrap());
            if direction == not {
                assert_eq!((from.sent, to.received, to.announced), (0, 0, None));
                continue;
            }
            assert!(to.received > 0 && to.announced == Some(from.sent), "{from:?} {to:?}");
            if rate_bps.is_some() {
                // Nothing is lost on the way over loopback.
                assert_eq!(to.received + to.dropped.unwrap_or(0), from.sent, "{from:?} {to:?}");
            }
        }
        assert_eq!(near.received_bytes % 1000 + far.received_bytes % 1000, 0);
        assert!(near.span_ns >= 20 * MS);
    }
}
