//! The two tiers of the suites of level 5, in one place for all of them: what everybody waits for
//! (`cargo xtask test --setup`) and what needs a quiet night (`cargo xtask truth`).

use std::fmt::Display;
use std::process::ExitCode;

/// What a check judges, which says how often it is tried in which tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// What the program does: once is enough to condemn it.
    Conduct,
    /// What it measured, for one claim about figures, or something that waits for other programs: a
    /// machine whose processors are taken away for a second gives other figures, and programs are
    /// late, so it is tried up to three times.
    Witness,
    /// What it measured, at length: for the night alone, unless it is named.
    Figures,
}

/// How a suite ends at once where this process is given no network namespaces: with a line that
/// `cargo xtask` looks for, and as a failure where it must run.
pub fn refused() -> Option<ExitCode> {
    let refusal = v6gap_sys::netns::probe().err()?;
    println!("SKIPPED: {refusal}");
    let required = std::env::var_os("V6GAP_REQUIRE_NAMESPACES").is_some();
    Some(if required { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whether this is the night, which leaves nothing out, takes the bounds that are reported, and
/// tries everything once.
pub fn is_night() -> bool {
    std::env::var("V6GAP_FULL").is_ok_and(|form| form == "1")
}

/// How often a check is tried at most; 0 if it waits for the night. `named` says whether it was
/// asked for by name.
pub fn tries(judges: Judges, named: bool) -> usize {
    match judges {
        _ if is_night() => 1,
        Judges::Conduct => 1,
        Judges::Witness => 3,
        Judges::Figures => 3 * usize::from(named),
    }
}

/// A check of that name, tried so often; each failure but the last is printed. Without a try there
/// is nothing against it.
pub fn judged<T: Default, E: Display>(
    name: &str,
    tries: usize,
    check: impl Fn() -> Result<T, E>,
) -> Result<T, E> {
    let mut outcome = Ok(T::default());
    for nth in 1..=tries {
        outcome = check();
        match &outcome {
            Err(error) if nth < tries => println!("again  {name}, time {nth}: {error}"),
            _ => break,
        }
    }
    outcome
}
