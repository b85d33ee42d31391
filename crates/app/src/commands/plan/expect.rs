//! `plan estimate`: time and bytes of a plan, and what it can find by the noise seen before.

use crate::args::PlanEstimateArgs;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::plan::draft::Draft;
use v6gap_core::plan::estimate::{Estimate, estimate};
use v6gap_core::plan::{PAIRS_MIN, Plan, Stop, fit};
use v6gap_core::record::{Line, RunHeader};
use v6gap_core::unit::{format_bytes, format_rate, format_span};
use v6gap_core::workload::{Cost, Path};
use v6gap_judge::analysis;
use v6gap_judge::analysis::words::{amount_of, counted, margin_in_words};
use v6gap_judge::planning::{self, Outlook};
use v6gap_store::{Head, RunName, fingerprint};

/// What two hosts may reach over a link without a rate, in bit/s.
const UNLIMITED_BPS: f64 = 10e9;

/// What can be found, and by which run.
struct Prospect {
    run: RunHeader,
    outlook: Vec<Outlook>,
}

/// What the plan takes and can find, in words or as JSON.
///
/// # Errors
/// If the result that is named for its noise cannot be read.
pub fn execute(
    args: &PlanEstimateArgs,
    draft: &Draft,
    plan: &Plan,
    context: &Context,
) -> Result<String, Failure> {
    let mut path = path_of(plan);
    if let Some(bps) = args.rate.and_then(|rate| rate.0) {
        path.rate_bps = bps as f64;
    }
    if let Some(ns) = args.rtt {
        path.round_trip_ns = ns as f64;
    }
    let cost = estimate(plan, path);
    let host = args.host.as_deref().or(draft.hosts.server.as_deref());
    let prospect = match run_before(args, plan, host, context)? {
        Some(reference) => Some(prospect(&reference, plan, cost.rounds, context)?),
        None => None,
    };
    Ok(match args.json {
        true => output::document(&document(plan, path, &cost, prospect.as_ref())),
        false => {
            let words = in_words(plan, path, &cost, " (--rate, --rtt)");
            output::fit(&context.output.results, &(words + &found(prospect.as_ref())))
        }
    })
}

/// Says what a measurement takes that is not begun, by the rate and the round trip that the last
/// one to the same host had, and what it can find by the noise of that. `fits` is whether the plan
/// is fitted to the path.
///
/// # Errors
/// If the folder of results cannot be read.
pub fn dry_run(
    plan: &Plan,
    host: Option<&str>,
    fits: bool,
    json: bool,
    context: &Context,
) -> Result<Outcome, Failure> {
    let path = path_before(plan, host, context)?;
    let plan = plan.clone();
    let plan = if fits { plan.fitted(fit::path_of(path.round_trip_ns as u64)) } else { plan };
    let cost = estimate(&plan, path);
    // A result that cannot be read tells no noise, and keeps nobody from measuring.
    let last = last_alike(&plan, host, context)?;
    let prospect = last.and_then(|last| prospect(&last, &plan, cost.rounds, context).ok());
    let text = match json {
        true => output::document(&document(&plan, path, &cost, prospect.as_ref())),
        false => {
            let words = in_words(&plan, path, &cost, "") + &found(prospect.as_ref());
            output::fit(&context.output.results, &words)
        }
    };
    output::to_stdout(&text);
    Ok(Outcome::Done)
}

/// The path as the last result to the same host found it, where there is one.
fn path_before(plan: &Plan, host: Option<&str>, context: &Context) -> Result<Path, Failure> {
    let mut path = path_of(plan);
    let before = host.filter(|_| plan.world.is_none()).and_then(|host| {
        let index = index::all(&context.store).ok()?;
        let is = |head: &Head| head.world.is_none() && head.target == host;
        index.rows().iter().find(|row| is(&row.head)).map(|row| row.head.id.clone())
    });
    // A result that cannot be read says nothing of the path.
    if let Some(lines) = before.and_then(|id| context.store.read_run(&id).ok()) {
        let values = |metric| {
            lines.iter().filter_map(move |line| match line {
                Line::Trial(trial) => trial.values.get(&metric).copied(),
                _ => None,
            })
        };
        path.rate_bps = values(Metric::Throughput).fold(path.rate_bps, f64::max);
        if let Some(seconds) = values(Metric::Rtt).reduce(f64::min) {
            path.round_trip_ns = seconds * 1e9;
        }
    }
    Ok(path)
}

/// The path of the plan's lab, or a usual one.
fn path_of(plan: &Plan) -> Path {
    let Some(world) = &plan.world else {
        return Path::USUAL;
    };
    let PerArm { a, b } = plan.design.arms;
    let rate_bps = fit::slowest_bps(world, [a, b]).map_or(UNLIMITED_BPS, |bps| bps as f64);
    Path { rate_bps, round_trip_ns: fit::exchange_ns(world) as f64 }
}

/// What all of the plan takes in its own lab, or on a usual path: its longest time, and about what
/// it sends.
pub(super) fn in_its_place(plan: &Plan) -> Cost {
    let found = estimate(plan, path_of(plan));
    Cost { time_ns: found.time_ns_most, ..found.total }
}

/// The run whose noise counts: the one that is named, or the last one to the same host or in the
/// same lab.
fn run_before(
    args: &PlanEstimateArgs,
    plan: &Plan,
    host: Option<&str>,
    context: &Context,
) -> Result<Option<RunName>, Failure> {
    match &args.noise {
        Some(named) => Ok(Some(RunName::parse(named))),
        None => last_alike(plan, host, context),
    }
}

/// The last run to the same host or in the same lab.
fn last_alike(
    plan: &Plan,
    host: Option<&str>,
    context: &Context,
) -> Result<Option<RunName>, Failure> {
    let world = plan.world.as_ref().map(fingerprint);
    let alike = |head: &Head| match (&world, host) {
        (Some(_), _) => head.world == world,
        (None, Some(host)) => head.world.is_none() && head.target == host,
        (None, None) => false,
    };
    let index = index::all(&context.store)?;
    let last = index.rows().iter().find(|row| alike(&row.head));
    Ok(last.map(|row| RunName::Id(row.head.id.to_string())))
}

fn prospect(
    reference: &RunName,
    plan: &Plan,
    pairs: u32,
    context: &Context,
) -> Result<Prospect, Failure> {
    let lines = context.store.read(reference)?;
    let run = analysis::analyse(&lines).map_err(|e| Failure::unexpected(e.to_string()))?;
    let outlook = planning::outlook(plan, pairs, &planning::seen(&run));
    Ok(Prospect { run: run.run, outlook })
}

/// Time and bytes, before anything is sent; `options` are those that say otherwise of the path.
fn in_words(plan: &Plan, path: Path, found: &Estimate, options: &str) -> String {
    let bytes = |bytes: f64| format_bytes(bytes as u64);
    // Cells that rest leave their time to others, which may send more.
    let (most, about) = match plan.design.stop {
        Stop::Pairs { .. } => ("", ""),
        Stop::Adaptive { .. } => ("at most ", "about "),
    };
    let mut out = format!(
        "{}: {most}{}, {about}{}.\n",
        plan.name,
        format_span(found.time_ns_most),
        bytes(found.total.bytes),
    );
    out.push_str(&format!(
        "{} × {} = {}, and {} of a family with itself.\n",
        counted(plan.cells.len(), "cell"),
        counted(found.rounds as usize, "round"),
        counted(found.compare_blocks as usize, "block"),
        counted(found.null_blocks as usize, "block"),
    ));
    out.push_str(&format!(
        "Taken for granted: {} and a round trip of {}{options}.\n\n",
        format_rate(path.rate_bps),
        format_span(path.round_trip_ns),
    ));
    let width = output::column(plan.cells.iter().map(|c| c.id.as_str())).max(4);
    out.push_str(&format!("{:width$}  {:>13}  {:>12}\n", "cell", "a block takes", "and sends"));
    for (cell, cost) in plan.cells.iter().zip(&found.cells) {
        let (time, sent) = (format_span(cost.time_ns), bytes(cost.bytes));
        out.push_str(&format!("{:width$}  {time:>13}  {sent:>12}\n", cell.id));
    }
    if let Stop::Adaptive { pairs_min, .. } = plan.design.stop {
        out.push_str(&match found.rounds < pairs_min {
            true => {
                format!("\nThat is too short for the {pairs_min} pairs that verdicts begin with.\n")
            }
            false => "\nIt ends sooner when every question is settled.\n".to_owned(),
        });
    }
    out
}

/// Whether a plan would end before verdicts begin, and what time would do; nothing if it would not.
pub fn too_short(plan: &Plan) -> String {
    plan.time_lacked_ns().map_or_else(String::new, |enough_ns| {
        let enough = enough_ns / 1_000_000_000;
        format!(
            "\nIts time is too short for null blocks and the {PAIRS_MIN} pairs that verdicts begin \
             with: max_time = \"{enough} s\" is enough.\n"
        )
    })
}

/// What can be found; without a run to tell, what would make it known.
fn found(prospect: Option<&Prospect>) -> String {
    let Some(Prospect { run, outlook }) = prospect else {
        return "\nWhat it can find is not known: no stored result to this host or in this lab \
                tells the noise.\n"
            .to_owned();
    };
    let (id, target) = (&run.id, &run.target);
    if outlook.is_empty() {
        return format!(
            "\nWhat it can find is not known: result {id} to {target} measured nothing alike.\n"
        );
    }
    let mut out = format!("\nBy the noise of result {id} to {target}, in four of five runs:\n");
    let name = |o: &Outlook| format!("{} {}", o.seen.cell, o.seen.metric);
    let names: Vec<String> = outlook.iter().map(name).collect();
    let width = output::column(names.iter().map(String::as_str));
    out.push_str(&format!(
        "{:width$}  {:>6}  {:>14}  {:>22}  {:>20}\n",
        "", "pairs", "finds from", "says same with", "as narrow as asked"
    ));
    let pairs = |pairs: Option<usize>| match pairs {
        Some(pairs) => format!("{pairs} pairs"),
        None => "too many pairs".to_owned(),
    };
    for o in outlook {
        let metric = o.seen.metric;
        let none = if o.seen.sd > 0.0 { "nothing" } else { "not known" };
        let finds = o.smallest.map_or_else(|| none.to_owned(), |x| amount_of(metric, x));
        let same = format!("{} (±{})", pairs(o.pairs_for_same), margin_in_words(metric, o.margin));
        let narrow = o.precision.map_or_else(String::new, |precision| {
            let enough = match o.seen.sd > 0.0 {
                true => pairs(o.pairs_for_precision),
                false => none.to_owned(),
            };
            format!("{enough} (±{})", margin_in_words(metric, precision))
        });
        let line =
            format!("{:width$}  {:>6}  {finds:>14}  {same:>22}  {narrow:>20}", name(o), o.pairs);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// What is expected as JSON.
fn document(plan: &Plan, path: Path, cost: &Estimate, prospect: Option<&Prospect>) -> Value {
    let cells: Vec<Value> = plan
        .cells
        .iter()
        .zip(&cost.cells)
        .map(|(cell, cost)| json!({ "id": cell.id, "time_ns": cost.time_ns, "bytes": cost.bytes }))
        .collect();
    json!({
        "schema": "v6gap.estimate/1",
        "plan": plan.name,
        "adaptive": matches!(plan.design.stop, Stop::Adaptive { .. }),
        "time_ns": cost.time_ns_most,
        "bytes": cost.total.bytes,
        "rounds": cost.rounds,
        "compare_blocks": cost.compare_blocks,
        "null_blocks": cost.null_blocks,
        "rate_bps_most": rate_bps_most(plan),
        "taken_for_granted": { "rate_bps": path.rate_bps, "round_trip_ns": path.round_trip_ns },
        "cells": cells,
        "noise_from": prospect.map(|p| json!({ "id": p.run.id, "target": p.run.target })),
        "outlook": prospect.map(|p| &p.outlook),
        "finds": prospect.and_then(finds),
    })
}

/// The highest rate that it asks a network for: `None` is as much as that carries; a lab is none.
fn rate_bps_most(plan: &Plan) -> Option<u64> {
    if plan.world.is_some() {
        return Some(0);
    }
    let rates = plan.cells.iter().map(|cell| cell.workload.rate_bps_most());
    rates.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// The smallest difference found in four of five times, of throughput or what is asked first.
fn finds(prospect: &Prospect) -> Option<Value> {
    let known = |o: &Outlook| Some((o.seen.metric, o.smallest?));
    let of_rates = prospect.outlook.iter().find(|o| o.seen.metric == Metric::Throughput);
    let first = of_rates.into_iter().chain(&prospect.outlook).find_map(known);
    first.map(|(metric, least)| {
        json!({ "metric": metric, "least": least, "text": amount_of(metric, least) })
    })
}
