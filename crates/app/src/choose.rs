//! From flags to a plan: the first look, narrowed and timed as was asked.

use crate::args::{DesignArgs, Measured};
use crate::failure::Failure;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::plan::{Plan, Stop, preset};
use v6gap_core::workload::{Cell, Workload};
use v6gap_core::world::World;

/// Time of `--quick` and `--thorough`, in ns.
const QUICK_NS: u64 = 20_000_000_000;
const THOROUGH_NS: u64 = 600_000_000_000;

/// The plan that the flags ask for, on a real path or in a lab. `only` is the family to measure alone;
/// `seed` is used where none was given.
///
/// # Errors
/// If the flags leave nothing to measure.
pub fn plan(
    flags: &DesignArgs,
    only: Option<Family>,
    world: Option<World>,
    seed: u64,
) -> Result<Plan, Failure> {
    let arms = flags.null.or(only).map_or(PerArm::FAMILIES, PerArm::null);
    let mut plan = preset::first_look(arms, world, flags.seed.unwrap_or(seed));
    plan.cells.retain(|cell| wanted(&flags.measure, cell));
    if plan.cells.is_empty() {
        let what = "--measure leaves nothing: connect is measured over tcp, loss over udp";
        return Err(Failure::usage(what).run("v6gap run --help", ""));
    }
    plan.design.null_cells = preset::null_cells(&plan.cells);
    if arms.is_null() {
        // Every block compares a family with itself already.
        plan.design.null_blocks = 0;
        plan.design.sentinel_every = 0;
    }
    let time_ns = match (flags.time_ns, flags.quick, flags.thorough) {
        (Some(ns), ..) => Some(ns),
        (_, true, _) => Some(QUICK_NS),
        (_, _, true) => Some(THOROUGH_NS),
        _ => None,
    };
    match (&mut plan.design.stop, time_ns) {
        (stop, _) if flags.pairs.is_some() => {
            *stop = Stop::Pairs { pairs: flags.pairs.unwrap_or_default() };
        }
        (Stop::Adaptive { time_ns_max, .. }, Some(ns)) => *time_ns_max = ns,
        _ => {}
    }
    plan.margins.extend(flags.margins.iter().copied());
    if let Some(name) = &flags.congestion {
        for cell in &mut plan.cells {
            if let Workload::TcpBulk(bulk) = &mut cell.workload {
                bulk.congestion = Some(name.clone());
            }
        }
    }
    Ok(plan)
}

/// A cell must yield one of the metrics named, if any is, over one of the transports named, if any is.
fn wanted(measure: &[Measured], cell: &Cell) -> bool {
    let metric = |m: &Measured| match m {
        Measured::Metric(metric) => Some(cell.workload.metrics().contains(metric)),
        Measured::Transport(_) => None,
    };
    let transport = |m: &Measured| match m {
        Measured::Transport(transport) => Some(cell.workload.transport() == *transport),
        Measured::Metric(_) => None,
    };
    let any = |mut found: Vec<bool>| found.is_empty() || found.drain(..).any(|fits| fits);
    any(measure.iter().filter_map(metric).collect())
        && any(measure.iter().filter_map(transport).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use v6gap_core::metric::Metric;

    fn plan_of(line: &str) -> Result<Plan, Failure> {
        let words = "v6gap run host".split(' ').chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Run(args) => plan(&args.design, args.only(), None, 7),
            other => panic!("{other:?}"),
        }
    }

    fn cells(line: &str) -> Vec<String> {
        plan_of(line).unwrap().cells.into_iter().map(|cell| cell.id).collect()
    }

    #[test]
    fn metrics_and_transports_narrow_what_is_measured() {
        assert_eq!(cells("").len(), 9);
        assert_eq!(cells("--measure connect"), ["connect-tcp"]);
        assert_eq!(cells("--measure loss"), ["throughput-udp-1408"]);
        assert_eq!(cells("--measure rtt,udp"), ["rtt-udp-64", "rtt-udp-1024", "rtt-udp-16384"]);
        assert!(plan_of("--measure connect,udp").is_err());
    }

    #[test]
    fn times_and_pairs_set_the_end() {
        let time = |line: &str| match plan_of(line).unwrap().design.stop {
            Stop::Adaptive { time_ns_max, .. } => time_ns_max / 1_000_000_000,
            Stop::Pairs { pairs } => u64::from(pairs) * 1000,
        };
        assert_eq!([time(""), time("--quick"), time("--thorough")], [75, 20, 600]);
        assert_eq!([time("--for 2min"), time("--pairs 40")], [120, 40_000]);
    }

    #[test]
    fn a_family_against_itself_needs_no_null_blocks() {
        for line in ["--null v6", "-6"] {
            let plan = plan_of(line).unwrap();
            assert_eq!(plan.design.arms, PerArm::null(Family::V6));
            assert_eq!((plan.design.null_blocks, plan.design.sentinel_every), (0, 0));
        }
    }

    #[test]
    fn margins_congestion_and_seed_reach_the_plan() {
        let plan = plan_of("--margin rtt=1%,connect=2% -C reno --seed 42").unwrap();
        assert_eq!(plan.margin(Metric::Rtt), 0.01);
        assert_eq!(plan.margin(Metric::Throughput), Metric::Throughput.margin_default());
        assert_eq!(plan.seed, 42);
        let bulk = |w: &Workload| matches!(w, Workload::TcpBulk(b) if b.congestion.as_deref() == Some("reno"));
        assert!(plan.cells.iter().any(|cell| bulk(&cell.workload)));
    }
}
