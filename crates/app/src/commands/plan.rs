//! `plan`: check, estimate, run, list and show plans.

mod words;

use crate::args::{PlanArgs, PlanCommand, PlanEstimateArgs, PlanRunArgs};
use crate::commands::run;
use crate::estimate::{self, Path};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::presets::{self, PRESETS};
use crate::settings::Context;
use crate::target::{RunOptions, Target};
use v6gap_core::family::Family;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::unit::{format_bytes, format_rate, format_span};
use v6gap_core::wiremodel::bottleneck_bps;

/// Rate that is taken for granted where nothing tells, in bit/s.
const RATE_BPS: f64 = 100e6;

/// Does what is asked with a plan.
///
/// # Errors
/// If there is no such plan, or it has problems, or as the run.
pub fn execute(args: &PlanArgs, context: &Context) -> Result<Outcome, Failure> {
    let style = &context.output.results;
    let text = match &args.command {
        PlanCommand::Check(args) => {
            let (draft, plan) = presets::read(&args.plan, 0)?;
            words::explain(&draft, &plan, style.width)
        }
        PlanCommand::Estimate(args) => {
            let (_, plan) = presets::read(&args.plan, 0)?;
            in_words(args, &plan)
        }
        PlanCommand::Run(args) => return measure(args, context),
        PlanCommand::List => list()?,
        PlanCommand::Show(args) => presets::find(&args.name)?.text.to_owned(),
    };
    output::to_stdout(&output::fit(style, &text));
    Ok(Outcome::Done)
}

fn measure(args: &PlanRunArgs, context: &Context) -> Result<Outcome, Failure> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => run::random_seed()?,
    };
    let (draft, plan) = presets::read(&args.plan, seed)?;
    let mut connect = args.connect.clone();
    let hosts = draft.hosts;
    let host = args.host.clone().or(hosts.server);
    // What is typed wins over what the plan says, address by address.
    connect.four = match (connect.four, hosts.v4) {
        (None, Some(text)) => {
            Some(text.parse().map_err(|_| Failure::bad_address(&text, "it is no IPv4 address"))?)
        }
        (typed, _) => typed,
    };
    connect.six = connect.six.or(hosts.v6);
    if connect.bind.is_empty() {
        connect.bind = hosts.bind;
    }
    if plan.world.is_some() && !connect.bind.is_empty() {
        let what = "in a lab the hosts have addresses of their own, so --bind means nothing";
        return Err(Failure::usage(what));
    }
    let target = match (&plan.world, host) {
        (Some(_), _) => None,
        (None, Some(host)) => Some(Target::of(&host, &connect)?),
        (None, None) => {
            let what = format!("the plan {} names no server and no lab", args.plan);
            let command = format!("v6gap plan run {} HOST", args.plan);
            return Err(Failure::usage(what).run(command, ""));
        }
    };
    let options = RunOptions { connect, processor: args.processor, result: args.result.clone() };
    run::execute_plan(plan, target, &options, context)
}

/// Time and bytes, before anything is sent.
fn in_words(args: &PlanEstimateArgs, plan: &Plan) -> String {
    let of_lab = plan.world.as_ref().and_then(|world| bottleneck_bps(world, Family::V4));
    let typed = args.rate.and_then(|rate| rate.0);
    let rate_bps = typed.or(of_lab).map_or(RATE_BPS, |bps| bps as f64);
    let path = Path { rate_bps, round_trip_ns: args.rtt as f64 };
    let found = estimate::estimate(plan, path);
    let bytes = |bytes: f64| format_bytes(bytes as u64);
    let most = match plan.design.stop {
        Stop::Pairs { .. } => "",
        Stop::Adaptive { .. } => "at most ",
    };
    let mut out = format!(
        "{}: {most}{}, {most}{}.\n",
        plan.name,
        format_span(found.total.time_ns),
        bytes(found.total.bytes),
    );
    out.push_str(&format!(
        "{} cells × {} rounds = {} pairs, and {} pairs of a family with itself.\n",
        plan.cells.len(),
        found.rounds,
        found.compare_blocks,
        found.null_blocks,
    ));
    out.push_str(&format!(
        "Taken for granted: {} and a round trip of {} (--rate, --rtt).\n\n",
        format_rate(path.rate_bps),
        format_span(path.round_trip_ns),
    ));
    let width = plan.cells.iter().map(|c| c.id.len()).max().unwrap_or(0).max(4);
    out.push_str(&format!("{:width$}  {:>12}  {:>12}\n", "cell", "a pair takes", "and sends"));
    for (cell, cost) in plan.cells.iter().zip(&found.cells) {
        let (time, sent) = (format_span(cost.time_ns), bytes(cost.bytes));
        out.push_str(&format!("{:width$}  {time:>12}  {sent:>12}\n", cell.id));
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

fn list() -> Result<String, Failure> {
    let mut out = String::new();
    for preset in &PRESETS {
        let (draft, _) = presets::read_preset(preset, 0)?;
        let description = draft.description.unwrap_or_default();
        out.push_str(&format!("{:<12} {description}\n", preset.name));
    }
    Ok(out)
}
