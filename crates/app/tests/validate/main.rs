//! Proof that verdicts hold: runs of the real instrument where the truth is known, and how often it
//! was right (docs/validation).
//!
//! Without arguments a few runs of each kind show that the suite works; `suite` makes those that
//! are reported, and goes on where an earlier call stopped. `cargo xtask validate` calls it.

mod asked;
mod between;
mod bystander;
mod demos;
mod idle;
mod idle_figures;
mod independent;
mod known;
mod plain;
mod plans;
mod program;
mod results;
mod site;
mod size;
mod smoke;
mod speed;
mod summary;
mod trouble;

use asked::Asked;
use results::Results;
use std::process::ExitCode;
use std::time::Instant;

/// Time that a call may take; what is not done then waits for the next one.
pub(crate) struct Budget(Option<Instant>);

impl Budget {
    fn is_used_up(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

pub(crate) fn say(text: &str) {
    println!("{text}");
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((first, rest)) if first == "suite" => Asked::parse(rest).and_then(|a| suite(&a)),
        // What the usual harness would be given: a part of a test's name.
        Some((filter, _)) if !filter.starts_with('-') && !"validate".contains(filter.as_str()) => {
            Ok(())
        }
        _ => smoke(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("FAILED: {why}");
            ExitCode::FAILURE
        }
    }
}

/// All that was asked for: first what needs no lab of this process, since a user namespace is for
/// good.
fn suite(asked: &Asked) -> Result<(), String> {
    if asked.list {
        say(&asked::list());
        return Ok(());
    }
    let results = Results::at(&asked.folder)?;
    let budget = Budget(asked.time.map(|time| Instant::now() + time));
    if asked.wants_lab() && !asked.inside {
        // In a process of its own, which enters the namespace.
        asked.again_inside()?;
    } else if asked.inside {
        v6gap_sys::netns::enter_user_namespace().map_err(|e| e.to_string())?;
        asked::end_with_the_other();
        return in_labs(asked, &results, &budget);
    }
    let wants = |row: &'static str| move |case: &str| asked.wants_case(row, case);
    between::run(asked.at_most(between::RUNS), wants("j"), &results, &budget)?;
    if !budget.is_used_up() {
        demos::run(asked.at_most(demos::RUNS), wants("l"), &results, &budget)?;
    }
    if asked.wants("h") && !budget.is_used_up() {
        size::run(&results)?;
    }
    if asked.wants("i") && !budget.is_used_up() {
        independent::run(&results)?;
    }
    let text = summary::write(&results)?;
    say(&text);
    match &asked.report {
        Some(path) => std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display())),
        None => Ok(()),
    }
}

/// Rows b to g, k and m.
fn in_labs(asked: &Asked, results: &Results, budget: &Budget) -> Result<(), String> {
    let mut cases = known::cases();
    cases.retain(|case| asked.wants_case(case.row, &case.name));
    for case in &mut cases {
        case.runs = asked.at_most(case.runs);
    }
    known::run(&cases, results, budget)?;
    if asked.wants("f") {
        trouble::run(asked.at_most(trouble::RUNS), results, budget)?;
    }
    if asked.wants("g") {
        speed::run(asked.at_most(speed::RUNS), results, budget)?;
    }
    if asked.wants("m") && !budget.is_used_up() {
        idle::run(asked.at_most(idle::RUNS), idle::BLOCK_S, &asked.idle(), results, budget)?;
    }
    Ok(())
}

/// A few runs of each kind, judged as far as a few can be.
fn smoke() -> Result<(), String> {
    if let Err(refusal) = v6gap_sys::netns::probe() {
        say(&format!("SKIPPED: {refusal}"));
        let required = std::env::var_os("V6GAP_REQUIRE_NAMESPACES").is_some();
        return if required { Err(refusal.to_string()) } else { Ok(()) };
    }
    smoke::run()
}
