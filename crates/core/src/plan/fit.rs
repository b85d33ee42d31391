//! Fits the first look to a path: over a long or a slow one the same number of exchanges would take
//! hours, and a transfer of a second would be slow start alone.

use super::estimate::estimate;
use super::{Plan, Stop};
use crate::family::Family;
use crate::workload::{HOSTS_NS, Path};
use crate::world::World;
use crate::world::model;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Length of a small IP packet, in bytes.
const SMALL_PACKET: u32 = 112;

/// Share of the run's time that its null blocks may take at the start; less where the pairs need
/// it, and more where one block of each family takes more.
const NULL_SHARE: f64 = 0.2;

/// What lies between two rounds, about: other processes, in ns.
const BETWEEN_NS: f64 = 300e6;

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

/// Rate of the slowest line of a lab on the ways of these families, in bit/s; `None` if no line has
/// a rate.
pub fn slowest_bps(world: &World, families: impl IntoIterator<Item = Family>) -> Option<u64> {
    let ways = families.into_iter().flat_map(|family| world.ways(family)).flatten();
    ways.filter_map(|way| way.rate_bps).min()
}

/// The path of a lab: its slowest line, and what an exchange of a small message takes.
pub fn path_in(world: &World) -> Path {
    path_of_families(world, Family::BOTH)
}

/// The same of some families alone, as far as the line goes.
pub fn path_of_families(world: &World, families: impl IntoIterator<Item = Family>) -> Path {
    let slowest = slowest_bps(world, families);
    Path { rate_bps: slowest.map_or(RATE_BPS, |bps| bps as f64), ..path_of(exchange_ns(world)) }
}

/// A path of which no more than the round trip is known, in ns.
pub fn path_of(round_trip_ns: u64) -> Path {
    Path { rate_bps: RATE_BPS, round_trip_ns: round_trip_ns.max(1) as f64 }
}

/// A path on which an exchange of a small message took `small_ns` and one with `further_bytes`
/// more, both ways together, `large_ns`: what it took longer was the line's time. A line that was
/// quicker than that of a usual path is taken for one.
pub fn path_timed(small_ns: u64, large_ns: u64, further_bytes: u32) -> Path {
    let line_ns = large_ns.saturating_sub(small_ns).max(1) as f64;
    let rate_bps = f64::from(further_bytes) * 8e9 / line_ns;
    Path { rate_bps: rate_bps.min(RATE_BPS), ..path_of(small_ns) }
}

impl Plan {
    /// The plan with exchanges, connections, transfer times and null blocks so that a run over
    /// such a path has time for its pairs. What fits already stays as it is.
    #[must_use]
    pub fn fitted(mut self, path: Path) -> Plan {
        for cell in &mut self.0.cells {
            cell.workload.fit(path);
        }
        self.with_nulls_in_time(path)
    }

    /// The plan with as many null blocks as fit into a fifth of its time on such a path, one of
    /// each family of each cell at least: those of the quickest cells first, which tell most for
    /// their time.
    #[must_use]
    pub(super) fn with_nulls_in_time(mut self, path: Path) -> Plan {
        let families = if self.design.arms.is_null() { 1.0 } else { 2.0 };
        // What was measured of the path holds the work of the hosts.
        let round_trip_ns = (path.round_trip_ns - HOSTS_NS).max(0.0);
        let path = Path { round_trip_ns, ..path };
        let cost_ns: Vec<f64> = estimate(&self, path).cells.iter().map(|c| c.time_ns).collect();
        let round_ns: f64 = BETWEEN_NS + cost_ns.iter().sum::<f64>();
        let most = self.design.null_blocks;
        let mut quickest: Vec<(f64, usize)> = self
            .design
            .null_cells
            .iter()
            .filter_map(|&cell| Some((families * cost_ns.get(cell)?, cell)))
            .collect();
        quickest.sort_by(|a, b| a.0.total_cmp(&b.0));
        let one_each_ns: f64 = quickest.iter().map(|(ns, _)| ns).sum();
        let sentinels_ns = |pairs: u32| {
            f64::from(pairs.checked_div(self.design.sentinel_every).unwrap_or(0)) * one_each_ns
        };
        let of_pairs = |pairs: u32| {
            f64::from(pairs) * round_ns * NULL_SHARE / (1.0 - NULL_SHARE) - sentinels_ns(pairs)
        };
        let mut left_ns = match self.design.stop {
            Stop::Pairs { pairs } => of_pairs(pairs),
            Stop::Adaptive { time_ns_max, pairs_min } => {
                let time_ns = time_ns_max as f64;
                let beside_ns = time_ns - f64::from(pairs_min) * round_ns;
                of_pairs(pairs_min).min(time_ns * NULL_SHARE).min(beside_ns)
            }
        };
        left_ns -= one_each_ns;
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for count in 1..=most {
            for &(ns, cell) in &quickest {
                if count == 1 || ns <= left_ns {
                    left_ns -= if count == 1 { 0.0 } else { ns };
                    counts.insert(cell, count);
                }
            }
        }
        counts.retain(|_, count| *count < most);
        self.0.design.null_fewer = counts;
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
        assert_eq!(fitted(50_000).cells, preset::first_look(PerArm::FAMILIES, None, 1).cells);
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

    /// A line of 10 Mbit/s takes 26 ms for 16 KiB there and back: a dozen of them in a block are
    /// 0.3 s of each family, where forty would be a second.
    #[test]
    fn a_large_message_does_not_eat_the_run_on_a_slow_line() {
        let further_bytes = 2 * (8192 - 64);
        let line_ns = u64::from(further_bytes) * 8 * 100;
        let path = path_timed(MS, MS + line_ns, further_bytes);
        assert!((path.rate_bps - 10e6).abs() < 1.0, "{path:?}");
        let of = |path: Path, id: &str| {
            let plan = preset::first_look(PerArm::FAMILIES, None, 1).fitted(path);
            match &plan.cell(id).unwrap().1.workload {
                Workload::Echo(echo) => echo.turn_exchanges * echo.turns,
                _ => panic!("{id} is no echo"),
            }
        };
        let (slow, unknown) = (|id| of(path, id), |id| of(path_of(MS), id));
        assert_eq!((slow("rtt-tcp-16384"), unknown("rtt-tcp-16384")), (12, 40));
        assert!(slow("rtt-tcp-64") > 80, "{}", slow("rtt-tcp-64"));
        // Quicker than the hosts, or a packet that came late.
        for large_ns in [0, MS, MS + 10] {
            assert_eq!(path_timed(MS, large_ns, further_bytes), path_of(MS));
        }
    }

    #[test]
    fn eight_pairs_fit_the_usual_time_up_to_a_continent() {
        for round_trip in [MS / 2, MS, 5 * MS, 14 * MS] {
            let plan = fitted(round_trip);
            let path = path_of(round_trip);
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
                | Workload::Frames(_)
                | Workload::Visit(_)
                | Workload::Lookup(_) => {}
            }
        }
        let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids.len(), 9);
        assert!(plan.design.null_cells.iter().all(|&cell| plan.design.null_blocks_of(cell) == 1));
    }

    /// Null blocks take a fifth of a run that ends with its least number of pairs, and those of
    /// quick cells come first.
    #[test]
    fn null_blocks_take_a_fifth_of_the_time() {
        let path = path_in(&preset::demo_world());
        let plan = preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), 1);
        assert_eq!(plan.clone().fitted(path).design, plan.design);
        let of = |id: &str| plan.design.null_blocks_of(plan.cell(id).unwrap().0);
        let counts = ["throughput-tcp", "rtt-tcp-64", "rtt-udp-64", "connect-tcp"].map(of);
        assert_eq!(counts, [1, 4, 4, 4], "{:?}", plan.design.null_fewer);
        let found = |null_blocks: u32| {
            let mut plan = plan.clone().ending(Stop::Pairs { pairs: 8 });
            plan.parts_mut().design.null_blocks = null_blocks;
            estimate(&plan, path).total.time_ns
        };
        let share = 1.0 - found(0) / found(4);
        assert!((0.15..0.22).contains(&share), "{share}");
        // Sentinels are of that fifth.
        let of_pairs = |pairs: u32| {
            let plan = plan.clone().ending(Stop::Pairs { pairs }).fitted(path);
            let mut without = plan.clone();
            without.parts_mut().design.null_blocks = 0;
            without.parts_mut().design.sentinel_every = 0;
            1.0 - estimate(&without, path).total.time_ns / estimate(&plan, path).total.time_ns
        };
        let shares = [8, 24, 60, 400].map(of_pairs);
        assert!(shares.iter().all(|share| (0.05..0.22).contains(share)), "{shares:?}");
        let plan = preset::first_look(PerArm::FAMILIES, None, 1).fitted(path_of(MS / 2));
        assert!(plan.design.null_cells.iter().all(|&cell| plan.design.null_blocks_of(cell) >= 1));
    }
}
