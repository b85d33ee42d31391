//! What failed, and whether one family fails more often, in sentences.

use crate::words::{self, p_value};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_judge::analysis::{Analysis, Failures, Verdict};

/// That one family fails more often than the other, or in every attempt at some questions, if that
/// is known: it belongs to the answer.
pub fn fails(analysis: &Analysis) -> Option<String> {
    let often = more_often(analysis);
    let said: Vec<String> = often.into_iter().chain(always(analysis)).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// What never came through over one family alone.
fn always(analysis: &Analysis) -> Option<String> {
    let Analysis { unreached, questions, arm_names, .. } = analysis;
    let (name, count) = match unreached {
        PerArm { a: 0, b: 0 } => return None,
        PerArm { a: 0, b } => (&arm_names.b, b),
        PerArm { a, b: 0 } => (&arm_names.a, a),
        PerArm { .. } => return None,
    };
    let all = questions.len();
    Some(format!("{name} failed in every attempt at {count} of {all} questions."))
}

fn more_often(analysis: &Analysis) -> Option<String> {
    let Failures { verdict, .. } = analysis.failures.as_ref()?;
    let names = &analysis.arm_names;
    let (more, less) = match verdict {
        Verdict::Worse => (&names.b, &names.a),
        Verdict::Better => (&names.a, &names.b),
        _ => return None,
    };
    Some(format!("{more} fails more often than {less} on this path."))
}

/// What failed, with the verdict on it; `None` if nothing did.
pub fn failures(analysis: &Analysis) -> Option<String> {
    let found = analysis.failures.as_ref()?;
    let neither = match found.attempts_of_neither {
        0 => String::new(),
        1 => " 1 attempt failed for which neither family stands alone.".to_owned(),
        n => format!(" {n} attempts failed for which neither family stands alone."),
    };
    if found.verdict == Verdict::None {
        return Some(format!("Failures:{neither}"));
    }
    let names = &analysis.arm_names;
    let Failures { blocks, failed, connections, .. } = found;
    let share = |arm: Arm| format!("{} in {}", names.get(arm), words::number(*failed.get(arm)));
    let [first, second] = Arm::BOTH.map(share);
    let opened = |PerArm { a, b }: &PerArm<(u64, u64)>| {
        let of = |(lost, of): (u64, u64)| format!("{lost} of {of}");
        ((a.0, b.0) != (0, 0))
            .then(|| format!(" Connections that failed: {} and {}.", of(*a), of(*b)))
    };
    let opened = opened(connections).unwrap_or_default();
    let verdict = match found.verdict {
        Verdict::Worse => format!("worse: fails ({})", p_value(found.p)),
        Verdict::Better => format!("better: fails less often ({})", p_value(found.p)),
        _ => format!("can't tell which fails more often ({})", p_value(found.p)),
    };
    Some(format!(
        "Failures: {first}, {second} of {blocks} blocks.{opened}{neither} Verdict: {verdict}."
    ))
}
