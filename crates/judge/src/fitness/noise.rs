//! The noise floor: what pairs of a family with itself differ by, and what can be found above it.

use super::{Finding, State};
use crate::analysis::{Analysis, Question, Range, Validity, effect, nulls};
use crate::{planning, reach};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::family::Family;
use v6gap_core::host::Host;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Stop;
use v6gap_core::unit::format_share;
use v6gap_stats::groups::Spread;
use v6gap_stats::{Interval, summary};

/// What the pairs of a family with itself showed for one metric of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Noise {
    /// The family.
    pub family: Family,
    /// Identifier of the cell.
    pub cell: String,
    /// Name of the question, as in "Round trip 64 B, TCP".
    pub label: String,
    /// What was measured.
    pub metric: Metric,
    /// Pairs that passed their gates.
    pub pairs: usize,
    /// Pairs that did not count.
    pub discarded: usize,
    /// Median of the values, in SI units.
    pub value: Option<f64>,
    /// Standard deviation of one pair's effect: the logarithm of the ratio.
    pub sd: f64,
    /// Mean effect of the family against itself: ratio − 1.
    pub estimate: f64,
    /// 95 % range of the mean, by the noise of both families.
    pub range: Range,
    /// False if a difference that matters was seen where there is none; `None` if both families
    /// have too few pairs to tell.
    pub passed: Option<bool>,
}

/// What a run can find above the noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Identifier of the cell.
    pub cell: String,
    /// Name of the question.
    pub label: String,
    /// What is measured.
    pub metric: Metric,
    /// Standard deviation of one pair's effect, of both families together.
    pub sd: f64,
    /// In each of the runs.
    pub runs: Vec<Length>,
}

/// A run of a usual length.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Length {
    /// Longest time of the run, in ns.
    pub time_ns: u64,
    /// Pairs of each cell that it has time for, about.
    pub pairs: u32,
    /// The smallest difference that it finds in four of five times, as a share; `None` if it has
    /// too few pairs.
    pub smallest: Option<f64>,
}

/// What runs of such a plan showed, one of each family.
pub fn of(nulls: &[Analysis]) -> Vec<Noise> {
    let all: Vec<Seen<'_>> = nulls.iter().flat_map(seen).collect();
    // One pair has no spread of its own, and counts for the family beside it.
    all.iter().filter(|one| one.effects.len() > 1).map(|one| one.noise(&all)).collect()
}

/// A question of a family with itself, and the effects of its pairs that count.
struct Seen<'a> {
    family: Family,
    question: &'a Question,
    effects: Vec<f64>,
}

fn seen(null: &Analysis) -> Vec<Seen<'_>> {
    let family = null.run.plan.design.arms.a;
    let asked = null.questions.iter().filter(|q| q.metric.scale() == Scale::Ratio);
    let of_question = asked.filter_map(|question| {
        let metric = question.metric;
        let valid = question.pairs.iter().filter(|pair| pair.valid);
        let effects: Vec<f64> = valid.map(|pair| pair.effect(metric)).collect();
        (!effects.is_empty()).then_some(Seen { family, question, effects })
    });
    of_question.collect()
}

impl Seen<'_> {
    fn noise(&self, all: &[Seen<'_>]) -> Noise {
        let Seen { family, question, effects } = self;
        let metric = question.metric;
        let is_alike =
            |one: &&Seen<'_>| one.question.cell == question.cell && one.question.metric == metric;
        let groups: Vec<&[f64]> =
            all.iter().filter(is_alike).map(|one| one.effects.as_slice()).collect();
        let (range, passed) = judged(metric, effects, &groups, all.len());
        Noise {
            family: *family,
            cell: question.cell.clone(),
            label: question.label.clone(),
            metric,
            pairs: effects.len(),
            discarded: question.pairs.len() - effects.len(),
            value: question.values.a,
            sd: summary::sd(effects),
            estimate: libm::expm1(summary::mean(effects)),
            range: Range { low: libm::expm1(range.low), high: libm::expm1(range.high) },
            passed,
        }
    }
}

/// The 95 % range of a family's mean among the `groups` of both, and whether it passes if they are
/// enough, as null blocks of a run are judged: the noise comes from both, and `all` are judged
/// together (docs/method.md section D.2).
fn judged(
    metric: Metric,
    effects: &[f64],
    groups: &[&[f64]],
    all: usize,
) -> (Interval, Option<bool>) {
    let spread = Spread::of(groups);
    let (mean, n) = (summary::mean(effects), effects.len());
    let strict = spread.interval(mean, n, nulls::ALPHA / all.max(1) as f64);
    let matters = nulls::matters(effect::margin(metric, metric.margin_default()));
    let off = !strict.contains(0.0) && libm::fabs(mean) > matters;
    let enough = groups.iter().map(|group| group.len()).sum::<usize>() >= effect::NULLS_MIN;
    (spread.interval(mean, n, reach::ALPHA), enough.then_some(!off))
}

/// What can be found above the noise in runs of `(time in ns, pairs)`.
pub fn found(noises: &[Noise], runs: &[(u64, u32)]) -> Vec<Found> {
    let of_question = |noise: &Noise| {
        let sd = pooled(alike(noises, noise));
        let length = |&(time_ns, pairs): &(u64, u32)| {
            let stop = Stop::Adaptive { time_ns_max: time_ns, pairs_min: pairs };
            let validity = Validity::to_the_end(&stop);
            let smallest = planning::smallest_found(noise.metric, sd, pairs as usize, validity, 1);
            Length { time_ns, pairs, smallest }
        };
        let runs = runs.iter().map(length).collect();
        let (cell, label) = (noise.cell.clone(), noise.label.clone());
        Found { cell, label, metric: noise.metric, sd, runs }
    };
    questions(noises).map(of_question).collect()
}

/// One of each question.
fn questions(noises: &[Noise]) -> impl Iterator<Item = &Noise> {
    let is_first = |&(i, noise): &(usize, &Noise)| alike(&noises[..i], noise).next().is_none();
    noises.iter().enumerate().filter(is_first).map(|(_, noise)| noise)
}

/// That of each family of one question.
fn alike<'a>(noises: &'a [Noise], one: &'a Noise) -> impl Iterator<Item = &'a Noise> {
    noises.iter().filter(|n| n.cell == one.cell && n.metric == one.metric)
}

/// Standard deviation within the families.
fn pooled<'a>(noises: impl Iterator<Item = &'a Noise>) -> f64 {
    let (sum, freedom) = noises.fold((0.0, 0.0), |(sum, freedom), n| {
        let own = (n.pairs - 1) as f64;
        (sum + own * n.sd * n.sd, freedom + own)
    });
    libm::sqrt(sum / freedom)
}

/// What the noise floor says of the instrument here: a family that differs from itself by what
/// matters is trouble.
pub fn judge(near: &Host, noises: &[Noise], why_none: Option<&str>) -> Finding {
    let (id, topic) = ("noise", "Noise");
    if let Some(why) = why_none.filter(|_| noises.is_empty()) {
        return super::watched::untold(id, topic, near, why);
    }
    let is_off = |noise: &&Noise| noise.passed == Some(false);
    let off: Vec<String> = noises.iter().filter(is_off).map(difference).collect();
    let finding = |seen: String| Finding::ok(id, topic, near, seen);
    match off.is_empty() {
        false => finding(off.join("; "))
            .but(
                State::Trouble,
                "the instrument itself makes that difference here, and a run would give no verdict",
            )
            .try_this("v6gap doctor --for 60s"),
        true if noises.is_empty() => {
            let why =
                format!("{} too few pairs fitted the time", v6gap_core::host::names::UNAVAILABLE);
            super::watched::untold(id, topic, near, &why).try_this("v6gap doctor --for 60s")
        }
        true => {
            let pairs = noises.iter().map(|noise| noise.pairs).sum::<usize>();
            let none = format!("no family differed from itself by what matters in {pairs} pairs");
            match questions(noises).filter(|noise| noise.passed.is_none()).count() {
                0 => finding(none),
                few => {
                    let of = questions(noises).count();
                    finding(format!("{none}; {few} of {of} questions had too few to tell"))
                        .but(State::Note, "whether it does in those was not seen")
                        .try_this("v6gap doctor --for 60s")
                }
            }
        }
    }
}

fn difference(noise: &Noise) -> String {
    format!(
        "{} over {} differed from itself by {}",
        noise.label,
        noise.family,
        format_share(noise.estimate)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    fn noise(family: Family, pairs: usize, sd: f64, passed: impl Into<Option<bool>>) -> Noise {
        Noise {
            family,
            cell: "rtt-tcp-64".to_owned(),
            label: "Round trip 64 B, TCP".to_owned(),
            metric: Metric::Rtt,
            pairs,
            discarded: 0,
            value: Some(20e-6),
            sd,
            estimate: 0.03,
            range: Range { low: 0.01, high: 0.05 },
            passed: passed.into(),
        }
    }

    /// What one family alone would not show, and what it would.
    #[test]
    fn a_family_is_judged_by_the_noise_of_both() {
        let (quiet, wide) = ([0.0, 0.001, -0.001, 0.0], [0.06, -0.06, 0.05, -0.05]);
        let passed = |own: &[f64], other: &[f64]| judged(Metric::Rtt, own, &[own, other], 2).1;
        let off_by_chance = [0.02, 0.0201, 0.0199, 0.02];
        assert_eq!(passed(&off_by_chance, &wide), Some(true));
        assert_eq!(passed(&off_by_chance, &quiet), Some(false));
        let off = [0.02, 0.05, 0.035, 0.03];
        assert_eq!(judged(Metric::Rtt, &off, &[&off], 2).1, Some(true));
        assert_eq!(passed(&off, &quiet), Some(false));
        // One pair of the other family makes four, of which two families are judged.
        assert_eq!(passed(&off_by_chance[..3], &[0.0]), Some(false));
        // Of three pairs in all nothing is said.
        assert_eq!(judged(Metric::Rtt, &off_by_chance[..3], &[&off_by_chance[..3]], 2).1, None);
        let (range, _) = judged(Metric::Rtt, &off, &[&off, &quiet], 2);
        let (own, _) = judged(Metric::Rtt, &off, &[&off], 2);
        assert!(range.low > own.low && range.high < own.high, "{range:?} {own:?}");
    }

    #[test]
    fn both_families_noise_is_taken_together() {
        let noises = [noise(Family::V4, 11, 0.03, true), noise(Family::V6, 6, 0.06, true)];
        let found = found(&noises, &[(1, 4), (2, 40)]);
        assert_eq!(found.len(), 1);
        // (10 · 0.0009 + 5 · 0.0036) / 15
        assert!((found[0].sd - libm::sqrt(0.0018)).abs() < 1e-12, "{found:?}");
        assert_eq!(found[0].runs[0].smallest, None);
        let forty = found[0].runs[1].smallest.unwrap();
        assert!((0.02..0.04).contains(&forty), "{forty}");
    }

    #[test]
    fn a_family_that_differs_from_itself_is_trouble() {
        let near = Host::default();
        let good = noise(Family::V4, 9, 0.01, true);
        let bad = noise(Family::V6, 9, 0.01, false);
        assert_eq!(judge(&near, core::slice::from_ref(&good), None).state, State::Ok);
        let finding = judge(&near, &[good, bad], None);
        assert_eq!(finding.state, State::Trouble);
        assert_eq!(finding.seen, "Round trip 64 B, TCP over IPv6 differed from itself by 3 %");
        for why in [None, Some("unavailable, because X")] {
            assert_eq!(judge(&near, &[], why).state, State::Unavailable);
        }
    }

    /// Families are not counted as questions.
    #[test]
    fn questions_with_too_few_pairs_to_tell_are_counted() {
        let good = [Family::V4, Family::V6].map(|family| noise(family, 9, 0.01, true));
        let few = Noise { cell: "rtt-tcp-1k".to_owned(), ..noise(Family::V4, 3, 0.01, None) };
        let [v4, v6] = good;
        let finding = judge(&Host::default(), &[v4, few, v6], None);
        assert_eq!(finding.state, State::Note);
        assert!(finding.seen.ends_with("; 1 of 2 questions had too few to tell"), "{finding:?}");
    }
}
