//! `doctor`: whether this host and the far one are fit for measuring, and the noise between them.

mod floor;
mod watch;

use crate::args::DoctorArgs;
use crate::commands::run;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session::facts::this_host;
use crate::settings::Context;
use crate::target::Target;
use floor::Floor;
use serde_json::{Value, json};
use v6gap_core::record::Host;
use v6gap_judge::fitness::{self, Finding, Watched, noise};
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

/// Looks at the hosts, measures the noise, and prints what was found.
///
/// # Errors
/// If the far host cannot be found or measured.
pub fn execute(args: &DoctorArgs, context: &Context) -> Result<Outcome, Failure> {
    let target = match &args.host {
        Some(host) => Some(Target::of(host, &args.connect)?.comparable()?),
        None if !args.connect.bind.is_empty() => {
            return Err(Failure::usage("--bind needs a host to measure to"));
        }
        None => None,
    };
    let say = |text: &str| {
        if !args.quiet {
            output::to_stderr(&output::fit(&context.output.errors, text));
        }
    };
    let near = this_host();
    let processor = args.processor.or_else(|| v6gap_sys::cpu::allowed().ok()?.first().copied());
    let interfaces = watch::interfaces(target.as_ref());
    say("watching clock, processors and interfaces: 1 s");
    let watched = watch::watch(&interfaces, processor, say);
    let time_ns = (!args.no_noise).then_some(args.time_ns);
    let met = floor::meet(target.as_ref(), &args.connect, processor, time_ns, &say)?;
    let path = fitness::Path { interfaces, round_trip_ns: met.round_trip_ns };
    let mut findings = fitness::judge(&near, met.far.as_ref(), &watched, &path);
    if let Some(floor) = &met.floor {
        findings.push(noise::judge(&near, &floor.noises, floor.why_none.as_deref()));
    }
    let target = target.map(|target| target.name);
    let found = Found { near, far: met.far, target, watched, findings, floor: met.floor };
    let text = match args.json {
        true => format!("{:#}", document(&found)),
        false => output::fit(&context.output.results, &page(&found, &context.output.results)),
    };
    output::to_stdout(&text);
    Ok(match (met.stopped, fitness::is_fit(&found.findings)) {
        (true, _) => Outcome::Interrupted,
        (false, true) => Outcome::Done,
        (false, false) => Outcome::NotValid,
    })
}

fn page(found: &Found, style: &Style) -> String {
    let floor = found.floor.as_ref();
    let page = doctor::Page {
        target: found.target.as_deref(),
        findings: &found.findings,
        noises: floor.map_or(&[], |floor| &floor.noises),
        found: floor.map_or(&[], |floor| &floor.found),
        runs: &RUNS.map(|(name, _)| name),
    };
    doctor::page(&page, style)
}

/// The same for programs.
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
        "smallest-found": floor.map(|floor| &floor.found),
        "noise-unavailable": floor.and_then(|floor| floor.why_none.as_deref()),
    })
}

/// The usual runs, by their longest time: what they are called and how to ask for them.
const RUNS: [(&str, u64); 3] =
    [("--quick", run::QUICK_NS), ("75 s", run::USUAL_NS), ("--thorough", run::THOROUGH_NS)];
