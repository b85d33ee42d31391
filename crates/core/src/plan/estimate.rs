//! How long a plan takes and how much it sends, from the plan alone, before anything is sent.
//!
//! Every block is counted as the schedule makes it: two trials, the rest after each, and what both
//! ends need to agree on it. Rates and round trips of the path are the caller's assumption.

use super::{Plan, Stop};
use crate::workload::{
    Capacity, Connect, Direction, Echo, Interleaving, Probe, Purpose, Search, TcpBulk, UdpBulk,
    Workload,
};
use alloc::vec::Vec;

/// Round trips of the control connection for a task: prepare and ready, finish and report.
const AGREEMENT_ROUND_TRIPS: f64 = 2.0;

/// What the two hosts spend on an exchange or a connection besides the path, in ns; a usual value.
pub const HOSTS_NS: f64 = 60_000.0;

/// Bytes of line time of a handshake's three packets, about.
const HANDSHAKE_BYTES: f64 = 300.0;

/// Time that a search by halving waits after a trial, in ns: for late packets after every second
/// one.
const QUESTION_NS: f64 = 50e6;

/// What is taken for granted of the path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Rate that bulk transfers reach, in bit/s.
    pub rate_bps: f64,
    /// Round trip of a small packet, in ns.
    pub round_trip_ns: f64,
}

/// Time and application bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// In ns.
    pub time_ns: f64,
    /// Both directions together.
    pub bytes: f64,
}

/// What a plan takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// One block of each cell, in the order of the plan.
    pub cells: Vec<Cost>,
    /// One null block of each cell that has them and of each family.
    pub nulls: Cost,
    /// Rounds in which the arms are compared; the most there will be if the plan is adaptive.
    pub rounds: u32,
    /// Comparing blocks.
    pub compare_blocks: u64,
    /// Null blocks.
    pub null_blocks: u64,
    /// All of it.
    pub total: Cost,
}

impl Cost {
    fn times(self, factor: f64) -> Cost {
        Cost { time_ns: self.time_ns * factor, bytes: self.bytes * factor }
    }
}

impl core::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), |a, b| Cost {
            time_ns: a.time_ns + b.time_ns,
            bytes: a.bytes + b.bytes,
        })
    }
}

/// What `plan` takes on such a path.
pub fn estimate(plan: &Plan, path: Path) -> Estimate {
    let design = &plan.design;
    let settle_ns = design.settle_ns as f64;
    let cells: Vec<Cost> =
        plan.cells.iter().map(|cell| block(&cell.workload, settle_ns, path)).collect();
    let round: Cost = cells.iter().copied().sum();
    // One null block of each family that is measured for each cell that has them.
    let families = if design.arms.is_null() { 1 } else { 2 };
    let nulls = design.null_cells.iter().filter_map(|&i| cells.get(i));
    let nulls: Cost = nulls.map(|cost| cost.times(f64::from(families))).sum();
    let first = nulls.times(f64::from(design.null_blocks));
    let rounds = match design.stop {
        Stop::Pairs { pairs } => pairs,
        Stop::Adaptive { time_ns_max, .. } => {
            let share = if design.sentinel_every > 0 {
                1.0 / f64::from(design.sentinel_every)
            } else {
                0.0
            };
            let left = time_ns_max as f64 - first.time_ns;
            // Saturates: a negative rest is no round.
            (left / (round.time_ns + nulls.time_ns * share)) as u32
        }
    };
    let sentinels = rounds.checked_div(design.sentinel_every).unwrap_or(0);
    let null_blocks =
        design.null_cells.len() as u64 * u64::from(families * (design.null_blocks + sentinels));
    let parts = [first, round.times(f64::from(rounds)), nulls.times(f64::from(sentinels))];
    Estimate {
        nulls,
        rounds,
        compare_blocks: u64::from(rounds) * cells.len() as u64,
        null_blocks,
        total: parts.into_iter().sum(),
        cells,
    }
}

/// One block: both arms of a cell.
fn block(workload: &Workload, settle_ns: f64, path: Path) -> Cost {
    let trial = match workload {
        Workload::TcpBulk(bulk) => tcp_bulk(bulk, path),
        Workload::UdpBulk(bulk) => udp_bulk(bulk, path),
        Workload::Echo(echo) => exchanges(echo, path),
        Workload::Connect(connect) => connections(connect, path),
        Workload::Probe(probe) => probes(probe, path),
        Workload::Capacity(search) => searching(search, path),
    };
    let tasks = match workload.interleaving() {
        Interleaving::Trial => 2.0,
        Interleaving::Slice => 1.0,
    };
    let agreeing_ns = AGREEMENT_ROUND_TRIPS * (path.round_trip_ns + HOSTS_NS);
    let both = trial.times(2.0);
    Cost { time_ns: both.time_ns + tasks * (settle_ns + agreeing_ns), ..both }
}

fn tcp_bulk(bulk: &TcpBulk, path: Path) -> Cost {
    let ways = if bulk.direction == Direction::Both { 2.0 } else { 1.0 };
    let longest_ns = bulk.duration_ns as f64;
    let rate_bps = bulk.pacing_bps.map_or(path.rate_bps, |pace| path.rate_bps.min(pace as f64));
    let time_ns = match bulk.bytes {
        Some(bytes) => (bytes as f64 * 8e9 / rate_bps + path.round_trip_ns).min(longest_ns),
        None => longest_ns,
    };
    let bytes = rate_bps * time_ns / 8e9;
    Cost { time_ns, bytes: ways * bulk.bytes.map_or(bytes, |most| bytes.min(most as f64)) }
}

fn udp_bulk(bulk: &UdpBulk, path: Path) -> Cost {
    let time_ns = bulk.duration_ns as f64;
    let rate_bps = bulk.asked_bps().map_or(path.rate_bps, |rate| (rate as f64).min(path.rate_bps));
    let bytes = rate_bps * time_ns / 8e9;
    match bulk.packets.map(|count| count as f64 * f64::from(bulk.payload_bytes)) {
        Some(counted) if counted < bytes => {
            Cost { time_ns: time_ns * counted / bytes, bytes: counted }
        }
        _ => Cost { time_ns, bytes },
    }
}

/// A search sends about what the path carries; above that are only its steps too far. By halving
/// the first trials may be far too fast, and the sender's queue is what bounds them.
fn searching(search: &Capacity, path: Path) -> Cost {
    let rate_bps = (search.rate_bps_max as f64).min(path.rate_bps);
    let sending_ns = search.sending_ns() as f64;
    let questions_ns = match search.search {
        Search::Load { .. } => 0.0,
        Search::Halving { .. } => f64::from(search.trials_max()) * QUESTION_NS,
    };
    Cost { time_ns: sending_ns + questions_ns, bytes: rate_bps * sending_ns / 8e9 }
}

fn exchanges(echo: &Echo, path: Path) -> Cost {
    let count = echo.exchanges() as f64;
    let bytes = f64::from(echo.message_bytes) + f64::from(echo.answer_bytes());
    let trip_ns = (path.round_trip_ns + HOSTS_NS) / f64::from(echo.outstanding.max(1));
    let one_ns = trip_ns + bytes * 8e9 / path.rate_bps;
    Cost { time_ns: count * one_ns, bytes: count * bytes }
}

fn connections(connect: &Connect, path: Path) -> Cost {
    let count = f64::from(connect.count);
    // The answer to a request takes another round trip.
    let trips = if connect.purpose == Purpose::Open { 1.0 } else { 2.0 };
    let one_ns = trips * path.round_trip_ns / f64::from(connect.concurrent.max(1)) + HOSTS_NS;
    Cost { time_ns: count * one_ns, bytes: trips * count * HANDSHAKE_BYTES }
}

fn probes(probe: &Probe, path: Path) -> Cost {
    let bytes = 2.0 * probe.packets() as f64 * f64::from(probe.payload_bytes);
    let time_ns = probe.sending_ns() as f64 + 2.0 * (path.round_trip_ns + HOSTS_NS);
    let Some(load) = &probe.load else { return Cost { time_ns, bytes } };
    let time_ns = time_ns + load.lead_ns as f64;
    let rate_bps = load.asked_bps().map_or(path.rate_bps, |rate| path.rate_bps.min(rate as f64));
    let loaded = load.ways().len() as f64 * rate_bps * time_ns / 8e9;
    Cost { time_ns, bytes: bytes + loaded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::PerArm;
    use crate::plan::preset;
    use crate::workload::Cell;
    use alloc::vec;

    const PATH: Path = Path { rate_bps: 100e6, round_trip_ns: 1e6 };

    fn plan(stop: Stop) -> Plan {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 7);
        plan.cells = vec![Cell::named(Workload::TcpBulk(preset::tcp_bulk(false)))];
        plan.design.null_cells = vec![0];
        plan.design.stop = stop;
        plan
    }

    #[test]
    fn a_fixed_number_of_bulk_pairs_is_counted_exactly() {
        let found = estimate(&plan(Stop::Pairs { pairs: 20 }), PATH);
        // 20 pairs, 4 null blocks of each family before them and one after every tenth.
        assert_eq!((found.rounds, found.compare_blocks, found.null_blocks), (20, 20, 12));
        let trials = f64::from(2 * (20 + 12));
        assert!((found.total.bytes - trials * 12.5e6).abs() < 1.0, "{:?}", found.total);
        let trial_ns = 1e9 + 20e6 + 2.0 * (1e6 + HOSTS_NS);
        assert!((found.total.time_ns - trials * trial_ns).abs() < 1.0, "{:?}", found.total);
    }

    #[test]
    fn an_adaptive_plan_fits_its_time() {
        let time_ns_max = 75_000_000_000;
        let found = estimate(&plan(Stop::Adaptive { time_ns_max, pairs_min: 8 }), PATH);
        assert!(found.total.time_ns <= time_ns_max as f64);
        assert!(found.total.time_ns > 0.9 * time_ns_max as f64, "{:?}", found.total);
        let none = estimate(&plan(Stop::Adaptive { time_ns_max: 1, pairs_min: 8 }), PATH);
        assert_eq!((none.rounds, none.compare_blocks), (0, 0));
    }

    #[test]
    fn a_longer_path_costs_exchanges_and_not_bulk() {
        let far = Path { round_trip_ns: 100e6, ..PATH };
        let look = preset::first_look(PerArm::FAMILIES, None, 7);
        let Some((_, Cell { workload: Workload::Echo(echo), .. })) = look.cell("rtt-tcp-64") else {
            panic!("the first look measures round trips of 64 B")
        };
        assert!(exchanges(echo, far).time_ns > 50.0 * exchanges(echo, PATH).time_ns);
        assert_eq!(exchanges(echo, far).bytes, exchanges(echo, PATH).bytes);
        let bulk = preset::tcp_bulk(false);
        assert_eq!(tcp_bulk(&bulk, far), tcp_bulk(&bulk, PATH));
    }

    #[test]
    fn a_number_of_bytes_bounds_a_transfer() {
        let bulk = TcpBulk { bytes: Some(1_250_000), ..TcpBulk::default() };
        let cost = tcp_bulk(&bulk, PATH);
        assert_eq!((cost.bytes, cost.time_ns), (1.25e6, 101e6));
        let both = TcpBulk { direction: Direction::Both, ..bulk };
        assert_eq!(tcp_bulk(&both, PATH).bytes, 2.5e6);
        let long = TcpBulk { bytes: Some(u64::MAX), ..TcpBulk::default() };
        assert_eq!(tcp_bulk(&long, PATH), tcp_bulk(&TcpBulk::default(), PATH));
    }

    #[test]
    fn paced_datagrams_keep_their_rate() {
        let bulk = UdpBulk {
            payload_bytes: 1408,
            rate_bps: Some(8_000_000),
            duration_ns: 1_000_000_000,
            warmup_ns: 0,
            ..UdpBulk::default()
        };
        assert_eq!(udp_bulk(&bulk, PATH).bytes, 1e6);
        assert_eq!(udp_bulk(&UdpBulk { rate_bps: None, ..bulk }, PATH).bytes, 12.5e6);
    }
}
