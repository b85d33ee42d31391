//! Fits the first look to the round trip of a path: over a long one the same number of exchanges
//! would take hours, and a transfer of a second would be slow start alone.

use super::{Plan, Stop};
use crate::family::Family;
use crate::wiremodel;
use crate::workload::{Echo, Workload};
use crate::world::World;

/// Time that one arm's counted exchanges of a block may take, in ns.
const EXCHANGES_NS: u64 = 100_000_000;

/// Fewest exchanges of one arm in a block.
const EXCHANGES_MIN: u64 = 12;

/// Time that opening the connections of a trial may take, in ns.
const CONNECTS_NS: u64 = 150_000_000;

/// Fewest connections of a trial.
const CONNECTS_MIN: u64 = 4;

/// Length of a small IP packet, in bytes.
const SMALL_PACKET: u32 = 112;

/// A bulk transfer lasts at least so many round trips: slow start takes about ten.
const BULK_ROUND_TRIPS: u64 = 20;

/// Share of the run's time that its null blocks may take at the start, in percent; less where the
/// pairs need it.
const NULL_PERCENT: u64 = 40;

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
        wiremodel::world_round_trip_ns(world, family, &[SMALL_PACKET]) + lost * LOST_NS
    };
    Family::BOTH.into_iter().map(of).fold(0.0, f64::max) as u64
}

/// Changes exchanges, connections, transfer times and null blocks so that a run over a path of this
/// round trip has time for its pairs. What fits already stays as it is.
pub fn fit(plan: &mut Plan, round_trip_ns: u64) {
    let round_trip_ns = round_trip_ns.max(1);
    for cell in &mut plan.cells {
        match &mut cell.workload {
            Workload::Echo(echo) => fit_echo(echo, round_trip_ns),
            Workload::Connect(connect) => {
                let count = (CONNECTS_NS / round_trip_ns).max(CONNECTS_MIN);
                connect.count = u64::from(connect.count).min(count) as u32;
            }
            Workload::TcpBulk(bulk) => {
                let least = BULK_ROUND_TRIPS.saturating_mul(round_trip_ns);
                if bulk.duration_ns < least {
                    bulk.duration_ns = least;
                    bulk.warmup_ns = if bulk.bytes.is_some() { 0 } else { least / 2 };
                }
            }
            Workload::UdpBulk(_) | Workload::Probe(_) | Workload::Capacity(_) => {}
        }
    }
    if let Stop::Adaptive { time_ns_max, pairs_min } = plan.design.stop {
        let pairs_ns = u64::from(pairs_min) * round_ns(plan, round_trip_ns);
        let left = time_ns_max.saturating_sub(pairs_ns);
        let allowed = left.min(time_ns_max / 100 * NULL_PERCENT);
        let one = null_round_ns(plan, round_trip_ns).max(1);
        let fitting = u32::try_from(allowed / one).unwrap_or(u32::MAX).max(1);
        plan.design.null_blocks = plan.design.null_blocks.min(fitting);
    }
}

/// Changes exchanges and connections so that the exchanges of one arm in a block take 0.1 s, or as
/// long as a dozen do.
pub(crate) fn fit_echo(echo: &mut Echo, round_trip_ns: u64) {
    let round_trip_ns = round_trip_ns.max(1);
    let wanted = u64::from(echo.turn_exchanges) * u64::from(echo.turns);
    let exchanges = (EXCHANGES_NS / round_trip_ns).max(EXCHANGES_MIN);
    if exchanges >= wanted {
        return;
    }
    echo.connections = echo.connections.min((exchanges / 8) as u32).max(1);
    echo.turns = echo.turns.min(((exchanges / 4) as u32).max(4) & !1);
    echo.turn_exchanges = (exchanges as u32).div_ceil(echo.turns);
    echo.warmup_exchanges = 1;
}

/// Time of one block of every cell.
fn round_ns(plan: &Plan, round_trip_ns: u64) -> u64 {
    plan.cells.iter().map(|cell| block_ns(&cell.workload, round_trip_ns)).sum()
}

/// Time of one null block of each family for each cell that has them.
fn null_round_ns(plan: &Plan, round_trip_ns: u64) -> u64 {
    let cells = plan.design.null_cells.iter().filter_map(|&index| plan.cells.get(index));
    2 * cells.map(|cell| block_ns(&cell.workload, round_trip_ns)).sum::<u64>()
}

/// Time of one block, both arms.
fn block_ns(workload: &Workload, round_trip_ns: u64) -> u64 {
    let trips = |count: u64| 2 * count * round_trip_ns;
    match workload {
        Workload::TcpBulk(bulk) => 2 * bulk.duration_ns + trips(6),
        Workload::UdpBulk(bulk) => 2 * bulk.duration_ns + trips(4),
        Workload::Capacity(capacity) => {
            2 * capacity.sending_ns() + trips(4 + 4 * u64::from(capacity.trials_max()))
        }
        Workload::Connect(connect) => trips(u64::from(connect.count) + 4),
        Workload::Probe(probe) => {
            let lead_ns = probe.load.as_ref().map_or(0, |load| load.lead_ns);
            2 * (probe.sending_ns() + lead_ns) + trips(4)
        }
        Workload::Echo(echo) => {
            let counted = u64::from(echo.turn_exchanges) * u64::from(echo.turns);
            let each = 2 + u64::from(echo.warmup_exchanges);
            trips(counted + u64::from(echo.connections) * each + 4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::PerArm;
    use crate::plan::preset;
    use alloc::vec::Vec;

    const MS: u64 = 1_000_000;

    fn fitted(round_trip_ns: u64) -> Plan {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        fit(&mut plan, round_trip_ns);
        plan
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
            let nulls = u64::from(plan.design.null_blocks) * null_round_ns(&plan, round_trip);
            let total = nulls + 8 * round_ns(&plan, round_trip);
            assert!(total <= 75_000 * MS, "{} ms: {} ms", round_trip / MS, total / MS);
        }
    }

    #[test]
    fn a_long_path_keeps_usable_blocks() {
        let plan = fitted(300 * MS);
        for cell in &plan.cells {
            match &cell.workload {
                Workload::Echo(e) => {
                    let exchanges = e.turn_exchanges * e.turns;
                    assert!(exchanges >= EXCHANGES_MIN as u32 && e.connections >= 1);
                    assert_eq!(e.turns % 2, 0, "turns stay balanced");
                }
                Workload::TcpBulk(bulk) => assert_eq!(bulk.duration_ns, 6_000 * MS),
                Workload::Connect(c) => assert_eq!(c.count, CONNECTS_MIN as u32),
                Workload::UdpBulk(_) | Workload::Probe(_) | Workload::Capacity(_) => {}
            }
        }
        let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids.len(), 9);
        assert_eq!(plan.design.null_blocks, 1);
    }
}
