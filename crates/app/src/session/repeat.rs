//! The command that repeats a run: the choices that differ from those of the first look, spelt so
//! that they are read as they were.

use crate::alone;
use crate::args::{Rate, WorldArgs};
use crate::presets::{self, Choice, PRESETS, PlaceChoice};
use crate::shipped::Preset;
use crate::worlds;
use v6gap_core::metric::Metric;
use v6gap_core::plan::scale::Scale;
use v6gap_core::plan::{DEMO_TIME_NS, Plan, Stop, TIME_NS, preset};
use v6gap_core::record::RunHeader;
use v6gap_core::wire;
use v6gap_core::workload::Cell;
use v6gap_core::world::{LinkModel, World};
use v6gap_judge::analysis::{Analysis, again};
use v6gap_perform::LOOPBACK;

/// The command that repeats a run with the same choices; `port` is that of the server, if known. A
/// run of another plan than the first look needs the file of that plan.
pub fn repeat(analysis: &Analysis, port: Option<u16>) -> String {
    let run = &analysis.run;
    let plan = &run.plan;
    if let Some(typed) = as_typed(analysis) {
        return typed;
    }
    let from_file = format!("v6gap plan run FILE --seed {}", plan.seed);
    if !is_first_look(plan, analysis) {
        return by_name(analysis).unwrap_or(from_file);
    }
    let (mut words, usual_ns) = match &plan.world {
        Some(world) => match network(world) {
            Some(words) => (format!("v6gap demo{words}"), DEMO_TIME_NS),
            None => (in_world(world), TIME_NS),
        },
        None if run.target == LOOPBACK => ("v6gap demo --loopback".to_owned(), DEMO_TIME_NS),
        None => {
            let port = port.filter(|&port| port != wire::PORT);
            let port = port.map(|port| format!(" -p {port}")).unwrap_or_default();
            (format!("v6gap run {}{port}", run.target), TIME_NS)
        }
    };
    words.push_str(&format!(" --seed {}", plan.seed));
    match plan.design.stop {
        Stop::Pairs { pairs } => words.push_str(&format!(" --pairs {pairs}")),
        Stop::Adaptive { time_ns_max, .. } if time_ns_max == usual_ns => {}
        Stop::Adaptive { time_ns_max, .. } => {
            words.push_str(&format!(" --for {}", span(time_ns_max)));
        }
    }
    let arms = plan.design.arms;
    match alone::single_family(analysis) {
        Some(family) => words.push_str(&format!(" --{}", family.to_string().to_lowercase())),
        None if arms.is_null() => {
            words.push_str(&format!(" --null {}", short(&arms.a.to_string())));
        }
        None => {}
    }
    words + &shares("precision", plan.design.precision.clone().into_iter()) + &margins(plan)
}

/// What was typed, with the seed that was drawn if none was given. A plan from standard input is
/// not there any more, and an older run does not tell.
fn as_typed(analysis: &Analysis) -> Option<String> {
    let RunHeader { argv, plan, .. } = &analysis.run;
    let seeded = argv.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let seed = if seeded { String::new() } else { format!(" --seed {}", plan.seed) };
    Some(again::typed(&analysis.run)? + &seed)
}

/// The command with the name of the plan, if it comes with the program and was measured where and
/// as it says.
fn by_name(analysis: &Analysis) -> Option<String> {
    let run = &analysis.run;
    let (preset, scale) = named(analysis)?;
    let host = if run.plan.world.is_some() { String::new() } else { format!(" {}", run.target) };
    Some(format!("v6gap plan run {}{host}{scale} --seed {}", preset.name, run.plan.seed))
}

/// The plan that comes with the program, and the option that makes it as small as it was measured.
fn named(analysis: &Analysis) -> Option<(&'static Preset, &'static str)> {
    let run = &analysis.run;
    let place = if run.plan.world.is_some() { PlaceChoice::OfPlan } else { PlaceChoice::Server };
    let named = PRESETS.iter().flat_map(|preset| {
        [(Scale::Paper, ""), (Scale::Small, " --scale small")].map(|scale| (preset, scale))
    });
    let same = |preset: &Preset, scale| {
        let choice = Choice { scale, place: place.clone() };
        let found = presets::read_preset(preset, run.plan.seed, &choice);
        found.is_ok_and(|found| found.plan == run.plan)
    };
    let (preset, (_, option)) =
        named.into_iter().find(|(preset, (scale, _))| same(preset, *scale))?;
    Some((preset, option))
}

/// The plan that comes with the program and was measured, at whatever scale.
pub fn preset_of(analysis: &Analysis) -> Option<&'static Preset> {
    if is_first_look(&analysis.run.plan, analysis) {
        return PRESETS.iter().find(|preset| preset.name == "first-look");
    }
    named(analysis).map(|(preset, _)| preset)
}

/// Measuring in a world that no options of `demo` make, by its name if it comes with the program.
fn in_world(world: &World) -> String {
    let known = worlds::name_of(world);
    let mut words = format!("v6gap run --lab {}", known.map_or("FILE", |(name, _)| name));
    let usual = known.map_or((world.client, world.server), |(_, usual)| usual);
    for (option, node, otherwise) in
        [("from", world.client, usual.0), ("to", world.server, usual.1)]
    {
        if node != otherwise {
            words.push_str(&format!(" --{option} {}", world.nodes[node].name));
        }
    }
    words
}

/// Whether the cells are those of the first look, named as it names them: what was fitted to the
/// path is fitted again.
fn is_first_look(plan: &Plan, analysis: &Analysis) -> bool {
    let usual = preset::first_look(plan.design.arms, plan.world.clone(), plan.seed);
    let refused = &analysis.run.refused;
    let measured = |id: &String| plan.cell(id).is_some() || refused.contains_key(id);
    let congestion = |plan: &Plan| {
        let of = |cell: &Cell| cell.workload.settings()?.congestion.clone();
        plan.cells.iter().find_map(of)
    };
    plan.name == usual.name
        && usual.cells.iter().all(|cell| measured(&cell.id))
        && plan.cells.iter().all(|cell| usual.cell(&cell.id).is_some())
        && congestion(plan) == congestion(&usual)
}

/// The options of `demo` that make `world`, each with a blank before it; `None` if none do.
fn network(world: &World) -> Option<String> {
    let link = world.links.first()?;
    let met = link.conditions.v6;
    let usual = match world.model {
        LinkModel::Bare => None,
        LinkModel::Shaped | LinkModel::Wire | LinkModel::Netem => Some(100_000_000),
    };
    let args = WorldArgs {
        model: world.model,
        rate: (met.rate_bps != usual).then_some(Rate(met.rate_bps)),
        delay: met.delay_ns,
        loss: met.loss,
        mtu: link.mtu,
        routers: u8::try_from(world.links.len() - 1).ok()?,
        only: None,
        black_hole: met.black_hole_above,
    };
    if args.world() != *world {
        return None;
    }
    let mut words = String::new();
    let mut put = |differs: bool, word: String| {
        if differs {
            words.push_str(&format!(" --{word}"));
        }
    };
    let model = world.model.name();
    put(world.model != LinkModel::Wire, format!("model {model}"));
    let rate = met.rate_bps.map_or_else(|| "none".to_owned(), rate);
    put(args.rate.is_some(), format!("rate {rate}"));
    put(args.delay > 0, format!("delay {}", span(args.delay)));
    put(args.loss > 0.0, format!("loss {}", args.loss));
    put(args.mtu != 1500, format!("mtu {}", args.mtu));
    put(args.routers != 1, format!("routers {}", args.routers));
    let above = args.black_hole.unwrap_or_default();
    put(args.black_hole.is_some(), format!("black-hole-v6 {above}"));
    Some(words)
}

/// A span in ns, exact.
fn span(ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    exact(ns, &UNITS, "ns")
}

/// A rate in bit/s, exact.
fn rate(bps: u64) -> String {
    exact(bps, &[(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "K")], "")
}

fn exact(value: u64, units: &[(u64, &str)], base: &str) -> String {
    match units.iter().find(|(size, _)| value.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{}{unit}", value / size),
        None => format!("{value}{base}"),
    }
}

/// `v4` for "IPv4".
fn short(family: &str) -> String {
    family.trim_start_matches("IP").to_owned()
}

fn margins(plan: &Plan) -> String {
    let all = Metric::ALL.into_iter().filter(|&m| plan.margin(m) != m.margin_default());
    shares("margin", all.map(|metric| (metric, plan.margin(metric))))
}

/// An option that gives a share for each of some metrics; nothing without any.
fn shares(option: &str, of: impl Iterator<Item = (Metric, f64)>) -> String {
    let words: Vec<String> = of.map(|(m, share)| format!("{}={share}", m.name())).collect();
    if words.is_empty() { String::new() } else { format!(" --{option} {}", words.join(",")) }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::record::{Line, RunHeader, RunId};
    use v6gap_judge::analysis::analyse;

    /// An analysis of a run in which nothing was measured yet.
    pub fn analysis(plan: Plan, target: &str) -> Analysis {
        let header = RunHeader {
            tool: "0.1.0".to_owned(),
            target: target.to_owned(),
            ..RunHeader::new(RunId::from_bits(0), plan)
        };
        analyse(&[Line::Run(Box::new(header))]).unwrap()
    }

    fn first_look(world: Option<World>) -> Plan {
        preset::first_look(PerArm::FAMILIES, world, 7)
    }

    #[test]
    fn a_demo_is_repeated_by_the_options_it_had() {
        for options in [
            "",
            " --model bare",
            " --rate 10M --delay 1500us --mtu 1280",
            " --model shaped --rate none --loss 0.07 --routers 3",
            " --model bare --rate 1G --black-hole-v6 1400",
        ] {
            let typed = format!("v6gap demo{options} --seed 7");
            let parsed = Cli::try_parse_from(typed.split_whitespace()).unwrap();
            let Command::Demo(args) = parsed.command else { panic!("demo was typed") };
            let plan = first_look(Some(args.world.world())).ending(Stop::within(DEMO_TIME_NS));
            let found = analysis(plan, "server");
            assert_eq!(repeat(&found, Some(wire::PORT)), typed);
        }
    }

    #[test]
    fn the_end_the_arms_and_the_margins_are_carried() {
        let mut plan = first_look(Some(preset::demo_world()));
        plan.parts_mut().design.stop = Stop::Adaptive { time_ns_max: 20_000_000_000, pairs_min: 8 };
        plan.parts_mut().margins.insert(Metric::Rtt, 0.02);
        plan.parts_mut().design.precision.insert(Metric::Rtt, 0.01);
        let found = analysis(plan.clone(), "server");
        assert_eq!(
            repeat(&found, None),
            "v6gap demo --seed 7 --for 20s --precision rtt=0.01 --margin rtt=0.02"
        );
        plan = preset::first_look(PerArm::null(Family::V6), None, 7);
        plan.parts_mut().design.stop = Stop::Pairs { pairs: 40 };
        let mut found = analysis(plan, "lab-b");
        assert_eq!(repeat(&found, None), "v6gap run lab-b --seed 7 --pairs 40 --null v6");
        found.run.notes = vec![alone::note(Family::V6)];
        assert_eq!(repeat(&found, None), "v6gap run lab-b --seed 7 --pairs 40 --ipv6");
    }

    #[test]
    fn plans_that_come_with_the_program_have_their_names() {
        for (name, place, scale, words) in [
            ("goyal-ping", PlaceChoice::OfPlan, Scale::Paper, ""),
            ("sailan-window", PlaceChoice::Server, Scale::Small, " lab-b --scale small"),
        ] {
            let choice = Choice { scale, place };
            let plan = presets::read_preset(presets::find(name).unwrap(), 7, &choice).unwrap().plan;
            let mut found = analysis(plan, "lab-b");
            let command = format!("v6gap plan run {name}{words} --seed 7");
            assert_eq!(repeat(&found, None), command);
            Cli::try_parse_from(command.split_whitespace()).unwrap();
            found.run.plan.parts_mut().margins.insert(Metric::Rtt, 0.3);
            assert_eq!(repeat(&found, None), "v6gap plan run FILE --seed 7");
        }
    }

    #[test]
    fn what_was_typed_is_typed_again() {
        let typed = |words: &[&str]| {
            let mut found = analysis(first_look(None), "lab-b");
            found.run.argv = words.iter().map(|word| word.to_string()).collect();
            repeat(&found, None)
        };
        let words = ["v6gap", "run", "lab-b", "-P", "2,4", "--dscp", "it's"];
        assert_eq!(typed(&words), r"v6gap run lab-b -P 2,4 --dscp 'it'\''s' --seed 7");
        assert_eq!(typed(&["v6gap", "run", "x", "--seed=9"]), "v6gap run x --seed=9");
        // Nothing that a shell or a terminal would act on, and no plan that is gone.
        for words in [["rm", "-rf", "x"], ["v6gap", "run", "x\u{1b}"], ["v6gap", "run", "-"]] {
            assert_eq!(typed(&words), "v6gap run lab-b --seed 7");
        }
    }

    #[test]
    fn hosts_have_ports_and_loopback_has_none() {
        let found = analysis(first_look(None), "lab-b");
        assert_eq!(repeat(&found, Some(99)), "v6gap run lab-b -p 99 --seed 7");
        assert_eq!(repeat(&found, Some(wire::PORT)), "v6gap run lab-b --seed 7");
        let found = analysis(first_look(None).ending(Stop::within(DEMO_TIME_NS)), LOOPBACK);
        assert_eq!(repeat(&found, Some(40_000)), "v6gap demo --loopback --seed 7");
    }

    #[test]
    fn another_plan_or_world_needs_its_file() {
        let mut plan = first_look(None);
        plan.parts_mut().cells.pop();
        assert_eq!(repeat(&analysis(plan, "lab-b"), None), "v6gap plan run FILE --seed 7");
        let mut world = preset::demo_world();
        world.links[1].mtu = 1280;
        let found = analysis(first_look(Some(world)), "server");
        assert_eq!(repeat(&found, None), "v6gap run --lab small-mtu --seed 7");
        let mut world = preset::demo_world().measured(0, 1);
        world.links[1].mtu = 1280;
        let found = analysis(first_look(Some(world.clone())), "router");
        assert_eq!(repeat(&found, None), "v6gap run --lab small-mtu --to router --seed 7");
        world.links[1].mtu = 1281;
        let found = analysis(first_look(Some(world)), "router");
        assert_eq!(repeat(&found, None), "v6gap run --lab FILE --seed 7");
    }
}
