//! When a run has measured enough: asked after every pair of rounds, answered from the same ranges
//! that the final analysis uses, and from how much failed.

mod failing;
mod question;

use crate::analysis::Validity;
use crate::analysis::effect;
use crate::analysis::joint::{self, Decided, Evidence};
use crate::analysis::{conditions, words};
use crate::{allotment, gate, planning};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use allotment::Known;
use failing::Failing;
use question::{Measured, Running};
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::metric::Scale;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::{Allotment, Allotted, FailedAttempt, GateFinding, RunHeader, TrialRecord};
use v6gap_core::run::{Judge, SoFar};
use v6gap_core::workload::{Cell, Path};
use v6gap_stats::summary;

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
                let precision = plan.design.precision.get(&metric).copied();
                questions.push(Running::new(cell, metric, plan.margin(metric), precision));
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
            let trials = PerArm { a, b };
            match a.kind {
                BlockKind::Compare => question.add(trials),
                BlockKind::Null(_) if a.round == 0 => {
                    question.nulls.extend(effect::of_trials(question.metric, trials));
                }
                BlockKind::Null(_) => {}
            }
        }
    }

    fn discarded(&mut self, a: &TrialRecord, b: &TrialRecord) {
        let cell = self.cells.iter().position(|cell| cell.id == a.cell);
        if let Some(cell) = cell.filter(|_| a.kind == BlockKind::Compare) {
            self.discarded[cell].insert(a.block);
            self.failing.discarded(&a.cell, a.block);
            let own = self.questions.iter_mut().filter(|question| question.cell == cell);
            own.for_each(|question| question.discarded(PerArm { a, b }));
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
                let open = self.questions.iter().filter(|q| !q.is_over());
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
    /// Which questions are settled, by the rule of the final analysis. One of which so many blocks
    /// were discarded that it would have no verdict waits, unless it has the same with all of them.
    fn settled(&self) -> Vec<bool> {
        let decided = self.decided();
        let is_whole: Vec<bool> = self.questions.iter().map(|q| self.is_whole(q)).collect();
        let with_all = match is_whole.iter().all(|whole| *whole) {
            true => Vec::new(),
            false => self.decide(|question| &question.all),
        };
        let stands = |q: usize| {
            let all = with_all.get(q).filter(|_| !self.questions[q].unknown);
            is_whole[q] || all.is_some_and(|all| decided[q].is_the_same(all))
        };
        let is_settled = |q: usize| {
            let Decided { combined, ruling, .. } = &decided[q];
            let combined = combined.as_ref().zip(ruling.as_ref());
            combined
                .is_some_and(|(combined, ruling)| self.questions[q].is_settled(combined, ruling))
        };
        let withheld = |q: usize| self.failing.withholds(&self.cells[self.questions[q].cell].id);
        let settled =
            |q: usize| self.questions[q].is_over() || (stands(q) && !withheld(q) && is_settled(q));
        (0..self.questions.len()).map(settled).collect()
    }

    /// Whether so few blocks of a question were discarded that it may have an answer.
    fn is_whole(&self, question: &Running) -> bool {
        let lost = self.discarded[question.cell].len();
        !conditions::too_many(lost, lost + question.valid.effects.len())
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
        self.decide(|question| &question.valid)
    }

    fn decide(&self, blocks: fn(&Running) -> &Measured) -> Vec<Decided> {
        let evidence = |q: &Running| {
            q.evidence(&self.cells[q.cell], blocks(q), Validity::looked_at(&self.stop))
        };
        let evidence: Vec<Evidence> = self.questions.iter().map(evidence).collect();
        joint::decide(&evidence)
    }
}

#[cfg(test)]
mod tests;
