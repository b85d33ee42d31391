//! The words of a comparison: every text that carries a verdict on a change is made here.

use super::{Change, Of, Row, Side};
use crate::analysis::words::{amount, amount_of, range_in_words, span_in_words, topic};
use crate::analysis::{Qualifier, Question, Range, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::arm::{Arm, PerArm};

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
        _ => amount(q.metric, effect.estimate),
    };
    change.range_text = range_in_words(q.metric, &effect.range95);
    let estimate = amount(q.metric, effect.estimate);
    let Range { low, high } = effect.range95;
    let [from, to] = [low, high].map(|end| amount(q.metric, end));
    let ignored = amount_of(q.metric, margin);
    change.sentence = match change.verdict {
        Verdict::None => unanswered,
        Verdict::Same => format!(
            "{about}: no change that matters from A to {letter}. If there is one it is below {}; \
             up to {ignored} was chosen to be ignored.",
            amount_of(q.metric, low.abs().max(high.abs()))
        ),
        Verdict::Better | Verdict::Worse if change.qualifier == Qualifier::Clear => {
            format!("{about}: {estimate} in {letter} than in A (between {from} and {to}).")
        }
        Verdict::Better | Verdict::Worse => format!(
            "{about}: {estimate} in {letter} than in A, by {from} to {to}. That may be too small \
             to matter ({ignored} was chosen to be ignored)."
        ),
        Verdict::CannotTell => format!(
            "{about}: could not tell. In {letter} it may be {} than in A.",
            span_in_words(q.metric, &effect.range95)
        ),
    };
}

/// The answer in one sentence.
pub(super) fn headline(runs: &[Side], rows: &[Row], names: &PerArm<String>) -> String {
    let failed = |run: &Side| {
        let why = run.failed.as_ref()?;
        Some(format!("No verdict: a check of {} failed: {why}.", run.letter))
    };
    // Without the reference there is nothing to compare with.
    if let Some(said) = runs.first().and_then(failed) {
        return said;
    }
    let say = |run: &Side| failed(run).unwrap_or_else(|| against(run.letter, rows, names));
    runs.iter().skip(1).map(say).collect::<Vec<_>>().join(" ")
}

/// What happened from A to one other run.
fn against(letter: char, rows: &[Row], names: &PerArm<String>) -> String {
    let found: Vec<(&Row, &Change)> = changes(rows, letter, Of::Difference).collect();
    let with = |verdict| found.iter().filter(move |(_, c)| c.verdict == verdict);
    let PerArm { a, b } = names;
    let (open, same) = (with(Verdict::CannotTell).count(), with(Verdict::Same).count());
    let none = with(Verdict::None).count();
    let strongest = |verdict| {
        let all: Vec<&(&Row, &Change)> = with(verdict).collect();
        let first = all.iter().max_by(|x, y| weight(x).total_cmp(&weight(y)))?;
        let more = match all.len() - 1 {
            0 => String::new(),
            1 => " and in 1 question more".to_string(),
            n => format!(" and in {n} questions more"),
        };
        Some(format!("{} at {}{more}", first.1.text, first.0.topic()))
    };
    match (strongest(Verdict::Better), strongest(Verdict::Worse)) {
        (None, None) if open + same == 0 => {
            let why = found.iter().find_map(|(_, c)| c.why_none.as_deref());
            format!("No verdict on {letter}: {}.", why.unwrap_or("nothing was measured"))
        }
        (None, None) if open > 0 => format!(
            "From A to {letter} no change of {b} against {a} was found yet; {open} of {} questions \
             are still open.",
            open + same
        ),
        (None, None) if none > 0 => format!(
            "From A to {letter} {b} against {a} did not change by anything that matters in what \
             could be compared; {} no answer.",
            match none {
                1 => "1 question has".to_string(),
                n => format!("{n} questions have"),
            }
        ),
        (None, None) => {
            format!("From A to {letter} {b} against {a} did not change by anything that matters.")
        }
        (Some(better), None) => {
            format!("From A to {letter} {b} got better against {a}: {better}.")
        }
        (None, Some(worse)) => format!("From A to {letter} {b} got worse against {a}: {worse}."),
        (Some(better), Some(worse)) => {
            format!("From A to {letter} {b} against {a} got better ({better}) and worse ({worse}).")
        }
    }
}

/// How many margins wide a change is.
fn weight((row, change): &(&Row, &Change)) -> f64 {
    change.effect.as_ref().map_or(0.0, |e| e.estimate.abs() / row.margin.max(1e-9))
}

fn changes(rows: &[Row], letter: char, of: Of) -> impl Iterator<Item = (&Row, &Change)> {
    rows.iter().flat_map(move |row| {
        let against = row.against.iter().filter(move |against| against.letter == letter);
        let changes = against.flat_map(|against| &against.changes);
        changes.filter(move |change| change.of == of).map(move |change| (row, change))
    })
}

/// Each family by itself, from A to each other run: what changed most, or that nothing did.
pub(super) fn details(rows: &[Row], names: &PerArm<String>) -> Vec<String> {
    let mut letters: Vec<char> = rows.iter().flat_map(|r| &r.against).map(|a| a.letter).collect();
    letters.sort_unstable();
    letters.dedup();
    let mut details = Vec::new();
    for letter in letters {
        for (of, arm) in [(Of::First, Arm::A), (Of::Second, Arm::B)] {
            let found: Vec<(&Row, &Change)> = changes(rows, letter, of).collect();
            details.push(by_itself(letter, names.get(arm), &found));
        }
    }
    details
}

fn by_itself(letter: char, name: &str, found: &[(&Row, &Change)]) -> String {
    let is = |verdicts: &'static [Verdict]| {
        found.iter().filter(move |(_, change)| verdicts.contains(&change.verdict))
    };
    let changed = is(&[Verdict::Better, Verdict::Worse]);
    let most = changed.clone().max_by(|x, y| weight(x).total_cmp(&weight(y)));
    let (changed, same) = (changed.count(), is(&[Verdict::Same]).count());
    let of = found.len();
    match most {
        Some((row, change)) => format!(
            "{name} by itself, from A to {letter}: changed in {changed} of {of} questions, most in \
             {}, which is {} ({}); same in {same}.",
            row.label, change.text, change.range_text
        ),
        None => format!("{name} by itself, from A to {letter}: same in {same} of {of} questions."),
    }
}

impl Row {
    /// The question as part of a longer sentence, as in "round trips of 64 B over TCP".
    fn topic(&self) -> String {
        topic(self.metric, self.transport, self.level_bytes)
    }
}
