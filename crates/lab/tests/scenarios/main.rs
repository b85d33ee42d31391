//! The scenarios of `scenarios/` on a simulated network: frames go through the pure clocks of the
//! user-space link, the plan's own schedule and stopping rule decide what is measured, and the
//! core's gates and analysis answer. Every run is a function of its seed.

mod coherent;
mod file;
mod host;
mod network;
mod plans;
mod run;
mod slow;
mod tiers;

use file::{Expected, Scenario, Trouble};
use v6gap_core::family::Family;
use v6gap_core::plan::draft::Draft;
use v6gap_core::plan::{Plan, Stop, check};
use v6gap_core::world::World;
use v6gap_core::world::draft as world_draft;
use v6gap_judge::analysis::{Analysis, Question, Verdict};

/// The level of these tests (CONTRIBUTING.md).
const LEVEL: u8 = 2;

/// Seeds of each scenario: what holds for a world must not be luck.
const SEEDS: u64 = 5;

fn world(scenario: &Scenario) -> World {
    let draft: world_draft::Draft = scenario.world.clone().try_into().expect("a world");
    world_draft::world(&draft).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn plan(scenario: &Scenario, world: &World, seed: u64) -> Plan {
    let draft: Draft = scenario.plan.clone().try_into().expect("a plan");
    let mut plan = check::check(&draft, seed).unwrap_or_else(|problems| panic!("{problems:?}"));
    plan.parts_mut().world = Some(world.clone());
    plan.parts_mut().seed = seed;
    plan
}

/// What is wrong with the answer, if anything is.
fn wrong(expected: &Expected, found: &Analysis) -> Option<String> {
    let name = |q: &&Question| q.cell == expected.cell && word(&q.metric) == expected.metric;
    let Some(q) = found.questions.iter().find(name) else {
        return Some(format!("{} {} is no question", expected.cell, expected.metric));
    };
    if !expected.verdict.contains(&word(&q.verdict)) {
        let why = q.why_none.as_ref().unwrap_or(&q.sentence);
        return Some(format!("{}: {:?}: {why}", q.cell, q.verdict));
    }
    let checks = found.checks.iter().map(|check| format!("{}: {}", check.id, check.text));
    let said = checks.chain(q.caveats.iter().cloned()).chain(q.why_none.clone());
    let said = said.collect::<Vec<_>>().join("; ") + &q.sentence;
    if let Some(words) = expected.says.iter().find(|words| !said.contains(words.as_str())) {
        return Some(format!("{} does not say \"{words}\": {said}", q.cell));
    }
    if expected.each.is_some() {
        return Some(format!("{}: bounds of values are for real networks", q.cell));
    }
    let truth = expected.truth?;
    let range = q.effect.as_ref().map(|effect| effect.range95);
    let holds = range.is_some_and(|range| {
        range.low - expected.allow <= truth && truth <= range.high + expected.allow
    });
    (!holds).then(|| format!("{}: {range:?} misses {truth}", q.cell))
}

/// How a value is written in results.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap_or_default().to_owned()
}

#[test]
fn every_scenario_finds_what_it_must() {
    let mut failed = Vec::new();
    for scenario in Scenario::of_level(LEVEL) {
        let world = world(&scenario);
        for seed in 1..=SEEDS {
            let plan = plan(&scenario, &world, seed);
            let found = run::simulate(&plan, &world, scenario.trouble, seed);
            let wrong = scenario.expect.iter().filter_map(|expected| wrong(expected, &found));
            failed.extend(
                wrong.map(|why| format!("{seed}: {}: {}: {why}", scenario.name, scenario.what)),
            );
            // Where the program stops before it measures there is nothing to be said here either.
            let said = found.questions.iter().find(|q| q.verdict != Verdict::None);
            let silent = scenario.expect.iter().all(|e| said.is_none_or(|q| q.cell != e.cell));
            assert!(scenario.error.is_none() || silent, "{}: {said:?}", scenario.name);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A family that is refused in a fifth of its trials is measured by the others, and its failures
/// are said: worse or better, whichever it is. Where nothing fails nothing is said of it.
#[test]
fn a_family_that_fails_in_a_fifth_of_its_trials_is_worse() {
    let scenarios = Scenario::of_level(LEVEL);
    let scenario = scenarios.iter().find(|s| s.name == "identical").expect("a scenario");
    let world = world(scenario);
    for seed in 1..=SEEDS {
        let mut plan = plan(scenario, &world, seed);
        plan.parts_mut().design.stop = Stop::Pairs { pairs: 64 };
        let found = |trouble| run::simulate(&plan, &world, trouble, seed);
        let refused = |family| found(Some(Trouble::Refuses { family, percent: 20 }));
        for (family, verdict) in [(Family::V6, Verdict::Worse), (Family::V4, Verdict::Better)] {
            let found = refused(family);
            let failures = found.failures.as_ref().expect("failures");
            assert_eq!(failures.counted.verdict, verdict, "{seed}: {failures:?}");
            let arm = found.run.plan.design.arms.arm_of(family);
            assert_eq!(*failures.failed.get(arm.other()), 0, "{seed}: {failures:?}");
            let share = *failures.failed.get(arm) as f64 / failures.blocks as f64;
            assert!((0.05..0.4).contains(&share), "{seed}: {failures:?}");
        }
        assert_eq!(found(None).failures, None, "{seed}");
    }
}

/// The two families' conditions exchanged: what was slower is faster then, and a loss a gain.
#[test]
fn exchanging_the_families_links_turns_the_verdict_round() {
    for (name, metric) in [("v6-slower", "throughput"), ("v4-lossy", "loss"), ("v6-later", "rtt")] {
        let scenarios = Scenario::of_level(LEVEL);
        let scenario = scenarios.iter().find(|s| s.name == name).expect("a scenario");
        let world = world(scenario);
        let verdict = |world: &World| {
            let found = run::simulate(&plan(scenario, world, 1), world, scenario.trouble, 1);
            let asked = found.questions.iter().find(|q| word(&q.metric) == metric);
            word(&asked.expect("a question").verdict)
        };
        let (there, turned) = (verdict(&world), verdict(&world.clone().swapped()));
        let pair = [there.as_str(), turned.as_str()];
        assert!(pair == ["worse", "better"] || pair == ["better", "worse"], "{name}: {pair:?}");
    }
}
