//! What the checks of a run say, each in one line. Those that the judge words are said as they
//! come.

use crate::{number, words};
use v6gap_judge::analysis::steadiness::Told;
use v6gap_judge::analysis::words::{amount_of, margin_in_words};
use v6gap_judge::analysis::{
    Analysis, Check, CheckState, NullResult, NullTold, Question, order_mattered,
};

/// All checks with their words.
pub(crate) fn told(analysis: &Analysis) -> Vec<Check> {
    let mut checks = analysis.checks.clone();
    for check in checks.iter_mut().filter(|check| check.text.is_empty()) {
        check.text = match check.id.as_str() {
            "drift" => drift(analysis),
            "order" => order(analysis),
            "null" => null(analysis),
            _ => continue,
        };
    }
    checks
}

/// "11 passed, 1 note", and the checks that did not simply pass.
pub(crate) fn summary(analysis: &Analysis) -> (String, Vec<Check>) {
    let of = |state| analysis.checks.iter().filter(|c| c.state == state).count();
    let mut parts = vec![format!("{} passed", of(CheckState::Ok))];
    match of(CheckState::Note) {
        0 => {}
        1 => parts.push("1 note".to_owned()),
        n => parts.push(format!("{n} notes")),
    }
    match of(CheckState::Failed) {
        0 => {}
        n => parts.push(format!("{n} failed")),
    }
    let mut seen = told(analysis);
    seen.retain(|c| c.state != CheckState::Ok);
    (parts.join(", "), seen)
}

/// What all questions together showed nothing of, with the size from which on it would have shown;
/// `None` if they could not tell, or found it.
pub(crate) fn passed(analysis: &Analysis) -> Option<String> {
    let checks = told(analysis);
    let of = |id: &str| {
        let passed = |check: &&Check| check.id == id && check.state == CheckState::Ok;
        checks.iter().find(passed).map(|check| check.text.as_str())
    };
    let said: Vec<&str> = ["order", "drift"].into_iter().filter_map(of).collect();
    (!said.is_empty()).then(|| format!("Passed: {}.", said.join("; ")))
}

/// What a family against itself showed, in a word or two.
pub(crate) const fn null_told(told: NullTold) -> &'static str {
    match told {
        NullTold::Agrees => "agrees",
        NullTold::NotShown => "not shown",
        NullTold::Doubtful => "doubtful",
        NullTold::Biased => "failed",
    }
}

/// Whether each family agreed with itself, and how well that is known: for each metric by the cell
/// and family that say least.
fn null(analysis: &Analysis) -> String {
    let nulls = &analysis.nulls;
    let bound = |metric, x: f64| match x.is_finite() {
        true => number::at_most(metric, x),
        false => "nothing known".to_owned(),
    };
    if nulls.is_empty() {
        return "no family was compared with itself in this run".to_owned();
    }
    if let Some(n) = nulls.iter().find(|n| n.told == NullTold::Doubtful) {
        return format!(
            "{} against itself differed by {} in {} ({}): so much of a difference may be the \
             instrument's",
            n.family,
            amount_of(n.metric, n.estimate),
            n.metric.noun(),
            n.cell
        );
    }
    if nulls.iter().all(|n| !n.within.is_finite()) {
        let blocks = analysis.null_blocks();
        return format!("{blocks} null blocks are too few to find the instrument's own bias");
    }
    let mut worst: Vec<&NullResult> = Vec::new();
    // Values that never differ have no range.
    for n in nulls.iter().filter(|n| !n.saw_nothing() && (n.sd > 0.0 || n.within > 0.0)) {
        match worst.iter_mut().find(|other| other.metric == n.metric) {
            Some(other) if other.within < n.within => *other = n,
            Some(_) => {}
            None => worst.push(n),
        }
    }
    let list = |told: NullTold| -> Vec<String> {
        let of = |n: &&&NullResult| (n.told == NullTold::Agrees) == (told == NullTold::Agrees);
        let say = |n: &&NullResult| match told {
            NullTold::Agrees => {
                format!("{} within {}", n.metric.noun(), bound(n.metric, n.within))
            }
            _ => format!(
                "{} ({}, {} matter)",
                n.metric.noun(),
                bound(n.metric, n.within),
                margin_in_words(n.metric, n.margin)
            ),
        };
        worst.iter().filter(of).map(say).collect()
    };
    let seen = seen_from(nulls);
    match (list(NullTold::Agrees), list(NullTold::NotShown)) {
        (agree, open) if open.is_empty() && agree.is_empty() => {
            "each family agreed with itself".to_owned()
        }
        (agree, open) if open.is_empty() => {
            format!("each family agreed with itself: {}{seen}", agree.join(", "))
        }
        (agree, open) => {
            let agree = match agree.is_empty() {
                true => String::new(),
                false => format!("; it was for {}", agree.join(", ")),
            };
            format!(
                "that families agree with themselves was not shown for {}{agree}{seen}",
                open.join(", ")
            )
        }
    }
}

/// From which size on a bias would have been seen in nine of ten such runs: of each metric in the
/// cell and family that say least.
fn seen_from(nulls: &[NullResult]) -> String {
    let mut least: Vec<&NullResult> = Vec::new();
    for n in nulls.iter().filter(|n| n.seen_from > 0.0 && n.seen_from.is_finite()) {
        match least.iter_mut().find(|other| other.metric == n.metric) {
            Some(other) if other.seen_from < n.seen_from => *other = n,
            Some(_) => {}
            None => least.push(n),
        }
    }
    let say = |n: &&NullResult| {
        format!("{} in {}", number::at_most(n.metric, n.seen_from), n.metric.noun())
    };
    match least.is_empty() {
        true => String::new(),
        false => {
            let all: Vec<String> = least.iter().map(say).collect();
            format!("; a bias would have been seen from {}", all.join(", "))
        }
    }
}

/// Whether differences changed. A drift of both arms alike is what blocks are for.
fn drift(analysis: &Analysis) -> String {
    let Analysis { questions, steadiness, .. } = analysis;
    let count = |of: &dyn Fn(&Question) -> bool| questions.iter().filter(|q| of(q)).count();
    let unsteady = count(&|q| q.diagnostics.unsteady.is_some());
    let arms = count(&|q| q.diagnostics.arms.a.is_some() || q.diagnostics.arms.b.is_some());
    let all = questions.len();
    match (unsteady, steadiness.drift(questions)) {
        (1.., _) => format!("differences were not steady in {unsteady} of {all} questions"),
        (0, Told::Found) => match steadiness.after {
            Some(after) => format!(
                "differences changed while they were measured, over all questions most after pair \
                 {after}"
            ),
            None => "differences changed while they were measured".to_owned(),
        },
        (0, Told::Absent { seen_from_sd }) if arms > 0 => format!(
            "values were not steady in {arms} of {all} questions, their differences were: \
             comparing neighbours takes that out; {}",
            would("a step", seen_from_sd)
        ),
        (0, Told::CannotTell) if arms > 0 => format!(
            "values were not steady in {arms} of {all} questions; {} whether their differences \
             were",
            too_few(analysis)
        ),
        (0, Told::Absent { seen_from_sd }) => {
            format!("no difference drifted; {}", would("a step", seen_from_sd))
        }
        (0, Told::CannotTell) => format!("{} whether anything drifted", too_few(analysis)),
    }
}

/// Most questions in which the order mattered that are named.
const NAMED_MAX: usize = 2;

/// Whether going first made a difference. Both orders weigh alike, so it is balanced out.
fn order(analysis: &Analysis) -> String {
    let Analysis { questions, steadiness, .. } = analysis;
    match steadiness.order_mattered(questions) {
        Told::CannotTell => format!("{} whether it mattered who went first", too_few(analysis)),
        Told::Absent { seen_from_sd } => {
            format!("who went first made no difference; {}", would("one", seen_from_sd))
        }
        Told::Found => {
            let mattered = questions.iter().zip(order_mattered(questions));
            let of = |q: &Question| {
                let [first, second] =
                    q.diagnostics.order?.means.map(|x| words::effect(q.metric, x));
                Some(format!("{} {first} or {second}", q.label))
            };
            let named: Vec<String> =
                mattered.filter(|(_, mattered)| *mattered).filter_map(|(q, _)| of(q)).collect();
            let more = match named.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            let few = named.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
            let few = if few.is_empty() { few } else { format!(" ({few}{more})") };
            format!("who went first made a difference{few}; both orders weigh alike in each answer")
        }
    }
}

/// What would have been seen in four of five such runs.
fn would(what: &str, seen_from_sd: f64) -> String {
    let size = v6gap_core::unit::significant(seen_from_sd, 2);
    format!("{what} of {size} times the spread of a pair would have shown")
}

fn too_few(analysis: &Analysis) -> String {
    match words::pairs(analysis).as_str() {
        "1 pair" => "one pair is too few to tell".to_owned(),
        pairs if analysis.questions.len() == 1 => {
            format!("{pairs} of one question are too few to tell")
        }
        pairs => format!("{pairs} are too few to tell"),
    }
}
