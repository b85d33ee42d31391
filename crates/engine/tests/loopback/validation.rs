//! Every kind of task that takes datagrams, both ways and in both families: who has not shown that
//! he gets what is sent to his address gets a challenge and nothing else, whatever he knows of the
//! task, and is not counted.

use crate::common::{Service, echo, slice, trial};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::observation::Measured;
use v6gap_core::session::access::Access;
use v6gap_core::task::Task;
use v6gap_core::wire::datagram::{Flags, HEADER_BYTES, Header};
use v6gap_core::workload::{
    Capacity, Direction, Load, Probe, Search, Transport, UdpBulk, UdpLoad, Wait, Workload,
};
use v6gap_engine::trial::client;
use v6gap_sys::clock;
use v6gap_sys::socket::Datagram;

const MS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000 * MS;

/// What a client says first, what it proves itself with, and what a server's messages carry.
const INTRODUCTION: Flags = Flags(1 << 4);
const PROOF: Flags = Flags(1 << 4 | 1 << 5);
const ANSWER: Flags = Flags(1 << 7);

/// A payload that nobody else sends.
const STRANGE: u8 = 0xab;

/// A task with the tag of its datagrams.
struct Kind {
    name: &'static str,
    task: Task,
    tag: [u8; 8],
}

fn kinds(family: Family) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut add = |name, task: Task, is_load: bool| {
        let tag = if is_load { task.token.load_tag() } else { task.token.tag() };
        kinds.push(Kind { name, task, tag });
    };
    let both = PerArm::null(family);
    add("echo", slice(Workload::Echo(echo(Transport::Udp, 200, Wait::Block)), both), false);
    let probe = || Probe { payload_bytes: 200, ..Probe::default() };
    add("probe", slice(Workload::Probe(probe()), both), false);
    for direction in [Direction::Send, Direction::Receive] {
        let load = Load {
            direction,
            streams: 1,
            udp: Some(UdpLoad { payload_bytes: 200, ..UdpLoad::default() }),
            ..Load::default()
        };
        let probe = Probe { load: Some(load), ..probe() };
        add("load", trial(Workload::Probe(probe), family), true);
        let bulk = UdpBulk { payload_bytes: 200, direction, ..bulk() };
        add("udp-bulk", trial(Workload::UdpBulk(bulk), family), false);
        for search in [
            Search::Load { duration_ns: Capacity::LOAD_NS_MIN },
            Search::Halving { trial_ns: Capacity::TRIAL_NS_MIN, lost_ppm_max: 1, forced: true },
        ] {
            let capacity =
                Capacity { payload_bytes: 200, direction, search, ..Capacity::default() };
            add("capacity", trial(Workload::Capacity(capacity), family), false);
        }
    }
    kinds
}

fn bulk() -> UdpBulk {
    UdpBulk { duration_ns: 10 * SECOND_NS, warmup_ns: 0, ..UdpBulk::default() }
}

/// Somebody with a socket, who knows the tag of a task.
struct Somebody {
    socket: Datagram,
    server: SocketAddr,
    tag: [u8; 8],
    arm: Arm,
}

impl Somebody {
    fn new(kind: &Kind, server: SocketAddr, arm: Arm) -> Self {
        let socket = Datagram::bind(SocketAddr::new(server.ip(), 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        Somebody { socket, server, tag: kind.tag, arm }
    }

    fn says(&self, flags: Flags, numbers: u64, bytes: usize) {
        let mut message = vec![STRANGE; bytes];
        let (sequence, turn, next) =
            ((numbers >> 32) as u32, (numbers >> 16) as u16, numbers as u16);
        Header { tag: self.tag, sequence, turn, next, arm: self.arm, flags }.encode(&mut message);
        self.socket.send_to(&message, self.server).unwrap();
    }

    /// What was sent here first, if anything comes in time.
    fn hears(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; 2000];
        if !self.socket.wait_readable(5 * SECOND_NS).unwrap() {
            return None;
        }
        let (count, _) = self.socket.recv_from(&mut bytes).unwrap();
        bytes.truncate(count);
        Some(bytes)
    }

    /// Introduces himself and returns the challenge. All that came to the same socket of the server
    /// before has been looked at then.
    fn challenged(&self, name: &str) -> u64 {
        self.says(INTRODUCTION, 0, HEADER_BYTES);
        let heard = self.hears().unwrap_or_else(|| panic!("{name}: nobody is challenged"));
        assert_eq!(heard.len(), HEADER_BYTES, "{name}: more than a challenge");
        let header = Header::decode(&heard).unwrap();
        assert_eq!(header.flags, INTRODUCTION.with(ANSWER), "{name}");
        let numbers = u64::from(header.sequence) << 32;
        numbers | u64::from(header.turn) << 16 | u64::from(header.next)
    }

    fn heard_nothing(&self) -> bool {
        self.socket.recv_from(&mut [0; 2000]).is_err()
    }

    /// Everything that tasks have messages for, as long as they are, and no more at a time than the
    /// server's socket holds: `other` hears from the server in between.
    fn says_everything(&self, numbers: u64, name: &str, other: &Somebody) {
        for flags in 0..=u8::MAX {
            // Introductions are answered, by something else.
            if Flags(flags) != INTRODUCTION {
                self.says(Flags(flags), numbers, 200);
                self.says(Flags(flags), numbers, HEADER_BYTES);
            }
            if flags % 32 == 31 {
                other.challenged(name);
            }
        }
    }
}

fn arm_of(task: &Task) -> Arm {
    task.arms[0].arm
}

/// Of all messages with the right tag only introductions are answered, the challenge is of use to
/// the source alone that it was sent to, and nobody has been measured with in the end.
#[test]
fn nothing_but_a_challenge_goes_to_who_has_not_proved_himself() {
    for (family, kind) in
        Family::BOTH.into_iter().flat_map(|f| kinds(f).into_iter().map(move |k| (f, k)))
    {
        let service = Service::new();
        let ((), server) = service.perform_with(&kind.task, || {
            let near = Somebody::new(&kind, service.udp(family), arm_of(&kind.task));
            let far = Somebody::new(&kind, service.udp(family), arm_of(&kind.task));
            far.says_everything(0, kind.name, &near);
            let challenge = near.challenged(kind.name);
            // As if a datagram with another's address repeated what was sent here.
            for flags in [PROOF, Flags::WARMUP, Flags::WARMUP.with(Flags::LAST_OF_TURN)] {
                far.says(flags, challenge, HEADER_BYTES);
                far.says(flags, challenge, 200);
            }
            far.says_everything(challenge, kind.name, &near);
            assert_eq!(near.challenged(kind.name), challenge);
            let name = kind.name;
            assert!(far.heard_nothing(), "{name}, {family}: who proved nothing was answered");
            assert!(near.heard_nothing(), "{name}, {family}: answered twice");
        });
        let error = server.expect_err("nobody took part").to_string();
        assert!(error.contains("gave up"), "{}, {family}: {error}", kind.name);
    }
}

/// Who is not served over TCP is not served over UDP either.
#[test]
fn the_policy_holds_for_datagrams() {
    let mut service = Service::new();
    service.access = Access::Listed(vec!["127.0.0.1".parse().unwrap()]);
    for kind in kinds(Family::V4) {
        let ((), server) = service.perform_with(&kind.task, || {
            let server = service.udp(Family::V4);
            let elsewhere = Datagram::bind("127.0.0.2:0".parse().unwrap());
            // Not every system has all of the loopback network.
            let Ok(socket) = elsewhere else { return };
            socket.set_nonblocking(true).unwrap();
            let arm = arm_of(&kind.task);
            let far = Somebody { socket, server, tag: kind.tag, arm };
            far.says(INTRODUCTION, 0, HEADER_BYTES);
            far.says_everything(0, kind.name, &Somebody::new(&kind, server, arm));
            assert!(far.heard_nothing(), "{}: {server}", kind.name);
        });
        server.expect_err("nobody took part");
    }
}

/// Whoever proves himself is answered, and never with what he sent.
#[test]
fn nobody_gets_his_own_payload_back() {
    for family in Family::BOTH {
        let mut echo = echo(Transport::Udp, 200, Wait::Block);
        echo.connections = 1;
        let both = PerArm::null(family);
        let probe = Probe { payload_bytes: 200, ..Probe::default() };
        let bulk = UdpBulk { payload_bytes: 200, ..bulk() };
        for (name, task) in [
            ("echo", slice(Workload::Echo(echo), both)),
            ("probe", slice(Workload::Probe(probe), both)),
            ("udp-bulk", trial(Workload::UdpBulk(bulk), family)),
        ] {
            let service = Service::new();
            let tag = task.token.tag();
            let kind = Kind { name, task, tag };
            let ((), server) = service.perform_with(&kind.task, || {
                let arms = kind.task.arms.iter().map(|of| of.arm);
                let sources: Vec<Somebody> =
                    arms.map(|arm| Somebody::new(&kind, service.udp(family), arm)).collect();
                for source in &sources {
                    source.says(PROOF, source.challenged(name), HEADER_BYTES);
                    let accepted = source.hears().expect("accepted");
                    assert_eq!(accepted.len(), HEADER_BYTES);
                }
                for source in &sources {
                    source.says(Flags::WARMUP, 0, 200);
                    let answer = source.hears().unwrap_or_else(|| panic!("{name}: no answer"));
                    assert_eq!(Header::decode(&answer).unwrap().flags, Flags::WARMUP.with(ANSWER));
                    assert_eq!(answer.len(), 200);
                    let strange = answer.iter().filter(|byte| **byte == STRANGE).count();
                    assert!(strange < 20, "{name}, {family}: {strange} bytes came back");
                }
            });
            // Whether half a trial is a result is not what is asked here.
            drop(server);
        }
    }
}

/// A stranger who knows the tag neither adds to what is counted nor ends anything, however much he
/// sends in the middle of it.
#[test]
fn strangers_are_not_counted() {
    let transfer = |family, direction| {
        // 2 Mbit/s of 800 bits each: 100 datagrams take 40 ms.
        let workload = UdpBulk {
            payload_bytes: 100,
            rate_bps: Some(2_000_000),
            packets: Some(100),
            direction,
            ..bulk()
        };
        trial(Workload::UdpBulk(workload), family)
    };
    let ways = [Direction::Send, Direction::Receive];
    for (family, direction) in Family::BOTH.into_iter().flat_map(|f| ways.map(|way| (f, way))) {
        let service = Service::new();
        let task = transfer(family, direction);
        let kind = Kind { name: "udp-bulk", tag: task.token.tag(), task };
        let over = AtomicBool::new(false);
        let stranger = Somebody::new(&kind, service.udp(family), arm_of(&kind.task));
        let (client, server) = thread::scope(|scope| {
            scope.spawn(|| {
                let mut number = 0;
                while !over.load(Ordering::Relaxed) {
                    number += 1;
                    for flags in [Flags::NONE, Flags::END, Flags::STATUS, ANSWER] {
                        stranger.says(flags, number << 32, 100);
                    }
                    // So many that they are never waited for, and honest ones still fit between.
                    clock::rest(Duration::from_micros(100));
                }
            });
            let context = service.context(Transport::Udp);
            let ends = service.perform_with(&kind.task, || client::run(&kind.task, &context));
            over.store(true, Ordering::Relaxed);
            ends
        });
        let (client, server) = (client.unwrap(), server.unwrap());
        let received = match direction {
            Direction::Send => &server[0].1.measured,
            _ => &client[0].1.measured,
        };
        let Measured::Received(received) = received else { panic!("{received:?}") };
        let counted = (received.packets, received.duplicates, received.reordered);
        assert_eq!(counted, (100, 0, 0), "{family} {direction:?}");
        assert!(stranger.heard_nothing(), "{family} {direction:?}");
    }
}
