//! Plans that come with the program.

use super::{Design, Order, Parts, Plan, Stop};
use crate::arm::PerArm;
use crate::family::Family;
use crate::metric::Metric;
use crate::workload::{
    Cell, Connect, Echo, LAB_CONGESTION, StreamSettings, TcpBulk, Transport, UdpBulk, Wait,
    Workload,
};
use crate::world::{LinkModel, World};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

/// Milliseconds in ns.
const MS: u64 = 1_000_000;

/// Message sizes of the first look, in bytes.
pub const MESSAGE_BYTES: [u32; 3] = [64, 1024, 16_384];

/// UDP payload of the first look, in bytes: the largest of the published sweeps, whole in both
/// families.
pub const UDP_PAYLOAD_BYTES: u32 = 1408;

/// Confidence of every range shown.
pub const CONFIDENCE: f64 = 0.95;

/// One null block of each kind in so many rounds.
pub const SENTINEL_EVERY: u32 = 10;

/// Null blocks of each family for each cell that has them, before the first comparison.
pub const NULL_BLOCKS: u32 = 4;

/// TCP throughput, round trips at three sizes over TCP and UDP, connecting, UDP goodput and loss.
///
/// On a real path UDP is paced at a rate that any link bears; in a lab the link's own back-pressure
/// paces it.
pub fn first_look(arms: PerArm<Family>, world: Option<World>, seed: u64) -> Plan {
    let lab = world.is_some();
    let mut cells = Vec::new();
    cells.push(Cell::named(Workload::TcpBulk(tcp_bulk(lab))));
    for transport in [Transport::Tcp, Transport::Udp] {
        for message_bytes in MESSAGE_BYTES {
            cells.push(Cell::named(Workload::Echo(echo(transport, message_bytes, wait(lab)))));
        }
    }
    cells.push(Cell::named(Workload::Connect(Connect::default())));
    cells.push(Cell::named(Workload::UdpBulk(UdpBulk {
        payload_bytes: UDP_PAYLOAD_BYTES,
        rate_bps: if lab { None } else { Some(20_000_000) },
        ..UdpBulk::default()
    })));
    let null_cells = null_cells(&cells);
    Plan(Parts {
        name: "First look".to_string(),
        description: "Throughput, round trips, connecting and loss, IPv6 against IPv4".to_string(),
        reference: None,
        cells,
        design: Design {
            arms,
            stop: Stop::default(),
            precision: BTreeMap::new(),
            null_blocks: NULL_BLOCKS,
            null_cells,
            sentinel_every: SENTINEL_EVERY,
            order: Order::Random,
            summary: None,
            different_links: false,
            settle_ns: 20 * MS,
            confidence: CONFIDENCE,
        },
        margins: Metric::ALL.into_iter().map(|m| (m, m.margin_default())).collect(),
        world,
        seed,
    })
}

/// The cells whose noise bounds that of the others: the first of each transport that takes turns in
/// slices, as they are the quickest.
pub fn null_cells(cells: &[Cell]) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let same_kind = |&c: &usize| {
            let other = &cells[c].workload;
            core::mem::discriminant(other) == core::mem::discriminant(&cell.workload)
                && other.metrics()[0] == cell.workload.metrics()[0]
                && other.transport() == cell.workload.transport()
        };
        if !chosen.iter().any(same_kind) {
            chosen.push(index);
        }
    }
    chosen
}

/// TCP bulk with defaults.
pub fn tcp_bulk(lab: bool) -> TcpBulk {
    let congestion = lab.then(|| LAB_CONGESTION.to_string());
    TcpBulk {
        settings: StreamSettings { congestion, ..StreamSettings::default() },
        ..TcpBulk::default()
    }
}

/// Echo with defaults: a block of about the same number of exchanges for every small size, fewer
/// for large ones, whose relative noise is smaller.
pub fn echo(transport: Transport, message_bytes: u32, wait: Wait) -> Echo {
    let (turn_exchanges, turns) = match message_bytes {
        0..=256 => (20, 40),
        257..=1500 => (20, 16),
        1501..=8192 => (10, 8),
        _ => (5, 8),
    };
    Echo { transport, message_bytes, turn_exchanges, turns, wait, ..Echo::default() }
}

/// How the ends wait: in a lab both are on one processor, where waiting in turns takes all wake-ups
/// out of the path; on a real path they sleep, as programs do.
pub const fn wait(lab: bool) -> Wait {
    if lab { Wait::Yield } else { Wait::Block }
}

/// The world of the demo: client – router – server, 100 Mbit/s, true serialisation.
pub fn demo_world() -> World {
    World::client_router_server(LinkModel::Wire, Some(100_000_000))
}
