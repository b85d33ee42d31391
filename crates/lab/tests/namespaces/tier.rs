//! The loop that every suite of level 5 runs its scenarios in, and the two tiers of them: what
//! everybody waits for (`cargo xtask test --setup`) and what may take a quiet night (`cargo xtask
//! truth`).
//!
//! Each scenario is tried once. Only by day, when a machine may take processors away for a second,
//! the witness of a claim about figures is tried up to three times. If the hypervisor disturbed all
//! of them, as far as it says or a thread that spins behind each finds, its figures are withheld:
//! they tell nothing. By night that is a failure.

#[path = "steal.rs"]
mod steal;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use v6gap_sys::usage::{self, MachineTicks};

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

/// How many scenarios failed, and of how many the figures could not be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ended {
    failed: usize,
    withheld: usize,
}

impl std::ops::Add for Ended {
    type Output = Ended;

    fn add(self, other: Ended) -> Ended {
        let Ended { failed, withheld } = other;
        Ended { failed: self.failed + failed, withheld: self.withheld + withheld }
    }
}

/// Runs the scenarios of the present tier one after the other, or those that an argument of this
/// process is part of the name of, each by `call`, which returns what it saw or what was wrong; a
/// panic is a failure too.
pub fn run<F: Copy>(
    scenarios: &[Scenario<F>],
    call: impl Fn(F) -> Result<String, String>,
) -> Ended {
    let parts: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut ended = Ended::default();
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
        let by_day = matches!(tier, Tier::Witness(_)) && !is_night();
        let tries = if by_day { TRIES } else { 1 };
        let mut shares = Vec::new();
        let began = Instant::now();
        let clock = || began.elapsed();
        // What a processor loses awake and what it loses on waking come one on top of the other.
        let taken =
            || steal::lost(clock, waited) + steal::overslept(clock, waited, std::thread::sleep);
        let disturbed = |stolen: f64| if by_day { stolen.max(taken()) } else { stolen };
        let attempt = || judged(name, budget, || call(scenario)).map_err(disturbed);
        if (0..tries).any(|_| attempt().map_err(|share| shares.push(share)).is_ok()) {
            continue;
        }
        match steal::in_each(&shares).filter(|_| by_day) {
            Some(share) => {
                let percent = share * 100.0;
                println!("WITHHELD {name}: other machines took {percent:.0} % of the time worked");
                ended.withheld += 1;
            }
            None => ended.failed += 1,
        }
    }
    ended
}

/// Whether `check` passes within twice the budget, which no time counts in that the hypervisor
/// took; says how it ended. Fails with the share that it took of the time worked.
fn judged(
    name: &str,
    budget: Option<u64>,
    check: impl Fn() -> Result<String, String>,
) -> Result<(), f64> {
    let (start, before) = (Instant::now(), ticks());
    let outcome = catch_unwind(AssertUnwindSafe(check));
    let took = start.elapsed().as_secs_f64();
    let after = ticks();
    let stolen = steal::share_of_all(&before, &after);
    let outcome = outcome.unwrap_or_else(|_| Err("it panicked".to_owned()));
    let outcome = outcome.and_then(|seen| within(took * (1.0 - stolen), budget).map(|()| seen));
    let spent = format!("{took:.1} s, {:.0} % stolen", stolen * 100.0);
    match &outcome {
        Ok(seen) => println!("ok     {name} ({spent}) {seen}"),
        Err(why) => println!("FAILED {name} ({spent}): {why}"),
    }
    outcome.map(drop).map_err(|_| steal::share(&before, &after))
}

/// What the machine spent so far; where it does not tell, nothing was taken.
fn ticks() -> MachineTicks {
    usage::machine().unwrap_or_default()
}

/// How long this thread was ready while other threads of this machine ran; where the kernel does
/// not tell, never.
fn waited() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    // Behind the time that it ran.
    let ns = text.split_whitespace().nth(1).and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.unwrap_or(0))
}

/// How a suite ends whose scenarios ended so.
pub fn ended(Ended { failed, withheld }: Ended) -> ExitCode {
    println!("{failed} failed, {withheld} withheld");
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
