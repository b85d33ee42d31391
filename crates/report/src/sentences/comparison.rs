//! What a comparison of runs says first: what changed from the reference to each other run.

use crate::words::{Told, some_questions};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::unit::significant;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::compare::{Change, Comparison, FailureChange, Of, Row, Side};
use v6gap_judge::analysis::words::{signed_ends, topic};

/// The answer in one sentence.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let Comparison { runs, rows, arm_names: names, .. } = comparison;
    let failed = |run: &Side| {
        let why = run.failed.as_ref()?;
        Some(format!("No verdict: a check of {} failed: {why}.", run.letter))
    };
    // Without the reference there is nothing to compare with.
    if let Some(said) = runs.first().and_then(failed) {
        return said;
    }
    let say = |run: &Side| {
        let fails = fails(comparison, run.letter).map(|fails| format!("{fails} "));
        let said = failed(run).unwrap_or_else(|| against(run.letter, rows, names));
        fails.unwrap_or_default() + &said
    };
    runs.iter().skip(1).map(say).collect::<Vec<_>>().join(" ")
}

/// That one family came to fail more often against the other, if that is known.
fn fails(comparison: &Comparison, letter: char) -> Option<String> {
    let mut own = comparison.failures.iter().filter(|found| found.letter == letter);
    let found = own.find(|found| found.of == Of::Difference)?;
    let PerArm { a, b } = &comparison.arm_names;
    match found.verdict {
        Verdict::Worse => Some(format!("From A to {letter} {b} came to fail more often than {a}.")),
        Verdict::Better => {
            Some(format!("From A to {letter} {b} came to fail less often than {a}."))
        }
        _ => None,
    }
}

/// How failures changed, each family and their difference by itself.
fn failures(comparison: &Comparison) -> Vec<String> {
    let say = |found: &FailureChange| {
        let of = found.of.subject(&comparison.arm_names);
        let ([before, after], [was, is]) = (found.shares, found.blocks);
        let letter = found.letter;
        let shares = match found.of.arm() {
            Some(_) => {
                let (before, after) = (percent(before), percent(after));
                format!("in {before} % of {was} blocks in A, in {after} % of {is} in {letter}")
            }
            None => {
                let (before, after) = (more_often(before, was), more_often(after, is));
                format!("{before} in A, {after} in {letter}")
            }
        };
        let verdict = match found.verdict {
            Verdict::Worse => "worse: fails more often",
            Verdict::Better => "better: fails less often",
            Verdict::Same | Verdict::CannotTell | Verdict::None => "can't tell",
        };
        let ([low, high], caveat) = (signed_ends(&found.range), &found.caveat);
        format!("Failures, {of}: {shares}, {low} to {high} points: {verdict}; {caveat}.")
    };
    comparison.failures.iter().map(say).collect()
}

/// A share as a percentage without a sign; what is less than a percent is not none.
fn percent(share: f64) -> String {
    match 100.0 * share.abs() {
        0.0 => "0".to_owned(),
        few if few < 1.0 => significant(few, 1),
        more => format!("{more:.0}"),
    }
}

/// A share of rounds in which more failed of the second arm, less those of the first.
fn more_often(share: f64, rounds: usize) -> String {
    let percent = percent(share);
    match share {
        more if more > 0.0 => format!("more often by {percent} % of {rounds} rounds"),
        less if less < 0.0 => format!("less often by {percent} % of {rounds} rounds"),
        _ => format!("as often in {rounds} rounds"),
    }
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
        Some(format!("{} at {}{more}", first.1.text, topic_of(first.0)))
    };
    match (strongest(Verdict::Better), strongest(Verdict::Worse)) {
        (None, None) if open + same == 0 => {
            let why = found.iter().find_map(|(_, c)| c.why_none.as_deref());
            let why = why.unwrap_or("nothing was measured");
            // Whose reason it is stands before it already.
            let own = why.strip_prefix(letter).and_then(|rest| rest.strip_prefix(": "));
            format!("No verdict on {letter}: {}.", own.unwrap_or(why))
        }
        (None, None) if open > 0 => format!(
            "From A to {letter} no change of {b} against {a} was found yet; {}.",
            some_questions(open, open + same, "is still open", "are still open")
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
pub(crate) fn details(comparison: &Comparison) -> Vec<String> {
    let Comparison { rows, arm_names: names, .. } = comparison;
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
    details.extend(failures(comparison));
    details
}

fn by_itself(letter: char, name: &str, found: &[(&Row, &Change)]) -> String {
    let is = |verdicts: &'static [Verdict]| {
        found.iter().filter(move |(_, change)| verdicts.contains(&change.verdict))
    };
    let changed: Vec<_> = is(&[Verdict::Better, Verdict::Worse]).collect();
    let same = is(&[Verdict::Same]).filter(|one| !is_tiny(one)).count();
    let tiny = match found.iter().filter(|one| is_tiny(one)).count() {
        0 => String::new(),
        n => format!(", changed within the margin in {n}"),
    };
    let of = found.len();
    if is(&[Verdict::None]).count() == of {
        return format!("{name} by itself, from A to {letter}: no verdict.");
    }
    let most = match (&changed[..], largest(&changed)) {
        ([], _) => {
            return format!(
                "{name} by itself, from A to {letter}: same in {same} of {of} questions{tiny}."
            );
        }
        (_, None) => "in which most cannot be told".to_owned(),
        (all, Some((row, change))) => {
            let most = if all.len() == 1 { "" } else { "most " };
            format!("{most}in {}, which is {} ({})", row.label, change.text, change.range_text)
        }
    };
    let changed = changed.len();
    format!(
        "{name} by itself, from A to {letter}: changed in {changed} of {of} questions, {most}; \
         same in {same}{tiny}."
    )
}

/// Whether it is there and lies within the margin.
fn is_tiny((row, change): &(&Row, &Change)) -> bool {
    Told::change(row, change).within.is_some()
}

/// The change that is most margins wide, if its range lies beyond those of all others.
fn largest<'a>(changed: &[&'a (&'a Row, &'a Change)]) -> Option<(&'a Row, &'a Change)> {
    let most = changed.iter().max_by(|x, y| weight(x).total_cmp(&weight(y)))?;
    let others = || changed.iter().filter(|other| !std::ptr::eq(**other, *most));
    let least = margins_wide(most)[0];
    others().all(|other| margins_wide(other)[1] < least).then_some(**most)
}

/// The least and the most margins that a change may be wide, by its range.
fn margins_wide((row, change): &(&Row, &Change)) -> [f64; 2] {
    let margin = row.margin.max(1e-9);
    change.effect.as_ref().map_or([0.0; 2], |effect| {
        let [low, high] = [effect.range95.low, effect.range95.high];
        let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
        [least / margin, low.abs().max(high.abs()) / margin]
    })
}

/// The question as part of a longer sentence, as in "round trips of 64 B over TCP".
fn topic_of(row: &Row) -> String {
    topic(&row.label, row.metric, row.transport, row.level_bytes)
}
