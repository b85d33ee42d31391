//! The scenarios of `scenarios/` on real kernel links: the same files that the simulated network
//! runs (crates/lab/tests/scenarios).

#[path = "../../../lab/tests/scenarios/file.rs"]
mod file;

use super::support::{Home, number, question, text};
use super::tier::is_night;
use file::{Expected, Scenario, Trouble};
use serde_json::Value;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The level of these tests (CONTRIBUTING.md).
const LEVEL: u8 = 5;

/// So many of ten scenarios must have an answer: none at all would pass for the wrong reason.
const ANSWERED_OF_TEN: usize = 3;

/// Scenarios whose difference is far beyond what a busy machine adds: the short form.
const SHORT: [&str; 5] = ["black-hole", "three-routers", "v4-lossy", "v6-later", "v6-slower"];

/// Every scenario for real networks finds what it must, or says that it could not.
pub fn hold() {
    let mut failed = Vec::new();
    let (mut asked, mut answered) = (0, 0);
    for scenario in Scenario::of_level(LEVEL) {
        println!("  {}: {}", scenario.name, scenario.what);
        if !is_wanted(&scenario.name) {
            continue;
        }
        let output = run(&scenario);
        if let Some(error) = &scenario.error {
            let told = text(&output.stderr);
            if !told.contains(&format!("[{error},")) {
                failed.push(format!("{} is not {error}: {told}", scenario.name));
            }
            continue;
        }
        let result = document(&scenario, &output);
        for expected in &scenario.expect {
            asked += 1;
            if let Err(why) = bounded(expected, &result) {
                failed.push(format!("{}: {why}", scenario.name));
            }
            if let Some(why) = unanswered(expected, &result) {
                println!("    no answer for {}: {why}", expected.cell);
                continue;
            }
            answered += 1;
            if let Err(why) = check(expected, &result) {
                failed.push(format!("{}: {why}", scenario.name));
            }
        }
    }
    let enough = asked > 0 && answered * 10 >= asked * ANSWERED_OF_TEN;
    assert!(enough, "{answered} of {asked} answered");
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Whether a scenario is run: the one that `V6GAP_SCENARIO` names, or those of the form.
fn is_wanted(name: &str) -> bool {
    match std::env::var("V6GAP_SCENARIO") {
        Ok(only) => name == only,
        Err(_) => SHORT.contains(&name) || is_night(),
    }
}

fn run(scenario: &Scenario) -> Output {
    let home = Home::new(&scenario.name);
    let file = |name: &str, table: &toml::Table| {
        let path = home.path().join(name);
        std::fs::write(&path, toml::to_string(table).unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (world, plan) = (file("world.toml", &scenario.world), file("plan.toml", &scenario.plan));
    let _hogs = (scenario.trouble == Some(Trouble::Overload)).then(Hogs::start);
    home.v6gap(&["plan", "run", &plan, "--lab", &world, "--json", "-q"])
}

/// The result; a run without a verdict has one too.
fn document(scenario: &Scenario, output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{}: {e}: {}", scenario.name, text(&output.stderr)))
}

/// What is said where there is no clear answer and one was expected: a busy host may lead to that,
/// and never to a wrong one.
fn unanswered(expected: &Expected, result: &Value) -> Option<String> {
    let q = question(result, &expected.cell, &expected.metric);
    let verdict = q["verdict"].as_str()?;
    let open = ["none", "inconclusive"].contains(&verdict);
    let wanted = expected.verdict.iter().any(|right| right == verdict);
    let why = q["why_none"].as_str().or(q["sentence"].as_str())?;
    (open && !wanted).then(|| why.to_owned())
}

/// Whether the values of both families are where they must be, if there are any: also where the
/// verdict is open.
fn bounded(expected: &Expected, result: &Value) -> Result<(), String> {
    let Some([least, most]) = expected.each else { return Ok(()) };
    let q = question(result, &expected.cell, &expected.metric);
    let values = ["v4", "v6"].map(|family| q[family]["estimate"].as_f64());
    let outside = |value: &f64| !(least..=most).contains(value);
    match values.iter().flatten().any(outside) {
        true => Err(format!("{}: {values:?} are not in {least} to {most}", expected.cell)),
        false => Ok(()),
    }
}

fn check(expected: &Expected, result: &Value) -> Result<(), String> {
    let q = question(result, &expected.cell, &expected.metric);
    let said = format!("{q} {}", result["checks"]);
    let verdict = q["verdict"].as_str().unwrap_or_default();
    if !expected.verdict.iter().any(|right| right == verdict) {
        return Err(format!("{} is {verdict}: {}", expected.cell, q["sentence"]));
    }
    if let Some(words) = expected.says.iter().find(|words| !said.contains(words.as_str())) {
        return Err(format!("{} does not say \"{words}\": {said}", expected.cell));
    }
    let Some(truth) = expected.truth else { return Ok(()) };
    let (low, high) = (number(&q["effect"]["low"]), number(&q["effect"]["high"]));
    match low - expected.allow <= truth && truth <= high + expected.allow {
        true => Ok(()),
        false => Err(format!("{}: {low} to {high} misses {truth}", expected.cell)),
    }
}

/// Threads that keep every processor busy, more of them than processors, until dropped.
struct Hogs {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Hogs {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let count = 3 * std::thread::available_parallelism().map_or(1, usize::from);
        let hog = |stop: Arc<AtomicBool>| move || while !stop.load(Ordering::Relaxed) {};
        let threads = (0..count).map(|_| std::thread::spawn(hog(Arc::clone(&stop)))).collect();
        Hogs { stop, threads }
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that only counts cannot panic.
            let _ = thread.join();
        }
    }
}
