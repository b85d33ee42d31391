//! The test targets, told apart by what they need.
//!
//! Suites that need network namespaces have their own `main`, since a user namespace can only be
//! entered before any thread exists. They are known by their folder below `tests`, as in
//! [`SUITES`]; those in `notebooks` need a Python with libraries and stand with them, as do those
//! in `simulated`, which judge statistics and a fleet by many simulated runs. Each runs in the tier
//! that everybody waits for, and with everything that it has in the night's; those in [`NIGHTLY`]
//! only there.

use crate::command::{Line, cargo};
use crate::outcome::Outcome;
use crate::workspace::{self, Package, TestTarget};

/// Set for suites that need namespaces when they must fail, not skip, where there are none.
const REQUIRE: (&str, &str) = ("V6GAP_REQUIRE_NAMESPACES", "1");

/// Set for suites in the night, when nothing is left out.
const FULL: (&str, &str) = ("V6GAP_FULL", "1");

/// Folders of suites of both tiers.
pub const SUITES: [&str; 6] =
    ["simulated", "namespaces", "netns", "hostile", "browser", "notebooks"];

/// Those of them that run by day behind what is beside them.
const BEHIND: [&str; 3] = ["simulated", "notebooks", "hostile"];

/// Folders of suites that have nothing for the day.
pub const NIGHTLY: [&str; 8] =
    ["validate", "many", "scraped", "broker", "postgres", "attacks", "faults", "soak"];

/// Which tier of the tests runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// What everybody waits for: conduct, and one witness for each claim about figures.
    Day,
    /// Everything, once, with the bounds that are reported.
    Night,
}

/// The profile that the day's tests are built with, and all that they need with them: lines that
/// named different ones would build the dependencies anew.
pub const PROFILE: &str = "ci";

/// Has clippy's driver compile, which is what `cargo clippy` does: what is tested is linted by the
/// same pass, and no dependency is compiled once more to lint what uses it.
const LINTED: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// Tests at a time for each processor: many wait for a network most of the time.
const THREADS: usize = 2;

/// Set for tests that write their snapshots anew.
const BLESS: (&str, &str) = ("V6GAP_BLESS", "1");

/// Compiles and lints every target of the workspace but the benchmarks, also what no test of the
/// day runs.
pub fn compile() -> Result<(), String> {
    test_line(PROFILE, "--tests --no-run").run()
}

/// Compiles and lints the benchmarks, a twentieth of what there is to compile.
pub fn compile_benches() -> Result<(), String> {
    test_line(PROFILE, "--benches --no-run").run()
}

/// The tests inside the packages, and the examples in the documentation.
pub fn units() -> Result<(), String> {
    threaded(units_line()).run()?;
    doc_tests_line().run()
}

/// The tests of whole packages and of the program that need no privileges. Apart from [`units`],
/// since cargo runs one file of tests after the other, and each ends with a few that wait.
pub fn tests() -> Result<(), String> {
    threaded(tests_line(&workspace::packages()?)).run()
}

/// All tests that need no privileges, writing snapshots anew.
pub fn bless() -> Result<(), String> {
    let lines = [units_line(), tests_line(&workspace::packages()?)];
    lines.into_iter().try_for_each(|line| line.env(BLESS.0, BLESS.1).run())
}

fn threaded(line: Line) -> Line {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) * THREADS;
    line.env("RUST_TEST_THREADS", threads.to_string())
}

/// What came of a suite: how it ended, and what its scenarios took, in s, in their order.
pub struct Ran {
    /// How it ended.
    pub outcome: Outcome,
    /// Names and s of the scenarios, one for each try.
    pub took: Vec<(String, f64)>,
}

/// A suite on real kernel links (level 5), at night with the program as it is released. One that
/// could not run says so in a line that starts with `SKIPPED`; if `required`, that is a failure.
/// What figures it could not judge, because the hypervisor took too much, stand after `WITHHELD`.
pub fn run(name: &str, tier: Tier, required: bool) -> Ran {
    let mut text = String::new();
    let ended = namespaces_line(name, tier, required).run_and_keep(&mut text);
    let (skipped, withheld) = (marked(&text, "SKIPPED"), marked(&text, "WITHHELD"));
    let outcome = match ended {
        Err(why) => Outcome::Failed(why),
        Ok(()) if !skipped.is_empty() => Outcome::Skipped(skipped.join("; ")),
        Ok(()) if !withheld.is_empty() => Outcome::Withheld(withheld.join("; ")),
        Ok(()) => Outcome::Passed,
    };
    Ran { outcome, took: took(&text) }
}

/// The suite of known truths, with `options` for it.
pub fn validate(options: &[&str]) -> Result<(), String> {
    validate_line(options).run()
}

/// Every benchmark of every package, one after the other, also after one has failed.
pub fn benches() -> Result<(), String> {
    let mut failed = Vec::new();
    for package in &workspace::packages()? {
        for bench in &package.benches {
            println!("\n== {bench} {}", "=".repeat(76_usize.saturating_sub(bench.len())));
            if let Err(why) = bench_line(package, bench).run() {
                failed.push(why);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn validate_line(options: &[&str]) -> Line {
    let options = options.iter().map(|option| (*option).to_owned());
    cargo("test --release --locked -p v6gap --test validate -- suite").args(options)
}

fn bench_line(package: &Package, bench: &str) -> Line {
    let names = ["-p", &package.name, "--bench", bench].map(str::to_owned);
    cargo("bench --locked").args(names)
}

fn tests_line(packages: &[Package]) -> Line {
    let names = packages
        .iter()
        .flat_map(|p| &p.tests)
        .filter(|t| !lies_in(t, &SUITES) && !lies_in(t, &NIGHTLY));
    let flags = names.flat_map(|t| ["--test".to_owned(), t.name.clone()]);
    test_line(PROFILE, "").args(flags)
}

fn units_line() -> Line {
    test_line(PROFILE, "--lib --bins")
}

fn doc_tests_line() -> Line {
    test_line(PROFILE, "--doc")
}

/// Tests of the whole workspace: dependencies are built with the features that the packages named
/// on a line want together, so that lines that name different ones build them anew. By day what is
/// compiled is linted.
fn test_line(profile: &str, which: &str) -> Line {
    let line = cargo(&format!("test --profile {profile} --locked --workspace {which}"));
    let linted = if profile == PROFILE { &LINTED[..] } else { &[] };
    linted.iter().fold(line, |line, &(key, value)| line.env(key, value))
}

/// The suites of that name in all packages.
fn namespaces_line(name: &str, tier: Tier, required: bool) -> Line {
    let profile = if tier == Tier::Night { "release" } else { PROFILE };
    let line = test_line(profile, "--no-fail-fast --test").args([name.to_owned()]);
    let line = match tier {
        Tier::Night => line.env(FULL.0, FULL.1),
        Tier::Day if BEHIND.contains(&name) => line.behind(),
        Tier::Day => line,
    };
    if required { line.env(REQUIRE.0, REQUIRE.1) } else { line }
}

fn lies_in(target: &TestTarget, folders: &[&str]) -> bool {
    folders.iter().any(|folder| target.path.starts_with(&format!("tests/{folder}/")))
}

/// What each scenario took of which a line tells how it ended: `ok     NAME (1.5 s, …`.
fn took(text: &str) -> Vec<(String, f64)> {
    let one = |line: &str| {
        let rest = line.strip_prefix("ok ").or_else(|| line.strip_prefix("FAILED "))?;
        let (name, time) = rest.split_once(" (")?;
        let seconds = time.split_once(" s")?.0.parse().ok()?;
        Some((name.trim().to_owned(), seconds))
    };
    text.lines().filter_map(one).collect()
}

/// What lines say that begin with a word in capitals.
fn marked(text: &str, word: &str) -> Vec<String> {
    let reason =
        |line: &str| Some(line.trim().strip_prefix(word)?.trim_matches([':', ' ']).to_owned());
    text.lines().filter_map(reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn package() -> Package {
        let test = |name: &str, path: &str| TestTarget { name: name.into(), path: path.into() };
        Package {
            name: "v6gap".into(),
            folder: "app".into(),
            dependencies: Vec::new(),
            tests: vec![
                test("cli", "tests/cli/main.rs"),
                test("namespaces", "tests/namespaces/main.rs"),
                test("netns", "tests/netns/main.rs"),
                test("validate", "tests/validate/main.rs"),
            ],
            benches: vec!["speed".into()],
        }
    }

    #[test]
    fn unprivileged_tests_leave_the_namespace_suites_out() {
        let line = tests_line(&[package()]).to_string();
        let expected = "cargo test --profile ci --locked --workspace --test cli";
        assert!(line.ends_with(expected), "{line}");
    }

    #[test]
    fn every_line_of_the_day_compiles_alike_and_lints() {
        let package = package();
        let tests = tests_line(&[package]);
        let day = [tests, units_line(), doc_tests_line(), test_line(PROFILE, "--tests")];
        let suite = namespaces_line("netns", Tier::Day, false);
        let driver = "RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D";
        for line in day.iter().chain([&suite]) {
            assert!(line.to_string().starts_with(driver), "{line}");
        }
        assert!(!namespaces_line("netns", Tier::Night, false).to_string().contains("clippy"));
    }

    #[test]
    fn each_benchmark_has_a_line_of_its_own() {
        let line = bench_line(&package(), "speed").to_string();
        assert_eq!(line, "cargo bench --locked -p v6gap --bench speed");
    }

    #[test]
    fn the_suite_of_known_truths_gets_its_options() {
        let line = validate_line(&["--rows", "b,c"]).to_string();
        let suite = "cargo test --release --locked -p v6gap --test validate -- suite";
        assert_eq!(line, format!("{suite} --rows b,c"));
    }

    #[test]
    fn suites_are_told_what_is_required_and_which_tier_runs() {
        let line = |tier, required| namespaces_line("netns", tier, required).to_string();
        let rest = "--locked --workspace --no-fail-fast --test netns";
        let day = format!("cargo test --profile ci {rest}");
        assert!(line(Tier::Day, false).ends_with(&day));
        let required = line(Tier::Day, true);
        assert!(required.ends_with(&format!("V6GAP_REQUIRE_NAMESPACES=1 {day}")), "{required}");
        let night = "V6GAP_FULL=1 V6GAP_REQUIRE_NAMESPACES=1 cargo test --profile release";
        assert_eq!(line(Tier::Night, true), format!("{night} {rest}"));
    }

    #[test]
    fn scenarios_are_listed_with_what_they_took() {
        let text = "begins rates\nFAILED rates (2.5 s, 12 % stolen): too low\n\
                    ok     rates (1.5 s, 0 % stolen) 95 Mbit/s\nok SKIPPED\n2 failed\n";
        let expected = [("rates".to_owned(), 2.5), ("rates".to_owned(), 1.5)];
        assert_eq!(took(text), expected);
    }

    /// Whatever folder of tests needs another runner is run by a step of the night.
    #[test]
    fn every_suite_of_the_workspace_has_a_step() {
        let packages = workspace::packages().unwrap();
        let own_main = |t: &&TestTarget| lies_in(t, &SUITES) || lies_in(t, &NIGHTLY);
        let found: BTreeSet<&str> =
            packages.iter().flat_map(|p| &p.tests).filter(own_main).map(|t| &*t.name).collect();
        let listed: BTreeSet<&str> = SUITES.into_iter().chain(NIGHTLY).collect();
        assert_eq!(found, listed);
    }

    #[test]
    fn what_was_skipped_or_withheld_is_found_in_the_output() {
        let text = "running\nSKIPPED: no user namespaces\n  SKIPPED no tun\nok SKIPPED\n\
                    WITHHELD rates: the hypervisor took 12 %\n";
        assert_eq!(marked(text, "SKIPPED"), ["no user namespaces", "no tun"]);
        assert_eq!(marked(text, "WITHHELD"), ["rates: the hypervisor took 12 %"]);
        assert!(marked("test result: ok. 3 passed", "SKIPPED").is_empty());
    }
}
