//! What is predicted of a transfer that a window bounds.

use super::{Packets, Predicted, Ways};
use crate::analysis::collect::Block;
use crate::transfer;
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::wiremodel;
use v6gap_core::workload::{Direction, TcpBulk};
use v6gap_core::world::World;
use v6gap_stats::summary;

/// Least part of the time for which windows must have held the sender back for them to be what
/// bounds a transfer.
const HELD: f64 = 0.9;

/// A transfer that a window bounds has 8·W / RTT (RFC 6349 section 3.3). The windows are those that
/// the receivers offered, as the segment size is what was agreed on; the first arm's round trip is
/// what its goodput says, and the second's differs by what the packets do.
pub(super) fn held(
    world: &World,
    bulk: &TcpBulk,
    arms: PerArm<Family>,
    packets: &PerArm<Packets>,
    blocks: &[&Block<'_>],
    base: f64,
) -> Option<Predicted> {
    if bulk.direction == Direction::Both || bulk.pacing_bps.is_some() {
        return None;
    }
    let ways = Ways::of(world, arms.a)?;
    let exchange_ns = |arm: Arm| {
        let (family, p) = (*arms.get(arm), packets.get(arm));
        let ack = wiremodel::tcp_header_bytes(family, p.options);
        let ways = ways.carrying(world, family);
        match bulk.direction {
            Direction::Receive => ways.exchange_ns(&[ack], &[p.mtu]),
            Direction::Send | Direction::Both => ways.exchange_ns(&[p.mtu], &[ack]),
        }
    };
    let windows = PerArm { a: window(blocks, Arm::A)?, b: window(blocks, Arm::B)? };
    Some(of_windows(windows, base, exchange_ns(Arm::B) - exchange_ns(Arm::A)))
}

/// The window of the typical trial of an arm, in bytes, if windows bounded most of its trials.
fn window(blocks: &[&Block<'_>], arm: Arm) -> Option<f64> {
    let valid: Vec<_> = blocks.iter().filter(|block| block.valid).collect();
    let of_block = |block: &&&Block<'_>| {
        let trial = block.trials.get(arm);
        let window = transfer::window(&trial.ends)?;
        (window.limited >= HELD).then_some(window.bytes)
    };
    let bound: Vec<f64> = valid.iter().filter_map(of_block).collect();
    (2 * bound.len() > valid.len()).then(|| summary::median(&bound))
}

fn of_windows(windows: PerArm<f64>, base_bps: f64, longer_ns: f64) -> Predicted {
    let trip_ns = windows.a * 8e9 / base_bps;
    let other_bps = wiremodel::window_limited_bps(windows.b, trip_ns + longer_ns);
    Predicted { effect: other_bps / base_bps - 1.0, values: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 13 segments in 20 ms each: the longer header leaves 20 bytes less of each segment, and two
    /// acknowledgements that are 20 bytes longer take 3.2 µs more on two links of 100 Mbit/s.
    #[test]
    fn windows_of_whole_segments_lose_what_the_header_takes() {
        let windows = PerArm { a: 13.0 * 1448.0, b: 13.0 * 1428.0 };
        let base_bps = windows.a * 8.0 / 20e-3;
        let effect = of_windows(windows, base_bps, 0.0).effect;
        assert!((effect - (1428.0 / 1448.0 - 1.0)).abs() < 1e-12, "{effect}");
        let effect = of_windows(windows, base_bps, 3_200.0).effect;
        let expected = 1428.0 / 1448.0 * 20_000.0 / 20_003.2 - 1.0;
        assert!((effect - expected).abs() < 1e-12, "{effect}");
    }
}
