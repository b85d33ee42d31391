//! `plan`: check, estimate, run, list and show plans.

mod expect;
pub mod words;

use crate::args::{PlanArgs, PlanCommand, PlanRunArgs};
use crate::commands::run;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::presets::{self, PRESETS};
use crate::session;
use crate::settings::Context;
use crate::target::{RunOptions, Target};

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
            let (draft, plan) = presets::read(&args.plan, 0)?;
            expect::execute(args, &draft, &plan, context)?
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
    let lab = args.lab.choose()?;
    let world = lab.as_ref().map(|lab| lab.world.clone());
    let (draft, plan) = presets::read_in(&args.plan, seed, world)?;
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
    let options = RunOptions {
        connect,
        processor: args.processor,
        capture: args.capture.clone(),
        snmp: args.snmp.clone(),
        result: args.result.clone(),
    };
    match lab.and_then(|lab| lab.held) {
        Some(name) => session::in_held_lab(&name, plan, &options, context),
        None => run::execute_plan(plan, target, &options, context),
    }
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
