//! What else the blocks of a question say: signs that they are not independent draws of one law,
//! values that lie far off, whether the order of the arms mattered, and what the answer would have
//! been with the discarded blocks (docs/method.md section C.8).

use super::collect::Block;
use super::effect::Combined;
use super::guard::{self, Guard, Withheld};
use super::{Effect, Question, rounds, words};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::metric::Metric;
use v6gap_core::observation::Ends;
use v6gap_stats::batch::Sign;
use v6gap_stats::permutation::{self, EXACT_BELOW};
use v6gap_stats::{drift, loss, outliers};

/// Error rate at which something is said to go with the modes, over all that is looked at.
const GOES_WITH_ALPHA: f64 = 0.01;

/// p-value of the order test below which the order is reported to matter.
pub(super) const ORDER_ALPHA: f64 = 0.01;

/// Fewest blocks of each order for the order test.
const ORDER_BLOCKS_MIN: usize = 3;

/// What else the blocks of a question say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostics {
    /// p-value of "no difference"; holds when the ranges do, see [`Validity`](super::Validity).
    pub p_different: f64,
    /// p-value of no difference, corrected after Holm for the questions decided together.
    pub p_different_adjusted: f64,
    /// The same, corrected for all questions of the run.
    pub p_different_run: f64,
    /// p-value of "a difference as large as the margin"; likewise.
    pub p_same: f64,
    /// p-value of a difference as large as the margin, corrected after Holm.
    pub p_same_adjusted: f64,
    /// Lag-1 autocorrelation of the blocks' effects.
    pub lag1: f64,
    /// What was found in the sequence of the effects, in words.
    pub unsteady: Option<String>,
    /// How many neighbouring blocks were merged into one value for the range: 1 if none had to be.
    pub merged: u32,
    /// What was found in the sequence of each arm's own values, in words. Blocks take it out.
    pub arms: PerArm<Option<String>>,
    /// p-value of "the effects have one mode".
    pub p_modes: f64,
    /// Two modes of the effects.
    pub modes: Option<Modes>,
    /// Blocks whose effect lies far from the others; they count.
    pub outliers: Vec<Outlier>,
    /// The order test, where there are blocks enough.
    pub order: Option<OrderEffect>,
    /// The effect with the discarded blocks kept, if there are any.
    pub with_discarded: Option<Effect>,
    /// Whether there is a verdict, and it and how strong it is are the same with the discarded
    /// blocks kept; `None` if there are none, if one of them has no value, or if one is of no use
    /// whatever its value.
    pub same_with_discarded: Option<bool>,
}

impl Default for Diagnostics {
    /// Nothing was measured, so nothing speaks against anything.
    fn default() -> Self {
        Diagnostics {
            p_different: 1.0,
            p_different_adjusted: 1.0,
            p_different_run: 1.0,
            p_same: 1.0,
            p_same_adjusted: 1.0,
            lag1: 0.0,
            unsteady: None,
            merged: 1,
            arms: PerArm::default(),
            p_modes: 1.0,
            modes: None,
            outliers: Vec::new(),
            order: None,
            with_discarded: None,
            same_with_discarded: None,
        }
    }
}

/// Two modes of the effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Modes {
    /// Mean effect in each, the lower first: ratio − 1 or difference.
    pub effects: [f64; 2],
    /// Share of the blocks in each.
    pub shares: [f64; 2],
    /// What goes with them, in words, if anything that was recorded does.
    pub goes_with: Option<String>,
}

impl Diagnostics {
    /// Numbers of the first blocks of the pairs that lie so far from the others that it is told.
    pub fn far(&self) -> impl Iterator<Item = u32> {
        self.outliers.iter().filter(|outlier| outlier.far).map(|outlier| outlier.block)
    }
}

/// A block whose effect lies far from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Outlier {
    /// Number of the block.
    pub block: u32,
    /// Beyond three interquartile ranges or ten deviations, not only beyond one and a half ranges.
    pub far: bool,
}

/// Whether it mattered which arm went first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OrderEffect {
    /// p-value of "it did not": exact below 20 blocks (Pitman 1937), Welch's from there on.
    pub p: f64,
    /// Mean effect where the first arm went first, and where the second did: ratio − 1 or
    /// difference.
    pub means: [f64; 2],
    /// The mean of both, each order weighing the same.
    pub stratified: f64,
}

/// Diagnostics of the valid blocks `all`, of which each has a value, and of the effects of their
/// rounds; `questions` in the run.
pub(super) fn diagnose(
    metric: Metric,
    all: &[&Block<'_>],
    effects: &[f64],
    combined: Option<&Combined>,
    questions: usize,
) -> Diagnostics {
    let Some(combined) = combined else {
        return Diagnostics::default();
    };
    let guard = &combined.guard;
    // The first block of each round stands for it where something is named or goes with it.
    let of_rounds = all.chunk_by(|a, b| a.round() == b.round());
    let blocks: Vec<&Block<'_>> = of_rounds.filter_map(|round| round.first().copied()).collect();
    let blocks = blocks.as_slice();
    let arms = PerArm::from_fn(|arm| {
        let value =
            |b: &&Block<'_>| Some((b.round(), b.trials.get(arm).values.get(&metric).copied()?));
        let values = rounds::values(metric.scale(), all.iter().filter_map(value));
        let sign = guard::sign(&values, questions).map(|sign| of_values(&sign));
        sign.or_else(|| guard::two_modes(&values, questions).map(|_| "two groups".to_string()))
    });
    let flags = outliers::flags(effects);
    let modes = guard.modes.map(|split| Modes {
        effects: [split.low.mean, split.high.mean].map(|x| metric.scale().shown(x)),
        shares: [split.low.share, split.high.share],
        goes_with: goes_with(blocks, &guard::upper(effects, &split)),
    });
    Diagnostics {
        lag1: guard.lag1,
        unsteady: guard.sign().map(|sign| of_effects(metric, &sign, effects)),
        merged: guard.merged() as u32,
        arms,
        p_modes: guard.dip_p,
        modes,
        outliers: flags
            .iter()
            .map(|f| Outlier { block: blocks[f.index].number, far: f.far })
            .collect(),
        order: order(metric, all),
        ..Diagnostics::default()
    }
}

/// What a series of plain values does.
fn of_values(sign: &Sign) -> String {
    match sign {
        Sign::Step { after, .. } => format!("a step after pair {after}"),
        Sign::Trend { rises: true, .. } => "rising".to_string(),
        Sign::Trend { rises: false, .. } => "falling".to_string(),
        Sign::Resemblance { lag1, .. } => format!("neighbours alike (autocorrelation {lag1:.2})"),
    }
}

/// What the sequence of effects does, as the subject and verb of a clause.
fn of_effects(metric: Metric, sign: &Sign, effects: &[f64]) -> String {
    let centre = |part: &[f64]| {
        words::amount(metric, metric.scale().shown(v6gap_stats::summary::median(part)))
    };
    let halves = |at: usize| {
        let (before, after) = effects.split_at(at.clamp(1, effects.len() - 1));
        format!("{} before and {} after", centre(before), centre(after))
    };
    match *sign {
        Sign::Step { after, .. } => {
            format!(
                "the difference changed after {after} of {} pairs: {}",
                effects.len(),
                halves(after)
            )
        }
        Sign::Trend { .. } => {
            let half = effects.len() / 2;
            format!("the difference drifted: {} the middle of the run", halves(half))
        }
        Sign::Resemblance { lag1, .. } => {
            format!("neighbouring pairs resemble each other (autocorrelation {lag1:.2})")
        }
    }
}

/// Why there is no verdict, and what to do about it, in words.
pub(super) fn withheld(
    metric: Metric,
    found: &Diagnostics,
    withheld: &Withheld,
    n: usize,
) -> String {
    match withheld {
        Withheld::Unsteady { need, .. } => {
            let what = found.unsteady.as_deref().unwrap_or("the pairs are not independent");
            let next = match need.saturating_sub(n) {
                0 => "find out what changed, and measure again while nothing does".to_string(),
                _ => format!("measure while nothing changes, or at least {need} pairs"),
            };
            format!("{what}; {next}")
        }
        Withheld::Modes { need } => {
            let groups = |modes| in_groups(metric, modes);
            let what = found.modes.as_ref().map_or_else(String::new, groups);
            format!("{what}; at least {need} pairs are needed to answer in spite of that")
        }
    }
}

/// Modes in words.
fn in_groups(metric: Metric, modes: &Modes) -> String {
    let percent = |share: f64| libm::round(100.0 * share);
    let sign =
        |x: f64| format!("{}{}", if x < 0.0 { "−" } else { "+" }, words::amount_of(metric, x));
    let goes_with = match &modes.goes_with {
        Some(what) => format!(", which go with {what}"),
        // At few pairs not even a fact that divides them just so is beyond chance.
        None => ", and nothing recorded is known to go with them".to_string(),
    };
    format!(
        "the pairs fall into two groups, {} % around {} and {} % around {}{goes_with}",
        percent(modes.shares[0]),
        sign(modes.effects[0]),
        percent(modes.shares[1]),
        sign(modes.effects[1]),
    )
}

/// A reason for doubt that the verdict survives; `guard` is what was found in the sequence.
pub(super) fn caveats(metric: Metric, found: &Diagnostics, guard: Option<&Guard>) -> Vec<String> {
    let mut caveats = Vec::new();
    if let (Some(what), Some(guard)) = (&found.unsteady, guard) {
        let range = match guard.holds_all {
            Some(_) => {
                "too little to matter; the range holds every sixth of the run, and more".to_string()
            }
            None => format!("the range is that of the means of {} pairs each", found.merged),
        };
        caveats.extend(guard.stands().is_none().then(|| format!("{what}: {range}")));
    }
    caveats.extend(found.modes.as_ref().map(|modes| in_groups(metric, modes)));
    caveats
}

/// The test of the two orders.
fn order(metric: Metric, blocks: &[&Block<'_>]) -> Option<OrderEffect> {
    let of = |order: TurnOrder| -> Vec<f64> {
        let those = blocks.iter().filter(|b| b.order() == order);
        let effects = those.filter_map(|b| b.effect(metric));
        effects.filter(|d| d.is_finite()).collect()
    };
    let (ab, ba) = (of(TurnOrder::Ab), of(TurnOrder::Ba));
    if ab.len().min(ba.len()) < ORDER_BLOCKS_MIN {
        return None;
    }
    let p = match ab.len() + ba.len() < EXACT_BELOW {
        true => permutation::two_samples(&ab, &ba),
        false => drift::welch_order_test(&ab, &ba)?.p,
    };
    let means = [&ab, &ba].map(|d| v6gap_stats::summary::mean(d));
    let scale = metric.scale();
    Some(OrderEffect {
        p,
        means: means.map(|x| scale.shown(x)),
        stratified: scale.shown((means[0] + means[1]) / 2.0),
    })
}

/// Which of the facts recorded with the blocks goes with the modes: Fisher's exact test of each,
/// corrected for their number.
fn goes_with(blocks: &[&Block<'_>], upper: &[bool]) -> Option<String> {
    let mut facts: Vec<(String, Vec<Option<bool>>)> = Vec::new();
    let half = blocks.len() / 2;
    facts.push((
        "the time: early or late".into(),
        (0..blocks.len()).map(|i| Some(i >= half)).collect(),
    ));
    let second_first = |b: &&Block<'_>| Some(b.order() == TurnOrder::Ba);
    facts.push(("which family went first".into(), blocks.iter().map(second_first).collect()));
    for arm in Arm::BOTH {
        for (name, fact) in FACTS {
            let of = |b: &&Block<'_>| {
                let ends = &b.trials.get(arm).ends;
                fact(ends)
            };
            let values: Vec<Option<u64>> = blocks.iter().map(of).collect();
            facts.extend(often(&values).map(|seen| {
                let family = blocks.first().map(|b| b.trials.get(arm).family.to_string());
                (format!("{name} of {}", family.unwrap_or_default()), seen)
            }));
        }
    }
    let limit = GOES_WITH_ALPHA / facts.len() as f64;
    let tested = facts.into_iter().map(|(name, fact)| (association(&fact, upper), name));
    let best = tested.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 < limit).then_some(best.1)
}

/// A number that tells where or how a trial ran, if an end knows it.
type Fact = fn(&Ends) -> Option<u64>;

/// Facts that may differ from trial to trial.
const FACTS: [(&str, Fact); 5] = [
    ("the client's receiving processor", |e| e.client.granted.incoming_processor.map(u64::from)),
    ("the server's receiving processor", |e| {
        e.server.seen()?.granted.incoming_processor.map(u64::from)
    }),
    ("the client's receive queue", |e| e.client.granted.incoming_queue.map(u64::from)),
    ("the server's receive queue", |e| e.server.seen()?.granted.incoming_queue.map(u64::from)),
    ("the client's port", |e| e.client.endpoints.as_ref().map(|e| u64::from(e.local.port()))),
];

/// Whether each value is the most frequent one; `None` if no value comes often enough to tell
/// (a tenth of the blocks), or only one comes at all.
fn often(values: &[Option<u64>]) -> Option<Vec<Option<bool>>> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for value in values.iter().flatten() {
        *counts.entry(*value).or_insert(0) += 1;
    }
    let (most, count) = counts.iter().max_by_key(|(_, count)| **count)?;
    let telling = counts.len() > 1 && 10 * count > values.len();
    telling.then(|| values.iter().map(|v| v.map(|v| v == *most)).collect())
}

/// p-value of "the fact has nothing to do with the mode".
fn association(fact: &[Option<bool>], upper: &[bool]) -> f64 {
    let count = |fact_is: bool| {
        let those = fact.iter().zip(upper).filter(|(fact, _)| **fact == Some(fact_is));
        those.fold((0, 0), |(up, all), (_, upper)| (up + u64::from(*upper), all + 1))
    };
    loss::fisher_p(count(true), count(false))
}

/// Which of the questions say that going first mattered, at the rate for all of them.
pub fn order_mattered(questions: &[Question]) -> Vec<bool> {
    let orders = || questions.iter().map(|q| q.diagnostics.order);
    let limit = ORDER_ALPHA / orders().flatten().count().max(1) as f64;
    orders().map(|order| order.is_some_and(|order| order.p < limit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_with_a_mode_is_found() {
        let upper: Vec<bool> = (0..20).map(|i| i % 2 == 0).collect();
        let same: Vec<Option<bool>> = upper.iter().map(|u| Some(*u)).collect();
        let other: Vec<Option<bool>> = (0..20).map(|i| Some(i < 10)).collect();
        assert!(association(&same, &upper) < 1e-4);
        assert!(association(&other, &upper) > 0.5);
        assert_eq!(association(&[None; 20], &upper), 1.0);
    }

    #[test]
    fn modes_are_told_in_the_unit_of_the_metric() {
        let modes = Modes { effects: [-0.03, 0.05], shares: [0.6, 0.4], goes_with: None };
        let in_words = |metric| in_groups(metric, &modes);
        assert!(in_words(Metric::Rtt).contains("60 % around −3.0 % and 40 % around +5.0 %"));
        let lost = in_words(Metric::Loss);
        assert!(lost.contains("60 % around −3.0 points and 40 % around +5.0 points"), "{lost}");
    }

    #[test]
    fn without_blocks_nothing_is_unlikely() {
        let nothing = diagnose(Metric::Rtt, &[], &[], None, 1);
        assert_eq!((nothing.p_different, nothing.p_same_adjusted, nothing.merged), (1.0, 1.0, 1));
    }

    #[test]
    fn a_fact_must_vary_and_repeat() {
        let numbers = |values: &[u64]| values.iter().map(|v| Some(*v)).collect::<Vec<_>>();
        assert_eq!(often(&numbers(&[3; 20])), None);
        assert_eq!(often(&numbers(&(0..20).collect::<Vec<_>>())), None);
        let seen = often(&numbers(&[1, 1, 2, 1])).unwrap();
        assert_eq!(seen, [Some(true), Some(true), Some(false), Some(true)]);
    }
}
