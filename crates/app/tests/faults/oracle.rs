//! What must hold of a run whatever happened to it: nothing that was announced is lost, it can be
//! shown, no number in it is wrong, and it can be gone on with.

use super::checks::say;
use super::site::{PATIENCE, SERVER, Site, announced};
use super::support::{Home, text};
use super::told::{Ended, Program, Told};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use v6gap_core::metric::Metric;
use v6gap_core::record::{Line, TrialRecord};

/// A cable is the same for both families: no fault may make an answer of such a difference.
const DIFFERENCE: f64 = 0.5;

/// Longest time that going on with a run may take.
pub const RESUME: Duration = Duration::from_secs(120);

/// The journal of the only run in a data folder.
pub fn journal(home: &Home) -> PathBuf {
    let runs = std::fs::read_dir(home.path().join("runs")).unwrap();
    let all: Vec<PathBuf> = runs.map(|run| run.unwrap().path().join("journal.jsonl")).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().unwrap()
}

/// The trials of a journal with whether their block is valid; what it holds must be readable.
pub fn trials(home: &Home) -> Vec<(TrialRecord, bool)> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for line in v6gap_store::read_journal(&journal(home)).unwrap() {
        match line {
            Line::Trial(trial) => open.push(*trial),
            Line::Block(block) => found.extend(open.drain(..).map(|trial| (trial, block.valid))),
            Line::Run(_) | Line::Failed(_) | Line::Allotted(_) => {}
            Line::GaveUp(_) | Line::End(_) => {}
        }
    }
    found
}

/// Every trial that was announced is in the journal with its values, and `show` shows as many.
/// Returns what it shows.
#[track_caller]
pub fn nothing_is_lost(home: &Home, told: &Told) -> Value {
    let kept = trials(home);
    let arm = |trial: &TrialRecord| serde_json::to_value(trial.arm).unwrap();
    for said in announced(told) {
        let is_it = |(trial, valid): &&(TrialRecord, bool)| {
            said["block"] == trial.block
                && said["arm"] == arm(trial)
                && said["valid"] == *valid
                && said["values"] == serde_json::to_value(&trial.values).unwrap()
        };
        assert!(kept.iter().any(|kept| is_it(&kept)), "not in the journal: {said}");
    }
    no_number_is_wrong(&kept);
    let shown = shown(home);
    assert_eq!(shown["trials"], lines(home), "{}", shown["headline"]);
    shown
}

/// How many lines of a journal are trials, also of a block that is not whole.
pub fn lines(home: &Home) -> usize {
    let lines = v6gap_store::read_journal(&journal(home)).unwrap();
    lines.iter().filter(|line| matches!(line, Line::Trial(_))).count()
}

/// What `show` says of the last run, twice the same.
#[track_caller]
pub fn shown(home: &Home) -> Value {
    let show = || home.v6gap(&["show", "last", "--format", "json"]);
    let (output, again) = (show(), show());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(output.stdout, again.stdout, "two analyses of one run differ");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// No valid value is impossible: each mean of times is positive and within its trial.
#[track_caller]
fn no_number_is_wrong(kept: &[(TrialRecord, bool)]) {
    for (trial, _) in kept.iter().filter(|(_, valid)| *valid) {
        for (metric, &value) in &trial.values {
            let longest = match metric {
                Metric::Rtt | Metric::Connect => trial.duration_ns as f64 / 1e9,
                Metric::Throughput => 1e12,
                _ => continue,
            };
            assert!(value > 0.0 && value < longest, "{metric:?} {value}: {trial:?}");
        }
    }
}

/// No answer is wrong by far, where both families meet the same.
#[track_caller]
pub fn no_answer_is_wrong(result: &Value) {
    for question in result["questions"].as_array().unwrap() {
        let is_found = ["better", "worse"].iter().any(|verdict| question["verdict"] == *verdict);
        let off = question["effect"]["estimate"].as_f64().unwrap_or_default().abs();
        assert!(!is_found || off < DIFFERENCE, "{question:#}");
    }
}

/// A result is valid, unless the hypervisor of a busy machine took the processors away: that is no
/// fault of ours, and discards blocks.
#[track_caller]
pub fn is_valid(result: &Value) {
    let headline = result["headline"].as_str().unwrap();
    let is_busy = headline.contains("hypervisor took");
    assert!(result["valid"] == true || is_busy, "{headline} {:#}", result["checks"]);
    if is_busy {
        say("discarded", headline);
    }
}

/// Goes on with the last run, and what was there before still is; the result must be valid.
#[track_caller]
pub fn goes_on(site: &Site, host: &str, home: &Home, told: &Told) -> Value {
    let before = trials(home).len();
    let mut command = site.lab.command(home, host);
    command.arg("run").args(SERVER).args(["--continue", "last", "--json", "-q"]);
    let mut program = Program::start(command);
    let ended = program.end(RESUME);
    // With nothing left to measure there is nothing to add.
    if ended.code == Some(2) && ended.said.contains("there is nothing to add") {
        return shown(home);
    }
    assert_eq!(ended.code, Some(0), "{}{}", program.out.text(), ended.said);
    let result: Value = serde_json::from_str(&program.out.text()).unwrap();
    is_valid(&result);
    assert!(result["stopped"].is_null(), "{}", result["stopped"]);
    assert!(trials(home).len() >= before);
    nothing_is_lost(home, told);
    result
}

/// An error for a person: of that exit code, with its cause, what can be done, and its code.
#[track_caller]
pub fn is_clear(ended: &Ended, exit: i32) {
    let said = &ended.said;
    assert_eq!(ended.code, Some(exit), "{said}");
    assert!(said.contains("error: ") && said.contains(&format!(", exit {exit}]")), "{said}");
    assert!(said.contains("Try:"), "no next command in: {said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// How long a server may take to notice what it is told by its kernel.
const SOON: Duration = Duration::from_secs(3);

/// That the server serves a client of `host`, at once or soon.
#[track_caller]
pub fn serves(site: &Site, host: &str) {
    let start = Instant::now();
    loop {
        let ended = site.asks(host).end(PATIENCE);
        if ended.code == Some(0) {
            return;
        }
        assert!(start.elapsed() < SOON, "{}", ended.said);
    }
}

/// Whether the only run has no first line yet: nothing was measured into it.
pub fn is_without_facts(home: &Home) -> bool {
    let found = std::fs::read_dir(home.path().join("runs")).map_or(0, Iterator::count);
    if found == 0 || !journal(home).exists() {
        return true;
    }
    v6gap_store::read_journal(&journal(home)).unwrap().is_empty()
}
