//! What failed or was lost, and whether that is so more often over one family, in sentences.

use crate::words::{self, p_value};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_judge::analysis::{Analysis, Exchanges, Failures, Verdict};

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
    let Failures { counted, .. } = analysis.failures.as_ref()?;
    let names = &analysis.arm_names;
    let (more, less) = match counted.verdict {
        Verdict::Worse => (&names.b, &names.a),
        Verdict::Better => (&names.a, &names.b),
        _ => return None,
    };
    Some(format!("{more} fails more often than {less} on this path."))
}

/// What failed and what was lost, each with the verdict on it; `None` if nothing was.
pub fn failures(analysis: &Analysis) -> Option<String> {
    let found = analysis.failures.as_ref()?;
    let names = &analysis.arm_names;
    let lost = found.exchanges.as_ref().map(|exchanges| lost(exchanges, names));
    let said: Vec<String> = failed(found, names).into_iter().chain(lost).collect();
    Some(said.join(" "))
}

/// Over which arm exchanges of datagrams were lost in more rounds, if that can be told.
fn lost(exchanges: &Exchanges, names: &PerArm<String>) -> String {
    let Exchanges { lost, counted } = exchanges;
    let rounds = counted.rounds;
    let of = |arm: Arm| share_of(*lost.get(arm));
    let p = p_value(counted.p);
    let arm = match counted.verdict {
        Verdict::Worse => Arm::B,
        Verdict::Better => Arm::A,
        Verdict::Same | Verdict::CannotTell | Verdict::None => {
            let share = |arm: Arm| format!("{} over {}", of(arm), names.get(arm));
            let [first, second] = Arm::BOTH.map(share);
            return format!(
                "Lost exchanges: {first}, {second}. Verdict: can't tell over which more are lost \
                 ({p})."
            );
        }
    };
    let in_rounds = |arm: Arm| words::number(*counted.more.get(arm));
    let (own, other) = (in_rounds(arm), in_rounds(arm.other()));
    format!(
        "Exchanges are lost more often over {}: {} against {}, more in {own} of {rounds} rounds \
         and fewer in {other} ({p}).",
        names.get(arm),
        of(arm),
        of(arm.other())
    )
}

fn share_of((part, all): (u64, u64)) -> String {
    format!("{part} of {all}")
}

/// What failed of attempts and connections, with the verdict on it.
fn failed(found: &Failures, names: &PerArm<String>) -> Option<String> {
    let neither = match found.attempts_of_neither {
        0 => String::new(),
        1 => " 1 attempt failed for which neither family stands alone.".to_owned(),
        n => format!(" {n} attempts failed for which neither family stands alone."),
    };
    let Failures { blocks, failed, connections, counted, .. } = found;
    if counted.verdict == Verdict::None {
        return (!neither.is_empty()).then(|| format!("Failures:{neither}"));
    }
    let share = |arm: Arm| format!("{} in {}", names.get(arm), words::number(*failed.get(arm)));
    let [first, second] = Arm::BOTH.map(share);
    let opened = match connections {
        PerArm { a: (0, _), b: (0, _) } => String::new(),
        PerArm { a, b } => {
            format!(" Connections that failed: {} and {}.", share_of(*a), share_of(*b))
        }
    };
    let p = p_value(counted.p);
    let verdict = match counted.verdict {
        Verdict::Worse => format!("worse: fails ({p})"),
        Verdict::Better => format!("better: fails less often ({p})"),
        _ => format!("can't tell which fails more often ({p})"),
    };
    Some(format!(
        "Failures: {first}, {second} of {blocks} blocks.{opened}{neither} Verdict: {verdict}."
    ))
}
