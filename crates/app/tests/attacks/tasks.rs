//! The tasks that the attacker proposes, and the datagrams that belong to them.

use crate::talk::Dialect;
use serde_json::Value;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::task::{Task, TaskArm, Token, native};
use v6gap_core::workload::{
    Capacity, Connect, Direction, Echo, Interleaving, Load, Probe, Purpose, Search, TcpBulk,
    Transport, UdpBulk, UdpLoad, Wait, Workload,
};
use v6gap_lab::Node;

/// The token of every task of the attacker, who chooses it; both halves tell tasks apart.
pub const TOKEN: Token = Token(*b"attackers-token!");

pub const HEADER_BYTES: usize = 20;
const ARM_AT: usize = 16;
const FLAGS_AT: usize = 17;

/// Flags of the header that both dialects have.
pub const LAST: u8 = 1;
pub const WARMUP: u8 = 2;
/// Those that only the second has.
pub const INTRODUCTION: u8 = 16;
pub const PROOF: u8 = 32;
pub const ANSWER: u8 = 128;

const SECOND_NS: u64 = 1_000_000_000;
/// What a flood is to have, in bit/s: enough to see, little enough for a busy machine.
const RATE_BPS: u64 = 20_000_000;

/// The message that proposes a task. What is done in slices gets both arms, of the same family.
pub fn prepare(number: u32, workload: Workload, family: Family) -> Value {
    let arms = arms(&workload).iter().map(|&arm| TaskArm { arm, family }).collect();
    let order = TurnOrder::Ab;
    let task = Task {
        number,
        workload,
        arms,
        order,
        seed: 7,
        token: TOKEN,
        arrives: native(),
        draw: None,
    };
    let mut message = serde_json::to_value(task).unwrap();
    message["message"] = "prepare".into();
    message
}

/// The arms that take part.
fn arms(workload: &Workload) -> &'static [Arm] {
    match workload.interleaving() {
        Interleaving::Trial => &Arm::BOTH[..1],
        Interleaving::Slice => &Arm::BOTH[..],
    }
}

/// A second of datagrams.
pub fn udp_bulk(direction: Direction) -> Workload {
    Workload::UdpBulk(UdpBulk {
        direction,
        payload_bytes: 1200,
        rate_bps: Some(RATE_BPS),
        duration_ns: SECOND_NS,
        ..UdpBulk::default()
    })
}

pub fn capacity() -> Workload {
    Workload::Capacity(Capacity {
        direction: Direction::Receive,
        rate_bps_max: RATE_BPS,
        search: Search::Load { duration_ns: 2 * SECOND_NS },
        ..Capacity::default()
    })
}

/// Probes with a load of datagrams from the server.
pub fn loaded_probe() -> Workload {
    let udp = UdpLoad { payload_bytes: 1200, rate_bps: Some(RATE_BPS) };
    let load =
        Load { direction: Direction::Receive, lead_ns: 0, udp: Some(udp), ..Load::default() };
    Workload::Probe(Probe { load: Some(load), turns: 2, timeout_ns: SECOND_NS, ..Probe::default() })
}

pub fn probe(payload_bytes: u32) -> Workload {
    Workload::Probe(Probe { payload_bytes, timeout_ns: SECOND_NS, ..Probe::default() })
}

pub fn echo(transport: Transport, message_bytes: u32, wait: Wait) -> Workload {
    let connections = 1;
    Workload::Echo(Echo { transport, message_bytes, connections, wait, ..Echo::default() })
}

/// Bulk transfer over TCP for as long as a trial may take.
pub fn tcp_bulk(direction: Direction) -> Workload {
    let duration_ns = 20 * SECOND_NS;
    Workload::TcpBulk(TcpBulk { direction, duration_ns, ..TcpBulk::default() })
}

pub fn held_connections() -> Workload {
    Workload::Connect(Connect { count: 10, purpose: Purpose::Hold, ..Connect::default() })
}

/// How long its datagrams are, those of a load where there is one.
pub fn bytes(workload: &Workload) -> usize {
    let load = match workload {
        Workload::Probe(probe) => probe.load.as_ref().and_then(|load| load.udp),
        _ => None,
    };
    let bytes = load.map(|udp| udp.payload_bytes).or(workload.datagram_bytes());
    bytes.map_or(HEADER_BYTES, |bytes| bytes as usize)
}

/// Where the datagrams of a task lead.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// To the task itself.
    Main,
    /// To the load beside it, which has a tag of its own.
    Load,
}

/// A header with these flags, in a datagram of `bytes` bytes that holds nothing else but `fill`.
pub fn datagram(part: Part, flags: u8, bytes: usize, fill: u8) -> Vec<u8> {
    let mut datagram = vec![fill; bytes.max(HEADER_BYTES)];
    let tag = match part {
        Part::Main => TOKEN.tag(),
        Part::Load => TOKEN.load_tag(),
    };
    datagram[..HEADER_BYTES].fill(0);
    datagram[..8].copy_from_slice(&tag);
    datagram[FLAGS_AT] = flags;
    datagram
}

/// A UDP socket of a node, not connected.
pub fn socket(node: &Node, family: Family) -> UdpSocket {
    let bind = || UdpSocket::bind(SocketAddr::new(family.unspecified(), 0)).unwrap();
    let socket = node.run(bind).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
    socket
}

/// What the server challenges this socket with, as the proof that repeats it; `None` if it does
/// not.
pub fn challenge(
    socket: &UdpSocket,
    to: SocketAddr,
    dialect: Dialect,
    (part, arm): (Part, u8),
) -> Option<Vec<u8>> {
    let mut knock = match dialect {
        Dialect::One => datagram(part, WARMUP, 64, 0),
        Dialect::Two => datagram(part, INTRODUCTION, HEADER_BYTES, 0),
    };
    knock[ARM_AT] = arm;
    let mut answer = [0; 2048];
    for _ in 0..3 {
        socket.send_to(&knock, to).unwrap();
        let Ok(count) = socket.recv(&mut answer) else { continue };
        let mut proof = answer[..count].to_vec();
        proof[FLAGS_AT] = match (dialect, part) {
            (Dialect::One, Part::Main) => WARMUP,
            (Dialect::One, Part::Load) => WARMUP | LAST,
            (Dialect::Two, _) => INTRODUCTION | PROOF,
        };
        return Some(proof);
    }
    None
}

/// The attacker's own sockets of a task, one for each arm, shown to be where they say they are if
/// the dialect asks for that.
pub fn own_sockets(
    node: &Node,
    to: SocketAddr,
    dialect: Dialect,
    workload: &Workload,
) -> Vec<UdpSocket> {
    let family = if to.is_ipv4() { Family::V4 } else { Family::V6 };
    let one = |arm: u8| {
        let socket = socket(node, family);
        if dialect == Dialect::Two {
            let proof = challenge(&socket, to, dialect, (Part::Main, arm));
            socket.send_to(&proof.expect("an introduction is answered"), to).unwrap();
            let mut answer = [0; 2048];
            let count = socket.recv(&mut answer).expect("a proof is accepted");
            assert_eq!((count, answer[FLAGS_AT]), (20, INTRODUCTION | PROOF | ANSWER));
        }
        socket
    };
    (0..arms(workload).len() as u8).map(one).collect()
}
