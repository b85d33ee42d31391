//! What a script waits for: `--fail-if` and `--require` against the verdicts of a run.

use crate::args::{Condition, ResultArgs};
use crate::failure::Outcome;
use v6gap_core::analysis::{Analysis, Question, Verdict};

/// How the program ends after a run with these verdicts.
///
/// A failed check comes first, then a broken condition, then one that is open. A condition about a
/// metric that was not measured is open.
pub fn outcome(result: &ResultArgs, analysis: &Analysis) -> Outcome {
    if !analysis.valid {
        return Outcome::NotValid;
    }
    let held = |c: &Condition| about(c, analysis).any(|q| q.verdict == c.verdict);
    if result.fail_if.iter().any(held) {
        return Outcome::NotMet;
    }
    let required: Vec<Outcome> = result.require.iter().map(|c| required(c, analysis)).collect();
    let worst = [Outcome::NotMet, Outcome::Undecided].into_iter().find(|o| required.contains(o));
    worst.unwrap_or(Outcome::Done)
}

/// Every question of the metric must have the verdict; "better" also satisfies who requires "same",
/// as nothing got worse.
fn required(condition: &Condition, analysis: &Analysis) -> Outcome {
    let mut any = false;
    let mut open = false;
    for question in about(condition, analysis) {
        any = true;
        match question.verdict {
            verdict if verdict == condition.verdict => {}
            Verdict::Better if condition.verdict == Verdict::Same => {}
            Verdict::CannotTell | Verdict::None => open = true,
            Verdict::Better | Verdict::Worse | Verdict::Same => return Outcome::NotMet,
        }
    }
    if open || !any { Outcome::Undecided } else { Outcome::Done }
}

fn about<'a>(
    condition: &Condition,
    analysis: &'a Analysis,
) -> impl Iterator<Item = &'a Question> + use<'a> {
    let metric = condition.metric;
    analysis.questions.iter().filter(move |q| metric.is_none_or(|metric| q.metric == metric))
}
