//! A few runs of each kind, so that the suite goes on working.

use crate::results::Results;
use crate::{Budget, known, summary, trouble};
use std::time::{Duration, Instant};
use v6gap_judge::analysis::Verdict;
use v6gap_report::headline;

/// Beginnings of the names of the cases that are run once.
const CASES: [&str; 4] = ["null-v6", "rate-5", "delay+5", "loss+5-v6"];

/// How often a busy machine is asked for one figure that its self-test lets pass.
const TRIES: usize = 3;

/// After this no further run of a try begins.
const TIME: Duration = Duration::from_secs(40);

/// # Errors
/// If nothing can be measured in any try, or a verdict has the wrong sign. On a busy host the
/// self-test may refuse figures, which is said and is no failure.
pub(crate) fn run() -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("v6gap-validate-{}", std::process::id()));
    let results = Results::at(&folder)?;
    v6gap_sys::netns::enter_user_namespace().map_err(|e| e.to_string())?;
    let mut cases = known::cases();
    cases.retain(|case| CASES.contains(&case.name.as_str()));
    let mut ran = trouble::one(trouble::Trouble::DelayDrift, "delay-drift", 0, &results);
    for nth in 1..=TRIES {
        cases.iter_mut().for_each(|case| case.runs = nth);
        let tried = known::run(&cases, &results, &Budget(Some(Instant::now() + TIME)));
        ran = ran.and(tried);
        if ran.is_err() || answered(&results, &cases)? > 0 {
            break;
        }
    }
    let ran = ran.and_then(|()| check(&results, &cases));
    // What is left in the folder for temporary files hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    ran
}

fn check(results: &Results, cases: &[known::Case]) -> Result<(), String> {
    crate::say(&summary::write(results)?);
    match answered(results, cases)? {
        0 => Err(format!("no question has a range in {TRIES} tries")),
        _ => Ok(()),
    }
}

/// How many questions of all runs so far have a range.
fn answered(results: &Results, cases: &[known::Case]) -> Result<usize, String> {
    let mut answered = 0;
    let lines = results.lines();
    for case in cases {
        for done in lines.iter().filter(|done| done["case"] == case.name.as_str()) {
            let found = results.analysed(done)?;
            let ranges = found.questions.iter().filter_map(|q| q.effect.as_ref());
            answered += ranges.filter(|effect| effect.range95.low.is_finite()).count();
            let of_loss = case.name.starts_with("loss");
            let better = found.questions.iter().any(|q| {
                let asked = (q.metric == v6gap_core::metric::Metric::Loss) == of_loss;
                asked && q.verdict == Verdict::Better
            });
            if better && !case.name.starts_with("null") {
                return Err(format!("{}: IPv6 is worse there: {}", case.name, headline(&found)));
            }
        }
    }
    Ok(answered)
}
