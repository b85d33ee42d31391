//! What other runs of the same set-up tell: where the next will be, beside the ranges of this run
//! alone, and what changed from run to run.

use std::collections::BTreeSet;
use v6gap_judge::analysis::words::{amount_of, span_in_words};
use v6gap_judge::analysis::{Analysis, Question, alike::AnyRun, history::ChangePoint};

/// In a paragraph each; nothing where too few runs like this one are known.
pub(crate) fn other_runs(analysis: &Analysis) -> impl Iterator<Item = String> {
    any_run(analysis).into_iter().chain(changes(analysis))
}

fn any_run(analysis: &Analysis) -> Option<String> {
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

/// All changes of the set-up, of one question and one arm each.
fn changes(analysis: &Analysis) -> Option<String> {
    let of = |q: &Question, change: &ChangePoint| {
        let ChangePoint { of, first, before, since, range, .. } = change;
        let (who, span) = (of.subject(&analysis.arm_names), span_in_words(q.metric, range));
        let label = &q.label;
        format!("{label}, {who}: {span} from run {first} on ({before} runs before, {since} since)")
    };
    let questions = analysis.questions.iter();
    let changes: Vec<String> =
        questions.flat_map(|q| q.change_points.iter().map(move |one| of(q, one))).collect();
    let all = changes.join("; ");
    (!changes.is_empty()).then(|| format!("95 %, what changed between runs of this set-up: {all}."))
}
