//! The server's sockets of a null block.

use crate::common::{Service, echo, slice};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::workload::{Echo, Transport, Wait, Workload};
use v6gap_engine::trial::client;
use v6gap_sys::socket::Datagram;

/// Sockets that have a UDP port of this network namespace, as the kernel tells them while others
/// come and go, so that one may be told twice.
fn sockets_at(family: Family, port: u16) -> usize {
    let table = match family {
        Family::V4 => "/proc/self/net/udp",
        Family::V6 => "/proc/self/net/udp6",
    };
    let (table, at) = (std::fs::read_to_string(table).unwrap(), format!(":{port:04X}"));
    let locals = table.lines().filter_map(|line| line.split_whitespace().nth(1));
    locals.filter(|local| local.ends_with(&at)).count()
}

/// While a null block lasts the port has its own socket and one for each arm, a comparison's only
/// that of the service.
#[test]
fn each_arm_of_a_null_block_has_a_socket_of_its_own() {
    if !Datagram::can_be_apart() {
        return println!("not tested: sockets cannot share a port here");
    }
    let workload = Echo { connections: 1, turns: 400, ..echo(Transport::Udp, 64, Wait::Block) };
    for (arms, sockets) in
        [(PerArm::null(Family::V4), 3), (PerArm::null(Family::V6), 3), (PerArm::FAMILIES, 1)]
    {
        // On a port of its own: a thread that has ended may still hold the sockets of the last one.
        let service = Service::new();
        let context = service.context(Transport::Udp);
        let task = slice(Workload::Echo(workload.clone()), arms);
        let port = service.udp(arms.a).port();
        let over = AtomicBool::new(false);
        let ((client, mostly), server) = service.perform_with(&task, || {
            thread::scope(|scope| {
                let watching = scope.spawn(|| {
                    let mut seen = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        seen.push(sockets_at(arms.a, port));
                    }
                    seen.sort_unstable();
                    seen[seen.len() / 2]
                });
                let outcome = client::run(&task, &context);
                over.store(true, Ordering::Relaxed);
                (outcome, watching.join().unwrap())
            })
        });
        assert_eq!((mostly, client.unwrap().len(), server.unwrap().len()), (sockets, 2, 2));
    }
}
