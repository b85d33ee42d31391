//! `demo`: measure in a network made on this computer, or over loopback where none can be made.

use super::plan::expect;
use super::run;
use crate::args::{ConnectArgs, DemoArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use crate::target::RunOptions;
use v6gap_core::family::Family;
use v6gap_core::plan::{DEMO_TIME_NS, Plan, Stop, fit};
use v6gap_core::world::World;
use v6gap_perform::world;

/// Measures, and says which of the two it was.
///
/// # Errors
/// As any measurement; a host that refuses namespaces is none.
pub fn execute(args: &DemoArgs, context: &Context) -> Result<Outcome, Failure> {
    if let Some(only) = args.world.only.filter(|only| args.design.null != Some(*only)) {
        let option = if only == Family::V4 { "v4" } else { "v6" };
        let itself = format!("v6gap demo --only {option} --null {option}");
        return Err(Failure::usage("a comparison needs both families")
            .run(itself, format!("compares {only} with itself")));
    }
    let options = RunOptions {
        connect: ConnectArgs { no_wait: args.no_wait, ..ConnectArgs::local() },
        processor: None,
        kernel: None,
        capture: args.capture.clone(),
        snmp: args.snmp.clone(),
        result: args.result.clone(),
        written: None,
    };
    let dry = args.result.dry_run;
    let refused = match args.loopback {
        false if dry => None,
        true => Some("--loopback was asked for".to_owned()),
        false => world::refusal(),
    };
    match refused {
        None => {
            let world = args.world.world();
            let path = fit::path_in(&world);
            let plan = plan(args, Some(world))?.fitted(path);
            if dry {
                return expect::dry_run(&plan, None, false, args.result.json, context);
            }
            session::in_lab(plan, &options, None, context)
        }
        Some(_) if dry => {
            let plan = plan(args, None)?;
            expect::dry_run(&plan, None, false, args.result.json, context)
        }
        Some(why) if args.design.method.as_deref() == Some("stack") => {
            Err(Failure::usage(format!("--method stack needs a lab, and there is none: {why}")))
        }
        Some(why) => {
            let note = format!("no lab: {why}. Measuring loopback instead.");
            output::to_stderr(&output::fit(&context.output.errors, &note));
            let plan = plan(args, None)?;
            session::on_loopback(plan, why, &options, context)
        }
    }
}

/// What a demo measures.
fn plan(args: &DemoArgs, world: Option<World>) -> Result<Plan, Failure> {
    let plan = run::plan(&args.design, world, None)?;
    Ok(match plan.design.stop {
        Stop::Adaptive { time_ns_max, .. } if run::given_time(&args.design).is_none() => {
            plan.within(time_ns_max.max(DEMO_TIME_NS))
        }
        Stop::Adaptive { .. } | Stop::Pairs { .. } => plan,
    })
}
