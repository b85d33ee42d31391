//! One family measured alone: how such a run is marked and what is said of it. There is nothing to
//! compare, so its values are all there is.

use crate::output;
use v6gap_core::family::Family;
use v6gap_core::metric::Quantity;
use v6gap_core::unit::{format_rate, format_share, format_span, significant};
use v6gap_judge::analysis::{Analysis, Question};

/// The set-up note that marks such a run.
pub fn note(family: Family) -> String {
    format!("{family} alone was measured, in turns with itself: no comparison")
}

/// The family that was measured alone, if one was. A null run has the same arms and is none.
pub fn single_family(analysis: &Analysis) -> Option<Family> {
    let run = &analysis.run;
    let arms = run.plan.design.arms;
    let marked = || run.notes.iter().any(|note| note.starts_with(&format!("{} alone", arms.a)));
    (arms.is_null() && marked()).then_some(arms.a)
}

/// The values of a run of one family, one line for each question.
pub fn table(analysis: &Analysis, family: Family) -> String {
    let width = output::column(analysis.questions.iter().map(|q| q.label.as_str()));
    let line = |q: &Question| format!("{:width$}  {:>12}\n", q.label, value(q));
    let lines: String = analysis.questions.iter().map(line).collect();
    let id = &analysis.run.id;
    format!("{lines}\n{family} alone: no comparison.\nSaved as {id}. Report: v6gap report {id}\n")
}

/// Both arms are the family, so the value is the mean of theirs.
fn value(question: &Question) -> String {
    let measured = [question.values.a, question.values.b];
    let known: Vec<f64> = measured.into_iter().flatten().collect();
    if known.is_empty() {
        return "not measured".to_owned();
    }
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    match question.metric.quantity() {
        Quantity::Rate => format_rate(mean),
        Quantity::Frequency => format!("{} /s", significant(mean, 3)),
        Quantity::Time => format_span(mean * 1e9),
        Quantity::Share => format_share(mean),
        Quantity::Cost => format!("{} s/GB", significant(mean * 1e9, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::analysis_of as analysis;
    use v6gap_core::arm::PerArm;
    use v6gap_core::plan::preset;

    #[test]
    fn one_family_alone_gets_values_and_no_verdict() {
        let mut plan = preset::first_look(PerArm::null(Family::V6), None, 7);
        plan.parts_mut().design.null_blocks = 0;
        let mut found = analysis(plan, "lab-b");
        assert_eq!(single_family(&found), None, "a null run is a comparison");
        found.run.notes.push(note(Family::V6));
        assert_eq!(single_family(&found), Some(Family::V6));
        found.questions[0].values = PerArm { a: Some(94.0e6), b: Some(94.4e6) };
        let text = table(&found, Family::V6);
        let first = text.lines().next().unwrap();
        assert!(first.starts_with(&found.questions[0].label), "{text}");
        assert!(first.ends_with("94.2 Mbit/s"), "{text}");
        let end = "\nIPv6 alone: no comparison.\nSaved as 000000. Report: v6gap report 000000\n";
        assert!(text.ends_with(end), "{text}");
        assert!(!text.contains("IPv4"), "{text}");
    }
}
