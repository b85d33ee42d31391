//! What the null blocks say: the difference that the instrument finds where there is none, each
//! family by itself, since a bias of one may be the opposite of that of the other.

use super::Range;
use super::collect::Block;
use super::effect;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::BlockKind;
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Plan;
use v6gap_core::workload::Cell;
use v6gap_stats::groups::Spread;
use v6gap_stats::{Interval, summary};

/// Error rate of all null checks of a run together (Bonferroni): low, since each can take a verdict
/// away.
pub(crate) const ALPHA: f64 = 0.01;

/// Error rate of "a family agrees with itself within so much".
const ALPHA_AGREES: f64 = 0.05;

/// Power with which a bias of [`NullResult::seen_from`] would have been found.
const POWER: f64 = 0.9;

/// What the null blocks of a family show of a metric in a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NullResult {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// The family that was compared with itself.
    pub family: Family,
    /// Mean effect of the family against itself: ratio − 1 or difference.
    pub estimate: f64,
    /// Its range, which holds at 99 % with those of both families of all questions.
    pub range: Range,
    /// The largest bias that it may have, at 95 %; infinite where blocks are too few, which JSON
    /// shows as null.
    pub within: f64,
    /// The bias that would have been found in nine of ten such runs; likewise.
    pub seen_from: f64,
    /// The margin of the metric.
    pub margin: f64,
    /// Blocks behind it.
    pub blocks: usize,
    /// Standard deviation of one block's effect, from both families and the comparisons; of shares
    /// from this one.
    pub sd: f64,
    /// What it says.
    pub told: NullTold,
    /// False if a difference that matters was seen where there is none.
    pub passed: bool,
}

impl NullResult {
    /// Whether they are of a share, and saw none of it: they compare nothing.
    pub fn saw_nothing(&self) -> bool {
        // A single block has no spread, whatever it lost.
        self.metric.scale() == Scale::Difference && self.sd == 0.0 && self.estimate == 0.0
    }
}

/// Whether each family agrees with itself, in all in which it could be seen.
pub(super) fn agree(results: &[NullResult]) -> bool {
    let mut seen = results.iter().filter(|null| !null.saw_nothing()).peekable();
    seen.peek().is_some() && seen.all(|null| null.told == NullTold::Agrees)
}

/// What null blocks can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NullTold {
    /// The family agrees with itself: any bias is smaller than the margin.
    Agrees,
    /// It could not be shown to.
    NotShown,
    /// It does not, by less than a third of the margin as far as seen and perhaps by more, or by
    /// more in one block alone.
    Doubtful,
    /// It does not, by more than a third of the margin: its questions have no verdict.
    Biased,
}

/// The null results of a plan, cell by cell.
pub(super) fn judge(plan: &Plan, blocks: &[Block<'_>]) -> Vec<NullResult> {
    let mut results = Vec::new();
    for cell in &plan.cells {
        for &metric in cell.workload.metrics() {
            judge_one(plan, cell, metric, blocks, &mut results);
        }
    }
    results
}

/// The families of a metric in a cell: their means apart, their noise together with that of the
/// comparisons, but for shares.
fn judge_one(
    plan: &Plan,
    cell: &Cell,
    metric: Metric,
    blocks: &[Block<'_>],
    results: &mut Vec<NullResult>,
) {
    let of = |family| effects(cell, metric, blocks, |b| b.kind() == BlockKind::Null(family));
    let families = Family::BOTH.map(|family| (family, of(family)));
    let seen = || families.iter().filter(|(_, effects)| !effects.is_empty());
    let groups: Vec<&[f64]> = seen().map(|(_, effects)| effects.as_slice()).collect();
    let all: usize = groups.iter().map(|group| group.len()).sum();
    let is_share = metric.scale() == Scale::Difference;
    let alone = all >= effect::NULLS_MIN;
    let compared = compared(cell, metric, blocks);
    // Of shares, a family that loses has a noise that the other one may not have.
    let counts = compared.len() >= effect::BLOCKS_MIN && !(is_share && alone);
    let few = !alone && !counts;
    let spread_of = |effects: &[f64]| {
        let own = if is_share { alloc::vec![effects] } else { groups.clone() };
        let more = Some(compared.as_slice()).filter(|_| counts);
        let spread = Spread::of(&own.into_iter().chain(more).collect::<Vec<_>>());
        // And blocks that saw nothing say little of what may come in bursts.
        let empty = is_share && spread.sd == 0.0;
        if empty { Spread { freedom: 0, ..spread } } else { spread }
    };
    let questions: usize = plan.cells.iter().map(|cell| cell.workload.metrics().len()).sum();
    let alpha = ALPHA / (questions * groups.len()).max(1) as f64;
    let margin = effect::margin(metric, plan.margin(metric));
    let scale = metric.scale();
    let of_family = |(family, effects): &(Family, Vec<f64>)| {
        let (mean, n, spread) = (summary::mean(effects), effects.len(), spread_of(effects));
        (*family, mean, n, spread, spread.interval(mean, n, alpha))
    };
    let found: Vec<_> = seen().map(of_family).collect();
    let is_far = |&(_, mean, _, _, strict): &(Family, f64, usize, Spread, Interval)| {
        !strict.contains(0.0) && libm::fabs(mean) > matters(margin)
    };
    let all_far = found.len() > 1 && found.iter().all(is_far);
    for (family, mean, n, spread, strict) in found {
        let usual = spread.interval(mean, n, 2.0 * ALPHA_AGREES);
        let told = match few {
            true => NullTold::NotShown,
            false => tell(mean, &strict, &usual, margin, n > 1 || all_far),
        };
        results.push(NullResult {
            cell: cell.id.clone(),
            metric,
            family,
            estimate: scale.shown(mean),
            range: Range { low: scale.shown(strict.low), high: scale.shown(strict.high) },
            within: scale.shown(usual.high.max(-usual.low)),
            seen_from: scale.shown(spread.detectable(n, alpha, POWER)),
            margin: plan.margin(metric),
            blocks: n,
            sd: spread.sd,
            told,
            passed: told != NullTold::Biased,
        });
    }
}

/// A bias is one whose strict range excludes none. It takes the verdict where its centre alone is
/// large enough to matter, a third of the margin, and is a doubt where it may be, or where it was
/// seen but once: one block is as far off by other work that hit it. A family agrees
/// with itself where any bias beyond the margin is excluded (two one-sided tests; Schuirmann 1987).
fn tell(mean: f64, strict: &Interval, usual: &Interval, margin: f64, twice: bool) -> NullTold {
    let matters = matters(margin);
    match !strict.contains(0.0) {
        true if twice && libm::fabs(mean) > matters => NullTold::Biased,
        true if !usual.within(-matters, matters) => NullTold::Doubtful,
        _ if usual.within(-margin, margin) => NullTold::Agrees,
        _ => NullTold::NotShown,
    }
}

/// The bias that matters under a margin: so much in either family, in opposite directions, leaves
/// a third of it.
pub(crate) fn matters(margin: f64) -> f64 {
    margin / 3.0
}

/// The effects of the first comparing block of each round: their mean is another one, and their
/// noise, of which null blocks by themselves show little, is not smaller.
fn compared(cell: &Cell, metric: Metric, blocks: &[Block<'_>]) -> Vec<f64> {
    let own = |b: &&Block<'_>| b.valid && b.cell() == cell.id && b.kind() == BlockKind::Compare;
    let own: Vec<&Block<'_>> = blocks.iter().filter(own).collect();
    let first = own.chunk_by(|a, b| a.round() == b.round()).filter_map(|round| round.first());
    first.filter_map(|block| block.effect(metric)).collect()
}

/// Effects of the null blocks before the first comparison, to tune the symmetric range with: the
/// noise must not depend on what it is used for.
pub(super) fn before_comparing(blocks: &[Block<'_>], cell: &Cell, metric: Metric) -> Vec<f64> {
    effects(cell, metric, blocks, |b| b.trials.a.round == 0)
}

/// Effects of a cell's valid null blocks.
fn effects(
    cell: &Cell,
    metric: Metric,
    blocks: &[Block<'_>],
    wanted: impl Fn(&Block<'_>) -> bool,
) -> Vec<f64> {
    blocks
        .iter()
        .filter(|b| b.valid && b.cell() == cell.id && b.kind() != BlockKind::Compare && wanted(b))
        .filter_map(|b| b.effect(metric))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{EVEN, Truth, plan, run};
    use crate::analysis::{Analysis, CheckState, analyse};
    use v6gap_core::arm::{Arm, PerArm};
    use v6gap_core::record::Line;

    /// A first look of eight pairs whose instrument makes the second trial of a block of one family
    /// longer by `bias`, and of the other shorter.
    fn biased(seed: u64, bias: f64) -> Analysis {
        biased_with(&plan(PerArm::FAMILIES, seed), bias)
    }

    fn biased_with(plan: &Plan, bias: f64) -> Analysis {
        let mut lines = run(plan, 8, &EVEN);
        for line in &mut lines {
            if let Line::Trial(trial) = line
                && trial.arm == Arm::B
                && matches!(trial.kind, BlockKind::Null(_))
                && let Some(value) = trial.values.get_mut(&Metric::Rtt)
            {
                *value *= libm::exp(if trial.family == Family::V4 { bias } else { -bias });
            }
        }
        analyse(&lines).unwrap()
    }

    fn state(found: &Analysis) -> CheckState {
        found.checks.iter().find(|check| check.id == "null").unwrap().state
    }

    #[test]
    fn families_that_agree_with_themselves_are_shown_to() {
        let mut passed = 0;
        for seed in 0..12 {
            let found = biased(seed, 0.0);
            passed += u32::from(state(&found) == CheckState::Ok);
            let of =
                |f| found.nulls.iter().filter(move |n| n.metric == Metric::Rtt && n.family == f);
            assert!(of(Family::V4).count() == 2 && of(Family::V6).count() == 2);
            // Of a loss that nobody saw nothing is shown.
            let (empty, seen): (Vec<_>, Vec<_>) =
                found.nulls.iter().partition(|null| null.saw_nothing());
            assert!(seen.iter().all(|n| n.within <= 2.0 * n.margin), "{seen:?}");
            let is_open = |n: &&NullResult| n.told == NullTold::NotShown && n.within.is_infinite();
            assert!(empty.len() == 2 && empty.iter().all(is_open), "{empty:?}");
        }
        assert!(passed >= 11, "{passed}");
    }

    /// The noise of a family that loses is not halved by one that does not.
    #[test]
    fn a_family_that_loses_has_its_own_noise() {
        let mut lines = run(&plan(PerArm::FAMILIES, 1), 8, &EVEN);
        let mut lost = [0.004, 0.001, 0.003, 0.0045].into_iter();
        for line in &mut lines {
            if let Line::Trial(trial) = line
                && trial.kind == BlockKind::Null(Family::V4)
                && trial.arm == Arm::B
                && let Some(value) = trial.values.get_mut(&Metric::Loss)
            {
                *value += lost.next().unwrap();
            }
        }
        let found = analyse(&lines).unwrap();
        let of = |family| {
            let own = |n: &&NullResult| n.metric == Metric::Loss && n.family == family;
            found.nulls.iter().find(own).unwrap()
        };
        assert_eq!(of(Family::V4).told, NullTold::NotShown, "{:?}", of(Family::V4));
        assert!(of(Family::V4).within.is_finite() && of(Family::V6).saw_nothing());
    }

    /// Opposite biases of a third of the margin do not cancel: they are found in nine of ten runs.
    #[test]
    fn opposite_biases_of_a_third_of_the_margin_are_found() {
        let bias = Metric::Rtt.margin_default().ln_1p() / 3.0;
        let (mut asked, mut found) = (0, 0);
        for seed in 0..60 {
            let run = biased(seed, bias);
            for null in run.nulls.iter().filter(|n| n.metric == Metric::Rtt) {
                assert!(null.seen_from < 1.5 * bias, "the noise allows it: {null:?}");
                asked += 1;
                found += u32::from(matches!(null.told, NullTold::Biased | NullTold::Doubtful));
            }
            assert_ne!(state(&run), CheckState::Ok);
        }
        assert!(found * 10 >= asked * 9, "{found} of {asked}");
    }

    /// However noisy the hosts are, 1 % of runs lose a question by chance, however many are asked.
    #[test]
    fn noise_alone_seldom_takes_a_verdict() {
        let noisy = Truth { noise: 0.05, ..EVEN };
        let differs = |seed: &u64| {
            let lines = run(&plan(PerArm::FAMILIES, 1_000 + *seed), 8, &noisy);
            analyse(&lines).unwrap().nulls.iter().any(|null| !null.passed)
        };
        let runs = (0..200).filter(differs).count();
        assert!(runs <= 5, "{runs}");
    }

    /// A cell of which each family has one null block: its comparisons tell the noise.
    #[test]
    fn one_null_block_tells_something_beside_its_comparisons() {
        let bias = Metric::Rtt.margin_default().ln_1p();
        let of = |seed: u64, bias: f64| {
            let mut plan = plan(PerArm::FAMILIES, seed);
            plan.parts_mut().design.null_fewer = (0..plan.cells.len()).map(|c| (c, 1)).collect();
            let found = biased_with(&plan, bias);
            found.nulls.into_iter().filter(|n| n.metric == Metric::Rtt).collect::<Vec<_>>()
        };
        let (mut asked, mut found, mut wrong) = (0, 0, 0);
        for seed in 0..24 {
            for null in of(seed, bias) {
                assert!(null.blocks == 1 && null.seen_from < 1.5 * bias, "{null:?}");
                asked += 1;
                found += u32::from(matches!(null.told, NullTold::Biased | NullTold::Doubtful));
            }
            let is_wrong =
                |n: &&NullResult| !matches!(n.told, NullTold::Agrees | NullTold::NotShown);
            wrong += of(seed, 0.0).iter().filter(is_wrong).count();
        }
        assert!(found * 10 >= asked * 9 && wrong <= 2, "{found} and {wrong} of {asked}");
    }

    /// One block alone may be what other work hit: it takes no verdict, and it does not pass.
    #[test]
    fn one_null_block_that_is_far_off_alone_is_a_doubt() {
        let told = |hit: &[Family]| {
            let mut plan = plan(PerArm::FAMILIES, 1);
            plan.parts_mut().design.null_fewer = (0..plan.cells.len()).map(|c| (c, 1)).collect();
            let mut lines = run(&plan, 8, &EVEN);
            for line in &mut lines {
                if let Line::Trial(trial) = line
                    && trial.arm == Arm::A
                    && matches!(trial.kind, BlockKind::Null(family) if hit.contains(&family))
                    && let Some(value) = trial.values.get_mut(&Metric::Throughput)
                {
                    *value *= 0.92;
                }
            }
            let found = analyse(&lines).unwrap();
            let of = |family| {
                let of_cell = |n: &&NullResult| n.cell == "throughput-udp-1408";
                let rates = found.nulls.iter().filter(|n| n.metric == Metric::Throughput);
                rates.filter(of_cell).find(|n| n.family == family).unwrap().told
            };
            Family::BOTH.map(of)
        };
        let is_fine = |told| !matches!(told, NullTold::Biased | NullTold::Doubtful);
        let [v4, v6] = told(&[Family::V6]);
        assert!(is_fine(v4) && v6 == NullTold::Doubtful, "{v4:?} {v6:?}");
        assert_eq!(told(&Family::BOTH), [NullTold::Biased; 2]);
    }

    #[test]
    fn what_a_range_says() {
        let range = |low, high| Interval { low, high };
        let told = |mean, strict, usual| tell(mean, &strict, &usual, 0.03, true);
        assert_eq!(told(0.02, range(0.01, 0.03), range(0.015, 0.025)), NullTold::Biased);
        let once = tell(0.02, &range(0.01, 0.03), &range(0.015, 0.025), 0.03, false);
        assert_eq!(once, NullTold::Doubtful);
        assert_eq!(told(0.009, range(0.001, 0.017), range(0.004, 0.014)), NullTold::Doubtful);
        assert_eq!(told(0.004, range(0.001, 0.007), range(0.003, 0.005)), NullTold::Agrees);
        assert_eq!(told(0.0, range(-0.04, 0.04), range(-0.02, 0.02)), NullTold::Agrees);
        assert_eq!(told(0.0, range(-0.09, 0.09), range(-0.05, 0.05)), NullTold::NotShown);
        assert_eq!(told(0.02, Interval::WHOLE, Interval::WHOLE), NullTold::NotShown);
    }
}
