//! What workers take, refuse and tell, over a conduit within one process.

use super::child::attend;
use super::frame::{self, Tells};
use crate::trial::{ClientContext, Kind, TrialError};
use std::net::SocketAddr;
use std::thread;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::task::{Task, TaskArm, Token, native};
use v6gap_core::workload::{Echo, Workload};
use v6gap_sys::clock;
use v6gap_sys::network::Network;
use v6gap_sys::socket::Datagram;
use v6gap_sys::worker::{Conduit, Passed};

/// A moment that is never reached.
fn never() -> u64 {
    clock::now_ns() + 30_000_000_000
}

fn task() -> Task {
    Task {
        number: 1,
        workload: Workload::Echo(Echo::default()),
        arms: Arm::BOTH.map(|arm| TaskArm { arm, family: Family::V6 }).to_vec(),
        order: TurnOrder::Ab,
        seed: 0,
        token: Token([0; 16]),
        arrives: native(),
        draw: Some(1),
    }
}

/// What a worker says to frames that are nothing, and how it ends.
fn said_to(frame: &[u8], sockets: &[Passed<'_>]) -> std::io::Result<()> {
    let (parent, worker) = Conduit::pair().unwrap();
    let attending = thread::spawn(|| attend(worker));
    // It may have ended before all of it is sent.
    let _ = parent.send(frame, sockets);
    let outcome = attending.join().expect("no panic");
    assert!(!matches!(parent.receive(never()), Ok(Some(_))));
    outcome
}

#[test]
fn garbage_ends_a_worker_with_an_error() {
    let stray = Datagram::bind(SocketAddr::new(Family::V6.loopback(), 0)).unwrap();
    let half = serde_json::to_vec(&(task(), 5)).unwrap();
    for kind in [b"m", b"s", b"c", b"r", b"d", b"\xff"] {
        for body in [&b""[..], b"{", b"[]", b"null", b"\xff\xff", &half] {
            let frame = [&kind[..], body].concat();
            assert!(said_to(&frame, &[]).is_err(), "{frame:?}");
            assert!(said_to(&frame, &[Passed::Datagram(&stray)]).is_err(), "{frame:?}");
        }
    }
    assert!(said_to(b"", &[]).is_err());
    // What is known, and with it what nobody asked for.
    assert!(said_to(b"f", &[Passed::Datagram(&stray)]).is_err());
    assert!(said_to(b"f?", &[]).is_err());
}

#[test]
fn a_worker_ends_with_its_parent() {
    let (parent, worker) = Conduit::pair().unwrap();
    let attending = thread::spawn(|| attend(worker));
    frame::finish(&parent).unwrap();
    frame::abort(&parent).unwrap();
    drop(parent);
    attending.join().unwrap().unwrap();
}

/// The far end's network goes along, where there is one.
#[test]
fn the_network_of_the_far_end_is_handed_over() {
    let (parent, worker) = Conduit::pair().unwrap();
    let mut context = ClientContext::new(PerFamily::default(), 1);
    for has_one in [false, true] {
        if has_one {
            context.far = Some(Network::here().unwrap());
        }
        frame::measure(&parent, &task(), &context).unwrap();
        let (frame, sockets) = worker.receive(never()).unwrap().unwrap();
        let Some(frame::Told::Measure(half)) = frame::told(&frame, sockets) else { panic!() };
        assert_eq!((half.0, half.1.far.is_some()), (task(), has_one));
    }
}

/// What follows from an error, and its words, do not depend on who met it.
#[test]
fn an_error_is_told_as_it_is() {
    let (parent, worker) = Conduit::pair().unwrap();
    let attending = thread::spawn(|| attend(worker));
    let context = ClientContext::new(PerFamily::default(), 1);
    let here = crate::trial::client::run(&task(), &context).unwrap_err();
    frame::measure(&parent, &task(), &context).unwrap();
    let (frame, sockets) = parent.receive(never()).unwrap().unwrap();
    let Some(Tells::Failed(there)) = frame::tells(&frame, sockets) else { panic!() };
    assert!(matches!(here, TrialError::Missing { .. }));
    assert_eq!((there.kind(), here.kind()), (Kind::Missing, Kind::Missing));
    assert_eq!((there.family(), there.address()), (here.family(), here.address()));
    assert_eq!((there.to_string(), there.is_lasting()), (here.to_string(), true));
    drop(parent);
    attending.join().unwrap().unwrap();
}
