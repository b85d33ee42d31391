//! `run`: compare IPv6 with IPv4 between here and another host; and plans, wherever they take
//! place.

use crate::args::{DesignArgs, Measured, RunArgs};
use crate::failure::{Failure, Outcome};
use crate::session::{self, Measuring};
use crate::settings::Context;
use crate::target::{RunOptions, Target};
use v6gap_core::arm::PerArm;
use v6gap_core::plan::{Plan, Stop, preset};
use v6gap_core::record::Line;
use v6gap_core::workload::{Cell, Workload};
use v6gap_core::world::World;
use v6gap_store::Reference;
use v6gap_sys::entropy;

/// Seconds in ns.
const SECOND: u64 = 1_000_000_000;

/// The time of a run that is given none.
const USUAL_NS: u64 = 75 * SECOND;

/// Shortest bulk transfer when time is short, in ns.
const BULK_NS_MIN: u64 = 350_000_000;

/// Measures against a host.
///
/// # Errors
/// If it cannot be found or measured.
pub fn execute(args: &RunArgs, context: &Context) -> Result<Outcome, Failure> {
    let options = RunOptions {
        connect: args.connect.clone(),
        processor: args.processor,
        result: args.result.clone(),
    };
    let mut target = Target::of(&args.host, &args.connect)?;
    if let Some(reference) = &args.continued {
        return go_on(reference, target, &options, context);
    }
    let mut plan = plan(&args.design, None)?;
    let mut notes = Vec::new();
    if let Some(only) = args.only() {
        plan.design.arms = PerArm::null(only);
        plan.design.null_blocks = 0;
        plan.design.sentinel_every = 0;
        notes.push(format!("{only} alone was measured, in turns with itself: no comparison"));
    }
    if !plan.design.arms.is_null() {
        target = target.comparable()?;
    }
    between_hosts(plan, true, target, &options, notes, None, context)
}

/// Measures a plan, in its lab or against `target`.
///
/// # Errors
/// If it needs a target and has none, or as any measurement.
pub fn execute_plan(
    plan: Plan,
    target: Option<Target>,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    if plan.world.is_some() {
        return session::in_lab(plan, options, None, context);
    }
    let Some(target) = target else {
        let what = "the plan names neither a lab nor a server";
        return Err(Failure::usage(what).run("v6gap plan run FILE HOST", "names the server"));
    };
    let target = if plan.design.arms.is_null() { target } else { target.comparable()? };
    between_hosts(plan, false, target, options, Vec::new(), None, context)
}

fn between_hosts(
    plan: Plan,
    fit: bool,
    target: Target,
    options: &RunOptions,
    notes: Vec<String>,
    continued: Option<String>,
    context: &Context,
) -> Result<Outcome, Failure> {
    let processor = options.processor.or_else(|| v6gap_sys::cpu::allowed().ok()?.first().copied());
    let measuring =
        Measuring { plan, target, options, lab: None, fit, notes, continued, processor };
    session::measure(measuring, context)
}

/// Adds to a stored run, with its plan and in its lab if it had one.
fn go_on(
    reference: &str,
    target: Target,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    let id = context.store.resolve(&Reference::parse(reference))?;
    let lines = context.store.read(&Reference::Id(id.clone()))?;
    let Some(Line::Run(header)) = lines.first() else {
        return Err(Failure::unexpected(format!("{id} does not begin with the facts of a run")));
    };
    let plan = header.plan.clone();
    match plan.world {
        Some(_) => session::in_lab(plan, options, Some(id), context),
        None => between_hosts(plan, false, target, options, Vec::new(), Some(id), context),
    }
}

/// The plan that the options describe: the first look with what they change.
///
/// # Errors
/// If nothing is left to be measured.
pub fn plan(args: &DesignArgs, world: Option<World>) -> Result<Plan, Failure> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let arms = args.null.map_or(PerArm::FAMILIES, PerArm::null);
    let mut plan = preset::first_look(arms, world, seed);
    plan.cells.retain(|cell| wanted(cell, &args.measure));
    if plan.cells.is_empty() {
        return Err(Failure::usage("--measure leaves nothing to be measured"));
    }
    plan.design.null_cells = preset::null_cells(&plan.cells);
    plan.margins.extend(args.margins.iter().copied());
    let time_ns = match (args.time_ns, args.quick, args.thorough) {
        (Some(ns), _, _) => ns,
        (None, true, _) => 20 * SECOND,
        (None, false, true) => 600 * SECOND,
        (None, false, false) => USUAL_NS,
    };
    plan.design.stop = match args.pairs {
        Some(pairs) => Stop::Pairs { pairs },
        None => Stop::Adaptive { time_ns_max: time_ns, pairs_min: 8 },
    };
    if time_ns < USUAL_NS {
        shorten(&mut plan, time_ns);
    }
    if let Some(name) = &args.congestion {
        for cell in &mut plan.cells {
            if let Workload::TcpBulk(bulk) = &mut cell.workload {
                bulk.congestion = Some(name.clone());
            }
        }
    }
    Ok(plan)
}

/// A seed that nobody can know beforehand.
///
/// # Errors
/// If the system gives no random bytes.
pub fn random_seed() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    entropy::random(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// A cell is wanted if one of its metrics and its transport are, where such are named.
fn wanted(cell: &Cell, measure: &[Measured]) -> bool {
    let named = |m: &Measured| match m {
        Measured::Metric(metric) => cell.workload.metrics().contains(metric),
        Measured::Transport(transport) => cell.workload.transport() == *transport,
    };
    let is_metric = |m: &&Measured| matches!(m, Measured::Metric(_));
    let (metrics, transports): (Vec<_>, Vec<_>) = measure.iter().partition(is_metric);
    [metrics, transports].iter().all(|kind| kind.is_empty() || kind.iter().any(&named))
}

/// Bulk transfers and null blocks that leave time for enough pairs.
fn shorten(plan: &mut Plan, time_ns: u64) {
    plan.design.null_blocks = 2;
    let scaled = |ns: u64| {
        let share = ns as f64 * time_ns as f64 / USUAL_NS as f64;
        (share as u64).clamp(BULK_NS_MIN, ns)
    };
    for cell in &mut plan.cells {
        let (duration, warmup) = match &mut cell.workload {
            Workload::TcpBulk(bulk) => (&mut bulk.duration_ns, &mut bulk.warmup_ns),
            Workload::UdpBulk(bulk) => (&mut bulk.duration_ns, &mut bulk.warmup_ns),
            Workload::Echo(_) | Workload::Connect(_) => continue,
        };
        *duration = scaled(*duration);
        *warmup = *duration / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::metric::Metric;
    use v6gap_core::workload::Transport;

    fn cells(measure: &[Measured]) -> Vec<String> {
        let plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.cells.into_iter().filter(|c| wanted(c, measure)).map(|c| c.id).collect()
    }

    #[test]
    fn what_is_named_is_measured_and_nothing_else() {
        assert_eq!(cells(&[]).len(), 9);
        let connect = Measured::Metric(Metric::Connect);
        assert_eq!(cells(&[connect]), ["connect-tcp"]);
        let udp = Measured::Transport(Transport::Udp);
        let rtt = Measured::Metric(Metric::Rtt);
        assert_eq!(cells(&[rtt, udp]), ["rtt-udp-64", "rtt-udp-1024", "rtt-udp-16384"]);
        assert_eq!(cells(&[Measured::Metric(Metric::Loss)]), ["throughput-udp-1408"]);
    }

    #[test]
    fn short_runs_have_short_transfers() {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        shorten(&mut plan, 20 * SECOND);
        for cell in &plan.cells {
            if let Workload::TcpBulk(bulk) = &cell.workload {
                assert_eq!(bulk.duration_ns, BULK_NS_MIN);
                assert_eq!(bulk.warmup_ns, BULK_NS_MIN / 4);
            }
        }
    }
}
