//! What several figures share: spans of axes, shown numbers, which questions belong together.

use crate::number::{self, Unit};
use crate::words;
use v6gap_core::metric::{Better, Metric, Scale};
use v6gap_core::unit::{format_bytes, significant};
use v6gap_core::workload::Transport;
use v6gap_judge::analysis::words::is_open;
use v6gap_judge::analysis::{Analysis, Effect, Question, Range, Verdict};

/// Questions of one metric over one transport, by size.
pub(super) struct Group<'a> {
    pub metric: Metric,
    pub transport: Transport,
    pub questions: Vec<&'a Question>,
}

/// Questions that were measured, grouped; in the order of the plan.
pub(super) fn groups(analysis: &Analysis) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for q in &analysis.questions {
        let same = |g: &&mut Group<'_>| (g.metric, g.transport) == (q.metric, q.transport);
        match groups.iter_mut().find(same) {
            Some(group) => group.questions.push(q),
            None => {
                groups.push(Group { metric: q.metric, transport: q.transport, questions: vec![q] })
            }
        }
    }
    groups
}

/// [`groups`] with one group for each variant: what stands on one axis of sizes differs in nothing
/// else.
pub(super) fn by_size(analysis: &Analysis) -> Vec<Group<'_>> {
    let plan = &analysis.run.plan;
    let variant = |q: &Question| plan.cell(&q.cell).map(|(_, cell)| cell.workload.variant());
    let mut split: Vec<Group<'_>> = Vec::new();
    for Group { metric, transport, questions } in groups(analysis) {
        let mut of_metric: Vec<(Option<String>, Vec<&Question>)> = Vec::new();
        for q in questions {
            let key = variant(q);
            match of_metric.iter_mut().find(|(other, _)| *other == key) {
                Some((_, questions)) => questions.push(q),
                None => of_metric.push((key, vec![q])),
            }
        }
        let group = |(_, questions)| Group { metric, transport, questions };
        split.extend(of_metric.into_iter().map(group));
    }
    split
}

/// The least and the greatest of finite values, widened by a share of their distance.
pub(super) fn span(values: impl Iterator<Item = f64>, widen: f64) -> Option<(f64, f64)> {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        return None;
    }
    let room = (high - low) * widen;
    let room = if room > 0.0 || widen == 0.0 { room } else { high.abs().max(1e-9) * 0.05 };
    Some((low - room, high + room))
}

/// [`span`] for an axis with a logarithmic scale.
pub(super) fn log_span(values: impl Iterator<Item = f64>, widen: f64) -> Option<(f64, f64)> {
    let logs = values.filter(|v| *v > 0.0).map(f64::log10);
    span(logs, widen).map(|(low, high)| (10f64.powf(low), 10f64.powf(high)))
}

/// Effects in per cent or points.
pub(super) fn hundredfold(effect: f64) -> f64 {
    effect * 100.0
}

/// The text of a mark on an axis of effects in per cent, with its direction.
pub(super) fn effect_tick(metric: Metric) -> impl Fn(f64) -> String + Copy {
    move |v| match v.abs() < 1e-9 {
        true => "no difference".to_owned(),
        false => words::round_effect(metric, v / 100.0),
    }
}

/// A plain number on an axis, exact because marks are round numbers.
pub(super) fn number_tick(v: f64) -> String {
    significant(v, 6)
}

/// Effect of one pair.
pub(super) fn pair_effect(metric: Metric, a: f64, b: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => b / a - 1.0,
        Scale::Difference => b - a,
    }
}

/// A value in the unit of a figure, for its table.
pub(super) fn cell(value: Option<f64>, unit: Unit) -> String {
    value.map_or_else(|| "–".to_owned(), |v| significant(v / unit.size, 3))
}

/// What an axis has to hold of an effect: the ends of its range, but for those of one that is open
/// and has both, which would leave nothing else to be seen; axes hold what is finite.
pub(super) fn ends(effect: &Effect) -> [f64; 3] {
    let Range { low, high } = effect.range95;
    let is_whole = low.is_finite() && high.is_finite();
    match is_whole && is_open(&effect.range95) {
        true => [effect.estimate; 3],
        false => [low, high, effect.estimate],
    }
}

/// The ends of a range in a unit, rounded outwards.
pub(super) fn range(estimate: f64, range: &Range, unit: Unit) -> String {
    let [estimate, low, high] = [estimate, range.low, range.high].map(|v| v / unit.size);
    let [_, low, high] = number::ranged(estimate, low, high);
    format!("{low} to {high}")
}

/// "3 worse, 2 same": what a series of verdicts says.
pub(super) fn tally(questions: &[&Question]) -> String {
    let all = [Verdict::Worse, Verdict::Same, Verdict::Better, Verdict::CannotTell, Verdict::None];
    let mut parts = Vec::new();
    for verdict in all {
        match questions.iter().filter(|q| q.verdict == verdict).count() {
            0 => {}
            n => parts.push(format!("{n} {}", words::verdict(verdict))),
        }
    }
    parts.join(", ")
}

/// A size as "64 B" or "16 KiB".
pub(super) fn size(bytes: u32) -> String {
    format_bytes(bytes.into())
}

/// "slower over IPv6 in 2 of 8, no difference that matters in 6": what questions of one metric
/// found, for a title.
pub(crate) fn finding(analysis: &Analysis, questions: &[&Question]) -> String {
    let Some(first) = questions.first() else { return String::new() };
    let (metric, over) = (first.metric, words::over(analysis));
    let of = |verdict| questions.iter().filter(|q| q.verdict == verdict).count();
    let direction = |better: bool| {
        let more = better == (metric.better() == Better::Higher);
        let text = words::round_effect(metric, if more { 0.01 } else { -0.01 });
        format!("{} {over}", text.rsplit(' ').next().unwrap_or_default())
    };
    let found = [
        (direction(false), of(Verdict::Worse)),
        (direction(true), of(Verdict::Better)),
        ("no difference that matters".to_owned(), of(Verdict::Same)),
        ("could not tell".to_owned(), of(Verdict::CannotTell)),
        ("no verdict".to_owned(), of(Verdict::None)),
    ];
    let all = questions.len();
    let there: Vec<&(String, usize)> = found.iter().filter(|(_, n)| *n > 0).collect();
    if let [(words, _)] = there[..] {
        return if all == 1 { words.clone() } else { format!("{words} in all {all}") };
    }
    let part = |(at, (words, n)): (usize, &&(String, usize))| match at {
        0 => format!("{words} in {n} of {all}"),
        _ => format!("{words} in {n}"),
    };
    there.iter().enumerate().map(part).collect::<Vec<_>>().join(", ")
}
