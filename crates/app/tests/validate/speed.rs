//! Row g: how long a range of ±1 % takes, with ends on one processor or where the scheduler puts
//! them, and with arms in turns of 20 exchanges or in whole trials.

use crate::plans;
use crate::results::Results;
use crate::site::{self, Placement};
use crate::{Budget, say};
use serde_json::json;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Stop;
use v6gap_core::workload::Workload;
use v6gap_core::world::{LinkModel, World};

/// Runs of each case.
pub(crate) const RUNS: usize = 3;

/// Half-width of the range that is asked for.
pub(crate) const PRECISION: f64 = 0.01;

/// Longest time of a run, in ns.
const TIME_NS_MAX: u64 = 12_000_000_000;

/// What is varied: (name, ends pinned, whole trials in place of turns, cell).
pub(crate) const CASES: [(&str, bool, bool, &str); 6] = [
    ("rtt-pinned-slice", true, false, "rtt-udp-64"),
    ("rtt-pinned-trial", true, true, "rtt-udp-64"),
    ("rtt-unpinned-slice", false, false, "rtt-udp-64"),
    ("rtt-unpinned-trial", false, true, "rtt-udp-64"),
    ("throughput-pinned", true, true, "throughput-tcp"),
    ("throughput-unpinned", false, true, "throughput-tcp"),
];

/// Runs what is missing, each case `runs` times.
///
/// # Errors
/// If the disk refuses.
pub(crate) fn run(runs: usize, results: &Results, budget: &Budget) -> Result<(), String> {
    for turn in 0..runs {
        for case in CASES {
            if budget.is_used_up() {
                return Ok(());
            }
            if results.count("g", case.0) <= turn
                && let Err(why) = one(case, results)
            {
                say(&format!("{}: {why}", case.0));
            }
        }
    }
    Ok(())
}

fn one(
    (name, pinned, whole, cell): (&str, bool, bool, &str),
    results: &Results,
) -> Result<(), String> {
    let world = World::client_router_server(LinkModel::Wire, Some(100_000_000));
    let seed = results.next_seed();
    let text = plans::NULL.replace(r#"["FAMILY", "FAMILY"]"#, r#"["v4", "v6"]"#);
    let mut plan = plans::plan(&text, &world, seed)?;
    plan.parts_mut().cells.retain(|c| c.id == cell);
    plan.parts_mut().design.null_cells = vec![0];
    plan.parts_mut().design.precision =
        [(Metric::Rtt, PRECISION), (Metric::Throughput, PRECISION)].into();
    plan.parts_mut().design.stop = Stop::Adaptive { time_ns_max: TIME_NS_MAX, pairs_min: 8 };
    for cell in &mut plan.parts_mut().cells {
        if let Workload::Echo(echo) = &mut cell.workload
            && whole
        {
            // As many exchanges, one arm after the other.
            (echo.turns, echo.turn_exchanges) = (1, echo.turns * echo.turn_exchanges);
        }
    }
    let placement = if pinned { Placement::usual() } else { Placement::unpinned() };
    let lines = site::with(&world, placement, seed, |site| site.run(plan, &mut |_| ()))?;
    let facts = json!({ "row": "g", "case": name, "seed": seed, "session": "" });
    let found = results.keep(facts, &lines)?;
    let half = found.questions.first().and_then(|q| q.effect.as_ref());
    let half = half.map_or(f64::NAN, |e| (e.range95.high - e.range95.low) / 2.0);
    let seconds = found.span_ns as f64 / 1e9;
    say(&format!("{name}: ±{:.2} % after {seconds:.1} s", half * 100.0));
    Ok(())
}
