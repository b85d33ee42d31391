//! Picks the verb; the work is in the library, where it can be tested.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

use std::process::ExitCode;
use xtask::suites::Tier;
use xtask::{dist, fuzz, lines, pages, steps, suites, targets};

const USAGE: &str = "\
usage: cargo xtask VERB

  test            format, tidy, compilation with clippy, tests, targets, suites;
                  what cannot run here is reported as skipped, with the reason
  test --setup    the same, but installs what is missing first, and nothing may be skipped
  ci              test --setup
  truth           the night: the whole program for all targets, deny, fuzz, and all suites with
                  everything that they have and the bounds that are reported; wants a quiet machine
                    --setup         install what is missing; nothing may be skipped
                    --from STEP     begin there, as after a night that was ended
                    --list          the steps and the minutes that each is planned to take
  tidy            the rules of CONTRIBUTING.md that a program can check
  pages           follows the pages that say how to add something, in a copy
  lines           how many lines the product has, by crate
  targets         cargo check for every supported platform
  deny            licences, sources and banned crates of the dependencies (installs cargo-deny)
  bless           tests, writing the snapshots anew
  bench           benchmarks of the hot loops against the programs that people use
  bench --setup   the same, but installs those programs first
  dist            static programs, Debian packages and SHA256SUMS in target/dist
                    --check         and try them where nothing else is
                    --setup         install what is missing
  fuzz            the targets of crates/fuzz under libFuzzer; needs a nightly compiler
                    --for TIME      for all together         --target NAME   these alone
                    --runs N        inputs of each at most   --report FILE   write the table there
                    --setup         install what is missing  --minimise      keep what was found
                    --faults        planted faults are found --memory        sanitizer and Miri
                    --fast          without AddressSanitizer, which safe code does not need
  validate        runs of the instrument where the truth is known (docs/validation); goes on where
                  it was stopped
                    --rows b,c,…    these rows or cases      --for TIME      then stop
                    --runs N        at most N of each case   --report FILE   write the summary there
                    --list          the cases, without running any
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args.as_slice() {
        ["test"] => steps::test(false),
        ["test", "--setup"] | ["ci"] => steps::test(true),
        ["truth", options @ ..] => steps::truth(options),
        ["tidy"] => steps::tidy(),
        ["pages"] => pages::follow(),
        ["lines"] => lines::print(),
        ["targets"] => targets::add_missing().and_then(|()| targets::check_all(Tier::Night)),
        ["deny"] => steps::deny(),
        ["bless"] => suites::bless(),
        ["bench"] => steps::bench(false),
        ["bench", "--setup"] => steps::bench(true),
        ["dist", options @ ..] => dist::verb(options),
        ["fuzz", options @ ..] => fuzz::verb(options),
        ["validate", options @ ..] => suites::validate(options),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("no such verb: {}\n\n{USAGE}", args.join(" "))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
