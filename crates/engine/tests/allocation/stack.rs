//! Exchanges of which one thread has both ends.

use super::{Client, FILL, TAG, WAIT_NS, all, datagram_pair, echo, echo_client, stream_pair};
use allocation_counter::measure;
use std::cell::RefCell;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::workload::{Transport, Wait};
use v6gap_engine::hot::Watch;
use v6gap_engine::hot::stack::{self, Far, Pair};

/// Both ends of sockets of both families, as one thread has them.
fn in_one_thread<'m, S>(
    memory: &'m RefCell<Far>,
    connections: u32,
    make: impl Fn(Family) -> (S, S),
) -> PerArm<Vec<Pair<'m, S>>> {
    PerArm::FAMILIES.map(|family| {
        let pair = |_| {
            let (near, far) = make(family);
            Pair { near, far, memory }
        };
        (0..connections).map(pair).collect()
    })
}

#[test]
fn echo_with_both_ends() {
    let workload = echo(Transport::Tcp, Wait::Yield);
    let memory = RefCell::new(Far::new(TAG, all(0, 64), all(FILL, 64)));
    let watch = Watch::silence(Wait::Yield, WAIT_NS);
    let streams = in_one_thread(&memory, workload.connections, stream_pair);
    let sockets = in_one_thread(&memory, workload.connections, datagram_pair);
    for Pair { near, far, .. } in streams.a.iter().chain(&streams.b) {
        for end in [near, far] {
            end.set_nonblocking(true).unwrap();
        }
    }
    for Pair { near, far, .. } in sockets.a.iter().chain(&sockets.b) {
        for end in [near, far] {
            end.set_nonblocking(true).unwrap();
        }
    }
    let Client { turns, mut buffers, mut tallies } = echo_client(&workload);
    let allocated = measure(|| {
        stack::streams(&turns, TAG, &streams, &mut buffers, &mut tallies, &watch).unwrap();
    });
    assert_eq!((allocated.count_total, tallies.b.times_ns.len()), (0, 60));
    let Client { turns, mut buffers, mut tallies } = echo_client(&workload);
    let allocated = measure(|| {
        stack::datagrams(&turns, TAG, &sockets, &mut buffers, &mut tallies, &watch).unwrap();
    });
    assert_eq!((allocated.count_total, tallies.b.times_ns.len()), (0, 60));
}
