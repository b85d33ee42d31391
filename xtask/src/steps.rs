//! The steps of the two tiers of tests, in order from fast to slow, each timed; the first failure
//! ends the day's, the night goes on to its end.

use crate::command::cargo;
use crate::outcome::Outcome;
use crate::suites::{PROFILE, Tier};
use crate::{dist, fuzz, setup, suites, targets, tidy, workspace};
use std::time::{Duration, Instant};

/// A step's name, outcome and how long it took.
struct Done {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

type Step = (&'static str, fn(bool) -> Outcome);

/// Every step of the day's tier after the installation; the argument says whether nothing may be
/// skipped.
const DAY: [Step; 6] = [
    ("format", |_| cargo("fmt --all --check").run().into()),
    ("tidy", |_| tidy().into()),
    ("clippy", |_| clippy().into()),
    ("tests", |_| suites::unprivileged().into()),
    ("targets", |_| check_targets(Tier::Day)),
    ("namespaces", |required| suites::namespaces(Tier::Day, required)),
];

/// Steps of the night, which wants a quiet machine.
const NIGHT: [Step; 5] = [
    ("targets", |_| check_targets(Tier::Night)),
    ("deny", check_dependencies),
    ("dist", dist::night),
    ("fuzz", fuzz::night),
    ("suites", |required| suites::namespaces(Tier::Night, required)),
];

/// What everybody waits for. With `setup`, what is missing is installed first and a skipped step is
/// a failure.
pub fn test(setup: bool) -> Result<(), String> {
    let install: Step = ("setup", |_| setup::install_missing(Tier::Day).into());
    run(setup.then_some(install).into_iter().chain(DAY), setup, true)
}

/// What judges figures at length, goes on for hours or needs quiet: everything once. `setup` as in
/// [`test`].
pub fn truth(setup: bool) -> Result<(), String> {
    let install: Step = ("setup", |_| setup::install_missing(Tier::Night).into());
    run(setup.then_some(install).into_iter().chain(NIGHT), setup, false)
}

/// Runs the steps and says how each ended; whether the first failure ends it is `brief`.
fn run(steps: impl Iterator<Item = Step>, setup: bool, brief: bool) -> Result<(), String> {
    let mut done: Vec<Done> = Vec::new();
    for (name, run) in steps {
        println!("\n== {name} {}", "=".repeat(76 - name.len()));
        let start = Instant::now();
        let outcome = judge(run(setup), setup);
        let failed = matches!(outcome, Outcome::Failed(_));
        done.push(Done { name, outcome, took: start.elapsed() });
        if failed && brief {
            break;
        }
    }
    print!("\n{}", summary(&done));
    done.iter().find_map(Done::failure).map_or(Ok(()), Err)
}

impl Done {
    fn failure(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Failed(why) => Some(format!("{}: {why}", self.name)),
            Outcome::Passed | Outcome::Withheld(_) | Outcome::Skipped(_) => None,
        }
    }
}

/// The checks of [`tidy`](crate::tidy) on this workspace.
pub fn tidy() -> Result<(), String> {
    let report = tidy::check(&workspace::root(), &workspace::packages()?)?;
    print!("{report}");
    match report.findings.len() {
        0 => Ok(()),
        n => Err(format!("{n} findings")),
    }
}

/// Licences, sources and bans, installing cargo-deny where it is missing. The advisory database is
/// left out: it has to be fetched, and a step must give the same answer offline.
pub fn deny() -> Result<(), String> {
    setup::install_deny()?;
    // The graph holds the dependencies of every platform; building has not fetched them all.
    cargo("fetch --locked").run()?;
    cargo("deny --offline --locked check bans licenses sources").run()
}

/// The benchmarks, all of them. One whose peer is not installed says so and fails; with `setup` it
/// is installed first.
pub fn bench(setup: bool) -> Result<(), String> {
    if setup {
        setup::install_peers()?;
    }
    suites::benches()
}

/// Clippy in two passes: the bans of clippy.toml hold for the product; tests may read the clock,
/// the disk and the environment, and clippy has no setting for that.
fn clippy() -> Result<(), String> {
    let line = |more: &str| cargo(&format!("clippy --profile {PROFILE} --workspace {more}")).run();
    line("--locked -- -D warnings")?;
    let tests = "-A clippy::disallowed_methods -A clippy::disallowed_macros";
    line(&format!("--all-targets --locked -- -D warnings {tests}"))
}

fn check_targets(tier: Tier) -> Outcome {
    match targets::missing() {
        Ok(missing) if missing.is_empty() => targets::check_all(tier).into(),
        Ok(missing) => Outcome::Skipped(format!("not installed: {}", missing.join(", "))),
        Err(e) => Outcome::Skipped(e),
    }
}

fn check_dependencies(_: bool) -> Outcome {
    if cargo("deny --version").output().is_err() {
        return Outcome::Skipped("cargo-deny is not installed".to_owned());
    }
    deny().into()
}

fn judge(outcome: Outcome, setup: bool) -> Outcome {
    match outcome {
        Outcome::Skipped(why) if setup => Outcome::Failed(format!("could not run: {why}")),
        other => other,
    }
}

fn summary(done: &[Done]) -> String {
    let row = |d: &Done| format!("{:12}{:>8.1} s  {}\n", d.name, d.took.as_secs_f64(), d.outcome);
    let total: Duration = done.iter().map(|d| d.took).sum();
    let rows: String = done.iter().map(row).collect();
    format!("{rows}{:12}{:>8.1} s\n", "total", total.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_failure_only_where_nothing_may_be_skipped() {
        let skipped = Outcome::Skipped("no tun".to_owned());
        assert_eq!(judge(skipped.clone(), false), skipped);
        assert_eq!(judge(skipped, true), Outcome::Failed("could not run: no tun".to_owned()));
        assert_eq!(judge(Outcome::Passed, true), Outcome::Passed);
        let withheld = Outcome::Withheld("goodput: the hypervisor took 12 %".to_owned());
        assert_eq!(judge(withheld.clone(), true), withheld);
    }

    #[test]
    fn summary_has_a_row_for_each_step_and_the_total() {
        let step = |name, outcome, s| Done { name, outcome, took: Duration::from_secs(s) };
        let done =
            [step("tidy", Outcome::Passed, 2), step("x", Outcome::Skipped("no tun".to_owned()), 3)];
        let expected = "tidy             2.0 s  passed\n\
                        x                3.0 s  SKIPPED: no tun\n\
                        total            5.0 s\n";
        assert_eq!(summary(&done), expected);
    }
}
