//! When a run has measured enough: asked after every pair of rounds, answered from the same ranges
//! that the final analysis uses, and from how much failed.

mod failing;

use crate::analysis::effect::{self, Combined};
use crate::analysis::joint::{self, Decided, Evidence};
use crate::analysis::verdict::Ruling;
use crate::analysis::{Qualifier, Verdict, conditions, rounds, words};
use crate::{allotment, gate, planning};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use allotment::Known;
use failing::Failing;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::{Allotment, Allotted, FailedAttempt, GateFinding, RunHeader, TrialRecord};
use v6gap_core::run::{Judge, SoFar};
use v6gap_core::values;
use v6gap_core::workload::{Cell, Path};
use v6gap_stats::summary;

/// A question while the run goes on.
#[derive(Debug)]
struct Running {
    cell: usize,
    metric: Metric,
    /// As the plan has it.
    margin: f64,
    /// Half-width of the range that the plan asks for.
    precision: Option<f64>,
    /// Effects of the blocks, with the numbers of their rounds.
    effects: Vec<(u32, f64)>,
    /// Effects of the null blocks before the first comparison.
    nulls: Vec<f64>,
    /// What a share counts, see [`values::counted`](v6gap_core::values::counted).
    events: PerArm<(u64, u64)>,
    /// The cell is not measured any more: the question waits for no answer, but the p-values of the
    /// others are corrected for it, as in the final analysis.
    given_up: bool,
}

/// Keeps the effects of the blocks measured so far and decides when they are enough.
#[derive(Debug)]
pub struct Interim {
    stop: Stop,
    questions: Vec<Running>,
    cells: Vec<Cell>,
    /// Null blocks of each cell before the first comparison, and what they took in all, in ns.
    nulls: Vec<(u32, u64)>,
    /// Blocks of each cell in which families were compared for nothing.
    discarded: Vec<BTreeSet<u32>>,
    /// Most blocks of a cell in a round.
    blocks_max: u32,
    failing: Failing,
}

impl Interim {
    /// Nothing of this run measured yet.
    pub fn of(run: &RunHeader) -> Self {
        Self::new(&run.plan, &run.left_out())
    }

    /// Nothing measured yet. The cells with the indices in `refused` will not be measured.
    pub fn new(plan: &Plan, refused: &[usize]) -> Self {
        let mut questions: Vec<Running> = Vec::new();
        let measured = plan.cells.iter().enumerate().filter(|(cell, _)| !refused.contains(cell));
        for (cell, c) in measured {
            for &metric in c.workload.metrics() {
                questions.push(Running {
                    cell,
                    metric,
                    margin: plan.margin(metric),
                    precision: plan.design.precision.get(&metric).copied(),
                    effects: Vec::new(),
                    nulls: Vec::new(),
                    events: PerArm::default(),
                    given_up: false,
                });
            }
        }
        let cells = plan.cells.clone();
        let discarded = alloc::vec![BTreeSet::new(); cells.len()];
        let (nulls, blocks_max) = (alloc::vec![(0, 0); cells.len()], plan.design.blocks_max);
        let failing = Failing::new(plan.design.arms);
        Interim { stop: plan.design.stop, questions, cells, nulls, discarded, blocks_max, failing }
    }
}

impl Judge for Interim {
    fn gates(
        &self,
        plan: &Plan,
        cell: &Cell,
        trials: PerArm<&TrialRecord>,
    ) -> PerArm<Vec<GateFinding>> {
        PerArm::from_fn(|arm| gate::judge(plan, cell, trials.get(arm), trials.get(arm.other())))
    }

    fn add(&mut self, a: &TrialRecord, b: &TrialRecord) {
        if a.round == 0
            && let Some(cell) = self.cells.iter().position(|cell| cell.id == a.cell)
        {
            let end = |trial: &TrialRecord| trial.started_ns.saturating_add(trial.duration_ns);
            let began_ns = a.started_ns.min(b.started_ns);
            let (count, spent_ns) = &mut self.nulls[cell];
            *count += 1;
            *spent_ns = spent_ns.saturating_add(end(a).max(end(b)).saturating_sub(began_ns));
        }
        if let Some(cell) = self.cells.iter().find(|cell| cell.id == a.cell) {
            self.failing.block(cell, PerArm { a, b });
        }
        // What a block has no value of has no answer at the end, so nothing waits for it.
        let lacks =
            |metric| a.kind == BlockKind::Compare && gate::without(metric, [a, b]).is_some();
        self.questions.retain(|q| self.cells[q.cell].id != a.cell || !lacks(q.metric));
        for question in &mut self.questions {
            if self.cells[question.cell].id != a.cell {
                continue;
            }
            let metric = question.metric;
            let Some(effect) = effect::of_trials(metric, PerArm { a, b }) else { continue };
            match a.kind {
                BlockKind::Null(_) if a.round == 0 => question.nulls.push(effect),
                BlockKind::Null(_) => {}
                BlockKind::Compare => {
                    question.effects.push((a.round, effect));
                    let counted = |trial: &TrialRecord| {
                        values::counted(metric, &trial.ends).unwrap_or_default()
                    };
                    question.events.a = effect::add(question.events.a, counted(a));
                    question.events.b = effect::add(question.events.b, counted(b));
                }
            }
        }
    }

    fn discarded(&mut self, trial: &TrialRecord) {
        let cell = self.cells.iter().position(|cell| cell.id == trial.cell);
        if let Some(cell) = cell.filter(|_| trial.kind == BlockKind::Compare) {
            self.discarded[cell].insert(trial.block);
        }
    }

    fn failed(&mut self, failed: &FailedAttempt) {
        self.failing.attempt(failed);
    }

    /// What has too few blocks for an answer is no question any more.
    fn give_up(&mut self, cell: usize) {
        self.failing.give_up(&self.cells[cell].id);
        self.questions.retain(|q| q.cell != cell || q.rounds() >= effect::BLOCKS_MIN);
        for question in self.questions.iter_mut().filter(|question| question.cell == cell) {
            question.given_up = true;
        }
    }

    fn allot(&self, elapsed_ns: u64) -> Option<Allotted> {
        let Stop::Adaptive { time_ns_max, pairs_min } = self.stop else { return None };
        let seen = self.nulls.iter().any(|(count, _)| *count > 0);
        if self.blocks_max < 2 || !seen {
            return None;
        }
        let asked = |cell: &usize| self.questions.iter().any(|q| q.cell == *cell && !q.given_up);
        let cells: Vec<usize> = (0..self.cells.len()).filter(asked).collect();
        let known: Vec<Known> = cells.iter().map(|&cell| self.known(cell, pairs_min)).collect();
        let left_ns = time_ns_max.saturating_sub(elapsed_ns) as f64;
        let blocks = allotment::allot(&known, left_ns, pairs_min, self.blocks_max);
        let chosen = cells.iter().zip(&known).zip(blocks).map(|((&cell, known), blocks)| {
            let Known { block_ns, noise, .. } = *known;
            let allotment = Allotment { blocks, block_ns: block_ns as u64, noise };
            (self.cells[cell].id.clone(), allotment)
        });
        Some(Allotted { cells: chosen.collect() })
    }

    fn resting(&self, rounds: u32) -> Vec<usize> {
        match self.stop {
            Stop::Adaptive { pairs_min, .. }
                if rounds >= pairs_min && self.blocks_max > 1 && !self.failing.is_open() =>
            {
                let settled = self.settled();
                // Questions that are decided together wait for each other, since their p-values do,
                // and so that a sweep has all of its sizes in a round.
                let open = |cell: usize| {
                    let own = || self.questions.iter().filter(move |q| q.cell == cell);
                    let open =
                        self.questions.iter().zip(&settled).filter(|(_, settled)| !**settled);
                    open.into_iter().any(|(q, _)| own().any(|own| self.alike(own, q)))
                };
                (0..self.cells.len()).filter(|&cell| !open(cell)).collect()
            }
            Stop::Adaptive { .. } | Stop::Pairs { .. } => Vec::new(),
        }
    }

    fn complete(&self, rounds: u32, elapsed_ns: u64, round_ns: u64) -> bool {
        match self.stop {
            Stop::Pairs { pairs } => {
                let open = self.questions.iter().filter(|q| !q.given_up);
                let fewest = open.map(Running::rounds).min();
                // Blocks that fail again and again must not keep a run going for ever.
                fewest.is_some_and(|n| n as u32 >= pairs) || rounds >= pairs.saturating_mul(2)
            }
            Stop::Adaptive { time_ns_max, pairs_min } => {
                let balanced = rounds.is_multiple_of(2);
                elapsed_ns.saturating_add(round_ns) > time_ns_max
                    || (balanced
                        && rounds >= pairs_min
                        && self.settled().iter().all(|settled| *settled)
                        && !self.failing.is_open())
            }
        }
    }

    fn so_far(&self) -> Vec<SoFar> {
        let so_far = |(question, decided): (&Running, Decided)| {
            let shown = decided.combined.map(|c| c.shown(question.metric.scale()));
            let finite = shown.filter(|e| e.range95.low.is_finite() && e.range95.high.is_finite());
            let text = |e: &crate::analysis::Effect| match question.metric.scale() {
                Scale::Difference if e.estimate == 0.0 => String::from("no difference"),
                _ => words::amount(question.metric, e.estimate),
            };
            SoFar {
                cell: self.cells[question.cell].id.clone(),
                metric: question.metric,
                blocks: question.rounds(),
                text: finite.as_ref().map(text).unwrap_or_default(),
                range: finite.map(|e| (e.estimate, e.range95.low, e.range95.high)),
            }
        };
        self.questions.iter().zip(self.decided()).map(so_far).collect()
    }
}

impl Interim {
    /// Which questions are settled, by the rule of the final analysis.
    fn settled(&self) -> Vec<bool> {
        let settled = |(question, decided): (&Running, Decided)| {
            let combined = decided.combined.as_ref().zip(decided.ruling.as_ref());
            let is_settled = |(combined, ruling)| question.is_settled(combined, ruling);
            question.given_up || (self.is_whole(question) && combined.is_some_and(is_settled))
        };
        self.questions.iter().zip(self.decided()).map(settled).collect()
    }

    /// Whether so few blocks of a question were discarded that it may have an answer.
    fn is_whole(&self, question: &Running) -> bool {
        let lost = self.discarded[question.cell].len();
        !conditions::too_many(lost, lost + question.effects.len())
    }

    /// Whether two questions are decided together.
    fn alike(&self, a: &Running, b: &Running) -> bool {
        let over = |q: &Running| self.cells[q.cell].workload.transport();
        a.metric == b.metric && over(a) == over(b)
    }

    /// What the null blocks say of a cell, or those of one that is asked alike.
    fn known(&self, cell: usize, pairs_min: u32) -> Known {
        let own = || self.questions.iter().filter(move |q| q.cell == cell);
        let is_alike = |q: &&Running| own().any(|own| self.alike(own, q));
        let measured = |cell: usize| {
            let (count, spent_ns) = self.nulls[cell];
            (count > 0).then(|| spent_ns as f64 / f64::from(count))
        };
        // How much longer one cell takes than another that is asked alike.
        let cost = |cell: usize| self.cells[cell].workload.cost(Path::USUAL).time_ns;
        let like = || {
            let other = self.questions.iter().filter(is_alike).map(|q| q.cell);
            other.filter_map(|other| Some(measured(other)? / cost(other) * cost(cell))).next()
        };
        let block_ns = measured(cell).or_else(like).unwrap_or_else(|| 2.0 * cost(cell));
        // Of a share the number of packets decides, which the noise says nothing of.
        let ratios = own().filter(|q| q.metric.scale() == Scale::Ratio);
        let noises = ratios.filter_map(|own| {
            let alike = self.questions.iter().filter(|q| self.alike(own, q));
            let mut nulls = core::iter::once(own).chain(alike).map(|q| &q.nulls);
            let sd = summary::sd(nulls.find(|n| n.len() >= effect::NULLS_MIN)?);
            let precision = own.precision.unwrap_or(own.margin / 2.0);
            let enough = planning::blocks_each(own.metric, sd, precision, pairs_min, &self.stop);
            let noise = sd / effect::margin(own.metric, own.margin);
            noise.is_finite().then_some((noise, enough))
        });
        let most = noises.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
        let (noise, enough) = most.unzip();
        Known { block_ns, noise, enough: enough.unwrap_or(1) }
    }

    fn decided(&self) -> Vec<Decided> {
        let evidence = |question: &Running| Evidence {
            metric: question.metric,
            transport: self.cells[question.cell].workload.transport(),
            margin: question.margin,
            effects: rounds::values(question.metric.scale(), question.effects.iter().copied()),
            nulls: question.nulls.clone(),
            events: (question.metric.scale() == Scale::Difference).then_some(question.events),
        };
        let evidence: Vec<Evidence> = self.questions.iter().map(evidence).collect();
        joint::decide(&evidence, &self.stop)
    }
}

impl Running {
    /// Rounds with a valid block.
    fn rounds(&self) -> usize {
        rounds::count(self.effects.iter().map(|(round, _)| *round))
    }

    /// Settled: known as precisely as the plan asks for; where it asks for no precision, clearly
    /// different, the same and known well enough to see half the margin, or known to half the
    /// margin. A guard that stands against an answer keeps the question open, and so do fewer
    /// blocks than any answer needs.
    ///
    /// Of ratios, "the same" alone settles nothing: one disturbed block among eight makes a range
    /// wide, and a difference that is smaller than the margin but there would go unseen. Of shares
    /// it does: what widens their range is how few packets there were, on every host alike. Nor
    /// does a run go on for hours because bursts may have been missed: it says so instead.
    fn is_settled(&self, combined: &Combined, ruling: &Ruling) -> bool {
        if combined.withheld.is_some() || combined.n < effect::BLOCKS_MIN {
            return false;
        }
        if let Some(singly) = combined.singly {
            let half_width = (singly.i95.high - singly.i95.low) / 2.0;
            return match self.precision {
                Some(precision) => half_width <= precision,
                None => singly.i90.within(-self.margin, self.margin),
            };
        }
        let half_width = (combined.i95.high - combined.i95.low) / 2.0;
        if let Some(precision) = self.precision {
            // As it is shown: a range around a ratio far from 1 is wider than on its logarithm.
            let shown = combined.shown(self.metric.scale()).range95;
            return (shown.high - shown.low) / 2.0 <= precision;
        }
        let margin = effect::margin(self.metric, self.margin);
        match ruling.verdict {
            Verdict::Better | Verdict::Worse if ruling.qualifier == Qualifier::Clear => true,
            Verdict::Same => {
                self.metric.scale() == Scale::Difference
                    || ruling.qualifier == Qualifier::RealButTiny
                    || half_width <= margin / 4.0
            }
            _ => half_width <= margin / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::{blank, refused};
    use v6gap_core::arm::Arm;
    use v6gap_core::family::Family;
    use v6gap_core::plan::preset;

    const SECOND: u64 = 1_000_000_000;

    fn plan(stop: Stop) -> Plan {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.parts_mut().cells.truncate(2);
        plan.parts_mut().design.stop = stop;
        plan
    }

    fn trial(cell: &Cell, arm: Arm, kind: BlockKind, value: f64) -> TrialRecord {
        let values = cell.workload.metrics().iter().map(|&m| (m, value)).collect();
        TrialRecord { kind, arm, values, ..blank(&cell.id, *PerArm::FAMILIES.get(arm)) }
    }

    /// `rounds` rounds in which the second arm has `ratio` times the value, give or take `noise`.
    fn progress(plan: &Plan, rounds: u32, ratio: f64, noise: f64) -> Interim {
        let mut progress = Interim::new(plan, &[]);
        for round in 0..rounds {
            for cell in &plan.cells {
                let wobble = 1.0 + if round % 2 == 0 { noise } else { -noise };
                let mut a = trial(cell, Arm::A, BlockKind::Compare, 100.0);
                let b = trial(cell, Arm::B, BlockKind::Compare, 100.0 * ratio * wobble);
                a.round = round + 1;
                progress.add(&a, &b);
                let null = BlockKind::Null(Family::V4);
                progress.add(&trial(cell, Arm::A, null, 1.0), &trial(cell, Arm::B, null, 9.0));
            }
        }
        progress
    }

    const ADAPTIVE: Stop = Stop::Adaptive { time_ns_max: 60 * SECOND, pairs_min: 8 };

    /// Of two cells that are asked alike, each with null blocks enough, neither is taken for the
    /// other.
    #[test]
    fn a_cell_s_own_null_blocks_tell_its_noise() {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.parts_mut().cells.retain(|cell| cell.workload.metrics().contains(&Metric::Rtt));
        let mut interim = Interim::new(&plan, &[]);
        let alike =
            |a: usize, b: usize| interim.alike(&interim.questions[a], &interim.questions[b]);
        assert!(alike(0, 1), "{:?}", plan.cells);
        for block in 0..effect::NULLS_MIN {
            for (cell, noise) in plan.cells.iter().zip([0.001, 0.01]) {
                let value = 1.0 + if block % 2 == 0 { noise } else { -noise };
                let null = BlockKind::Null(Family::V4);
                let first = TrialRecord { round: 0, ..trial(cell, Arm::A, null, 1.0) };
                interim.add(&first, &trial(cell, Arm::B, null, value));
            }
        }
        let [first, second] = [0, 1].map(|cell| interim.known(cell, 8).noise.unwrap());
        assert!((second / first - 10.0).abs() < 0.1, "{first} {second}");
    }

    #[test]
    fn a_settled_run_stops_after_the_least_number_of_balanced_rounds() {
        let plan = plan(ADAPTIVE);
        for (rounds, complete) in [(6, false), (7, false), (8, true), (9, false), (10, true)] {
            let progress = progress(&plan, rounds, 1.0, 0.001);
            assert_eq!(progress.complete(rounds, SECOND, SECOND), complete, "{rounds} rounds");
        }
        assert!(progress(&plan, 8, 0.8, 0.001).complete(8, SECOND, SECOND), "clearly different");
    }

    #[test]
    fn an_open_question_keeps_a_run_going_until_its_time_is_over() {
        let progress = progress(&plan(ADAPTIVE), 10, 1.0, 0.3);
        assert!(!progress.complete(10, 10 * SECOND, SECOND));
        assert!(!progress.complete(10, 59 * SECOND, SECOND));
        assert!(progress.complete(10, 59 * SECOND + 1, SECOND), "another round would not fit");
    }

    /// A run waits for nine rounds in which one family failed more, whichever it is, once they are
    /// more than a twentieth; not for fewer, nor for a cell that was given up.
    #[test]
    fn failures_that_may_tell_the_families_apart_keep_a_run_going() {
        let plan = plan(ADAPTIVE);
        let failed = |rounds: u32, failures: &[(u32, Family)]| {
            let mut progress = progress(&plan, rounds, 1.0, 0.001);
            for &(round, family) in failures {
                let refused = refused(&plan.cells[0].id, Some(family));
                progress.failed(&FailedAttempt { round, ..refused });
            }
            progress
        };
        let complete = |progress: &Interim, rounds| progress.complete(rounds, SECOND, SECOND);
        let all = |n: u32| (1..=n).map(|round| (round, Family::V6)).collect::<Vec<_>>();
        // Two cells of 12 rounds are 24.
        assert!(complete(&failed(12, &all(1)), 12));
        assert!(!complete(&failed(12, &all(2)), 12));
        assert!(failed(12, &all(2)).resting(12).is_empty());
        assert!(!complete(&failed(8, &[(1, Family::V6), (2, Family::V4)]), 8), "whichever it is");
        assert!(!complete(&failed(10, &all(8)), 10));
        assert!(complete(&failed(10, &all(9)), 10));
        // Both in one round are no difference.
        assert!(complete(&failed(8, &[(1, Family::V6), (1, Family::V4)]), 8));
        let mut gone = failed(8, &all(2));
        gone.give_up(0);
        assert!(complete(&gone, 8));
        let late = failed(8, &all(2));
        assert!(late.complete(8, 60 * SECOND, SECOND), "the time that a run may take is kept");
    }

    #[test]
    fn the_same_is_settled_when_half_the_margin_would_be_seen() {
        let plan = plan(ADAPTIVE);
        let verdicts = |progress: &Interim| -> Vec<Verdict> {
            progress.decided().iter().map(|d| d.ruling.unwrap().verdict).collect()
        };
        let wide = progress(&plan, 8, 1.0, 0.012);
        assert!(verdicts(&wide).contains(&Verdict::Same), "{:?}", verdicts(&wide));
        assert!(!wide.complete(8, SECOND, SECOND), "a range that hides 1 %");
        let seen = progress(&plan, 8, 1.004, 0.002);
        assert!(seen.complete(8, SECOND, SECOND), "{:?}", verdicts(&seen));
    }

    /// A range of five blocks may be narrow, and leads to no verdict.
    #[test]
    fn fewer_blocks_than_an_answer_needs_settle_nothing() {
        let mut few = progress(&plan(ADAPTIVE), 8, 1.2, 0.002);
        assert!(few.complete(8, SECOND, SECOND));
        for question in &mut few.questions {
            question.effects.truncate(effect::BLOCKS_MIN - 1);
        }
        assert!(!few.complete(8, SECOND, SECOND));
    }

    /// A clear answer of six rounds is none with two more that were discarded: of ten they are few.
    #[test]
    fn a_run_goes_on_while_what_was_discarded_would_withhold_its_answer() {
        let discarded = |mut progress: Interim, blocks: &[u32]| {
            for &block in blocks {
                let at =
                    |kind| TrialRecord { block, ..trial(&progress.cells[0], Arm::A, kind, 1.0) };
                let (null, compare) = (at(BlockKind::Null(Family::V4)), at(BlockKind::Compare));
                progress.discarded(&null);
                progress.discarded(&compare);
            }
            progress
        };
        let clear = |rounds| progress(&plan(ADAPTIVE), rounds, 1.2, 0.002);
        let complete = |progress: &Interim| progress.complete(8, SECOND, SECOND);
        let open = discarded(clear(6), &[7, 9]);
        assert!(!complete(&open));
        assert!(!open.resting(8).contains(&0));
        assert!(complete(&discarded(clear(6), &[7, 7])), "however often a block was tried");
        assert!(complete(&discarded(clear(8), &[7, 9])));
        let mut gone = discarded(clear(6), &[7, 9]);
        gone.give_up(0);
        assert!(complete(&gone), "what is not measured any more");
    }

    /// That bursts may have been missed is said, and takes no hours.
    #[test]
    fn losses_that_nobody_saw_keep_no_run_going() {
        let mut plan = preset::first_look(PerArm::FAMILIES, None, 1);
        plan.parts_mut().cells.retain(|cell| cell.workload.metrics().contains(&Metric::Loss));
        plan.parts_mut().design.stop = ADAPTIVE;
        let mut progress = progress(&plan, 8, 1.0, 0.0);
        let lost = |progress: &mut Interim, lost: f64, counted: u64| {
            let found = progress.questions.iter_mut().find(|q| q.metric == Metric::Loss).unwrap();
            found.effects.iter_mut().for_each(|(_, effect)| *effect = 0.0);
            found.effects[0].1 = lost;
            found.events = PerArm { a: (0, counted), b: ((lost * 5000.0) as u64, counted) };
        };
        lost(&mut progress, 0.0, 40_000);
        let decided = progress.decided();
        assert!(decided.iter().any(|d| d.ruling.unwrap().verdict == Verdict::CannotTell));
        assert!(progress.complete(8, SECOND, SECOND));
        lost(&mut progress, 0.0, 400);
        assert!(!progress.complete(8, SECOND, SECOND), "too few even if they come singly");
        lost(&mut progress, 0.02, 40_000);
        assert!(!progress.complete(8, SECOND, SECOND), "a burst that blocks disagree about");
    }

    #[test]
    fn a_precision_asked_for_is_reached_whatever_the_verdict() {
        let mut plan = plan(ADAPTIVE);
        assert!(progress(&plan, 10, 0.8, 0.01).complete(10, SECOND, SECOND), "clearly different");
        plan.parts_mut().design.precision =
            Metric::ALL.into_iter().map(|metric| (metric, 0.001)).collect();
        assert!(!progress(&plan, 10, 0.8, 0.01).complete(10, SECOND, SECOND), "known to 1 %");
        assert!(progress(&plan, 10, 0.8, 0.0001).complete(10, SECOND, SECOND), "known to 0.01 %");
    }

    #[test]
    fn a_fixed_number_is_kept_whatever_the_outcome() {
        let plan = plan(Stop::Pairs { pairs: 12 });
        assert!(!progress(&plan, 11, 1.0, 0.0).complete(11, 1000 * SECOND, SECOND));
        assert!(progress(&plan, 12, 1.0, 0.3).complete(12, 0, SECOND));
    }

    #[test]
    fn a_refused_cell_keeps_nobody_waiting() {
        let plan = plan(Stop::Pairs { pairs: 2 });
        let mut progress = Interim::new(&plan, &[1]);
        for round in 1..=2 {
            let cell = &plan.cells[0];
            let mut a = trial(cell, Arm::A, BlockKind::Compare, 1.0);
            a.round = round;
            progress.add(&a, &trial(cell, Arm::B, BlockKind::Compare, 1.0));
        }
        assert!(progress.complete(2, 0, 0));
        assert_eq!(progress.so_far().len(), 1);
    }

    /// The final analysis counts the questions of a cell that was given up late, so this must.
    #[test]
    fn a_cell_given_up_late_holds_nobody_up_but_still_counts() {
        let plan = plan(ADAPTIVE);
        let mut late = progress(&plan, 8, 1.0, 0.3);
        assert!(!late.complete(8, SECOND, SECOND));
        let before = late.so_far().len();
        (0..plan.cells.len()).for_each(|cell| late.give_up(cell));
        assert!(late.complete(8, SECOND, SECOND) && late.so_far().len() == before);
        let mut early = progress(&plan, 2, 1.0, 0.3);
        early.give_up(0);
        assert!(early.so_far().iter().all(|said| said.cell != plan.cells[0].id));
    }

    #[test]
    fn what_is_said_on_the_way_has_a_range_or_is_silent() {
        let plan = plan(ADAPTIVE);
        assert!(progress(&plan, 3, 0.9, 0.01).so_far().iter().all(|s| s.range.is_none()));
        let so_far = progress(&plan, 8, 0.9, 0.001).so_far();
        assert_eq!(so_far[0].text, "10 % slower");
        let (estimate, low, high) = so_far[0].range.unwrap();
        assert!(low < estimate && estimate < high && so_far[0].blocks == 8);
    }
}
