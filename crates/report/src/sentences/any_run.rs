//! Where the next run of the same set-up will be, beside the ranges of this run alone.

use std::collections::BTreeSet;
use v6gap_judge::analysis::words::{amount_of, span_in_words};
use v6gap_judge::analysis::{Analysis, Question, alike::AnyRun};

/// In one paragraph; `None` where too few runs like this one are known.
pub(crate) fn any_run(analysis: &Analysis) -> Option<String> {
    let of = |q: &Question| {
        let AnyRun { range, tau, .. } = q.any_run?;
        let span = span_in_words(q.metric, &range);
        Some(format!("{}: {span} ({})", q.label, amount_of(q.metric, tau)))
    };
    let questions: Vec<String> = analysis.questions.iter().filter_map(of).collect();
    let runs: BTreeSet<usize> =
        analysis.questions.iter().filter_map(|q| Some(q.any_run?.runs)).collect();
    let (fewest, most) = (runs.first()?, runs.last()?);
    let runs = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    Some(format!(
        "95 %, any run like it, by {runs} runs of this set-up (in brackets: from run to run): {}.",
        questions.join("; ")
    ))
}
