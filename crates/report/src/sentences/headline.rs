//! The answer in one sentence, and the few that may follow it.

use super::{failures, levels};
use crate::words::{absolute_of_effect, capital, effect, some_questions as some};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::{Metric, Scale};
use v6gap_judge::analysis::{Analysis, CheckState, Explained, Qualifier, Question, Verdict, words};

/// Differences below this share are "a little", unless they are many margins wide.
const LITTLE: f64 = 0.05;

/// Differences below so many margins are "a little".
const LITTLE_MARGINS: f64 = 3.0;

/// Most sentences after the headline.
const DETAILS_MAX: usize = 4;

/// The answer in one sentence, or that there is none; before it that one family fails more often,
/// if it does.
pub fn headline(analysis: &Analysis) -> String {
    match failures::fails(analysis) {
        Some(fails) => format!("{fails} {}", answer(analysis, "In what came through")),
        None => answer(analysis, "On this path"),
    }
}

/// What was found; `there` begins the sentence that it makes no difference.
fn answer(analysis: &Analysis, there: &str) -> String {
    let Analysis { questions, checks, arm_names: PerArm { a, b }, .. } = analysis;
    if let Some(check) = checks.iter().find(|c| c.state == CheckState::Failed) {
        return format!("No verdict: {}.", check.text);
    }
    let with =
        |verdict| questions.iter().filter(move |q| q.verdict == verdict && !q.may_be_chance());
    let (better, worse) = (with(Verdict::Better).count(), with(Verdict::Worse).count());
    let (rare, open): (Vec<&Question>, Vec<&Question>) =
        with(Verdict::CannotTell).partition(|q| is_unseen(q));
    let open = open.len();
    let same = with(Verdict::Same).count();
    let unanswered = with(Verdict::None).count();
    let maybe = questions.iter().filter(|q| q.may_be_chance()).count();
    let all = questions.len();
    let without = match open + rare.len() + unanswered {
        0 => String::new(),
        n => format!("; {}", some(n, all, "has no answer", "have no answer")),
    };
    if better + worse + open + same + maybe == 0 && !rare.is_empty() {
        // The sentence says itself of which questions that are all.
        let without = if unanswered > 0 { without.as_str() } else { "" };
        return format!("{}{without}.", capital(&not_seen(&rare, " on this path")));
    }
    if better + worse + open + same + maybe == 0 {
        let reason = questions.iter().find_map(|q| q.why_none.as_deref());
        return format!("No verdict: {}.", reason.unwrap_or("nothing was measured"));
    }
    if better + worse == 0 && maybe > 0 {
        return format!(
            "Of {all} questions on this path {maybe} found {b} different, which among so many may \
             be chance{without}."
        );
    }
    match (better > 0, worse > 0) {
        (true, true) => {
            let strongest = |verdict| {
                let found = strongest(with(verdict));
                found.map(|one| phrase(&levels::around(questions, one))).unwrap_or_default()
            };
            let (x, y) = (strongest(Verdict::Worse), strongest(Verdict::Better));
            format!("Over {b} {x} and {y} on this path{without}.")
        }
        (false, false) if open > 0 => {
            format!("No difference that matters found yet on this path{without}.")
        }
        (false, false) if unanswered > 0 => format!(
            "In what could be measured on this path it makes no difference that matters whether \
             you use {a} or {b}{without}."
        ),
        (false, false) if !rare.is_empty() => format!(
            "{there} it makes no difference that matters whether you use {a} or {b}; {}.",
            not_seen(&rare, "")
        ),
        (false, false) => {
            format!("{there} it makes no difference that matters whether you use {a} or {b}.")
        }
        (_, is_worse) => {
            let verdict = if is_worse { Verdict::Worse } else { Verdict::Better };
            let found: Vec<&Question> = with(verdict).collect();
            let (is, explanation) = (is_what(&found, is_worse), explanation(&found, b));
            format!("{b} is {is} than {a} on this path{explanation}{without}.")
        }
    }
}

/// What a family is that differs one way alone: "a little slower".
fn is_what(found: &[&Question], is_worse: bool) -> String {
    let clear = found.iter().any(|q| q.qualifier == Qualifier::Clear);
    let little = match found.iter().all(|q| is_little(q)) {
        true => "a little ",
        false if clear => "clearly ",
        false => "",
    };
    let word = match (found.iter().all(|q| is_of_speed(q.metric)), is_worse) {
        (true, true) => "slower",
        (true, false) => "faster",
        (false, true) => "worse",
        (false, false) => "better",
    };
    format!("{little}{word}")
}

/// Whether more or less of it is quicker: times that somebody waits, and rates.
fn is_of_speed(metric: Metric) -> bool {
    let spread = [Metric::Ipdv, Metric::Pdv, Metric::FrameLateness];
    metric.scale() == Scale::Ratio && metric != Metric::Cpu && !spread.contains(&metric)
}

/// Whether nothing was seen of what is asked for, and not enough was looked at to exclude it.
fn is_unseen(question: &Question) -> bool {
    question.unseen.is_some_and(|unseen| unseen.seen == 0)
}

fn not_seen(rare: &[&Question], at: &str) -> String {
    let mut topics: Vec<String> = rare.iter().map(|q| words::topic_of(q)).collect();
    topics.sort();
    topics.dedup();
    let topics = topics.join(" and no ");
    format!("no {topics} was seen{at}, in too few packets to exclude it")
}

fn is_little(question: &Question) -> bool {
    let size = question.effect.as_ref().map_or(0.0, |e| e.estimate.abs());
    size < LITTLE && size < LITTLE_MARGINS * question.margin
}

fn strongest<'a>(questions: impl Iterator<Item = &'a Question>) -> Option<&'a Question> {
    let weight =
        |q: &Question| q.effect.as_ref().map_or(0.0, |e| e.estimate.abs() / q.margin.max(1e-9));
    questions.max_by(|x, y| weight(x).total_cmp(&weight(y)))
}

fn phrase(run: &[&Question]) -> String {
    format!("{} {} {}", levels::topic(run), levels::is(run), levels::text(run))
}

/// How much the headers explain, when they say the same of every difference found.
fn explanation(found: &[&Question], name: &str) -> String {
    let explained: Vec<Explained> =
        found.iter().filter_map(|q| q.prediction.as_ref()).filter_map(|p| p.explained).collect();
    if explained.len() < found.len() || found.is_empty() {
        return String::new();
    }
    let all = |pick: &[Explained]| explained.iter().all(|e| pick.contains(e));
    if all(&[Explained::BetterThanPredicted]) {
        return ", and does better than header size allows".to_owned();
    }
    let share = if all(&[Explained::All]) {
        "all"
    } else if all(&[Explained::All, Explained::NearlyAll]) {
        "nearly all"
    } else if all(&[Explained::Part]) {
        "part"
    } else if all(&[Explained::All, Explained::NearlyAll, Explained::Part]) {
        "most"
    } else if all(&[Explained::Little]) {
        "little"
    } else {
        return String::new();
    };
    let whose = if name == "IPv6" { "its larger header" } else { "the larger header" };
    format!(", and {whose} explains {share} of it")
}

/// What to add to the headline, at most four short sentences: what is worse and better, tiny but
/// real, and open.
pub fn details(analysis: &Analysis) -> Vec<String> {
    let mut details = Vec::new();
    if !analysis.valid {
        return details;
    }
    let questions = &analysis.questions;
    for verdict in [Verdict::Worse, Verdict::Better] {
        let found = questions.iter().filter(|q| q.verdict == verdict);
        if let Some(question) = strongest(found) {
            details.push(levels::sentence(
                &levels::around(questions, question),
                &analysis.arm_names.b,
            ));
        }
    }
    let tiny = |q: &&Question| q.qualifier == Qualifier::RealButTiny;
    if let Some(question) = strongest(questions.iter().filter(tiny)) {
        details.push(format!(
            "The largest difference too small to matter: {} at {} ({}).",
            question.text,
            words::topic_of(question),
            question.range_text
        ));
    }
    details.extend(better_than_predicted(questions));
    let open = levels::runs(questions, Verdict::CannotTell);
    let open: Vec<String> = open.iter().map(|run| levels::topic(run)).collect();
    if !open.is_empty() {
        details.push(format!("Not yet known: {}.", open.join(", ")));
    }
    if let Some(none) = questions.iter().find(|q| q.verdict == Verdict::None) {
        details.insert(0, none.sentence.clone());
    }
    details.truncate(DETAILS_MAX);
    details
}

/// What does better than its headers allow although it is no difference that matters: said as
/// loudly as what does worse.
fn better_than_predicted(questions: &[Question]) -> Option<String> {
    let left = |q: &&Question| match (q.verdict, q.prediction.as_ref()) {
        (Verdict::Same | Verdict::CannotTell, Some(p)) => {
            let better = p.explained == Some(Explained::BetterThanPredicted);
            better.then(|| p.residual.estimate.abs() / q.margin.max(1e-9))
        }
        _ => None,
    };
    let found = questions.iter().filter_map(|q| Some((left(&q)?, q)));
    let (_, question) = found.max_by(|x, y| x.0.total_cmp(&y.0))?;
    let prediction = question.prediction.as_ref()?;
    Some(format!(
        "Better than header size allows: {}, by {} (predicted: {}).",
        words::topic_of(question),
        words::range_in_words(question.metric, &prediction.residual.range95),
        effect(question.metric, prediction.effect)
    ))
}

/// What the headers alone would cost, by the predictions of throughput and of the smallest round
/// trip, and what does better than that. Nothing if the headers say nothing.
pub fn predicted(analysis: &Analysis) -> Option<String> {
    let questions = &analysis.questions;
    let clause = |question: Option<&Question>| {
        let question = question?;
        let effect = question.prediction.as_ref()?.effect;
        (effect != 0.0).then(|| {
            let topic = words::topic_of(question);
            let of = absolute_of_effect(question, effect);
            let of = of.map(|of| format!(" ({of})")).unwrap_or_default();
            format!("{topic} {}{of}", words::amount(question.metric, effect))
        })
    };
    let throughput = questions.iter().find(|q| q.metric == Metric::Throughput);
    let smallest = questions
        .iter()
        .filter(|q| q.metric == Metric::Rtt && q.prediction.is_some())
        .min_by_key(|q| q.level_bytes);
    let clauses: Vec<String> =
        [clause(throughput), clause(smallest)].into_iter().flatten().collect();
    let all = clauses.join(" and ");
    let alone = (!all.is_empty()).then(|| format!("Header size alone would make {all}."));
    let said: Vec<String> = alone.into_iter().chain(better_than_predicted(questions)).collect();
    (!said.is_empty()).then(|| said.join(" "))
}
