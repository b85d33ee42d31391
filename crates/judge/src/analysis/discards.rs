//! What gates discarded where families were compared: whether they closed for one family more
//! often, and how different the discarded blocks would have to be to change an answer
//! (docs/method.md section C.8).

use super::collect::Collected;
use super::counted::Counted;
use super::{Effect, Pair, Question, Verdict, effect};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::metric::Metric;
use v6gap_stats::summary;

/// What was discarded where families were compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Discards {
    /// Blocks that were measured.
    pub blocks: usize,
    /// Blocks that gates closed for a trial of that arm alone.
    pub alone: PerArm<usize>,
    /// Blocks that they closed for both.
    pub both: usize,
    /// Whether trials of the second arm were discarded more often (worse) or less (better).
    #[serde(flatten)]
    pub counted: Counted,
    /// For each answer that could change, what would change it.
    pub tipping: Vec<Tipping>,
}

/// What the discarded blocks of a question would have to be to change its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tipping {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// Discarded blocks that have a value.
    pub discarded: usize,
    /// Mean effect up to which the answer changes, if it does so downwards.
    pub below: Option<f64>,
    /// Mean effect from which on it changes, if it does so upwards.
    pub above: Option<f64>,
    /// By how much the discarded blocks would have to differ from those that count, at least.
    pub differ: f64,
    /// Mean effect that they had as they were measured, whatever spoiled them.
    pub measured: f64,
    /// Whether that would change it.
    pub changes: bool,
}

/// What was discarded; `None` if nothing was, or if no families were compared.
pub(super) fn judge(found: &Collected<'_>, questions: &[Question]) -> Option<Discards> {
    let compared = || found.blocks.iter().filter(|block| block.kind() == BlockKind::Compare);
    // The arms for which gates closed, of each block: attempts of one have a cause in common.
    let mut begun: BTreeMap<u32, (&str, u32, PerArm<bool>)> = BTreeMap::new();
    for block in compared() {
        let fatal = |arm| block.trials.get(arm).findings.iter().any(|f| f.fatal);
        let new = (block.cell(), block.round(), PerArm::default());
        let (_, _, arms) = begun.entry(block.number).or_insert(new);
        *arms = PerArm::from_fn(|arm| *arms.get(arm) || (!block.valid && fatal(arm)));
    }
    let closed: Vec<PerArm<bool>> =
        begun.values().map(|(_, _, arms)| *arms).filter(|arms| arms.a || arms.b).collect();
    if found.run.plan.design.arms.is_null() || closed.is_empty() {
        return None;
    }
    let alone = PerArm::from_fn(|arm: Arm| {
        closed.iter().filter(|arms| *arms.get(arm) && !*arms.get(arm.other())).count()
    });
    let times = begun.values().map(|(cell, round, arms)| {
        let times = arms.map(|closed| (u64::from(closed), 0));
        (*cell, *round, times)
    });
    Some(Discards {
        blocks: begun.len(),
        alone,
        both: closed.len() - alone.a - alone.b,
        counted: Counted::of(times),
        tipping: questions.iter().filter_map(tipping).collect(),
    })
}

/// Where discarded blocks of mean D have a share w of all pairs, estimate and range move by
/// w (D − mean) at most, since the centre of a round's blocks moves less than their mean: the
/// answer does not change before that takes an end of its range to where the rule turns.
/// Of n rounds with one block each, k of them discarded, w is k / n.
fn tipping(q: &Question) -> Option<Tipping> {
    let effect = q.effect.as_ref()?;
    let discarded = q.pairs.iter().filter(|pair| !pair.valid).map(|pair| pair.effect(q.metric));
    let lost: Vec<f64> = discarded.filter(|x| x.is_finite()).collect();
    let margin = effect::margin(q.metric, q.margin);
    let Effect { scale, range95, range90, .. } = effect;
    // By how much the estimate may fall and rise before the answer changes.
    let (falls, rises) = match q.verdict {
        Verdict::Same => {
            (Some(scale.single(range90.low) + margin), Some(margin - scale.single(range90.high)))
        }
        Verdict::Better | Verdict::Worse if range95.low > 0.0 => {
            (Some(scale.single(range95.low)), None)
        }
        Verdict::Better | Verdict::Worse => (None, Some(-scale.single(range95.high))),
        Verdict::CannotTell | Verdict::None => return None,
    };
    if lost.is_empty() {
        return None;
    }
    let weight = weight(q, effect.blocks);
    let centre = scale.single(effect.estimate);
    let (below, above) =
        (falls.map(|by| centre - by * weight), rises.map(|by| centre + by * weight));
    let measured = summary::mean(&lost);
    // Of a ratio a fall and a rise of one size on its logarithm are not of one size as it is shown.
    let down = falls.map(|by| scale.shown(-by * weight).abs());
    let up = rises.map(|by| scale.shown(by * weight));
    let differ = down.into_iter().chain(up).fold(f64::INFINITY, f64::min);
    Some(Tipping {
        cell: q.cell.clone(),
        metric: q.metric,
        discarded: lost.len(),
        below: below.map(|x| scale.shown(x)),
        above: above.map(|x| scale.shown(x)),
        differ,
        measured: scale.shown(measured),
        changes: q.diagnostics.same_with_discarded != Some(true)
            && (below.is_some_and(|end| measured <= end)
                || above.is_some_and(|end| measured >= end)),
    })
}

/// By how much the discarded blocks of a question must move for its estimate to move by one: what
/// they would weigh, joined with the blocks of their rounds, among all pairs.
fn weight(q: &Question, pairs: usize) -> f64 {
    let valid = |round| q.pairs.iter().find(|pair| pair.valid && pair.round == round);
    let lost = || q.pairs.iter().filter(|pair| !pair.valid && pair.effect(q.metric).is_finite());
    let mut alone: Vec<u32> = lost().map(|pair| pair.round).collect();
    alone.sort_unstable();
    alone.dedup();
    alone.retain(|round| valid(*round).is_none());
    let share = |pair: &Pair| {
        let beside = lost().filter(|other| other.round == pair.round).count() as u32;
        1.0 / f64::from(beside + valid(pair.round).map_or(0, |valid| valid.blocks))
    };
    (pairs + alone.len()) as f64 / lost().map(share).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, Truth, plan, run};
    use super::*;
    use crate::analysis::analyse;
    use v6gap_core::family::Family;
    use v6gap_core::record::{GateFinding, Line};

    /// A run in which so many blocks of its first cell are closed for a trial of either arm.
    fn closed(of: [u32; 2], factor: f64) -> Option<Discards> {
        let plan = plan(PerArm::FAMILIES, 3);
        let slower = |_: &v6gap_core::workload::Cell, family| match family {
            Family::V6 => 1.2,
            Family::V4 => 1.0,
        };
        let mut lines = run(&plan, 40, &Truth { factor: slower, ..EVEN });
        let mut left = of;
        let mut shut = Vec::new();
        for line in &mut lines {
            match line {
                Line::Trial(t) if t.kind == BlockKind::Compare && t.cell == plan.cells[0].id => {
                    let left = &mut left[usize::from(t.arm == Arm::B)];
                    if *left > 0 && !shut.contains(&t.block) {
                        *left -= 1;
                        shut.push(t.block);
                        t.findings.push(GateFinding {
                            gate: "steal".into(),
                            seen: "much".into(),
                            fatal: true,
                        });
                    }
                    if t.arm == Arm::B && shut.contains(&t.block) {
                        t.values.values_mut().for_each(|value| *value *= factor);
                    }
                }
                Line::Block(block) => block.valid = !shut.contains(&block.block),
                _ => {}
            }
        }
        analyse(&lines).unwrap().discards
    }

    #[test]
    fn what_closes_for_one_family_alone_is_told() {
        assert_eq!(closed([0, 0], 1.0), None);
        let one = closed([0, 6], 1.0).unwrap();
        assert_eq!((one.alone, one.counted.verdict), (PerArm { a: 0, b: 6 }, Verdict::Worse));
        assert!(one.counted.range.low > 0.5, "{one:?}");
        let alike = closed([3, 3], 1.0).unwrap();
        let range = alike.counted.range;
        assert_eq!(alike.counted.verdict, Verdict::CannotTell);
        assert!(range.low < 0.5 && range.high > 0.5, "{alike:?}");
    }

    /// Three blocks that count beside a discarded one leave it a quarter of a pair.
    #[test]
    fn a_discarded_block_weighs_what_it_would_in_its_round() {
        let plan = plan(PerArm::FAMILIES, 3);
        let analysis = analyse(&run(&plan, 10, &EVEN)).unwrap();
        let mut q = analysis.questions[0].clone();
        q.pairs[9].valid = false;
        assert!((weight(&q, 9) - 10.0).abs() < 1e-9, "alone in its round");
        q.pairs[9].round = q.pairs[8].round;
        q.pairs[8].blocks = 3;
        assert!((weight(&q, 9) - 36.0).abs() < 1e-9, "{}", weight(&q, 9));
    }

    /// 36 blocks with a difference of 20 %: four more must differ by far more to hide it.
    #[test]
    fn what_would_change_an_answer_is_told() {
        let found = closed([2, 2], 1.0).unwrap();
        let [tipping] = &found.tipping[..] else { panic!("{found:?}") };
        assert_eq!((tipping.discarded, tipping.changes), (4, false));
        // What a fall is by is told as a fall: of 1.2 times to what is left of it.
        let below = tipping.below.unwrap();
        assert!(tipping.differ > 0.5 && tipping.above.is_none(), "{tipping:?}");
        assert!((1.2 * (1.0 - tipping.differ) - (1.0 + below)).abs() < 1e-3, "{tipping:?}");
        let other = closed([2, 2], 1e-3).unwrap();
        assert!(other.tipping[0].measured < -0.99, "{other:?}");
    }
}
