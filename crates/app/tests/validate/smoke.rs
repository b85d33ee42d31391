//! A few runs of each kind, so that the suite goes on working.

use crate::bystander::Kind;
use crate::results::Results;
use crate::{Budget, idle, known, summary, trouble};
use std::time::{Duration, Instant};

/// Beginnings of the names of the cases that are run once.
const CASES: [&str; 4] = ["null-v6", "rate-5", "delay+5", "loss+5-v6"];

/// How often a busy machine is asked for one figure that its self-test lets pass.
const TRIES: usize = 3;

/// After this no further run of a try begins.
const TIME: Duration = Duration::from_secs(40);

/// A range may miss the truth by so much, as a share: one in twenty does by a little.
const SLACK: f64 = 0.01;

/// Blocks of a pair beside an idle watch last so long, in s.
const BLOCK_S: f64 = 0.2;

/// # Errors
/// If nothing can be measured in any try, a range is far from the truth or a verdict has the wrong
/// sign. On a busy host the self-test may refuse figures, which is said and is no failure.
pub(crate) fn run() -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("v6gap-validate-{}", std::process::id()));
    let results = Results::at(&folder)?;
    v6gap_sys::netns::enter_user_namespace().map_err(|e| e.to_string())?;
    let mut cases = known::cases();
    cases.retain(|case| CASES.contains(&case.name.as_str()));
    let mut ran = trouble::one(trouble::Trouble::DelayDrift, "delay-drift", 0, &results);
    ran = ran.and_then(|()| idle::run(1, BLOCK_S, &Kind::Watch, &results, &Budget(None)));
    for nth in 1..=TRIES {
        cases.iter_mut().for_each(|case| case.runs = nth);
        let tried = known::run(&cases, &results, &Budget(Some(Instant::now() + TIME)));
        ran = ran.and(tried);
        if ran.is_err() || summary::wrong(&results, SLACK)?.0 > 0 {
            break;
        }
    }
    let ran = ran.and_then(|()| check(&results));
    // What is left in the folder for temporary files hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    ran
}

fn check(results: &Results) -> Result<(), String> {
    crate::say(&summary::write(results)?);
    match summary::wrong(results, SLACK)? {
        (0, _) => Err(format!("no question has an answer in {TRIES} tries")),
        (_, wrong) if wrong.is_empty() => Ok(()),
        (_, wrong) => Err(wrong),
    }
}
