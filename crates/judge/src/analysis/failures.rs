//! What failed, by family. A family that fails now and then is measured by its successes, so its
//! failures are a question of their own, and exchanges that were lost are another one, since a path
//! that loses packets is no host that refuses (docs/method.md section D.2).

use super::collect::{Block, Collected};
use super::counted::{Counted, Times, sum};
use super::{Verdict, conditions};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::record::{FailedAttempt, TrialRecord};
use v6gap_core::values;
use v6gap_core::workload::Workload;

/// What failed where families were compared, whether one of them fails more often, and what was
/// lost.
///
/// Attempts at one block follow each other and fail for one reason, so blocks are what is counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failures {
    /// Blocks that were begun.
    pub blocks: usize,
    /// Blocks in which an attempt or a connection of the arm failed.
    pub failed: PerArm<usize>,
    /// Whether more attempts and connections of one arm fail; no verdict where none of either did.
    #[serde(flatten)]
    pub counted: Counted,
    /// Attempts that gave nothing because the trial of the arm failed.
    pub attempts: PerArm<usize>,
    /// Attempts that gave nothing for another reason.
    pub attempts_of_neither: usize,
    /// Connections that failed in blocks that count, and of how many.
    pub connections: PerArm<(u64, u64)>,
    /// Exchanges that were lost; `None` if none was.
    pub exchanges: Option<Exchanges>,
}

/// Exchanges of datagrams that were lost in blocks that count, in cells of echoes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exchanges {
    /// Those lost, and of how many: one that was lost is repeated, so that an arm with more of them
    /// has had more exchanges.
    pub lost: PerArm<(u64, u64)>,
    /// Whether more of one arm are lost, in rounds that had any exchanges.
    #[serde(flatten)]
    pub counted: Counted,
}

impl Failures {
    /// Whether an attempt or a connection failed, of either arm or of neither.
    pub fn any_failed(&self) -> bool {
        self.attempts_of_neither > 0 || self.failed.a + self.failed.b > 0
    }
}

/// What failed in one block.
#[derive(Debug, Clone, Default)]
struct InBlock<'a> {
    cell: &'a str,
    round: u32,
    attempts: PerArm<usize>,
    connections: PerArm<(u64, u64)>,
    exchanges: PerArm<(u64, u64)>,
}

impl InBlock<'_> {
    /// Attempts and connections that failed.
    fn failed(&self) -> Times {
        let of = |arm| (*self.attempts.get(arm) as u64, self.connections.get(arm).0);
        PerArm::from_fn(of)
    }

    /// As [`Counted::of`] takes it.
    fn with(&self, times: Times) -> (&str, u32, Times) {
        (self.cell, self.round, times)
    }

    /// Exchanges that were lost, and nothing beside them.
    fn lost(&self) -> Times {
        self.exchanges.map(|(lost, _)| (lost, 0))
    }
}

/// Comparing blocks that were begun, by their number.
type Begun<'a> = BTreeMap<u32, InBlock<'a>>;

/// What failed or was lost; `None` if nothing was, or if no families were compared.
pub(super) fn judge(found: &Collected<'_>) -> Option<Failures> {
    if found.run.plan.design.arms.is_null() {
        return None;
    }
    let blocks = in_blocks(found);
    let count = |has: &dyn Fn(&InBlock<'_>) -> bool| blocks.values().filter(|b| has(b)).count();
    let attempts =
        PerArm::from_fn(|arm| blocks.values().map(|block| block.attempts.get(arm)).sum::<usize>());
    let all = found.failed.iter().filter(|failed| failed.kind == BlockKind::Compare).count();
    let failed = PerArm::from_fn(|arm| count(&|block| *block.failed().get(arm) != (0, 0)));
    let exchanges = exchanges(&blocks);
    if all == 0 && failed.a + failed.b == 0 && exchanges.is_none() {
        return None;
    }
    let told = Counted::of(blocks.values().map(|block| block.with(block.failed())));
    let verdict = if failed.a + failed.b == 0 { Verdict::None } else { told.verdict };
    Some(Failures {
        blocks: blocks.len(),
        failed,
        counted: Counted { verdict, ..told },
        attempts_of_neither: all - attempts.a - attempts.b,
        attempts,
        connections: total(&blocks, |block| block.connections),
        exchanges,
    })
}

/// The exchanges that were lost; `None` if none was.
fn exchanges(blocks: &Begun<'_>) -> Option<Exchanges> {
    let lost = total(blocks, |block| block.exchanges);
    if lost.a.0 == 0 && lost.b.0 == 0 {
        return None;
    }
    let had_any = |block: &&InBlock<'_>| block.exchanges != PerArm::default();
    let asked = blocks.values().filter(had_any);
    Some(Exchanges { lost, counted: Counted::of(asked.map(|block| block.with(block.lost()))) })
}

/// Of all blocks together: what something happened to, and of how many.
fn total(blocks: &Begun<'_>, of: impl Fn(&InBlock<'_>) -> Times) -> Times {
    blocks.values().map(of).fold(PerArm::default(), sum)
}

/// Questions of which one arm alone never came through: all attempts at their cells failed over it
/// until they were given up.
pub(super) fn unreached(found: &Collected<'_>) -> PerArm<usize> {
    let arms = found.run.plan.design.arms;
    let arm_of = |(cell, why): (&&str, &&str)| {
        // Of its own attempts each counts, whatever it says; a cell without any was given up with
        // another, whose words it has.
        let has_own = found.failed.iter().any(|failed| failed.cell == **cell);
        let counts = |failed: &&&FailedAttempt| match has_own {
            true => failed.cell == **cell,
            false => failed.why == **why,
        };
        let failed = found.failed.iter().filter(counts);
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

/// What failed of one cell where families were compared.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfCell {
    /// Blocks that were begun, by number, and whether an attempt at them failed over each arm.
    begun: BTreeMap<u32, PerArm<bool>>,
    /// Connections that failed, and of how many.
    connections: PerArm<(u64, u64)>,
}

impl OfCell {
    /// Takes note of a block, and of the arm over which an attempt at it failed.
    pub(crate) fn begun(&mut self, block: u32, failed: Option<Arm>) {
        let arms = self.begun.entry(block).or_default();
        if let Some(arm) = failed {
            *arms.get_mut(arm) = true;
        }
    }

    /// Takes note of the connections of a block.
    pub(crate) fn opened(&mut self, connections: Times) {
        self.connections = sum(self.connections, connections);
    }

    /// Whether more failed than may leave the values a verdict, which so many blocks more without
    /// a failure would mend. It looks at both arms together, so that whoever goes on for it learns
    /// nothing of which of them fails.
    pub(crate) fn is_mendable(&self, blocks: usize) -> bool {
        let begun = self.begun.len();
        let failed = self.begun.values().filter(|failed| failed.a || failed.b).count();
        let PerArm { a, b } = self.connections;
        // No less than the share of the arm of which more failed.
        let (lost, of) = (a.0.max(b.0) as usize, a.1.min(b.1) as usize);
        let more = of * blocks / begun.max(1);
        (conditions::too_many(failed, begun) && !conditions::too_many(failed, begun + blocks))
            || (conditions::too_many(lost, of) && !conditions::too_many(lost, of + more))
    }

    /// The arm of which too much failed to compare what is left.
    pub(crate) fn too_many(&self) -> Option<Arm> {
        let failed = |arm: Arm| self.begun.values().filter(|failed| *failed.get(arm)).count();
        let too_many = |arm: &Arm| {
            let (lost, of) = *self.connections.get(*arm);
            conditions::too_many(failed(*arm), self.begun.len())
                || conditions::too_many(lost as usize, of as usize)
        };
        Arm::BOTH.into_iter().find(too_many)
    }
}

/// Cells in which too much of one arm failed to compare what is left, with that arm.
pub(super) fn too_many<'a>(found: &Collected<'a>) -> BTreeMap<&'a str, Arm> {
    let mut cells: BTreeMap<&str, OfCell> = BTreeMap::new();
    for (number, block) in in_blocks(found) {
        let of = cells.entry(block.cell).or_default();
        of.begun(number, None);
        let failed = Arm::BOTH.into_iter().filter(|&arm| *block.attempts.get(arm) > 0);
        failed.for_each(|arm| of.begun(number, Some(arm)));
        of.opened(block.connections);
    }
    cells.into_iter().filter_map(|(cell, of)| Some((cell, of.too_many()?))).collect()
}

/// Each comparing block that was begun, by its number.
fn in_blocks<'a>(found: &Collected<'a>) -> Begun<'a> {
    let mut blocks: Begun<'_> = BTreeMap::new();
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
            if let Some(workload) = workload(found, block) {
                of.connections = block.trials.map(|trial| connections(workload, trial));
            }
            of.exchanges = PerArm::from_fn(|arm| exchanged(found, block, arm));
        }
    }
    blocks
}

/// Connections of a trial that failed, and of how many.
pub(crate) fn connections(workload: &Workload, trial: &TrialRecord) -> (u64, u64) {
    let opens = matches!(workload, Workload::Connect(_));
    values::lost(&trial.ends).filter(|_| opens).unwrap_or_default()
}

/// Exchanges of datagrams of one arm that were lost in a block, and of how many. Where whole turns
/// were timed, those in which something was lost have no time and are not among them. Probes are
/// asked for loss themselves.
fn exchanged(found: &Collected<'_>, block: &Block<'_>, arm: Arm) -> (u64, u64) {
    let datagrams = matches!(
        workload(found, block),
        Some(Workload::Echo(echo)) if echo.transport.is_datagram()
    );
    let times = values::times(Metric::Rtt, &block.trials.get(arm).ends).filter(|_| datagrams);
    times.map_or((0, 0), |times| {
        let answered = times.count.saturating_mul(u64::from(times.exchanges_each.max(1)));
        (times.lost, answered.saturating_add(times.lost))
    })
}

/// What the trials of a block do.
fn workload<'a>(found: &Collected<'a>, block: &Block<'_>) -> Option<&'a Workload> {
    found.run.plan.cell(block.cell()).map(|(_, cell)| &cell.workload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, refused, run};
    use alloc::string::ToString;
    use v6gap_core::family::Family;
    use v6gap_core::observation::{Measured, Times};
    use v6gap_core::record::{GaveUp, Line};
    use v6gap_core::workload::Cell;

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
                    let (block, round) = (trial.block, trial.round);
                    let refused = refused(&trial.cell, *family);
                    lines.push(Line::Failed(FailedAttempt { block, round, attempt, ..refused }));
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

    /// Twenty of 24 connections of one family in three of eight blocks: of all its own 31 %.
    #[test]
    fn connections_of_one_arm_are_not_lost_among_those_of_both() {
        let of = |arm: Arm| {
            let mut of = OfCell::default();
            for block in 0..8 {
                let lost = |own| if own == arm && block < 3 { (20, 24) } else { (0, 24) };
                of.begun(block, None);
                of.opened(PerArm::from_fn(lost));
            }
            of
        };
        for arm in Arm::BOTH {
            let of = of(arm);
            assert_eq!(of.too_many(), Some(arm));
            assert!(of.is_mendable(8) && !of.is_mendable(1));
        }
    }

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
            assert_eq!(found.counted.verdict, verdict, "{found:?}");
            assert_eq!((found.failed.a, found.failed.b), (v4, v6));
            let range = found.counted.range;
            let excludes_half = range.low > 0.5 || range.high < 0.5;
            assert_eq!(excludes_half, verdict != Verdict::CannotTell, "{found:?}");
            assert_eq!((found.attempts.a, found.attempts.b), (2 * v4, 2 * v6));
        }
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
        assert_eq!((found.counted.verdict, found.attempts_of_neither), (Verdict::None, 14));
        assert!(found.any_failed() && found.exchanges.is_none());
    }

    /// A run of 12 rounds of which the cell of echoes over UDP lost so many exchanges of each arm
    /// in each of the first `rounds`, of 400 and those.
    fn lossy(arms: PerArm<Family>, rounds: u32, lost: PerArm<u64>) -> Vec<Line> {
        let plan = plan(arms, 1);
        let is_udp = |cell: &&Cell| {
            let echoes = matches!(cell.workload, Workload::Echo(_));
            echoes && cell.workload.transport().is_datagram()
        };
        let udp = plan.cells.iter().find(is_udp).unwrap();
        let mut lines = run(&plan, ROUNDS, &EVEN);
        for line in &mut lines {
            if let Line::Trial(trial) = line
                && trial.cell == udp.id
                && trial.kind == BlockKind::Compare
            {
                let lost = if trial.round <= rounds { *lost.get(trial.arm) } else { 0 };
                let times = Times { count: 400, lost, exchanges_each: 1, ..Times::default() };
                trial.ends.client.measured = Measured::Times(times);
            }
        }
        lines
    }

    #[test]
    fn exchanges_that_one_family_loses_in_six_rounds_are_a_difference() {
        for (rounds, v4, v6, verdict) in [
            (6, 0, 2, Verdict::Worse),
            (6, 3, 1, Verdict::Better),
            (5, 0, 2, Verdict::CannotTell),
            (12, 2, 2, Verdict::CannotTell),
        ] {
            let lines = lossy(PerArm::FAMILIES, rounds, PerArm { a: v4, b: v6 });
            let found = analyse(&lines).unwrap().failures.unwrap();
            let Exchanges { lost, counted } = found.exchanges.as_ref().unwrap();
            assert_eq!((counted.verdict, counted.rounds), (verdict, 12), "{found:?}");
            let [a, b] = [lost.a, lost.b].map(|(lost, of)| (lost, of - lost));
            assert_eq!((a.0 * v6, a.1), (b.0 * v4, b.1), "{found:?}");
            let more = PerArm { a: usize::from(v4 > v6), b: usize::from(v6 > v4) };
            assert_eq!(counted.more, more.map(|one| one * rounds as usize));
            // Nothing was refused, so nothing is said of that.
            assert!(!found.any_failed(), "{found:?}");
            assert_eq!(found.counted.verdict, Verdict::None);
        }
    }

    #[test]
    fn lost_exchanges_are_told_of_blocks_that_count_and_of_two_families() {
        let found = |lines: &[Line]| analyse(lines).unwrap().failures;
        let lost = PerArm { a: 0, b: 2 };
        assert_eq!(found(&lossy(PerArm::FAMILIES, ROUNDS, PerArm::default())), None);
        assert_eq!(found(&lossy(PerArm::null(Family::V6), ROUNDS, lost)), None);
        let mut discarded = lossy(PerArm::FAMILIES, ROUNDS, lost);
        for line in &mut discarded {
            if let Line::Block(block) = line {
                block.valid = false;
            }
        }
        assert_eq!(found(&discarded), None);
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
