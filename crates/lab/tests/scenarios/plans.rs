//! Every plan that comes with the program, at its small scale, through the run of the program on a
//! simulated network: in the world that it names, or between two hosts and a router.

use crate::coherent::contradictions;
use crate::file::Trouble;
use crate::run;
use std::path::{Path, PathBuf};
use v6gap_core::family::Family;
use v6gap_core::plan::draft::{Draft, Lab};
use v6gap_core::plan::scale::Scale;
use v6gap_core::plan::{Plan, check};
use v6gap_core::world::draft as world_draft;
use v6gap_judge::analysis::{Analysis, CheckState, Question, Verdict};

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The world of plans that are made for two hosts.
const USUAL_WORLD: &str = "one-router";

/// Seeds of each plan.
const SEEDS: u64 = 10;

/// Seeds of each plan on hosts that something befalls.
const TROUBLED_SEEDS: u64 = 3;

/// What the simulated hosts cannot do: probes.
const NOT_SIMULATED: [&str; 2] = ["raicu-delay-variation", "raicu-priority"];

/// How far beyond its range the prediction of a question may lie: hosts take time that no header
/// explains.
const ALLOWED: f64 = 0.01;

/// What a file of the repository says.
fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

/// The plans of `plans/`, by name.
fn paths() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(Path::new(ROOT).join("plans")).expect("the plans");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("a plan").path()).collect();
    paths.sort();
    assert!(paths.len() >= 20, "{paths:?}");
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn plan(path: &Path, seed: u64) -> Plan {
    let draft: Draft = read(path);
    let (mut draft, _) = Scale::Small.apply(&draft).expect("a small plan");
    let lab = draft
        .lab
        .get_or_insert_with(|| Lab { world: Some(USUAL_WORLD.to_owned()), ..Lab::default() });
    if let Some(world) = &lab.world {
        let path = Path::new(ROOT).join("worlds").join(format!("{world}.toml"));
        let draft: world_draft::Draft = read(&path);
        lab.made = Some(world_draft::world(&draft).unwrap_or_else(|e| panic!("{world}: {e:?}")));
    }
    check::check(&draft, seed).unwrap_or_else(|problems| panic!("{path:?}: {problems:?}"))
}

/// What is wrong with what was found, if anything is.
fn wrong(plan: &Plan, found: &Analysis) -> Vec<String> {
    let mut wrong: Vec<String> = found.stopped.iter().cloned().collect();
    let failed = found.checks.iter().filter(|check| check.state == CheckState::Failed);
    wrong.extend(failed.map(|check| format!("{}: {}", check.id, check.text)));
    wrong.extend(found.questions.iter().filter_map(|question| doubtful(plan, question)));
    wrong.extend(contradictions(&v6gap_report::json(found)));
    wrong
}

/// What is wrong with an answer: none at all, a difference where there can be none, or a range
/// that does not hold what the headers predict.
fn doubtful(plan: &Plan, question: &Question) -> Option<String> {
    let name = format!("{} {}", question.cell, question.metric);
    let Some(effect) = &question.effect else {
        let why = question.why_none.as_deref().unwrap_or(&question.sentence);
        return Some(format!("{name}: no value: {why}"));
    };
    let differs = matches!(question.verdict, Verdict::Better | Verdict::Worse);
    if plan.design.arms.is_null() && differs {
        return Some(format!("{name}: a family differs from itself: {}", question.sentence));
    }
    let predicted = question.prediction.as_ref()?.effect;
    let (low, high) = (effect.range95.low - ALLOWED, effect.range95.high + ALLOWED);
    let holds = low <= predicted && predicted <= high;
    (!holds).then(|| format!("{name}: {:?} does not hold {predicted}", effect.range95))
}

#[test]
fn every_plan_runs_to_its_end_and_finds_what_the_headers_predict() {
    let mut failed = Vec::new();
    for path in paths() {
        let name = name(&path);
        if NOT_SIMULATED.contains(&name.as_str()) {
            continue;
        }
        for seed in 1..=SEEDS {
            let plan = plan(&path, seed);
            let world = plan.world.clone().expect("a world");
            let found = run::simulate(&plan, &world, None, seed);
            failed.extend(
                wrong(&plan, &found).into_iter().map(|why| format!("{name} {seed}: {why}")),
            );
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Hosts that are busy or refuse now and then: answers of every kind come of it, and none says what
/// its range does not.
#[test]
fn no_answer_contradicts_its_range() {
    let mut failed = Vec::new();
    let mut answers = std::collections::BTreeMap::new();
    for path in paths() {
        let name = name(&path);
        if NOT_SIMULATED.contains(&name.as_str()) {
            continue;
        }
        let refuses = Trouble::Refuses { family: Family::V6, percent: 20 };
        for trouble in [Trouble::Overload, refuses] {
            for seed in 1..=TROUBLED_SEEDS {
                let plan = plan(&path, seed);
                let world = plan.world.clone().expect("a world");
                let found = run::simulate(&plan, &world, Some(trouble), seed);
                for question in &found.questions {
                    *answers.entry(format!("{:?}", question.verdict)).or_insert(0) += 1;
                }
                let why = contradictions(&v6gap_report::json(&found)).into_iter();
                failed.extend(why.map(|why| format!("{name} {trouble:?} {seed}: {why}")));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(answers.len() == 5, "every kind of answer: {answers:?}");
}
