//! How long a plan takes and how much it sends, from the plan alone, before anything is sent.
//!
//! Every block is counted as the schedule makes it: two trials, the rest after each whose packets
//! linger, and what both ends need to agree on it. Rates and round trips of the path are the
//! caller's assumption.

use super::{Design, Plan, Stop};
use crate::workload::{Cost, HOSTS_NS, Interleaving, Path, Workload};
use alloc::vec::Vec;

/// Round trips of the control connection for a task: prepare and ready, finish and report.
const AGREEMENT_ROUND_TRIPS: f64 = 2.0;

/// What a plan takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// One block of each cell, in the order of the plan.
    pub cells: Vec<Cost>,
    /// One null block of each cell that has them and of each family, as sentinels are.
    pub nulls: Cost,
    /// Rounds in which the arms are compared; about the most there will be if the plan is adaptive,
    /// since cells that rest leave their time to others.
    pub rounds: u32,
    /// Comparing blocks.
    pub compare_blocks: u64,
    /// Null blocks.
    pub null_blocks: u64,
    /// All of it.
    pub total: Cost,
    /// Longest time, in ns; connecting and the tests of a lab come on top. An adaptive plan may
    /// take all that it has, which whole rounds need not fill.
    pub time_ns_most: f64,
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
    let of_family = |cell: &usize| design.null_blocks_of(*cell);
    let first = design.null_cells.iter().filter_map(|cell| Some((cell, cells.get(*cell)?)));
    let first: Cost =
        first.map(|(cell, cost)| cost.times(f64::from(families * of_family(cell)))).sum();
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
    let null_blocks = design.null_cells.iter().map(|&cell| null_blocks(design, cell, rounds)).sum();
    let parts = [first, round.times(f64::from(rounds)), nulls.times(f64::from(sentinels))];
    let total: Cost = parts.into_iter().sum();
    Estimate {
        nulls,
        rounds,
        compare_blocks: u64::from(rounds) * cells.len() as u64,
        null_blocks,
        time_ns_most: match design.stop {
            Stop::Pairs { .. } => total.time_ns,
            Stop::Adaptive { time_ns_max, .. } => time_ns_max as f64,
        },
        total,
        cells,
    }
}

/// What a plan downloads, if nothing has to be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Downloads {
    /// Visits that download.
    pub visits: u64,
    /// Bytes of bodies that they read in all, at most.
    pub bytes: u64,
}

/// What `plan` downloads from the site that it visits.
pub fn downloads(plan: &Plan) -> Downloads {
    let rounds = estimate(plan, Path::USUAL).rounds;
    let mut all = Downloads::default();
    for (index, cell) in plan.cells.iter().enumerate() {
        let Workload::Visit(visit) = &cell.workload else { continue };
        if !visit.downloads() {
            continue;
        }
        let visits = trials(plan, index, rounds);
        all.visits += visits;
        all.bytes = all.bytes.saturating_add(visits.saturating_mul(visit.body_bytes));
    }
    all
}

/// Visits that `plan` makes, each a connection, if nothing has to be tried again.
pub fn visits(plan: &Plan) -> u64 {
    trials_of(plan, |workload| matches!(workload, Workload::Visit(_)))
}

/// Lookups that `plan` makes, as [`visits`].
pub fn lookups(plan: &Plan) -> u64 {
    trials_of(plan, |workload| matches!(workload, Workload::Lookup(_)))
}

/// Trials of the cells with these workloads.
fn trials_of(plan: &Plan, is_asked: impl Fn(&Workload) -> bool) -> u64 {
    let rounds = estimate(plan, Path::USUAL).rounds;
    let asked = plan.cells.iter().enumerate().filter(|(_, cell)| is_asked(&cell.workload));
    asked.map(|(index, _)| trials(plan, index, rounds)).sum()
}

/// Trials of a cell in a run of so many rounds, those of its null blocks among them.
fn trials(plan: &Plan, cell: usize, rounds: u32) -> u64 {
    let has_nulls = plan.design.null_cells.contains(&cell);
    let nulls = if has_nulls { null_blocks(&plan.design, cell, rounds) } else { 0 };
    2 * (u64::from(rounds) + nulls)
}

/// Null blocks of a cell that has them in a run of so many rounds: those before the first
/// comparison, and the sentinels.
fn null_blocks(design: &Design, cell: usize, rounds: u32) -> u64 {
    let families = if design.arms.is_null() { 1 } else { 2 };
    let sentinels = rounds.checked_div(design.sentinel_every).unwrap_or(0);
    u64::from(families * (design.null_blocks_of(cell) + sentinels))
}

/// One block: both arms of a cell.
fn block(workload: &Workload, settle_ns: f64, path: Path) -> Cost {
    let trial = workload.cost(path);
    let tasks = match workload.interleaving() {
        Interleaving::Trial => 2.0,
        Interleaving::Slice => 1.0,
    };
    let agreeing_ns = AGREEMENT_ROUND_TRIPS * (path.round_trip_ns + HOSTS_NS);
    let both = trial.times(2.0);
    let rest_ns = if workload.lingers() { settle_ns } else { 0.0 };
    Cost { time_ns: both.time_ns + tasks * (rest_ns + agreeing_ns), ..both }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::PerArm;
    use crate::plan::draft::{self, Draft};
    use crate::plan::{check, defaults, preset};
    use crate::workload::{Asked, Cell, Direction, Echo, Kind, Load, Probe, TcpBulk, UdpBulk};
    use alloc::string::ToString;
    use alloc::vec;

    fn plan(stop: Stop) -> Plan {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 7).ending(stop);
        plan.parts_mut().cells = vec![Cell::named(Workload::TcpBulk(defaults::tcp_bulk(false)))];
        plan.parts_mut().design.null_cells = vec![0];
        plan.parts_mut().design.null_fewer.clear();
        plan
    }

    #[test]
    fn a_fixed_number_of_bulk_pairs_is_counted_exactly() {
        let found = estimate(&plan(Stop::Pairs { pairs: 20 }), Path::USUAL);
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
        let found = estimate(&plan(Stop::Adaptive { time_ns_max, pairs_min: 8 }), Path::USUAL);
        assert!(found.total.time_ns <= time_ns_max as f64);
        assert!(found.total.time_ns > 0.9 * time_ns_max as f64, "{:?}", found.total);
        assert_eq!(found.time_ns_most, time_ns_max as f64);
        let counted = estimate(&plan(Stop::Pairs { pairs: 20 }), Path::USUAL);
        assert_eq!(counted.time_ns_most, counted.total.time_ns);
        let none = estimate(&plan(Stop::Adaptive { time_ns_max: 1, pairs_min: 8 }), Path::USUAL);
        assert_eq!((none.rounds, none.compare_blocks), (0, 0));
    }

    #[test]
    fn a_longer_path_costs_exchanges_and_not_bulk() {
        let far = Path { round_trip_ns: 100e6, ..Path::USUAL };
        let look = preset::first_look(PerArm::FAMILIES, None, 7);
        let Some((_, Cell { workload: Workload::Echo(echo), .. })) = look.cell("rtt-tcp-64") else {
            panic!("the first look measures round trips of 64 B")
        };
        assert!(echo.cost(far).time_ns > 50.0 * echo.cost(Path::USUAL).time_ns);
        assert_eq!(echo.cost(far).bytes, echo.cost(Path::USUAL).bytes);
        let bulk = defaults::tcp_bulk(false);
        assert_eq!(bulk.cost(far), bulk.cost(Path::USUAL));
    }

    #[test]
    fn a_number_of_bytes_bounds_a_transfer() {
        let bulk = TcpBulk { bytes: Some(1_250_000), ..TcpBulk::default() };
        let cost = bulk.cost(Path::USUAL);
        assert_eq!((cost.bytes, cost.time_ns), (1.25e6, 101e6));
        let both = TcpBulk { direction: Direction::Both, ..bulk };
        assert_eq!(both.cost(Path::USUAL).bytes, 2.5e6);
        let long = TcpBulk { bytes: Some(u64::MAX), ..TcpBulk::default() };
        assert_eq!(long.cost(Path::USUAL), TcpBulk::default().cost(Path::USUAL));
    }

    /// 8 pairs, and 4 null blocks of each family of the first version alone: 32 + 16 visits.
    #[test]
    fn downloads_are_counted_with_their_null_blocks() {
        let mut draft = preset::visits_draft(
            draft::Site {
                url: "https://example.org/f.iso".into(),
                http: vec!["2".into(), "1.1".into()],
                download: Some("20 MB".into()),
                ..draft::Site::default()
            },
            true,
            true,
        );
        draft.design.pairs = Some(8);
        draft.design.null_blocks = Some(4);
        let found = downloads(&check::check(&draft, 1).unwrap());
        assert_eq!(found, Downloads { visits: 48, bytes: 960_000_000 });
        assert_eq!(visits(&check::check(&draft, 1).unwrap()), 48);
        let usual = draft::Site { download: None, ..draft.site.clone().unwrap() };
        let plan = check::check(&Draft { site: Some(usual), ..draft }, 1).unwrap();
        assert_eq!(downloads(&plan), Downloads::default());
        assert_eq!(visits(&plan), 48);
    }

    /// What docs/probe.md shows takes more than a stranger is asked for, in the usual number of
    /// pairs; fewer do not.
    #[test]
    fn fewer_pairs_of_all_versions_are_few_enough_for_a_stranger() {
        let http = ["1.1", "2", "3"].map(ToString::to_string).to_vec();
        let site = draft::Site { url: "https://example.org/".into(), http, ..Default::default() };
        let of = |pairs| {
            let mut draft = preset::visits_draft(site.clone(), true, true);
            draft.design.pairs = Some(pairs);
            visits(&check::check(&draft, 1).unwrap())
        };
        let most = u64::from(crate::budget::Use::Connection.in_all());
        assert!(of(preset::VISIT_PAIRS) > most && of(crate::plan::PAIRS_MIN) < most / 2);
    }

    /// Whatever is asked of them.
    #[test]
    fn what_lingers_is_waited_for_and_nothing_else() {
        let asked = Asked { packet_rate: true, ..Asked::default() };
        let loaded = Probe { load: Some(Load::default()), ..Probe::default() };
        for (workload, rests) in [
            (Workload::UdpBulk(UdpBulk { asked, ..UdpBulk::default() }), 2.0),
            (Workload::Probe(loaded), 2.0),
            (Workload::Probe(Probe::default()), 0.0),
            (Workload::Echo(Echo::default()), 0.0),
        ] {
            let block_ns = |settle_ns| block(&workload, settle_ns, Path::USUAL).time_ns;
            let rest_ns = block_ns(20e6) - block_ns(0.0);
            assert!((rest_ns - rests * 20e6).abs() < 1.0, "{workload:?}: {rest_ns} ns");
        }
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
        assert_eq!(bulk.cost(Path::USUAL).bytes, 1e6);
        assert_eq!((UdpBulk { rate_bps: None, ..bulk }).cost(Path::USUAL).bytes, 12.5e6);
    }
}
