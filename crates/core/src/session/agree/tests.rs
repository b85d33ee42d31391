//! What a server that an operator has limited agrees to, and what it holds a task to.

use super::*;
use crate::arm::Arm;
use crate::arm::TurnOrder;
use crate::family::Family;
use crate::task::{self, TaskArm, Token};
use crate::workload::{
    Capacity, Echo, Impossible, Interleaving, Load, Probe, StreamSettings, TcpBulk, UdpBulk,
    UdpLoad, Wait,
};
use alloc::string::ToString;
use alloc::vec::Vec;

const MBIT: u64 = 1_000_000;

fn checked(workload: Workload, limits: &Limits) -> Result<(), Objection> {
    let arms: &[Arm] = match workload.interleaving() {
        Interleaving::Slice => &Arm::BOTH,
        Interleaving::Trial => &[Arm::A],
    };
    let family = |arm| if arm == Arm::A { Family::V4 } else { Family::V6 };
    let arms: Vec<TaskArm> = arms.iter().map(|&arm| TaskArm { arm, family: family(arm) }).collect();
    let (order, token, arrives) = (TurnOrder::Ab, Token([7; 16]), task::native());
    check(&Task { number: 1, workload, arms, order, seed: 1, token, arrives, draw: None }, limits)
}

fn beyond(result: Result<(), Objection>) -> &'static str {
    match result {
        Ok(()) => "",
        Err(
            Objection::Impossible(Impossible::Range { what, .. })
            | Objection::Unbounded { what, .. },
        ) => what,
        Err(other) => panic!("{other:?}"),
    }
}

fn rate(bps: u64) -> Limits {
    Limits { rate_bps: Some(bps), ..Limits::default() }
}

fn bytes(most: u64) -> Limits {
    Limits { task_bytes: Some(most), ..Limits::default() }
}

fn paced(pacing_bps: Option<u64>) -> Workload {
    Workload::TcpBulk(TcpBulk { pacing_bps, ..TcpBulk::default() })
}

fn counted(bytes: u64) -> Workload {
    Workload::TcpBulk(TcpBulk { bytes: Some(bytes), ..TcpBulk::default() })
}

fn stream(rate_bps: Option<u64>) -> Workload {
    let duration_ns = 1_000_000_000;
    Workload::UdpBulk(UdpBulk { rate_bps, duration_ns, ..UdpBulk::default() })
}

fn loaded(udp: Option<UdpLoad>, streams: u32) -> Probe {
    Probe { load: Some(Load { udp, streams, ..Load::default() }), ..Probe::default() }
}

#[test]
fn a_transfer_is_held_to_the_rate_and_may_not_ask_for_more() {
    let limits = rate(MBIT);
    for pace in [None, Some(1), Some(MBIT)] {
        assert_eq!(beyond(checked(paced(pace), &limits)), "");
    }
    assert_eq!(beyond(checked(paced(Some(MBIT + 1)), &limits)), "pace in bit/s");
    assert_eq!(paced(None).held_bps(&limits), Some(MBIT));
    assert_eq!(counted(9).held_bps(&limits), Some(MBIT));
    assert_eq!(paced(None).held_bps(&Limits::default()), None);
    assert_eq!(beyond(checked(stream(Some(MBIT)), &limits)), "");
    assert_eq!(beyond(checked(stream(Some(MBIT + 1)), &limits)), "rate in bit/s");
    assert_eq!(beyond(checked(stream(None), &limits)), "the rate");
    let search =
        |rate_bps_max| Workload::Capacity(Capacity { rate_bps_max, ..Capacity::default() });
    assert_eq!(beyond(checked(search(MBIT), &limits)), "");
    assert_eq!(beyond(checked(search(2 * MBIT), &limits)), "highest rate in bit/s");
}

#[test]
fn a_transfer_of_a_time_keeps_to_the_bytes_by_its_rate() {
    let limits = bytes(1_000_000);
    assert_eq!(beyond(checked(paced(None), &limits)), "");
    // A second.
    assert_eq!(paced(None).held_bps(&limits), Some(8 * MBIT));
    let both = Limits { rate_bps: Some(MBIT), ..limits };
    assert_eq!(paced(None).held_bps(&both), Some(MBIT));
    assert_eq!(beyond(checked(counted(1_000_000), &limits)), "");
    assert_eq!(counted(1_000_000).held_bps(&limits), None);
    assert_eq!(beyond(checked(counted(1_000_001), &limits)), "bytes in all");
    assert_eq!(beyond(checked(stream(Some(8 * MBIT)), &limits)), "");
    assert_eq!(beyond(checked(stream(Some(8 * MBIT + 16)), &limits)), "bytes in all");
    assert_eq!(beyond(checked(stream(None), &limits)), "the bytes of a task");
}

#[test]
fn a_load_has_what_the_probes_leave() {
    let own = Probe::default().rate_bps();
    let each = |bps| Some(UdpLoad { payload_bytes: 1000, rate_bps: Some(bps) });
    let of = |probe, limits: &Limits| beyond(checked(Workload::Probe(probe), limits));
    let limits = rate(own + 2 * MBIT);
    assert_eq!(of(loaded(each(MBIT), 2), &limits), "");
    assert_eq!(of(loaded(each(MBIT), 3), &limits), "rate of the load in bit/s");
    assert_eq!(of(loaded(each(MBIT + 1), 2), &limits), "rate of the load in bit/s");
    assert_eq!(of(loaded(Some(UdpLoad::default()), 1), &limits), "the rate");
    assert_eq!(of(loaded(None, 1), &limits), "");
    assert_eq!(Workload::Probe(loaded(None, 1)).held_bps(&limits), Some(2 * MBIT));
    assert_eq!(of(loaded(None, 1), &rate(own)), "rate left for the load in bit/s");
    assert_eq!(of(loaded(each(MBIT), 2), &bytes(1_000_000)), "rate of the load in bit/s");
    assert_eq!(Workload::Probe(loaded(None, 1)).held_bps(&Limits::default()), None);
}

#[test]
fn exchanges_keep_to_the_rate_by_resting_after_them() {
    let exchanges = |turns| {
        Workload::Echo(Echo {
            message_bytes: 10_000,
            connections: 1,
            turn_exchanges: 1,
            turns,
            warmup_exchanges: 0,
            ..Echo::default()
        })
    };
    // Two seconds at 8 Mbit/s are 2 MB: 100 exchanges of each arm.
    let limits = rate(8 * MBIT);
    assert_eq!(beyond(checked(exchanges(100), &limits)), "");
    assert_eq!(beyond(checked(exchanges(101), &limits)), "bytes of all exchanges");
    assert_eq!(rest_ns(&exchanges(100), &limits), 2_000_000_000);
    assert_eq!(rest_ns(&exchanges(100), &Limits::default()), 0);
    assert_eq!(rest_ns(&paced(None), &limits), 0);
    assert_eq!(beyond(checked(exchanges(101), &bytes(2_000_000))), "bytes in all");
}

#[test]
fn what_is_denied_is_named() {
    let limits = Limits { spin: false, marking: false, ..Limits::default() };
    let denied = |workload: Workload| {
        assert_eq!(checked(workload.clone(), &Limits::default()), Ok(()));
        match checked(workload, &limits) {
            Err(Objection::Denied { what }) => what,
            other => panic!("{other:?}"),
        }
    };
    for wait in [Wait::Spin, Wait::Yield] {
        assert!(denied(Workload::Echo(Echo { wait, ..Echo::default() })).contains("without sleep"));
        assert!(denied(Workload::Probe(Probe { wait, ..Probe::default() })).contains("a key"));
    }
    for marking in [
        Marking { traffic_class: Some(0), ..Marking::default() },
        Marking { hop_limit: Some(7), ..Marking::default() },
        Marking { flow_label: Some(1), ..Marking::default() },
    ] {
        for workload in [paced(None), stream(Some(1000)), Workload::Probe(Probe::default())] {
            assert!(denied(workload.marked(marking)).contains("marks of packets"));
        }
    }
    let settings =
        StreamSettings { congestion: Some("reno".to_string()), ..StreamSettings::default() };
    let bulk = TcpBulk { settings: settings.clone(), ..TcpBulk::default() };
    let load = Load { settings: settings.clone(), ..Load::default() };
    for workload in [
        Workload::TcpBulk(bulk),
        Workload::Echo(Echo { settings, ..Echo::default() }),
        Workload::Probe(Probe { load: Some(load), ..Probe::default() }),
    ] {
        assert!(denied(workload).contains("congestion control"));
    }
    let whole = Marking { dont_fragment: true, ..Marking::default() };
    let whole = stream(Some(1000)).marked(whole);
    assert_eq!(checked(whole, &limits), Ok(()));
}

/// Limits of before there were some of them.
#[test]
fn what_an_older_server_does_not_tell_is_allowed() {
    let mut told = serde_json::to_value(Limits::strict()).unwrap();
    let fields = told.as_object_mut().unwrap();
    for name in ["per_source", "spin", "marking"] {
        fields.remove(name).unwrap();
    }
    let read: Limits = serde_json::from_value(told).unwrap();
    let expected = Limits { per_source: 0, spin: true, marking: true, ..Limits::strict() };
    assert_eq!(read, expected);
}

#[test]
fn turns_of_both_arms_with_those_of_the_warm_up_can_be_numbered() {
    let asked = |turns, warmup_exchanges| {
        let connections = 8;
        let echo =
            Echo { turns, turn_exchanges: 1, warmup_exchanges, connections, ..Echo::default() };
        beyond(checked(Workload::Echo(echo), &Limits::default()))
    };
    assert_eq!((asked(32_767, 0), asked(32_768, 0)), ("", "turns"));
    assert_eq!((asked(32_759, 1), asked(32_760, 1)), ("", "turns"));
}
