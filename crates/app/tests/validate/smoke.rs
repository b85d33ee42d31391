//! A few runs of each kind, so that the suite goes on working.

use crate::results::Results;
use crate::{Budget, known, summary, trouble};
use std::time::{Duration, Instant};
use v6gap_core::analysis::Verdict;

/// Beginnings of the names of the cases that are run once.
const CASES: [&str; 4] = ["null-v6", "rate-5", "delay+5", "loss+5-v6"];

/// After this no further run begins.
const TIME: Duration = Duration::from_secs(40);

/// # Errors
/// If nothing can be measured, or a verdict has the wrong sign. On a busy host the self-test may
/// refuse figures, which is said and is no failure.
pub(crate) fn run() -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("v6gap-validate-{}", std::process::id()));
    let results = Results::at(&folder)?;
    v6gap_sys::netns::enter_user_namespace().map_err(|e| e.to_string())?;
    let mut cases = known::cases();
    cases.retain(|case| CASES.contains(&case.name.as_str()));
    cases.iter_mut().for_each(|case| case.runs = 1);
    let ran = known::run(&cases, &results, &Budget(Some(Instant::now() + TIME)));
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
    let mut answered = 0;
    for case in cases {
        let lines = results.lines();
        let Some(done) = lines.iter().find(|done| done["case"] == case.name.as_str()) else {
            crate::say(&format!("{} was not reached", case.name));
            continue;
        };
        let found = results.analysed(done)?;
        let ranges = found.questions.iter().filter_map(|q| q.effect.as_ref());
        answered += ranges.filter(|effect| effect.range95.low.is_finite()).count();
        let of_loss = case.name.starts_with("loss");
        let better = found.questions.iter().any(|q| {
            let asked = (q.metric == v6gap_core::metric::Metric::Loss) == of_loss;
            asked && q.verdict == Verdict::Better
        });
        if better && !case.name.starts_with("null") {
            return Err(format!("{}: IPv6 is worse there: {}", case.name, found.headline));
        }
    }
    if answered == 0 { Err("no question has a range".to_owned()) } else { Ok(()) }
}
