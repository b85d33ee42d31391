//! The loop that every suite of level 5 runs its scenarios in, and the two tiers of them: what
//! everybody waits for (`cargo xtask test --setup`) and what may take a quiet night (`cargo xtask
//! truth`).
//!
//! Each scenario is tried once. Only by day, when a machine may take processors away for a second,
//! the witness of a claim about figures is tried up to three times.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

/// When a scenario runs, and how long it may take: so many s on two processors.
///
/// One that takes twice as long fails, so that no suite grows unseen. By night the day's scenarios
/// go on at length, so their budget holds by day only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// By day, and by night at length: what the program does.
    Day(u64),
    /// The same of the one witness of a claim about figures, or of what waits for other programs.
    Witness(u64),
    /// By night alone, unless it is named: what judges figures by statistics, or takes long.
    Night(u64),
}

/// How often a witness may be tried by day.
const TRIES: usize = 3;

/// A scenario: its name, what it does, and its tier.
pub type Scenario<F> = (&'static str, F, Tier);

/// How a suite ends at once where this process is given no network namespaces: with a line that
/// `cargo xtask` looks for, and as a failure where it must run.
pub fn refused() -> Option<ExitCode> {
    let refusal = v6gap_sys::netns::probe().err()?;
    println!("SKIPPED: {refusal}");
    let required = std::env::var_os("V6GAP_REQUIRE_NAMESPACES").is_some();
    Some(if required { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whether this is the night, which leaves nothing out and takes the bounds that are reported.
pub fn is_night() -> bool {
    std::env::var("V6GAP_FULL").is_ok_and(|form| form == "1")
}

/// Runs the scenarios of the present tier one after the other, or those that an argument of this
/// process is part of the name of, each by `call`, which returns what it saw or what was wrong; a
/// panic is a failure too. Returns how many failed.
pub fn run<F: Copy>(
    scenarios: &[Scenario<F>],
    call: impl Fn(F) -> Result<String, String>,
) -> usize {
    let parts: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut failed = 0;
    for &(name, scenario, tier) in scenarios {
        let named = parts.iter().any(|part| name.contains(part.as_str()));
        if !parts.is_empty() && !named {
            continue;
        }
        let budget = match tier {
            Tier::Day(_) | Tier::Witness(_) if is_night() => None,
            Tier::Night(_) if !named && !is_night() => {
                println!("later  {name}: waits for cargo xtask truth");
                continue;
            }
            Tier::Day(seconds) | Tier::Witness(seconds) | Tier::Night(seconds) => Some(seconds),
        };
        println!("begins {name}");
        let tries = if matches!(tier, Tier::Witness(_)) && !is_night() { TRIES } else { 1 };
        let try_it = || judged(name, budget, || call(scenario));
        failed += usize::from(!(0..tries).any(|_| try_it()));
    }
    failed
}

/// Whether `check` passes within twice the budget; says how it ended.
fn judged(name: &str, budget: Option<u64>, check: impl Fn() -> Result<String, String>) -> bool {
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(check));
    let took = start.elapsed().as_secs_f64();
    let outcome = outcome.unwrap_or_else(|_| Err("it panicked".to_owned()));
    let outcome = outcome.and_then(|seen| within(took, budget).map(|()| seen));
    match &outcome {
        Ok(seen) => println!("ok     {name} ({took:.1} s) {seen}"),
        Err(why) => println!("FAILED {name} ({took:.1} s): {why}"),
    }
    outcome.is_ok()
}

/// How a suite ends of which so many scenarios failed.
pub fn ended(failed: usize) -> ExitCode {
    println!("{failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn within(took: f64, budget: Option<u64>) -> Result<(), String> {
    match budget {
        Some(seconds) if took > 2.0 * seconds as f64 => {
            Err(format!("it took more than twice its budget of {seconds} s"))
        }
        _ => Ok(()),
    }
}
