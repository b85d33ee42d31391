//! The service's own socket while others on its port serve in its place: what strangers send there
//! fills no buffer, which would count as this host's drops.

use crate::common::relay::{self, Fate, Rule};
use crate::common::{Service, echo, slice, trial};
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{Flags, Header};
use v6gap_core::workload::{Echo, Transport, UdpBulk, Wait, Workload};
use v6gap_sys::socket::Datagram;

const SECOND_NS: u64 = 1_000_000_000;

/// A stranger's datagram.
const STRANGE: [u8; 1000] = [0xab; 1000];

/// A null block, each arm of which has a socket of its own, and a transfer.
fn tasks(family: Family) -> [Task; 2] {
    let block = Echo { connections: 1, ..echo(Transport::Udp, 64, Wait::Block) };
    // 100 datagrams take 40 ms.
    let transfer = UdpBulk {
        payload_bytes: 100,
        rate_bps: Some(2_000_000),
        duration_ns: 10 * SECOND_NS,
        warmup_ns: 0,
        packets: Some(100),
        ..UdpBulk::default()
    };
    let null = PerArm::null(family);
    [slice(Workload::Echo(block), null), trial(Workload::UdpBulk(transfer), family)]
}

/// Whether a message is an answer to a warm-up: the server has begun with the task itself then.
fn is_first_answer(message: &[u8]) -> bool {
    let flags = Header::decode(message).expect("only messages of ours").flags;
    flags.contains(Flags::ANSWER.with(Flags::WARMUP))
}

/// More than the socket has room for comes in the middle of a task, before the client gets the
/// first answer; afterwards the socket has nothing of it, and takes what comes then.
#[test]
fn strangers_fill_no_socket_that_nobody_reads() {
    let pass: Rule = |_| Fate::Pass;
    for (family, task) in Family::BOTH.into_iter().flat_map(|f| tasks(f).map(|task| (f, task))) {
        let service = Service::new();
        let (unread, address) = (service.socket(family), service.udp(family));
        let stranger = Datagram::bind((address.ip(), 0).into()).expect("loopback");
        // It hears nobody, either.
        if let Err(missing) = stranger.keep_nothing(true) {
            return println!("not tested: {missing}");
        }
        let intrude = || {
            stranger.send_to(&STRANGE, address).expect("loopback");
        };
        let room_bytes = unread.receive_buffer().expect("a socket tells") as usize;
        let begun = AtomicBool::new(false);
        let beside = |message: &[u8]| {
            if is_first_answer(message) && !begun.swap(true, Ordering::Relaxed) {
                (0..=room_bytes / STRANGE.len()).for_each(|_| intrude());
            }
            false
        };
        let (client, server) =
            relay::through(service.datagrams(), [pass; 2], beside, |addresses| {
                service.perform(&task, &Service::context_at(addresses))
            });
        assert_eq!(client.unwrap().len(), task.arms.len());
        assert_eq!(server.unwrap().len(), task.arms.len());
        assert!(begun.into_inner(), "nobody was answered");
        assert_ne!(unread.drops().ok(), Some(0), "the strangers came elsewhere");
        unread.set_nonblocking(true).expect("a socket can");
        let source = stranger.local().expect("bound");
        // What else is there are messages of the task that came late.
        let has_heard = || {
            let next = || unread.recv_from(&mut [0; STRANGE.len()]).ok();
            std::iter::from_fn(next).any(|(_, from)| from == source)
        };
        assert!(!has_heard(), "{family}: what a stranger sent was kept");
        intrude();
        while !has_heard() {
            assert!(unread.wait_readable(5 * SECOND_NS).expect("a socket tells"), "{family}: deaf");
        }
    }
}
