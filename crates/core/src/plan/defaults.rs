//! What holds where a plan says nothing.

use crate::workload::{
    Cell, Echo, LAB_CONGESTION, Method, StreamSettings, TcpBulk, Transport, Wait,
};
use alloc::string::ToString;
use alloc::vec::Vec;

/// Message sizes of the first look, in bytes.
pub const MESSAGE_BYTES: [u32; 3] = [64, 1024, 16_384];

/// UDP payload of the first look, in bytes: the largest of the published sweeps, whole in both
/// families.
pub const UDP_PAYLOAD_BYTES: u32 = 1408;

/// Confidence of every range shown.
pub const CONFIDENCE: f64 = 0.95;

/// One null block of each kind in so many rounds.
pub const SENTINEL_EVERY: u32 = 10;

/// Most blocks of a cell in a round of an adaptive run.
pub const BLOCKS_MAX: u32 = 24;

/// Null blocks of each family for each cell that has them, before the first comparison.
pub const NULL_BLOCKS: u32 = 4;

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

/// TCP bulk with defaults: each block draws the size of its writes, since nobody asked for one and
/// on a fast link it decides how the families compare.
pub fn tcp_bulk(lab: bool) -> TcpBulk {
    let congestion = lab.then(|| LAB_CONGESTION.to_string());
    TcpBulk {
        write_drawn: true,
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

/// Echo with both ends in one thread: many exchanges, since each takes some µs.
pub fn stack(transport: Transport, message_bytes: u32) -> Echo {
    let (turn_exchanges, turns) = if message_bytes <= 1500 { (100, 200) } else { (50, 40) };
    let (method, warmup_exchanges) = (Method::Stack, 20);
    let usual = echo(transport, message_bytes, Wait::Yield);
    Echo { method, turn_exchanges, turns, warmup_exchanges, ..usual }
}

/// How the ends wait: in a lab both are on one processor, where waiting in turns takes all wake-ups
/// out of the path; on a real path they sleep, as programs do.
pub const fn wait(lab: bool) -> Wait {
    if lab { Wait::Yield } else { Wait::Block }
}
