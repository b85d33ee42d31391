//! `run`: compare IPv6 with IPv4 between here and another host; and plans, wherever they take
//! place.

mod against;
mod knobs;
mod via;

pub use knobs::refused;

use crate::alone;
use crate::args::{DesignArgs, LabChoice, RunArgs};
use crate::commands::plan::expect;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::session;
use crate::session::labs::Chosen;
use crate::settings::Context;
use crate::target::RunOptions;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::plan::check::check;
use v6gap_core::plan::later::NothingToAdd;
use v6gap_core::plan::{Plan, preset};
use v6gap_core::record::{Ending, Line, RunHeader, RunId};
use v6gap_core::workload::{Cell, Workload};
use v6gap_core::world::World;
use v6gap_judge::analysis::again::{self, With};
use v6gap_perform::target::Target;
use v6gap_perform::{Job, Place};
use v6gap_store::RunName;
use v6gap_sys::entropy;

/// Seconds in ns.
const SECOND: u64 = 1_000_000_000;

/// The time of `--quick`.
pub const QUICK_NS: u64 = 20 * SECOND;

/// The time of `--thorough`.
pub const THOROUGH_NS: u64 = 600 * SECOND;

/// Measures against a host.
///
/// # Errors
/// If it cannot be found or measured.
pub fn execute(args: &RunArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.ssh.via.is_some() {
        return via::execute(args, context);
    }
    measured(args, context).map_err(|failure| args.connect.said_again(args.host(), failure))
}

/// Measures from here, or in a lab.
fn measured(args: &RunArgs, context: &Context) -> Result<Outcome, Failure> {
    let options = RunOptions {
        connect: args.connect.clone(),
        processor: args.processor,
        kernel: args.lab.kernel.clone(),
        capture: args.capture.clone(),
        snmp: args.snmp.clone(),
        result: args.result.clone(),
        written: None,
    };
    if let Some(reference) = &args.continued {
        return go_on(reference, args, &options, context);
    }
    if let Some(lab) = args.lab.choose()? {
        return in_lab(args, lab, &options, context);
    }
    if let Some(tool) = args.against {
        return against::execute(args, tool, &options, context);
    }
    let only = args.only();
    let plan = plan(&args.design, None, only)?;
    if args.result.dry_run {
        return expect::dry_run(&plan, Some(args.host()), true, args.result.json, context);
    }
    let target = args.connect.target(args.host())?;
    if let Some(only) = only
        && let Some(bound) = target.local.get(only.other())
    {
        let what = format!("--bind {}: {only} alone is measured", bound.ip());
        return Err(Failure::usage(what));
    }
    let notes = only.map(alone::note).into_iter().collect();
    between_hosts(plan, true, target, &options, notes, None, context)
}

/// Measures between two nodes of a lab that is up, or of one that is made for it.
fn in_lab(
    args: &RunArgs,
    lab: Chosen,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    addresses_in_lab(args);
    let plan = plan(&args.design, Some(lab.world), args.only())?;
    let path = plan.path();
    let plan = plan.fitted(path);
    if options.result.dry_run {
        return expect::dry_run(&plan, None, false, options.result.json, context);
    }
    match lab.held {
        Some(name) => session::in_held_lab(&name, plan, options, context),
        None => session::in_lab(plan, options, None, context),
    }
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
    between_hosts(plan, false, target, options, Vec::new(), None, context)
}

fn between_hosts(
    plan: Plan,
    fits: bool,
    target: Target,
    options: &RunOptions,
    notes: Vec<String>,
    continued: Option<RunId>,
    context: &Context,
) -> Result<Outcome, Failure> {
    let job = options.job(plan, &context.keys)?;
    let job = Job { fit: fits, notes, continued, ..job };
    let turn = options.turn(context)?;
    session::measure(job, Place::Host(target), turn, options, context)
}

/// Adds to a stored run, with its plan and in its lab if it had one; there the host is the lab's.
fn go_on(
    reference: &str,
    args: &RunArgs,
    options: &RunOptions,
    context: &Context,
) -> Result<Outcome, Failure> {
    let id = context.store.resolve(&RunName::parse(reference))?;
    let lines = context.store.read(&RunName::Id(id.to_string()))?;
    let Some(Line::Run(header)) = lines.first() else {
        return Err(Failure::unexpected(format!("{id} does not begin with the facts of a run")));
    };
    if let Some(failure) = closed(header) {
        return Err(failure);
    }
    let plan = continuation(header, &lines, args)?;
    let asked = args.lab.choose();
    if let Some(stored) = &plan.world
        && is_another(stored, &args.lab, &asked)
    {
        let what =
            format!("--lab cannot change {id}: it goes on in the lab that it was measured in");
        let again = format!("v6gap run {} --continue {id}", header.target);
        return Err(Failure::usage(what).run(again, "goes on with it"));
    }
    if options.result.dry_run {
        return expect::dry_run(&plan, Some(&header.target), false, options.result.json, context);
    }
    if plan.world.is_some() {
        addresses_in_lab(args);
        say_anew(&args.lab, &asked);
        return session::in_lab(plan, options, Some(id), context);
    }
    if args.lab.lab.is_some() {
        let again = format!("v6gap run {} --continue {id}", header.target);
        let what = format!("{id} was not measured in a lab: --lab cannot go on with it");
        return Err(Failure::usage(what).run(again, "goes on with it"));
    }
    let target = args.connect.target(args.host())?;
    between_hosts(plan, false, target, options, Vec::new(), Some(id), context)
}

/// Says so where the lab that was named is not the one in which a stored run goes on.
fn say_anew(typed: &LabChoice, asked: &Result<Option<Chosen>, Failure>) {
    let why = match asked {
        Ok(None | Some(Chosen { held: None, .. })) => return,
        Ok(Some(Chosen { held: Some(_), .. })) => "it is up",
        Err(failure) => failure.what(),
    };
    let lab = typed.lab.as_deref().unwrap_or_default();
    let note = format!("note: --lab {lab}: {why}; the run goes on in a new lab like its own");
    output::to_stderr(&note);
}

/// Says so where addresses are given, be it by a file of options, and both ends are in a lab.
fn addresses_in_lab(args: &RunArgs) {
    if let Some(option) = args.connect.addressed() {
        let what = "note: in a lab the hosts have addresses of their own";
        output::to_stderr(&format!("{what}, so {option} means nothing"));
    }
}

/// Whether a world was asked for that is not the stored one. A lab that is up may have other
/// conditions by now, and one that is gone is as the run was.
fn is_another(stored: &World, typed: &LabChoice, asked: &Result<Option<Chosen>, Failure>) -> bool {
    let Ok(Some(Chosen { world, held: None })) = asked else { return false };
    let between_others = typed.from.is_some() || typed.to.is_some();
    match between_others {
        true => world != stored,
        false => world.clone().measured(stored.client, stored.server) != *stored,
    }
}

/// Why nothing can be added to a run that was measured neither in a lab nor with a server of v6gap
/// that can be asked again, and what can be done.
fn closed(header: &RunHeader) -> Option<Failure> {
    let how = match again::with(header) {
        With::Lab | With::Server => return None,
        With::Loopback => "over loopback, with a server that is gone".to_owned(),
        With::Ssh => "between hosts reached by --via ssh, on which no server stays".to_owned(),
        With::Stranger => match (tool_of(header), header.argv.get(1)) {
            (Some(tool), _) => format!("with --against {tool}"),
            (None, Some(verb)) if verb == "probe" => "by v6gap probe".to_owned(),
            (None, _) => "with a host that does not run v6gap".to_owned(),
        },
    };
    let id = &header.id;
    let failure = Failure::usage(format!("{id} was measured {how}: --continue cannot add to it"));
    Some(match again::typed(header) {
        Some(typed) => failure.run(typed, "measures it anew"),
        None => failure.run(format!("v6gap show {id}"), "shows it again"),
    })
}

/// The tool whose server a run was measured with, as it was typed.
fn tool_of(header: &RunHeader) -> Option<&str> {
    let mut words = header.argv.iter();
    let word = words.find(|word| word.split('=').next() == Some("--against"))?;
    word.split_once('=').map(|(_, tool)| tool).or_else(|| words.next().map(String::as_str))
}

/// The stored plan, with the time of this session if one is given.
fn continuation(header: &RunHeader, lines: &[Line], args: &RunArgs) -> Result<Plan, Failure> {
    let id = &header.id;
    if let Some(option) = decided(args) {
        let what = format!("{option} cannot change {id}: with --continue the stored plan decides");
        return Err(Failure::usage(what));
    }
    let complete = matches!(lines.last(), Some(Line::End(Ending::Complete)));
    let plan = header.plan.clone().continued(given_time(&args.design), complete);
    plan.map_err(|why| match why {
        NothingToAdd::Complete { pairs } => {
            Failure::usage(format!("{id} has all of its {pairs} pairs: there is nothing to add"))
        }
        NothingToAdd::Counted { pairs } => {
            Failure::usage(format!("{id} was planned with {pairs} pairs, so no time can be given"))
        }
    })
}

/// The first option typed that a stored plan has decided already.
fn decided(args: &RunArgs) -> Option<&'static str> {
    let design = &args.design;
    if let Some(option) = design.knobs.shapes_bulk().or(design.knobs.marks()) {
        return Some(option);
    }
    let typed = [
        (design.pairs.is_some(), "--pairs"),
        (!design.precision.is_empty(), "--precision"),
        (!design.measure.is_empty(), "--measure"),
        (!design.margins.is_empty(), "--margin"),
        (design.seed.is_some(), "--seed"),
        (design.null.is_some(), "--null"),
        (design.tails, "--tails"),
        (design.parity.is_some(), "--parity"),
        (design.method.is_some(), "--method"),
        (design.allow_different_links, "--allow-different-links"),
        (args.only_four, "-4"),
        (args.only_six, "-6"),
    ];
    typed.into_iter().find(|(typed, _)| *typed).map(|(_, option)| option)
}

/// The plan that the options describe: the first look with what they change.
///
/// # Errors
/// If an option cannot be, or nothing is left to be measured.
pub fn plan(
    args: &DesignArgs,
    world: Option<World>,
    only: Option<Family>,
) -> Result<Plan, Failure> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let draft = knobs::draft(args, world)?;
    let plan = check(&draft, seed).map_err(knobs::refused)?;
    // Before time is given to it: one family may have a quicker line than the other.
    let plan = only.into_iter().fold(plan, Plan::alone);
    let search = |cell: &Cell| matches!(cell.workload, Workload::Capacity(_));
    let long = args.knobs.shapes_bulk().is_some() || plan.cells.iter().any(search);
    Ok(match given_time(args) {
        Some(time_ns) => plan.within(time_ns),
        None if long => plan.with_time_enough(),
        None => plan,
    })
}

/// The first look between two hosts as a run makes it that lasts `time_ns` at most.
pub fn look(time_ns: u64, seed: u64) -> Plan {
    preset::first_look(PerArm::FAMILIES, None, seed).within(time_ns)
}

/// The time that was asked for, in ns.
pub fn given_time(args: &DesignArgs) -> Option<u64> {
    match (args.time_ns, args.quick, args.thorough) {
        (Some(ns), _, _) => Some(ns),
        (None, true, _) => Some(QUICK_NS),
        (None, false, true) => Some(THOROUGH_NS),
        (None, false, false) => None,
    }
}

/// A seed that nobody can know beforehand.
///
/// # Errors
/// If the system gives no random bytes.
pub fn random_seed() -> Result<u64, Failure> {
    Ok(u64::from_ne_bytes(entropy::bytes()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use v6gap_core::family::PerFamily;
    use v6gap_core::observation::Far;
    use v6gap_core::plan::{Stop, TIME_NS};
    use v6gap_core::record::Session;

    fn stored(stop: Stop) -> RunHeader {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.parts_mut().design.stop = stop;
        RunHeader {
            tool: "0.1.0".to_owned(),
            target: "nas".to_owned(),
            addresses: PerFamily {
                v4: Some("192.0.2.7".parse().unwrap()),
                v6: Some("2001:db8::7".parse().unwrap()),
            },
            ..RunHeader::new("7k2f9q".parse().unwrap(), plan)
        }
    }

    fn typed(line: &str) -> RunArgs {
        let words = format!("v6gap run nas --continue last {line}");
        match Cli::try_parse_from(words.split_whitespace()).unwrap().command {
            Command::Run(args) => *args,
            _ => panic!("run was typed"),
        }
    }

    #[test]
    fn a_session_has_its_own_time_and_the_rest_of_the_plan_stays() {
        let header = stored(Stop::Adaptive { time_ns_max: TIME_NS, pairs_min: 8 });
        for (line, time_ns_max) in
            [("", TIME_NS), ("--quick", 20 * SECOND), ("--for 5min", 300 * SECOND)]
        {
            let plan = continuation(&header, &[], &typed(line)).unwrap();
            let expected = header.plan.clone().ending(Stop::within(time_ns_max));
            assert_eq!(plan, expected, "{line}");
        }
        let decided = ["--pairs 9", "--measure rtt", "--margin rtt=2%", "--seed 1", "--null v6"];
        for line in decided.into_iter().chain([
            "--tails",
            "--parity packet",
            "--method stack",
            "--allow-different-links",
            "-4",
        ]) {
            let failure = continuation(&header, &[], &typed(line)).unwrap_err();
            let text = failure.what();
            assert!(text.contains(line.split(' ').next().unwrap()), "{text}");
            assert!(text.contains("stored plan"), "{text}");
            assert_eq!(failure.outcome, Outcome::Usage);
        }
    }

    /// Its server is not asked: there is none, and what is told of that leads nowhere.
    #[test]
    fn what_no_server_of_v6gap_measured_is_refused_with_what_to_type() {
        let seen = Far::Seen(Session { protocol: 1, control: Family::V6, limits: None });
        let refused = |line: &str, session: &Far<Session>| {
            let argv = line.split(' ').map(str::to_owned).collect();
            let session = session.clone();
            closed(&RunHeader { argv, session, ..stored(Stop::within(TIME_NS)) })
        };
        let unseen = Far::NotSeen("it does not run v6gap".to_owned());
        for (line, session, how) in [
            ("v6gap probe nas --pairs 9", &unseen, "by v6gap probe"),
            ("v6gap run nas --against iperf3 -R", &unseen, "with --against iperf3"),
            ("v6gap run nas --against=stamp", &unseen, "with --against stamp"),
            ("v6gap run --via ssh --to nas", &seen, "--via ssh"),
            ("v6gap demo --loopback", &seen, "over loopback"),
        ] {
            let failure = refused(line, session).unwrap();
            assert_eq!(failure.outcome, Outcome::Usage);
            let text = failure.render(&Default::default());
            assert!(text.contains(how) && text.contains(line), "{text}");
        }
        assert_eq!(refused("v6gap run nas", &seen), None);
        let unknown = refused("", &unseen).unwrap().render(&Default::default());
        assert!(unknown.contains("with a host that does not run v6gap"), "{unknown}");
        assert!(unknown.contains("v6gap show 7k2f9q"), "{unknown}");
    }

    #[test]
    fn fixed_pairs_can_be_finished_and_no_more() {
        let header = stored(Stop::Pairs { pairs: 9 });
        let ended = |ending| [Line::End(ending)];
        let again = |ending, line| continuation(&header, &ended(ending), &typed(line));
        assert_eq!(again(Ending::Stopped, "").unwrap(), header.plan);
        let text = again(Ending::Complete, "").unwrap_err().render(&Default::default());
        assert!(text.contains("nothing to add"), "{text}");
        let text = again(Ending::Stopped, "--quick").unwrap_err().render(&Default::default());
        assert!(text.contains("9 pairs"), "{text}");
    }

    /// Outside a lab and loopback a search in the style of RFC 2544 needs to be forced.
    #[test]
    fn a_search_that_floods_the_path_is_refused_outside_a_lab() {
        let planned = |line: &str| {
            let words = format!("v6gap run host --measure {line}");
            match Cli::try_parse_from(words.split_whitespace()).unwrap().command {
                Command::Run(args) => plan(&args.design, None, None).unwrap(),
                _ => panic!("run was typed"),
            }
        };
        let at = |v4, v6| {
            let target = v6gap_perform::target::resolve("nas", 1, Some(v4), Some(v6)).unwrap();
            Place::Host(target)
        };
        let in_place = |plan: &Plan, place: &Place| place.bears(plan).map_err(Failure::from);
        let (far, near) = (at("192.0.2.7", "2001:db8::7"), at("127.0.0.1", "::1"));
        let halving = planned("rate-at-loss");
        let text = in_place(&halving, &far).unwrap_err().render(&Default::default());
        assert!(text.contains("--force-search") && text.contains("RFC 6815"), "{text}");
        assert!(in_place(&halving, &at("127.0.0.1", "2001:db8::7")).is_err());
        assert_eq!(in_place(&halving, &near), Ok(()));
        assert_eq!(in_place(&planned("rate-at-loss --force-search"), &far), Ok(()));
        assert_eq!(in_place(&planned("capacity,rtt"), &far), Ok(()));
    }
}
