//! The words of a comparison: every text that carries a verdict on a change is made here.

use super::{Change, Of};
use crate::analysis::alike::RUNS_MIN;
use crate::analysis::words::{
    amount_of, amount_within, counted, most, range_in_words, span_in_words, tiny,
};
use crate::analysis::{Qualifier, Question, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use v6gap_core::arm::PerArm;

/// Fills in the texts of a change that is otherwise complete.
pub(super) fn fill(
    change: &mut Change,
    q: &Question,
    margin: f64,
    letter: char,
    names: &PerArm<String>,
) {
    let about = format!("{}, {}", q.label, change.of.subject(names));
    let why = change.why_none.as_deref().unwrap_or("nothing was measured");
    let unanswered = format!("{about} has no verdict: {why}.");
    let Some(effect) = change.effect.clone() else {
        change.text = "–".to_string();
        change.range_text = "–".to_string();
        change.sentence = unanswered;
        return;
    };
    change.text = match change.verdict {
        Verdict::CannotTell => span_in_words(q.metric, &effect.range95),
        _ if effect.estimate == 0.0 => "no change".to_string(),
        _ => amount_within(q.metric, effect.estimate, &effect.range95),
    };
    change.range_text = range_in_words(q.metric, &effect.range95);
    let estimate = amount_within(q.metric, effect.estimate, &effect.range95);
    let span = span_in_words(q.metric, &effect.range95);
    let ignored = amount_of(q.metric, margin);
    change.sentence = match change.verdict {
        Verdict::None => unanswered,
        Verdict::Same if change.qualifier == Qualifier::RealButTiny => {
            let found = format!("{estimate} in {letter} than in A ({span})");
            format!("{about}: {}", tiny("a change", &found, q.metric, margin))
        }
        Verdict::Same => format!(
            "{about}: no change that matters from A to {letter}. If there is one it is at most \
             {}; up to {ignored} was chosen to be ignored.",
            most(q.metric, &effect.range95)
        ),
        Verdict::Better | Verdict::Worse if change.qualifier == Qualifier::Clear => {
            format!("{about}: {estimate} in {letter} than in A ({span}).")
        }
        Verdict::Better | Verdict::Worse => format!(
            "{about}: {estimate} in {letter} than in A ({span}). That may be too small \
             to matter ({ignored} was chosen to be ignored)."
        ),
        Verdict::CannotTell => {
            format!("{about}: could not tell. In {letter} it may be {span} than in A.")
        }
    };
}

/// Said where too few runs are like either of the two: what is not known, and what would tell it.
pub(super) fn unknown_scatter(of: Of, letter: char, found: usize) -> String {
    let unknown = unknown(match of {
        Of::Difference => "differences scatter",
        Of::First | Of::Second => "a family by itself scatters",
    });
    let runs = counted(RUNS_MIN.saturating_sub(found).max(1), "more run");
    format!("{unknown}; {runs} like {letter} would tell")
}

/// The same of failures: stored runs do not tell it.
pub(super) fn unknown_scatter_of_failures(of: Of) -> String {
    unknown(match of {
        Of::Difference => "differences of failures scatter",
        Of::First | Of::Second => "failures of a family by itself scatter",
    })
}

fn unknown(what: &str) -> String {
    format!("how much {what} from run to run is not known")
}
