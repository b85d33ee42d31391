//! What the study that a plan repeats would have made of the same runs, and what it published,
//! beside what is measured and predicted (docs/experiments.md).

use super::{Question, Range};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde::Serialize;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::{Plan, Summary};
use v6gap_core::published::{self, Kind, Over, Value};
use v6gap_stats::bootstrap::Joint;
use v6gap_stats::{repeats, summary};

/// Runs of a set of which three must be consistent.
const SET: usize = 5;

/// Sets that are looked at before a cell is called inconsistent: the first one and three repeats.
const SETS_MAX: usize = 4;

/// How near to each other consistent runs lie, as a share of their median.
const TOLERANCE: f64 = 0.01;

/// Error rate of the interval of a trimmed mean, and of a difference as the study would have it.
const ALPHA: f64 = 0.05;

/// Resamples behind such a difference: its ends are steady to a few per cent of its width.
const RESAMPLES: usize = 1_000;

/// The runs of a question combined as the study combined its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AsPublished {
    /// Identifier of the cell.
    pub cell: String,
    /// What was measured.
    pub metric: Metric,
    /// How.
    pub summary: Summary,
    /// Each arm for itself, in SI units.
    pub values: PerArm<Combined>,
    /// The second value over the first, less 1: what the study would have called the difference.
    pub effect: f64,
    /// Its 95 % range, from resampled pairs; the studies left it out.
    pub range: Range,
}

/// The runs of one arm combined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Combined {
    /// The value, in SI units.
    pub value: f64,
    /// Standard deviation of one run, where the study gives it.
    pub sd: Option<f64>,
    /// Standard error of the value, where it can be told; the studies left it out.
    pub standard_error: Option<f64>,
    /// 95 % range of the value, where it can be told; the studies left it out.
    pub range: Option<Range>,
    /// Valid runs.
    pub runs: usize,
    /// Runs that the value is made of.
    pub used: usize,
    /// Whether the runs were consistent, where that is asked; if not, the value is their median.
    pub consistent: Option<bool>,
}

/// A published value beside what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    /// What was published.
    pub published: Value,
    /// Identifier of the cell that measures the same; `None` where none does.
    pub cell: Option<String>,
    /// What was measured: a value in SI units, or the effect.
    pub measured: Option<f64>,
    /// 95 % range of what was measured, for effects.
    pub range: Option<Range>,
    /// What the headers alone predict.
    pub predicted: Option<f64>,
    /// What follows, for effects.
    pub comparison: Option<Comparison>,
}

/// How a measured effect lies to a published one. Values of old hosts and today's are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// The measured range holds something of what was published.
    Within,
    /// All of it lies above.
    Above,
    /// All of it lies below.
    Below,
}

/// The study that a plan repeats, and its values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// Short name of the study.
    pub study: String,
    /// Authors of the study.
    pub authors: String,
    /// Title of the study.
    pub title: String,
    /// What to keep in mind with all of its values.
    pub cautions: Vec<String>,
    /// Values and sentences of the study, those that were measured too first.
    pub values: Vec<Beside>,
}

/// The runs of every question as the plan's study combined its own; nothing if it repeats none.
pub(super) fn as_published(plan: &Plan, questions: &[Question]) -> Vec<AsPublished> {
    let Some(rule) = plan.design.summary else { return Vec::new() };
    let of = |q: &Question| {
        let pairs = q.pairs.iter().filter(|pair| pair.valid).map(|pair| pair.values);
        let pairs: Vec<PerArm<f64>> = pairs.collect();
        let runs = |drawn: &[usize], arm| {
            drawn.iter().map(|&place| *pairs[place].get(arm)).collect::<Vec<f64>>()
        };
        let all: Vec<usize> = (0..pairs.len()).collect();
        let whole = |arm| combine(rule, &runs(&all, arm));
        let values = PerArm { a: whole(Arm::A)?, b: whole(Arm::B)? };
        let effect = |drawn: &[usize]| {
            let [a, b] = Arm::BOTH.map(|arm| value(rule, &runs(drawn, arm)));
            b / a - 1.0
        };
        let mut random = ChaCha12Rng::seed_from_u64(plan.seed);
        let joint = Joint::new(pairs.len(), effect, RESAMPLES, || random.next_u64());
        let found = joint.interval(|effect| *effect, ALPHA).estimate;
        let range = Range { low: found.interval.low, high: found.interval.high };
        let (cell, metric, effect) = (q.cell.clone(), q.metric, *joint.whole());
        let made = AsPublished { cell, metric, summary: rule, values, effect, range };
        effect.is_finite().then_some(made)
    };
    questions.iter().filter_map(of).collect()
}

/// The value of [`combine`] alone, for resamples of as many runs.
fn value(rule: Summary, runs: &[f64]) -> f64 {
    match rule {
        // Its range takes most of the time.
        Summary::TrimmedMean => repeats::trimmed_centre(runs, 1),
        _ => combine(rule, runs).map_or(f64::NAN, |combined| combined.value),
    }
}

/// Runs in the order of time to the value that the rule makes of them.
fn combine(rule: Summary, runs: &[f64]) -> Option<Combined> {
    if runs.len() < rule.runs_min() as usize {
        return None;
    }
    let plain = |value: f64| Combined {
        value,
        sd: None,
        standard_error: None,
        range: None,
        runs: runs.len(),
        used: runs.len(),
        consistent: None,
    };
    Some(match rule {
        Summary::Mean => plain(summary::mean(runs)),
        Summary::MeanSd => {
            let spread = repeats::spread(runs);
            let (sd, standard_error) = (Some(spread.sd), Some(spread.standard_error));
            Combined { sd, standard_error, ..plain(spread.mean) }
        }
        Summary::TrimmedMean => {
            let trimmed = repeats::trimmed_mean(runs, 1, ALPHA);
            let interval = trimmed.estimate.interval;
            Combined {
                standard_error: Some(trimmed.standard_error),
                range: Some(Range { low: interval.low, high: interval.high }),
                used: runs.len() - 2,
                ..plain(trimmed.estimate.centre)
            }
        }
        Summary::ThreeOfFive => {
            let sets = runs.chunks_exact(SET).take(SETS_MAX);
            let three = sets.filter_map(|set| repeats::three_of_five(set.try_into().ok()?));
            match three.into_iter().find(|three| three.holds(TOLERANCE)) {
                Some(three) => Combined { used: 3, consistent: Some(true), ..plain(three.mean) },
                None => Combined { consistent: Some(false), ..plain(summary::median(runs)) },
            }
        }
    })
}

/// What the plan's study published, each beside the question that measures the same.
pub(super) fn published(plan: &Plan, questions: &[Question]) -> Option<Published> {
    let (study, experiment) = published::find(plan.reference.as_deref()?)?;
    let published::Study { study, authors, title, cautions, values, .. } = study;
    let of_it = values.into_iter().filter(|value| value.of.contains(&experiment));
    let mut values: Vec<Beside> = of_it.flat_map(|v| beside(v, plan, questions)).collect();
    values.sort_by_key(|beside| {
        let place = |id: &String| plan.cells.iter().position(|cell| cell.id == *id);
        (beside.measured.is_none(), beside.cell.as_ref().map(place))
    });
    Some(Published { study, authors, title, cautions, values })
}

/// One published value beside each question that measures it, or alone if none does.
fn beside(value: Value, plan: &Plan, questions: &[Question]) -> Vec<Beside> {
    let alone = Beside {
        published: value.clone(),
        cell: None,
        measured: None,
        range: None,
        predicted: None,
        comparison: None,
    };
    let families = plan.design.arms == PerArm::FAMILIES;
    let effect = value.kind == Kind::Effect;
    if !families || !(effect || value.kind == Kind::Value) {
        return alloc::vec![alone];
    }
    let arm = match value.family {
        Some(Family::V4) => Arm::A,
        _ => Arm::B,
    };
    let of_question = |q: &Question| {
        let (_, cell) = plan.cell(&q.cell).filter(|(_, cell)| value.is_of(cell, q.metric))?;
        let prediction = q.prediction.as_ref();
        let cell = Some(cell.id.to_string());
        Some(if effect {
            let found = q.effect.as_ref()?;
            Beside {
                cell,
                measured: Some(found.estimate),
                range: Some(found.range95),
                predicted: prediction.map(|p| p.effect),
                comparison: compare(&value, found.range95),
                ..alone.clone()
            }
        } else {
            let predicted = prediction.and_then(|p| p.values.as_ref()).map(|v| *v.get(arm));
            let measured = Some((*q.values.get(arm))?);
            Beside { cell, measured, predicted, ..alone.clone() }
        })
    };
    let mut found: Vec<Beside> = questions.iter().filter_map(of_question).collect();
    if value.over == Over::Highest {
        // The cell whose first value is the highest: that of the published maximum.
        let first = |beside: &Beside| {
            let question = questions.iter().find(|q| beside.cell.as_ref() == Some(&q.cell));
            question.and_then(|q| q.values.a).unwrap_or(f64::NEG_INFINITY)
        };
        found =
            found.into_iter().max_by(|a, b| first(a).total_cmp(&first(b))).into_iter().collect();
    }
    if found.is_empty() { alloc::vec![alone] } else { found }
}

fn compare(value: &Value, range: Range) -> Option<Comparison> {
    let (low, high) = value.low.zip(value.high)?;
    Some(if range.low > high {
        Comparison::Above
    } else if range.high < low {
        Comparison::Below
    } else {
        Comparison::Within
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn ten_runs_without_the_lowest_and_the_highest() {
        let runs = [9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 99.0];
        let found = combine(Summary::TrimmedMean, &runs).unwrap();
        close(found.value, 5.5);
        assert_eq!((found.runs, found.used), (10, 8));
        let range = found.range.unwrap();
        assert!(range.low < 5.5 && range.high > 5.5);
        assert_eq!(combine(Summary::TrimmedMean, &runs[..3]), None);
    }

    #[test]
    fn five_are_repeated_until_three_agree() {
        let good = [94.5, 94.6, 90.0, 94.4, 80.0];
        let bad = [1.0, 2.0, 3.0, 4.0, 5.0];
        let both: Vec<f64> = bad.into_iter().chain(good).collect();
        let found = combine(Summary::ThreeOfFive, &both).unwrap();
        assert_eq!((found.consistent, found.used), (Some(true), 3));
        close(found.value, 94.5);
        let never: Vec<f64> = bad.into_iter().cycle().take(40).collect();
        let found = combine(Summary::ThreeOfFive, &never).unwrap();
        assert_eq!((found.consistent, found.value, found.used), (Some(false), 3.0, 40));
        // After four sets nobody looks further.
        let late: Vec<f64> = never[..20].iter().copied().chain(good).collect();
        assert_eq!(combine(Summary::ThreeOfFive, &late).unwrap().consistent, Some(false));
    }

    #[test]
    fn mean_and_deviation_of_a_table() {
        let found = combine(Summary::MeanSd, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.value, found.sd), (2.0, Some(1.0)));
        close(found.standard_error.unwrap(), 1.0 / libm::sqrt(3.0));
        assert_eq!(combine(Summary::Mean, &[1.0, 3.0]).unwrap().value, 2.0);
    }

    #[test]
    fn a_range_that_touches_holds_it() {
        let (study, _) = published::find("goyal/throughput").unwrap();
        let value = &study.values[0];
        let range = |low, high| Range { low, high };
        assert_eq!(compare(value, range(-0.015, -0.013)), Some(Comparison::Within));
        assert_eq!(compare(value, range(-0.004, 0.0)), Some(Comparison::Above));
        assert_eq!(compare(value, range(-0.5, -0.03)), Some(Comparison::Below));
    }
}
