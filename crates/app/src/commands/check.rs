//! `check`: whether a host can be measured over both families, and what will limit the result.

use crate::args::CheckArgs;
use crate::commands::run;
use crate::failure::Failure;
use crate::failure::Outcome;
use crate::limits;
use crate::output;
use crate::session;
use crate::settings::Context;
use serde_json::{Value, json};
use std::net::SocketAddr;
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::TIME_NS;
use v6gap_core::unit::format_span;
use v6gap_judge::fitness::{BUSY_MAX, STEP_NS_MAX};
use v6gap_perform::Access;
use v6gap_perform::check::{self, ask, busy_share, clock, routes};
use v6gap_perform::target::Target;
use v6gap_perform::turn::Turn;

/// How a finding is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Ok,
    Note,
    Fail,
}

/// What was found, and the first thing that keeps both families from being measured.
#[derive(Debug, Default)]
struct Findings {
    lines: Vec<(Mark, &'static str, String)>,
    failure: Option<Failure>,
}

impl Findings {
    fn add(&mut self, mark: Mark, topic: &'static str, text: impl Into<String>) {
        self.lines.push((mark, topic, text.into()));
    }

    fn fail(&mut self, topic: &'static str, text: impl Into<String>, failure: Failure) {
        self.add(Mark::Fail, topic, text);
        self.failure.get_or_insert(failure);
    }
}

/// Checks a host and prints what was found, in the turn of this host.
///
/// # Errors
/// If somebody else measures here and is not to be waited for (E204), or the first thing that keeps
/// both families from being measured, after everything is printed.
pub fn execute(args: &CheckArgs, context: &Context) -> Result<Outcome, Failure> {
    let connect = &args.connect;
    let access = connect.access()?;
    let target = match connect.target(&args.host) {
        Ok(target) => target,
        Err(failure) => return Err(unseen(args, "Names", connect.said_again(&args.host, failure))),
    };
    let mut looked = false;
    let turn = Turn::of_host(&context.locks(), !connect.no_wait).map_err(Failure::from);
    let outcome = turn.and_then(|turn| {
        session::in_turn_unstored(turn, |turn| {
            looked = true;
            let access = Access { measurement: Some(turn.measurement()), ..access };
            look(args, &target, &access, turn, context)
        })
    });
    outcome.map_err(|failure| if looked { failure } else { unseen(args, "This host", failure) })
}

/// Without a target, or a turn to look at it, there is nothing else to find.
fn unseen(args: &CheckArgs, topic: &'static str, failure: Failure) -> Failure {
    if args.json {
        let lines = vec![(Mark::Fail, topic, failure.what().to_owned())];
        let found = Findings { lines, failure: Some(failure.clone()) };
        output::to_stdout(&output::document(&as_json(&args.host, &found, true)));
    }
    failure
}

fn look(
    args: &CheckArgs,
    target: &Target,
    access: &Access,
    turn: Turn,
    context: &Context,
) -> Result<Outcome, Failure> {
    let mut found = Findings::default();
    names(target, &mut found);
    let routed = ways(target, &Family::BOTH, &mut found);
    server(target, routed, access, &mut found);
    let goes_on = found.failure.is_some() || packets(target, access, turn, &mut found)?;
    clocks(&mut found);
    load(&mut found);
    let failure = found.failure.take();
    found.failure = failure.map(|failure| args.connect.said_again(&args.host, failure));
    let text = match args.json {
        true => output::document(&as_json(&target.name, &found, goes_on)),
        false => {
            let next = format!("v6gap run {}{}", args.host, args.connect.again());
            let words = in_words(target, &next, &found, goes_on);
            output::fit(&context.output.results, &words)
        }
    };
    output::to_stdout(&text);
    let done = if goes_on { Outcome::Done } else { Outcome::Interrupted };
    found.failure.map_or(Ok(done), Err)
}

fn names(target: &Target, found: &mut Findings) {
    let text = |family| {
        let address: Option<SocketAddr> = *target.addresses.get(family);
        let shown = address.map_or_else(|| "none".to_owned(), |a| a.ip().to_string());
        format!("{} {shown}", family.record())
    };
    let text = Family::BOTH.map(text).join(", ");
    let text = match target.lacks(PerArm::FAMILIES) {
        Some(_) => format!("{text}, for which the server is asked"),
        None => text,
    };
    found.add(Mark::Ok, "Names", text);
}

/// Which of these families have a route, as far as their addresses are known.
fn ways(
    target: &Target,
    families: &[Family],
    found: &mut Findings,
) -> PerFamily<Option<SocketAddr>> {
    let mut routed = PerFamily::default();
    let mut texts = Vec::new();
    let mut failure = None;
    let routes = routes(target);
    for &family in families {
        let (Some(address), Some(route)) = (target.addresses.get(family), routes.get(family))
        else {
            continue;
        };
        match route {
            Ok(route) => {
                *routed.get_mut(family) = Some(*address);
                let mtu = route.mtu.map_or_else(String::new, |mtu| format!(", MTU {mtu}"));
                texts.push(format!("{family} from {}{mtu}", route.from));
            }
            Err(system) => {
                texts.push(format!("{family} none"));
                failure.get_or_insert(Failure::no_route(&target.name, *address, family, system));
            }
        }
    }
    match failure {
        Some(failure) => found.fail("Routes", texts.join("; "), failure),
        None => found.add(Mark::Ok, "Routes", texts.join("; ")),
    }
    routed
}

fn server(
    target: &Target,
    addresses: PerFamily<Option<SocketAddr>>,
    access: &Access,
    found: &mut Findings,
) {
    if addresses.v4.is_none() && addresses.v6.is_none() {
        return;
    }
    let answer = match ask(target, addresses, access) {
        Ok(answer) => answer,
        Err(error) => {
            let text = error.to_string();
            return found.fail("Server", text, Failure::of_connect(&target.name, &error));
        }
    };
    let text = format!("{}, protocol {}", answer.tool, answer.protocol);
    match &answer.problem {
        Some(problem) => {
            let other = problem.family.other();
            let text = format!("{text}, over {other} only: {problem}");
            found.fail("Server", text, Failure::one_family(&target.name, problem));
        }
        None => {
            let both = addresses.v4.is_some() && addresses.v6.is_some();
            let over = match (both, addresses.v4) {
                (true, _) => "on both families".to_owned(),
                (false, Some(_)) => format!("on {}", Family::V4),
                (false, None) => format!("on {}", Family::V6),
            };
            found.add(Mark::Ok, "Server", format!("{text}, {over}, idle"));
        }
    }
    match answer.located {
        None => {}
        Some(Ok((target, note))) => {
            found.add(Mark::Ok, "Address", note);
            let families = Family::BOTH.into_iter().filter(|f| addresses.get(*f).is_none());
            ways(&target, &families.collect::<Vec<_>>(), found);
        }
        Some(Err(trouble)) => found.fail("Address", trouble.to_string(), trouble.into()),
    }
    let allowed = &answer.limits;
    let mark = if limits::are_felt(allowed) { Mark::Note } else { Mark::Ok };
    found.add(mark, "Limits", format!("the server allows {}", limits::in_words(allowed)));
    if let Some(uncertainty_ns) = answer.uncertainty_ns {
        let text = format!(
            "control answers within {}; clocks compared to {}",
            format_span(2.0 * uncertainty_ns as f64),
            format_span(uncertainty_ns as f64)
        );
        found.add(Mark::Ok, "Control", text);
    }
}

/// Whether full packets and datagrams get through; false if it was stopped before that is known.
fn packets(
    target: &Target,
    access: &Access,
    mut turn: Turn,
    found: &mut Findings,
) -> Result<bool, Failure> {
    const TOPIC: &str = "Packets";
    let stop = session::interruptible()?;
    let plan = run::look(run::QUICK_NS, run::random_seed()?);
    // As for a run, nobody here is kept from measuring while the server is asked.
    turn.leave();
    let carried = check::packets(&plan, target, access, &mut turn, &mut session::only_waits, &stop);
    let carried = match carried {
        Ok(Some(carried)) => carried,
        Ok(None) => {
            found.add(Mark::Note, TOPIC, "stopped before it was known whether they get through");
            return Ok(false);
        }
        Err(trouble) => {
            found.fail(TOPIC, trouble.to_string(), trouble.into());
            return Ok(true);
        }
    };
    let lacking = Family::BOTH.into_iter().filter(|family| !carried.get(*family));
    let lacking: Vec<String> = lacking.map(|family| family.to_string()).collect();
    match lacking[..] {
        [] => found.add(Mark::Ok, TOPIC, "full ones and datagrams get through over both families"),
        _ => {
            let over = lacking.join(" and ");
            let text = format!("no datagram comes back over {over}: only TCP can be measured");
            found.add(Mark::Note, TOPIC, text);
        }
    }
    Ok(true)
}

fn clocks(found: &mut Findings) {
    let quality = clock();
    let text = format!("{} ns steps here, {} ns to read", quality.step_ns, quality.read_cost_ns);
    let mark = if quality.step_ns > STEP_NS_MAX { Mark::Note } else { Mark::Ok };
    found.add(mark, "Clock", text);
}

fn load(found: &mut Findings) {
    match busy_share() {
        Some(share) => {
            let mark = if share > BUSY_MAX { Mark::Note } else { Mark::Ok };
            found.add(mark, "Load", format!("this host is {:.0} % busy", share * 100.0));
        }
        None => found.add(Mark::Note, "Load", "this system does not tell how busy it is"),
    }
}

fn as_json(host: &str, found: &Findings, whole: bool) -> Value {
    let mark = |mark| match mark {
        Mark::Ok => "ok",
        Mark::Note => "note",
        Mark::Fail => "fail",
    };
    let lines = found.lines.iter();
    let lines: Vec<Value> = lines
        .map(|(of, topic, text)| json!({"mark": mark(*of), "topic": topic, "text": text}))
        .collect();
    json!({
        "schema": "v6gap.check/1",
        "host": host,
        "ready": whole && found.failure.is_none(),
        "lines": lines,
        "failure": found.failure.as_ref().map(Failure::json),
    })
}

/// The answer, the findings, and the command that comes next.
fn in_words(target: &Target, next: &str, found: &Findings, whole: bool) -> String {
    let name = &target.name;
    let notes = found.lines.iter().filter(|(mark, ..)| *mark == Mark::Note).count();
    let mut out = match (&found.failure, notes) {
        (Some(failure), _) if failure.code == Some("E204") => {
            format!("{name} measures for somebody else: a run waits its turn.\n\n")
        }
        (Some(_), _) => format!("{name} cannot be measured over both families.\n\n"),
        (None, _) if !whole => format!("Stopped before all of {name} was looked at.\n\n"),
        (None, 0) => format!("{name} can be measured over both families.\n\n"),
        (None, 1) => {
            format!(
                "{name} can be measured over both families. One thing may limit the result.\n\n"
            )
        }
        (None, n) => {
            format!(
                "{name} can be measured over both families. {n} things may limit the result.\n\n"
            )
        }
    };
    for (mark, topic, text) in &found.lines {
        let mark = match mark {
            Mark::Ok => "ok",
            Mark::Note => "note",
            Mark::Fail => "FAIL",
        };
        let text = output::wrap(text, 62, "");
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        out.push_str(&format!(" {mark:<5} {topic:<11} {first}\n"));
        lines.for_each(|line| out.push_str(&format!("{:19}{line}\n", "")));
    }
    if whole && found.failure.is_none() {
        out.push_str(&format!("\nReady:  {next}     {} at most\n", format_span(TIME_NS as f64)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use v6gap_core::plan::DEMO_TIME_NS;

    #[test]
    fn what_comes_next_reaches_the_server_as_this_did() {
        let long = " -p 5000 --v4 192.0.2.7 --v6 fd12::20 --bind 192.0.2.1 --key-file lab.key";
        for options in ["", long] {
            let typed = format!("v6gap check nas{options}");
            let parsed = Cli::try_parse_from(typed.split_whitespace()).unwrap();
            let Command::Check(args) = parsed.command else { panic!("check was typed") };
            assert_eq!(args.connect.again(), options);
        }
        let [v4, v6] = [Some("192.0.2.7"), Some("fd12::20")];
        let target = v6gap_perform::target::resolve("nas", 5000, v4, v6).unwrap();
        let said = in_words(&target, "v6gap run nas -p 5000", &Findings::default(), true);
        assert!(said.contains("\nReady:  v6gap run nas -p 5000     75 s at most\n"), "{said}");
    }

    /// What the help says by itself is what a run takes.
    #[test]
    fn the_time_of_a_run_is_one_fact() {
        let help = <Cli as clap::CommandFactory>::command();
        let help = help.find_subcommand("run").unwrap().clone().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let [time, demo] = [TIME_NS, DEMO_TIME_NS].map(|ns| format_span(ns as f64));
        for part in [
            format!("every question is settled [{time}], or of a demo [{demo}]"),
            format!("first look, {time}"),
        ] {
            assert!(help.contains(&part), "{part}: {help}");
        }
    }
}
