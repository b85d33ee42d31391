//! Fits the first look to a path: over a long or a slow one the same number of exchanges would take
//! hours, and a transfer of a second would be slow start alone.

use super::estimate::estimate;
use super::{Plan, Stop};
use crate::family::Family;
use crate::workload::{HOSTS_NS, Path};
use crate::world::World;
use crate::world::model;

/// Length of a small IP packet, in bytes.
const SMALL_PACKET: u32 = 112;

/// Share of the run's time that its null blocks may take at the start; less where the pairs need
/// it.
const NULL_SHARE: f64 = 0.4;

/// Rate that is taken for granted of a path of which none is known, in bit/s: what its transfers
/// take is their own time.
const RATE_BPS: f64 = 1e9;

/// Time that an exchange waits for what was lost, at least, in ns: the smallest timeout of TCP on
/// Linux, and the patience over UDP.
const LOST_NS: f64 = 200_000_000.0;

/// What an exchange of a small message takes in `world` in the mean, in ns: its round trip in the
/// slower family, and the waiting for what the links lose.
pub fn exchange_ns(world: &World) -> u64 {
    let of = |family: Family| {
        let ways = world.ways(family);
        let kept: f64 = ways.iter().flatten().map(|way| 1.0 - way.mean_loss()).product();
        let lost = 1.0 - kept;
        model::world_round_trip_ns(world, family, &[SMALL_PACKET]) + lost * LOST_NS
    };
    Family::BOTH.into_iter().map(of).fold(0.0, f64::max) as u64
}

/// The path of a lab: its slowest line, and what an exchange of a small message takes.
pub fn path_in(world: &World) -> Path {
    let rates = Family::BOTH.into_iter().flat_map(|family| world.ways(family)).flatten();
    let slowest = rates.filter_map(|way| way.rate_bps).min();
    Path { rate_bps: slowest.map_or(RATE_BPS, |bps| bps as f64), ..path_of(exchange_ns(world)) }
}

/// A path of which no more than the round trip is known, in ns.
pub fn path_of(round_trip_ns: u64) -> Path {
    Path { rate_bps: RATE_BPS, round_trip_ns: round_trip_ns.max(1) as f64 }
}

impl Plan {
    /// The plan with exchanges, connections, transfer times and null blocks so that a run over
    /// such a path has time for its pairs. What fits already stays as it is.
    #[must_use]
    pub fn fitted(mut self, path: Path) -> Plan {
        for cell in &mut self.0.cells {
            cell.workload.fit(path);
        }
        if let Stop::Adaptive { time_ns_max, pairs_min } = self.design.stop {
            // What was measured of the path holds the work of the hosts.
            let round_trip_ns = (path.round_trip_ns - HOSTS_NS).max(0.0);
            let expected = estimate(&self, Path { round_trip_ns, ..path });
            let round_ns: f64 = expected.cells.iter().map(|cost| cost.time_ns).sum();
            let left_ns = time_ns_max as f64 - f64::from(pairs_min) * round_ns;
            let allowed_ns = left_ns.min(time_ns_max as f64 * NULL_SHARE);
            // Saturates: a negative rest leaves none.
            let fitting = (allowed_ns / expected.nulls.time_ns.max(1.0)) as u32;
            let blocks = &mut self.0.design.null_blocks;
            *blocks = (*blocks).min(fitting.max(1));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::PerArm;
    use crate::plan::preset;
    use crate::workload::Workload;
    use alloc::vec::Vec;

    const MS: u64 = 1_000_000;

    fn fitted(round_trip_ns: u64) -> Plan {
        preset::first_look(PerArm::FAMILIES, None, 1).fitted(path_of(round_trip_ns))
    }

    #[test]
    fn a_short_path_changes_nothing() {
        assert_eq!(fitted(50_000), preset::first_look(PerArm::FAMILIES, None, 1));
    }

    #[test]
    fn a_world_s_exchanges_wait_for_what_its_links_lose() {
        let mut world = preset::demo_world();
        assert!((20_000..100_000).contains(&exchange_ns(&world)), "{}", exchange_ns(&world));
        for link in &mut world.links {
            link.conditions.v6.delay_ns = 2 * MS;
            link.conditions.v6.loss = 0.01;
        }
        // Four passages: 8 ms, and 200 ms for 3.94 %.
        let ms = exchange_ns(&world) as f64 / 1e6;
        assert!((ms - 15.9).abs() < 0.1, "{ms} ms");
    }

    #[test]
    fn eight_pairs_fit_the_usual_time_up_to_a_continent() {
        for round_trip in [MS / 2, MS, 5 * MS, 14 * MS] {
            let plan = fitted(round_trip);
            let path = Path { rate_bps: RATE_BPS, round_trip_ns: round_trip as f64 };
            let found = estimate(&plan, path).total.time_ns / MS as f64;
            assert!(found <= 75_000.0, "{} ms: {found} ms", round_trip / MS);
        }
    }

    #[test]
    fn a_long_path_keeps_usable_blocks() {
        let plan = fitted(300 * MS);
        for cell in &plan.cells {
            match &cell.workload {
                Workload::Echo(e) => {
                    let exchanges = e.turn_exchanges * e.turns;
                    assert!(exchanges >= 12 && e.connections >= 1);
                    assert_eq!(e.turns % 2, 0, "turns stay balanced");
                }
                Workload::TcpBulk(bulk) => assert_eq!(bulk.duration_ns, 6_000 * MS),
                Workload::Connect(c) => assert_eq!(c.count, 4),
                Workload::UdpBulk(_)
                | Workload::Probe(_)
                | Workload::Capacity(_)
                | Workload::Frames(_) => {}
            }
        }
        let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids.len(), 9);
        assert_eq!(plan.design.null_blocks, 1);
    }
}
