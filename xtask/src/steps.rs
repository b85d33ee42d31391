//! The steps of the two tiers of tests, each timed; by day from fast to slow and to the first that
//! fails, though every suite of links runs. The night goes on to its end, and can begin at any
//! step.

use crate::command::cargo;
use crate::outcome::Outcome;
use crate::suites::{NIGHTLY, Ran, SUITES, Tier};
use crate::{dist, fuzz, pages, setup, suites, targets, tidy, workspace};
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

/// A step's name, outcome, what its scenarios took in s, and how long it took.
struct Done {
    name: &'static str,
    ran: Ran,
    took: Duration,
}

/// What a step does.
#[derive(Clone, Copy)]
enum Work {
    /// Anything; the argument says whether nothing may be skipped.
    Of(fn(bool) -> Outcome),
    /// A suite of level 5.
    Suite(Tier),
}

type Step = (&'static str, Work);

/// Every step of the day's tier before the suites that have the processors to themselves.
const DAY: [&[Step]; 2] = [
    &[
        ("setup", Work::Of(install)),
        ("format", Work::Of(|_| cargo("fmt --all --check").run().into())),
        ("tidy", Work::Of(|_| tidy().into())),
        ("compile", Work::Of(|_| suites::compile().into())),
    ],
    // The tests go before what is beside them, of which nothing judges how long it took.
    &[
        ("tests", Work::Of(|_| suites::tests().into())),
        ("units", Work::Of(|_| suites::units().into())),
        ("targets", Work::Of(|_| check_targets(Tier::Day))),
    ],
];

/// The browser, which waits for pages two fifths of the time, and behind it the suites in which
/// nothing judges how long it took.
const LAST: &[Step] = &[
    ("browser", Work::Suite(Tier::Day)),
    ("simulated", Work::Suite(Tier::Day)),
    ("notebooks", Work::Suite(Tier::Day)),
    ("hostile", Work::Suite(Tier::Day)),
];

/// Steps of the night before the suites.
const NIGHT: [Step; 6] = [
    ("benches", Work::Of(|_| suites::compile_benches().into())),
    ("targets", Work::Of(|_| check_targets(Tier::Night))),
    ("deny", Work::Of(check_dependencies)),
    ("pages", Work::Of(|_| pages::follow().into())),
    ("dist", Work::Of(dist::night)),
    ("fuzz", Work::Of(fuzz::night)),
];

/// Minutes that a step of the night is planned to take on two processors, by its budgets.
fn planned(step: &str) -> u64 {
    match step {
        "targets" | "namespaces" => 20,
        "dist" | "fuzz" => 30,
        "netns" => 120,
        "hostile" | "browser" => 10,
        "attacks" => 40,
        "faults" => 20,
        "soak" => 75,
        _ => 5,
    }
}

/// What everybody waits for. With `setup`, what is missing is installed first and a skipped step is
/// a failure.
pub fn test(setup: bool) -> Result<(), String> {
    let alone = SUITES.iter().filter(|&suite| !LAST.iter().any(|(name, _)| name == suite));
    let alone: Vec<Step> = alone.map(|name| (*name, Work::Suite(Tier::Day))).collect();
    run(DAY.into_iter().chain(alone.chunks(1)).chain([LAST]), setup, true)
}

/// What judges figures at length, goes on for hours or needs quiet: everything once. With `--setup`
/// as in [`test`]; `--from STEP` begins there, as after a night that was ended; `--list` says what
/// there is.
pub fn truth(options: &[&str]) -> Result<(), String> {
    let suites = SUITES.into_iter().chain(NIGHTLY).map(|name| (name, Work::Suite(Tier::Night)));
    let steps: Vec<Step> = NIGHT.into_iter().chain(suites).collect();
    let (setup, from) = match options {
        ["--list"] => {
            print!("{}", plan(&steps));
            return Ok(());
        }
        [] => (false, None),
        ["--setup"] => (true, None),
        ["--from", step] => (false, Some(*step)),
        ["--setup", "--from", step] | ["--from", step, "--setup"] => (true, Some(*step)),
        other => return Err(format!("truth: no such options: {}", other.join(" "))),
    };
    let left = beginning(&steps, from)?;
    let install = &[("setup", Work::Of(|_| setup::install_missing(Tier::Night).into()))][..];
    run(setup.then_some(install).into_iter().chain(left.chunks(1)), setup, false)
}

/// The steps from that one on.
fn beginning<'a>(steps: &'a [Step], from: Option<&str>) -> Result<&'a [Step], String> {
    let Some(from) = from else { return Ok(steps) };
    let at = steps.iter().position(|(name, _)| *name == from);
    at.map(|at| &steps[at..]).ok_or_else(|| format!("truth: no such step: {from} (--list)"))
}

/// Each step and the minutes that it is planned to take, and all together.
fn plan(steps: &[Step]) -> String {
    let rows: String =
        steps.iter().map(|(name, _)| format!("{name:12}{:>6} min\n", planned(name))).collect();
    let total: u64 = steps.iter().map(|(name, _)| planned(name)).sum();
    format!("{rows}{:12}{total:>6} min\n", "total")
}

/// Runs the steps, those of a group beside each other, and says how each ended; whether the first
/// failure ends it is `brief`, but every suite is run.
fn run<'a>(
    groups: impl Iterator<Item = &'a [Step]>,
    setup: bool,
    brief: bool,
) -> Result<(), String> {
    let begin = Instant::now();
    let mut done: Vec<Done> = Vec::new();
    for group in groups {
        let beside: Vec<Done> = std::thread::scope(|scope| {
            let all: Vec<_> =
                group.iter().map(|&step| scope.spawn(move || perform(step, setup))).collect();
            all.into_iter().map(|step| step.join().unwrap_or_else(|e| resume_unwind(e))).collect()
        });
        let ends = |(step, (_, work)): (&Done, &Step)| {
            step.failure().is_some() && matches!(work, Work::Of(_))
        };
        let ended = beside.iter().zip(group).any(ends);
        done.extend(beside);
        if ended && brief {
            break;
        }
    }
    print!("\n{}\n{}", scenarios(&done), summary(&done, begin.elapsed()));
    let failures: Vec<String> = done.iter().filter_map(Done::failure).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn perform((name, work): Step, setup: bool) -> Done {
    println!("\n== {name} {}", "=".repeat(76 - name.len()));
    let start = Instant::now();
    let Ran { outcome, took } = match work {
        Work::Of(work) => Ran { outcome: work(setup), took: Vec::new() },
        Work::Suite(tier) => suites::run(name, tier, setup),
    };
    let ran = Ran { outcome: judge(outcome, setup), took };
    Done { name, ran, took: start.elapsed() }
}

impl Done {
    fn failure(&self) -> Option<String> {
        match &self.ran.outcome {
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

/// Installs what the day's steps lack, beside what needs none of it; `wanted` or not at all.
fn install(wanted: bool) -> Outcome {
    if wanted { setup::install_missing(Tier::Day).into() } else { Outcome::Passed }
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

/// A row for each step, and what all took together: steps beside each other share that.
fn summary(done: &[Done], total: Duration) -> String {
    let row = |d: &Done| {
        let seconds = d.took.as_secs_f64();
        format!("{:12}{seconds:>8.1} s  {}\n", d.name, d.ran.outcome)
    };
    let rows: String = done.iter().map(row).collect();
    format!("{rows}{:12}{:>8.1} s\n", "total", total.as_secs_f64())
}

/// What each scenario took, each try in a row, the longest first.
fn scenarios(done: &[Done]) -> String {
    let mut all: Vec<_> =
        done.iter().flat_map(|d| d.ran.took.iter().map(|row| (d.name, row))).collect();
    all.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
    let row = |(suite, (name, s)): &(&str, &(String, f64))| format!("{s:>8.1} s  {suite} {name}\n");
    all.iter().map(row).collect()
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

    fn step(name: &'static str, outcome: Outcome, s: u64) -> Done {
        let ran = Ran { outcome, took: Vec::new() };
        Done { name, ran, took: Duration::from_secs(s) }
    }

    #[test]
    fn summary_has_a_row_for_each_step_and_the_total() {
        let done =
            [step("tidy", Outcome::Passed, 2), step("x", Outcome::Skipped("no tun".to_owned()), 3)];
        let expected = "tidy             2.0 s  passed\n\
                        x                3.0 s  SKIPPED: no tun\n\
                        total            5.0 s\n";
        assert_eq!(summary(&done, Duration::from_secs(5)), expected);
    }

    #[test]
    fn scenarios_are_listed_by_what_they_took() {
        let mut done = [step("netns", Outcome::Passed, 5), step("soak", Outcome::Passed, 9)];
        done[0].ran.took = vec![("rate".to_owned(), 1.0), ("delay".to_owned(), 3.5)];
        done[1].ran.took = vec![("hour".to_owned(), 9.0)];
        let expected = "     9.0 s  soak hour\n     3.5 s  netns delay\n     1.0 s  netns rate\n";
        assert_eq!(scenarios(&done), expected);
    }

    #[test]
    fn a_night_begins_where_it_is_told_to() {
        let names = |steps: &[Step]| steps.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(names(beginning(&NIGHT, Some("dist")).unwrap()), ["dist", "fuzz"]);
        assert_eq!(beginning(&NIGHT, None).unwrap().len(), NIGHT.len());
        assert!(beginning(&NIGHT, Some("dust")).is_err());
        let listed = plan(&NIGHT);
        assert!(listed.starts_with("benches          5 min\ntargets         20 min\n"), "{listed}");
        assert!(listed.ends_with("total           95 min\n"), "{listed}");
    }
}
