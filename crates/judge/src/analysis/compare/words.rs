//! The words of a comparison: every text that carries a verdict on a change is made here.

use super::{Change, Of};
use crate::analysis::alike::RUNS_MIN;
use crate::analysis::words::{
    amount_within, counted, decided_by, margin_in_words, most, span_in_words, table_range, tiny,
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
    let (range, usual) = decided_by(change.verdict, margin, &effect);
    let level = if usual { "" } else { ", 90 %" };
    let estimate = amount_within(q.metric, effect.estimate, range);
    let span = span_in_words(q.metric, range) + level;
    change.text = match change.verdict {
        Verdict::CannotTell => span.clone(),
        _ if effect.estimate == 0.0 => "no change".to_string(),
        _ => estimate.clone(),
    };
    change.range_text = table_range(q.metric, (range, usual));
    let ignored = margin_in_words(q.metric, margin);
    change.sentence = match change.verdict {
        Verdict::None => unanswered,
        Verdict::Same if change.qualifier == Qualifier::RealButTiny => {
            let found = format!("{estimate} in {letter} than in A ({span})");
            format!("{about}: {}", tiny("a change", &found, q.metric, margin))
        }
        Verdict::Same => format!(
            "{about}: no change that matters from A to {letter}. If there is one it is at most \
             {}{level}; up to {ignored} was chosen to be ignored.",
            most(q.metric, range)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{EVEN, plan, run};
    use crate::analysis::{Range, analyse};
    use alloc::vec::Vec;

    /// The range that decided is told where the other one reaches beyond the margin.
    #[test]
    fn no_change_is_told_with_a_range_within_the_margin() {
        let analysis = analyse(&run(&plan(PerArm::FAMILIES, 1), 8, &EVEN)).unwrap();
        let q = &analysis.questions[0];
        let around = |half: f64| Range { low: -half, high: half };
        let said = |widest: f64, qualifier| {
            let mut effect = q.effect.clone().unwrap();
            effect.estimate = 0.001;
            (effect.range95, effect.range90) = (around(widest), around(0.015));
            let mut change = Change {
                of: Of::Difference,
                effect: Some(effect),
                verdict: Verdict::Same,
                qualifier,
                why_none: None,
                p_different: 1.0,
                p_different_adjusted: 1.0,
                p_same: 0.0,
                p_same_adjusted: 0.0,
                runs_like: None,
                caveats: Vec::new(),
                text: String::new(),
                range_text: String::new(),
                sentence: String::new(),
            };
            fill(&mut change, q, 0.02, 'B', &analysis.arm_names);
            change
        };
        let wide = said(0.025, Qualifier::Plain);
        assert_eq!(wide.range_text, "90 %: −1.5 – +1.5 %");
        assert!(wide.sentence.contains("at most 1.5 %, 90 %; up to 2 %"), "{}", wide.sentence);
        let tiny = said(0.025, Qualifier::RealButTiny);
        assert!(tiny.sentence.contains("slower, 90 %)"), "{}", tiny.sentence);
        let usual = said(0.018, Qualifier::Plain);
        assert_eq!(usual.range_text, "−1.8 – +1.8 %");
        assert!(usual.sentence.contains("at most 1.8 %; up to 2 %"), "{}", usual.sentence);
    }
}
