//! A few runs of each kind, so that the suite goes on working.

use crate::results::Results;
use crate::{Budget, known, summary, trouble};
use v6gap_core::analysis::Verdict;

/// Beginnings of the names of the cases that are run once.
const CASES: [&str; 4] = ["null-v6", "rate-5", "delay+5", "loss+5-v6"];

/// # Errors
/// If something cannot be run, or a verdict has the wrong sign.
pub(crate) fn run() -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("v6gap-validate-{}", std::process::id()));
    let results = Results::at(&folder)?;
    v6gap_sys::netns::enter_user_namespace().map_err(|e| e.to_string())?;
    let mut cases = known::cases();
    cases.retain(|case| CASES.contains(&case.name.as_str()));
    cases.iter_mut().for_each(|case| case.runs = 1);
    let ran = known::run(&cases, &results, &Budget(None));
    let ran = ran.and_then(|()| {
        trouble::one(trouble::Trouble::DelayDrift, "delay-drift", 0, &results)?;
        check(&results, &cases)
    });
    // What is left in the folder for temporary files hurts nobody.
    let _ = std::fs::remove_dir_all(&folder);
    ran
}

fn check(results: &Results, cases: &[known::Case]) -> Result<(), String> {
    crate::say(&summary::write(results)?);
    for case in cases {
        let lines = results.lines();
        let done = lines.iter().find(|done| done["case"] == case.name.as_str());
        let found = results.analysed(done.ok_or_else(|| format!("no run of {}", case.name))?)?;
        let of_loss = case.name.starts_with("loss");
        let answered = found.questions.iter().any(|q| {
            let asked = (q.metric == v6gap_core::metric::Metric::Loss) == of_loss;
            asked && q.effect.as_ref().is_some_and(|e| e.range95.low.is_finite())
        });
        if !answered {
            return Err(format!("{} has no range: {}", case.name, found.headline));
        }
        let better = found.questions.iter().any(|q| q.verdict == Verdict::Better);
        if better && !case.name.starts_with("null") {
            return Err(format!("{}: IPv6 is worse there: {}", case.name, found.headline));
        }
    }
    Ok(())
}
