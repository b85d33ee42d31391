//! Levels that say the same, said once: neighbouring sizes of one question with one verdict are a
//! run, and a level between them with another verdict ends it, so nothing is smoothed over.

use crate::words::capital;
use v6gap_core::metric::Metric;
use v6gap_core::unit;
use v6gap_judge::analysis::{Explained, Qualifier, Question, Range, Verdict, words};

/// The longest run of neighbouring levels around `one` with its verdict, by size; it alone where
/// the question has no levels, or its sentence has no place for them.
pub(super) fn around<'a>(questions: &'a [Question], one: &'a Question) -> Vec<&'a Question> {
    let Some(kind) = kind(one) else { return vec![one] };
    let mut levels: Vec<&Question> =
        questions.iter().filter(|q| self::kind(q).is_some_and(|other| other == kind)).collect();
    levels.sort_by_key(|q| q.level_bytes);
    let Some(at) = levels.iter().position(|q| q.cell == one.cell) else {
        return vec![one];
    };
    let alike = |q: &&&Question| q.verdict == one.verdict;
    let before = levels[..at].iter().rev().take_while(alike).count();
    let after = levels[at..].iter().take_while(alike).count();
    levels[at - before..at + after].to_vec()
}

/// What the levels of a sweep have in common: metric and cell but for the size. `None` for metrics
/// whose sentences name no size.
fn kind(question: &Question) -> Option<(Metric, String)> {
    let named = matches!(question.metric, Metric::Rtt | Metric::Throughput | Metric::PacketRate);
    let size = question.level_bytes.filter(|_| named)?;
    Some((question.metric, question.cell.replacen(&format!("-{size}"), "", 1)))
}

/// All runs of the questions with that verdict, each once, in the order of the questions.
pub(super) fn runs(questions: &[Question], verdict: Verdict) -> Vec<Vec<&Question>> {
    let mut runs: Vec<Vec<&Question>> = Vec::new();
    for question in questions.iter().filter(|q| q.verdict == verdict) {
        let told = |run: &Vec<&Question>| run.iter().any(|q| std::ptr::eq(*q, question));
        if !runs.iter().any(told) {
            runs.push(around(questions, question));
        }
    }
    runs
}

/// A run as the subject of a longer sentence, as in "round trips of 64 B to 1 KiB over TCP".
pub(super) fn topic(run: &[&Question]) -> String {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return String::new() };
    let size = |q: &Question| unit::format_bytes(q.level_bytes.unwrap_or(0).into());
    let (low, high, transport) = (size(first), size(last), first.transport.name());
    match (run.len(), first.metric) {
        (1, _) => words::topic_of(first),
        (_, Metric::Rtt) => format!("round trips of {low} to {high} over {transport}"),
        (_, Metric::Throughput) => format!("{transport} throughput at {low} to {high}"),
        (_, _) => format!("packets per second of {low} to {high}"),
    }
}

/// The verb of a topic.
pub(super) fn is(run: &[&Question]) -> &'static str {
    let many = [Metric::Rtt, Metric::PacketRate, Metric::ConnectRate];
    if run.first().is_some_and(|q| many.contains(&q.metric)) { "are" } else { "is" }
}

/// The effects of a run in words, as in "2.0 to 10 % longer".
pub(super) fn text(run: &[&Question]) -> String {
    match run {
        [one] => one.text.clone(),
        _ => between(run, |q| q.effect.as_ref().map(|e| [e.estimate, e.estimate])),
    }
}

/// What a run that is better or worse says, with the reach of its ranges.
pub(super) fn sentence(run: &[&Question], over: &str) -> String {
    let Some(first) = run.first().filter(|_| run.len() > 1) else {
        return run.first().map(|q| q.sentence.clone()).unwrap_or_default();
    };
    let ranges = || run.iter().filter_map(|q| q.effect.as_ref()).map(|effect| effect.range95);
    let reach = Range {
        low: ranges().map(|range| range.low).fold(f64::INFINITY, f64::min),
        high: ranges().map(|range| range.high).fold(f64::NEG_INFINITY, f64::max),
    };
    let reach = words::Sided { range: &reach, margin: Some(first.margin) };
    let reach = words::span_in_words(first.metric, reach);
    let subject = topic(run);
    let is = is(run);
    let mut said = format!(
        "{} {is} {} over {over} (ranges, each by itself, from {reach}).",
        capital(&subject),
        text(run)
    );
    let unresolved = run.iter().filter(|q| q.qualifier == Qualifier::SizeUnresolved).count();
    let ignored = words::margin_in_words(first.metric, first.margin);
    if unresolved > 0 {
        let those = if unresolved == run.len() { "That" } else { "At some sizes that" };
        said.push_str(&format!(
            " {those} may be too small to matter ({ignored} was chosen to be ignored)."
        ));
    }
    let explained: Option<Vec<Explained>> =
        run.iter().map(|q| q.prediction.as_ref().and_then(|p| p.explained)).collect();
    let all = |kinds: &[Explained]| {
        explained.as_ref().is_some_and(|all| all.iter().all(|e| kinds.contains(e)))
    };
    let predicted = || between(run, |q| q.prediction.as_ref().map(|p| [p.effect, p.effect]));
    let explains = if all(&[Explained::All]) {
        " The longer header explains it"
    } else if all(&[Explained::All, Explained::NearlyAll]) {
        " The longer header explains nearly all of it"
    } else if all(&[Explained::Little]) {
        " Header size explains little of it"
    } else if all(&[Explained::BetterThanPredicted]) {
        " That is better than header size allows"
    } else {
        return said;
    };
    said.push_str(&format!("{explains} (predicted: {}).", predicted()));
    said
}

/// From the smallest to the largest of the figures, with their direction word.
fn between(run: &[&Question], figures: impl Fn(&Question) -> Option<[f64; 2]>) -> String {
    let all = run.iter().filter_map(|q| figures(q)).flatten();
    let mut all: Vec<f64> = all.collect();
    all.sort_by(|x, y| x.abs().total_cmp(&y.abs()));
    let (Some(near), Some(far), Some(first)) = (all.first(), all.last(), run.first()) else {
        return String::new();
    };
    if *far == 0.0 {
        return "no difference".to_owned();
    }
    let (low, high) = (words::figure(*near), words::amount(first.metric, *far));
    let alike = words::amount(first.metric, *near) == high;
    if alike { high } else { format!("{low} to {high}") }
}
