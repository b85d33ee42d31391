//! `doctor`: whether this host and the far one are fit for measuring, and the noise between them.

use crate::args::DoctorArgs;
use crate::commands::run;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::settings::Context;
use serde_json::{Value, json};
use v6gap_core::record::Host;
use v6gap_core::unit::format_span;
use v6gap_judge::fitness::noise::{self, Noise};
use v6gap_judge::fitness::{self, Finding, Watched};
use v6gap_perform::facts::this_host;
use v6gap_perform::target::Target;
use v6gap_perform::turn::Turn;
use v6gap_perform::{News, Trouble, Watcher, floor, watch};
use v6gap_report::doctor;
use v6gap_report::text::Style;

/// Everything that was found.
struct Found {
    near: Host,
    far: Option<Host>,
    target: Option<String>,
    watched: Watched,
    findings: Vec<Finding>,
    /// `None` if it was not asked for.
    floor: Option<Floor>,
}

/// The noise and what can be found above it, or why there is none.
#[derive(Default)]
struct Floor {
    noises: Vec<Noise>,
    found: Vec<noise::Found>,
    why_none: Option<String>,
}

/// Looks at the hosts, measures the noise, and prints what was found, in the turn of this host.
///
/// # Errors
/// If somebody else measures here and is not to be waited for (E204), or the far host cannot be
/// found or measured.
pub fn execute(args: &DoctorArgs, context: &Context) -> Result<Outcome, Failure> {
    let host = args.host.as_deref().unwrap_or_default();
    let said_again = |failure| args.connect.said_again(host, failure);
    let target = match &args.host {
        Some(host) => Some(args.connect.target(host).map_err(said_again)?),
        None if !args.connect.bind.is_empty() => {
            return Err(Failure::usage("--bind needs a host to measure to"));
        }
        None => None,
    };
    let turn = Turn::of_host(&context.locks(), !args.connect.no_wait)?;
    session::in_turn_unstored(turn, |turn| look(args, target, turn, context).map_err(said_again))
}

fn look(
    args: &DoctorArgs,
    target: Option<Target>,
    mut turn: Turn,
    context: &Context,
) -> Result<Outcome, Failure> {
    let say = |text: &str| {
        if !args.quiet {
            output::to_stderr(&output::fit(&context.output.errors, text));
        }
    };
    let mut watcher = |news: &News<'_>| match news {
        News::Placements => {
            say("round trips over loopback on one processor, on two, and not held: 2 s");
        }
        News::Noise { family, time_ns } => {
            let span = format_span(*time_ns as f64);
            say(&format!("noise of {family} against itself: {span}"));
        }
        News::Located(note) => say(note),
        news => session::only_waits(news),
    };
    let near = this_host();
    let interfaces = watch::interfaces(target.as_ref());
    say("watching clock, processors and interfaces: 1 s");
    let watched = watch::watch(&interfaces, args.processor, &mut watcher);
    // The server is waited for without it.
    turn.leave();
    let met = meet(target.as_ref(), args, &mut turn, &mut watcher)?;
    let round_trip_ns = met.round_trip_ns.map(|ns| ns as f64);
    let path = fitness::Path { interfaces, round_trip_ns };
    let mut findings = fitness::judge(&near, met.far.as_ref(), &watched, &path);
    if let Some(floor) = &met.floor {
        findings.push(noise::judge(&near, &floor.noises, floor.why_none.as_deref()));
    }
    let target = target.map(|target| target.name);
    let found = Found { near, far: met.far, target, watched, findings, floor: met.floor };
    let text = match args.json {
        true => output::document(&document(&found)),
        false => {
            let style = &context.output.results;
            let host = args.host.as_deref().unwrap_or_default();
            let next = format!("v6gap run {host}{}", args.connect.again());
            output::fit(style, &page(&found, &next, style))
        }
    };
    output::to_stdout(&text);
    Ok(match (met.stopped, fitness::is_fit(&found.findings)) {
        (true, _) => Outcome::Interrupted,
        (false, true) => Outcome::Done,
        (false, false) => Outcome::NotValid,
    })
}

fn page(found: &Found, next: &str, style: &Style) -> String {
    let floor = found.floor.as_ref();
    let page = doctor::Page {
        target: found.target.as_deref(),
        next,
        findings: &found.findings,
        noises: floor.map_or(&[], |floor| &floor.noises),
        found: floor.map_or(&[], |floor| &floor.found),
        runs: &RUNS.map(|(name, _)| name),
    };
    doctor::page(&page, style)
}

/// What a meeting with the server gave.
#[derive(Default)]
struct Met {
    far: Option<Host>,
    round_trip_ns: Option<u64>,
    floor: Option<Floor>,
    stopped: bool,
}

/// Meets the far host, or a server of this process over loopback, whose trouble is in the floor.
fn meet(
    target: Option<&Target>,
    args: &DoctorArgs,
    turn: &mut Turn,
    watcher: &mut dyn Watcher,
) -> Result<Met, Failure> {
    let time_ns = (!args.no_noise).then_some(args.time_ns);
    if target.is_none() && time_ns.is_none() {
        return Ok(Met::default());
    }
    let wanted = floor::Wanted {
        plan: run::look(run::QUICK_NS, run::random_seed()?),
        time_ns,
        usual: RUNS.map(|(_, time_ns)| (time_ns, run::look(time_ns, 0))).to_vec(),
        processor: args.processor,
    };
    let stop = session::interruptible()?;
    let (met, is_far) = match target {
        Some(target) => {
            (floor::meet(wanted, target, &args.connect.access()?, turn, watcher, &stop)?, true)
        }
        None => match floor::on_loopback(wanted, turn, watcher, &stop) {
            Ok(met) => (met, false),
            Err(trouble) => {
                let why = match trouble {
                    Trouble::NoServer(why) => format!("unavailable, because {why}"),
                    trouble => Failure::from(trouble).render(&Default::default()),
                };
                let floor = Some(Floor { why_none: Some(why), ..Floor::default() });
                return Ok(Met { floor, ..Met::default() });
            }
        },
    };
    let Some(met) = met else { return Ok(Met { stopped: true, ..Met::default() }) };
    let floor::Met { far, round_trip_ns, floor, stopped } = met;
    let floor = floor.map(|floor::Floor { noises, found }| Floor { noises, found, why_none: None });
    let (far, round_trip_ns) = (is_far.then_some(far), is_far.then_some(round_trip_ns));
    Ok(Met { far, round_trip_ns, floor, stopped })
}

/// What was found as JSON.
fn document(found: &Found) -> Value {
    let floor = found.floor.as_ref();
    json!({
        "schema": "v6gap.doctor/1",
        "fit": fitness::is_fit(&found.findings),
        "hosts": { "near": found.near, "far": found.far },
        "target": found.target,
        "findings": found.findings,
        "watched": found.watched,
        "noise": floor.map(|floor| &floor.noises),
        "smallest_found": floor.map(|floor| &floor.found),
        "noise_unavailable": floor.and_then(|floor| floor.why_none.as_deref()),
    })
}

/// The usual runs, by their longest time: what they are called and how to ask for them.
const RUNS: [(&str, u64); 3] = [
    ("--quick", run::QUICK_NS),
    ("75 s", v6gap_core::plan::TIME_NS),
    ("--thorough", run::THOROUGH_NS),
];
