//! What failed, by family. A family that fails now and then is measured by its successes, so its
//! failures are a question of their own (docs/method.md section D.2).

use super::collect::{Block, Collected};
use super::verdict::ALPHA;
use super::{Range, Verdict, conditions, effect};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;
use serde::Serialize;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::record::FailedAttempt;
use v6gap_core::values;
use v6gap_core::workload::Workload;
use v6gap_stats::loss;
use v6gap_stats::sign_test::sign_p;

/// What failed where families were compared, and whether one of them fails more often.
///
/// Attempts at one block follow each other and fail for one reason, so blocks are what is counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failures {
    /// Blocks that were begun.
    pub blocks: usize,
    /// Rounds of single cells that were begun.
    pub rounds: usize,
    /// Blocks in which an attempt or a connection of the arm failed.
    pub failed: PerArm<usize>,
    /// Rounds of single cells in which more failed of this arm than of the other.
    pub more: PerArm<usize>,
    /// Attempts that gave nothing because the trial of the arm failed.
    pub attempts: PerArm<usize>,
    /// Attempts that gave nothing for another reason.
    pub attempts_of_neither: usize,
    /// Connections that failed in blocks that count, and of how many.
    pub connections: PerArm<(u64, u64)>,
    /// p-value of the exact sign test of `more`.
    pub p: f64,
    /// The share of the second arm in `more`, where both failing alike is a half: the exact 95 %
    /// range (Clopper and Pearson 1934), which excludes a half just where `p` is below 5 %.
    pub range: Range,
    /// Whether the second arm fails more often (worse) or less often (better).
    pub verdict: Verdict,
}

/// What failed in one block.
#[derive(Debug, Clone, Default)]
struct InBlock<'a> {
    cell: &'a str,
    round: u32,
    attempts: PerArm<usize>,
    connections: PerArm<(u64, u64)>,
}

impl InBlock<'_> {
    fn failed(&self, arm: Arm) -> (usize, u64) {
        (*self.attempts.get(arm), self.connections.get(arm).0)
    }
}

/// What failed; `None` if nothing did, or if no families were compared.
pub(super) fn judge(found: &Collected<'_>) -> Option<Failures> {
    if found.run.plan.design.arms.is_null() {
        return None;
    }
    let blocks = in_blocks(found);
    let count = |has: &dyn Fn(&InBlock<'_>) -> bool| blocks.values().filter(|b| has(b)).count();
    let attempts =
        PerArm::from_fn(|arm| blocks.values().map(|block| block.attempts.get(arm)).sum::<usize>());
    let all = found.failed.iter().filter(|failed| failed.kind == BlockKind::Compare).count();
    let failed = PerArm::from_fn(|arm| count(&|block| block.failed(arm) != (0, 0)));
    if all == 0 && failed.a + failed.b == 0 {
        return None;
    }
    let rounds = votes(blocks.values());
    let more = PerArm::from_fn(|arm| rounds.iter().filter(|vote| **vote == Some(arm)).count());
    let (p, range, told) = told_apart(more);
    let verdict = if failed.a + failed.b == 0 { Verdict::None } else { told };
    Some(Failures {
        blocks: blocks.len(),
        rounds: rounds.len(),
        failed,
        more,
        attempts_of_neither: all - attempts.a - attempts.b,
        attempts,
        connections: PerArm::from_fn(|arm| {
            let of_blocks = blocks.values().map(|block| block.connections.get(arm));
            of_blocks.fold((0, 0), |sum, one| effect::add(sum, *one))
        }),
        p,
        range,
        verdict,
    })
}

/// The arm of which more failed, if one did, of each round of each cell: the blocks of a round
/// follow each other, and one incident may be in all of them.
fn votes<'a>(blocks: impl Iterator<Item = &'a InBlock<'a>>) -> Vec<Option<Arm>> {
    let mut rounds: BTreeMap<(&str, u32), PerArm<(usize, u64)>> = BTreeMap::new();
    for block in blocks {
        let of = rounds.entry((block.cell, block.round)).or_default();
        *of = PerArm::from_fn(|arm| {
            let ((attempts, connections), more) = (of.get(arm), block.failed(arm));
            (attempts + more.0, connections + more.1)
        });
    }
    let vote = |failed: &PerArm<(usize, u64)>| match failed.a.cmp(&failed.b) {
        Ordering::Greater => Some(Arm::A),
        Ordering::Less => Some(Arm::B),
        Ordering::Equal => None,
    };
    rounds.values().map(vote).collect()
}

/// Questions of which one arm alone never came through: all attempts at their cells failed over it
/// until they were given up.
pub(super) fn unreached(found: &Collected<'_>) -> PerArm<usize> {
    let arms = found.run.plan.design.arms;
    let arm_of = |(cell, why): (&&str, &&str)| {
        let failed = found.failed.iter().filter(|failed| failed.why == **why);
        let mut families = failed.map(|failed| failed.family);
        let family = families.next()??;
        let alone = !arms.is_null() && families.all(|other| other == Some(family));
        let of_cell = found.blocks.iter().filter(|block| block.cell() == *cell);
        let mut trials = of_cell.flat_map(|block| [block.trials.a, block.trials.b]);
        let never = trials.all(|trial| trial.family != family);
        let questions = found.run.plan.cell(cell)?.1.workload.metrics().len();
        (alone && never).then(|| (arms.arm_of(family), questions))
    };
    let lost: Vec<(Arm, usize)> = found.unmeasured.iter().filter_map(arm_of).collect();
    PerArm::from_fn(|arm| lost.iter().filter(|(of, _)| *of == arm).map(|(_, n)| n).sum())
}

/// Of blocks that speak against one arm alone: the p-value of the exact sign test, the 95 % range
/// of the second arm's share, and whether it has more (worse) or less (better) of them.
pub(super) fn told_apart(more: PerArm<usize>) -> (f64, Range, Verdict) {
    let PerArm { a, b } = more.map(|blocks| blocks as u64);
    let (p, share) = (sign_p(a, b), loss::interval(b, a + b, 1.0 - ALPHA));
    let verdict = match b.cmp(&a) {
        Ordering::Greater if p <= ALPHA => Verdict::Worse,
        Ordering::Less if p <= ALPHA => Verdict::Better,
        _ => Verdict::CannotTell,
    };
    (p, Range { low: share.low, high: share.high }, verdict)
}

/// Cells in which too much of one arm failed to compare what is left, with that arm.
pub(super) fn too_many<'a>(found: &Collected<'a>) -> BTreeMap<&'a str, Arm> {
    let mut cells: BTreeMap<&str, Vec<InBlock<'_>>> = BTreeMap::new();
    for block in in_blocks(found).into_values() {
        cells.entry(block.cell).or_default().push(block);
    }
    let too_many = |blocks: &[InBlock<'_>], arm: Arm| {
        let failed = blocks.iter().filter(|block| *block.attempts.get(arm) > 0).count();
        let connections = blocks.iter().map(|block| block.connections.get(arm));
        let (lost, of) = connections.fold((0, 0), |sum, one| effect::add(sum, *one));
        conditions::too_many(failed, blocks.len())
            || conditions::too_many(lost as usize, of as usize)
    };
    let arm_of = |blocks: &[InBlock<'_>]| Arm::BOTH.into_iter().find(|&arm| too_many(blocks, arm));
    cells.into_iter().filter_map(|(cell, blocks)| Some((cell, arm_of(&blocks)?))).collect()
}

/// Each comparing block that was begun, by its number.
fn in_blocks<'a>(found: &Collected<'a>) -> BTreeMap<u32, InBlock<'a>> {
    let mut blocks: BTreeMap<u32, InBlock<'_>> = BTreeMap::new();
    let arms = found.run.plan.design.arms;
    for failed in found.failed.iter().filter(|failed| failed.kind == BlockKind::Compare) {
        let FailedAttempt { block, cell, family, round, .. } = *failed;
        let of = blocks.entry(*block).or_default();
        (of.cell, of.round) = (cell, *round);
        if let Some(family) = family {
            *of.attempts.get_mut(arms.arm_of(*family)) += 1;
        }
    }
    for block in found.blocks.iter().filter(|block| block.kind() == BlockKind::Compare) {
        let of = blocks.entry(block.number).or_default();
        (of.cell, of.round) = (&block.trials.a.cell, block.round());
        if block.valid {
            of.connections = PerArm::from_fn(|arm| connections(found, block, arm));
        }
    }
    blocks
}

/// Connections of one arm that failed in a block, and of how many. Exchanges of datagrams that were
/// lost are packets that were lost, which is another question.
fn connections(found: &Collected<'_>, block: &Block<'_>, arm: Arm) -> (u64, u64) {
    let trial = block.trials.get(arm);
    let cell = found.run.plan.cell(&trial.cell).map(|(_, cell)| &cell.workload);
    let opens = matches!(cell, Some(Workload::Connect(_)));
    let times = values::times(Metric::Connect, &trial.ends).filter(|_| opens);
    times.map_or((0, 0), |times| (times.lost, times.with_lost()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run};
    use alloc::string::ToString;
    use v6gap_core::arm::TurnOrder;
    use v6gap_core::family::Family;
    use v6gap_core::record::{Drawn, GaveUp, Line};

    const ROUNDS: u32 = 12;

    /// A run of which so many blocks of its first cell had failed before, by family.
    fn failing(arms: PerArm<Family>, failed: [(Option<Family>, usize); 2]) -> Vec<Line> {
        let plan = plan(arms, 1);
        let mut lines = Vec::new();
        let mut left = failed;
        for line in run(&plan, ROUNDS, &EVEN) {
            if let Line::Trial(trial) = &line
                && trial.cell == plan.cells[0].id
                && trial.kind == BlockKind::Compare
                && trial.arm == Arm::A
                && let Some((family, left)) = left.iter_mut().find(|(_, left)| *left > 0)
            {
                *left -= 1;
                // Attempts at one block are one failure.
                for attempt in 0..2 {
                    lines.push(Line::Failed(FailedAttempt {
                        block: trial.block,
                        cell: trial.cell.clone(),
                        kind: trial.kind,
                        round: trial.round,
                        attempt,
                        family: *family,
                        error: "refused".to_string(),
                        why: "refused".to_string(),
                        drawn: Drawn {
                            seed: 1,
                            order: TurnOrder::Ab,
                            write_bytes: None,
                            lab: None,
                        },
                    }));
                }
            }
            lines.push(line);
        }
        lines
    }

    fn found(arms: PerArm<Family>, failed: [(Option<Family>, usize); 2]) -> Option<Failures> {
        analyse(&failing(arms, failed)).unwrap().failures
    }

    const V4: Option<Family> = Some(Family::V4);
    const V6: Option<Family> = Some(Family::V6);

    #[test]
    fn a_family_that_fails_alone_is_worse_from_six_blocks_on() {
        for (v4, v6, verdict) in [
            (0, 6, Verdict::Worse),
            (6, 0, Verdict::Better),
            (0, 5, Verdict::CannotTell),
            (1, 6, Verdict::CannotTell),
            (1, 8, Verdict::Worse),
            (4, 5, Verdict::CannotTell),
        ] {
            let found = found(PerArm::FAMILIES, [(V4, v4), (V6, v6)]).unwrap();
            assert_eq!(found.verdict, verdict, "{found:?}");
            assert_eq!((found.failed.a, found.failed.b), (v4, v6));
            let excludes_half = found.range.low > 0.5 || found.range.high < 0.5;
            assert_eq!(excludes_half, verdict != Verdict::CannotTell, "{found:?}");
            assert_eq!((found.attempts.a, found.attempts.b), (2 * v4, 2 * v6));
        }
    }

    /// Twenty blocks of a round follow each other in half a second: one refusal is in all of them.
    #[test]
    fn what_fails_in_one_round_of_a_cell_speaks_once() {
        let block = |round, v6| InBlock {
            cell: "connect-tcp",
            round,
            attempts: PerArm::default(),
            connections: PerArm { a: (0, 9), b: (v6, 9) },
        };
        let once: Vec<InBlock<'_>> = (0..20).map(|_| block(1, 3)).collect();
        assert_eq!(votes(once.iter()), [Some(Arm::B)]);
        let often: Vec<InBlock<'_>> = (0..20).map(|n| block(n / 2, u64::from(n % 4))).collect();
        assert_eq!(votes(often.iter()), [Some(Arm::B); 10]);
        let never: Vec<InBlock<'_>> = (0..20).map(|n| block(n / 2, 0)).collect();
        assert_eq!(votes(never.iter()), [None; 10]);
    }

    /// Null blocks come first, so what never comes through over a family is given up in them.
    #[test]
    fn what_never_came_through_over_one_family_is_known() {
        let of = |families: [Family; 2]| {
            let mut lines = failing(PerArm::FAMILIES, [(V6, 2), (V4, 0)]);
            let failed = lines.iter().filter_map(|line| match line {
                Line::Failed(failed) => Some(failed.clone()),
                _ => None,
            });
            let mut failed: Vec<FailedAttempt> = failed.collect();
            let cell = failed[0].cell.clone();
            lines.retain(|line| match line {
                Line::Trial(trial) => trial.cell != cell,
                Line::Failed(_) => false,
                _ => true,
            });
            for (failed, family) in failed.iter_mut().zip(families) {
                (failed.kind, failed.family) = (BlockKind::Null(family), Some(family));
            }
            let gave_up = Line::GaveUp(GaveUp { cell, why: "refused".to_string() });
            let failed = failed.into_iter().take(2).map(Line::Failed);
            lines.splice(1..1, failed.chain([gave_up]));
            analyse(&lines).unwrap().unreached
        };
        assert_eq!(of([Family::V6; 2]), PerArm { a: 0, b: 1 });
        assert_eq!(of([Family::V4; 2]), PerArm { a: 1, b: 0 });
        assert_eq!(of([Family::V4, Family::V6]), PerArm { a: 0, b: 0 });
    }

    #[test]
    fn without_failures_or_families_there_is_no_question() {
        assert_eq!(found(PerArm::FAMILIES, [(V4, 0), (V6, 0)]), None);
        assert_eq!(found(PerArm::null(Family::V6), [(V4, 0), (V6, 6)]), None);
        let found = found(PerArm::FAMILIES, [(None, 7), (None, 0)]).unwrap();
        assert_eq!((found.verdict, found.attempts_of_neither), (Verdict::None, 14));
    }

    /// Of 12 blocks of the cell.
    #[test]
    fn a_cell_of_which_more_than_a_fifth_failed_in_one_family_has_no_verdict() {
        let why = |v4: usize, v6: usize| {
            let lines = failing(PerArm::FAMILIES, [(V4, v4), (V6, v6)]);
            let analysis = analyse(&lines).unwrap();
            let first = &analysis.run.plan.cells[0].id;
            let of = |cell: &str| analysis.questions.iter().find(|q| q.cell == cell).unwrap();
            let others = analysis.questions.iter().filter(|q| q.cell != *first);
            assert!(others.into_iter().all(|q| q.why_none.is_none()), "other cells are answered");
            of(first).why_none.clone()
        };
        assert_eq!(why(0, 2), None);
        assert_eq!(why(2, 2), None);
        assert!(why(0, 3).unwrap().starts_with("IPv6 failed too often"));
        assert!(why(3, 1).unwrap().starts_with("IPv4 failed too often"));
    }
}
