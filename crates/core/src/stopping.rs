//! When a run has measured enough: asked after every pair of rounds, answered from the same ranges
//! that the final analysis uses.

use crate::analysis::effect::{self, Combined};
use crate::analysis::verdict;
use crate::analysis::{Qualifier, Verdict, words};
use crate::arm::BlockKind;
use crate::metric::{Metric, Scale};
use crate::plan::{Plan, Stop};
use crate::record::TrialRecord;
use crate::workload::Cell;
use alloc::string::String;
use alloc::vec::Vec;

/// A question while the run goes on.
#[derive(Debug)]
struct Running {
    cell: usize,
    metric: Metric,
    levels: usize,
    effects: Vec<f64>,
}

/// What can be said of a question before the end; never a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct SoFar {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// Valid blocks.
    pub blocks: usize,
    /// Estimate in words, as in "1.4 % slower"; empty before there is a range.
    pub text: String,
    /// Estimate and 95 % range as relative differences.
    pub range: Option<(f64, f64, f64)>,
}

/// Keeps the effects of the blocks measured so far and decides when they are enough.
#[derive(Debug)]
pub struct Progress {
    stop: Stop,
    margins: Vec<f64>,
    questions: Vec<Running>,
    cells: Vec<Cell>,
    rounds: u32,
}

impl Progress {
    /// Nothing measured yet.
    pub fn new(plan: &Plan) -> Self {
        let mut questions: Vec<Running> = Vec::new();
        for (cell, c) in plan.cells.iter().enumerate() {
            for &metric in c.workload.metrics() {
                questions.push(Running { cell, metric, levels: 1, effects: Vec::new() });
            }
        }
        let group = |q: &Running| (q.metric, plan.cells[q.cell].workload.transport());
        let levels: Vec<usize> = questions
            .iter()
            .map(|q| questions.iter().filter(|other| group(other) == group(q)).count())
            .collect();
        for (question, levels) in questions.iter_mut().zip(levels) {
            question.levels = levels;
        }
        let margins = questions.iter().map(|q| plan.margin(q.metric)).collect();
        let cells = plan.cells.clone();
        Progress { stop: plan.design.stop, margins, questions, cells, rounds: 0 }
    }

    /// Takes note of a valid block; null blocks do not count.
    pub fn add(&mut self, a: &TrialRecord, b: &TrialRecord) {
        if a.kind != BlockKind::Compare {
            return;
        }
        for question in &mut self.questions {
            if self.cells[question.cell].id != a.cell {
                continue;
            }
            if let (Some(a), Some(b)) = (a.values.get(&question.metric), b.values.get(&question.metric))
            {
                question.effects.push(effect::of_block(question.metric, *a, *b));
            }
        }
    }

    /// Takes note that a round in which families were compared is over.
    pub fn round_done(&mut self) {
        self.rounds += 1;
    }

    /// Rounds in which families were compared.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Whether the run is complete. `elapsed_ns` is the time since the run began, over all sessions;
    /// `round_ns` how long a round takes.
    pub fn complete(&self, elapsed_ns: u64, round_ns: u64) -> bool {
        match self.stop {
            Stop::Pairs { pairs } => {
                let fewest = self.questions.iter().map(|q| q.effects.len()).min();
                // Blocks that fail again and again must not keep a run going for ever.
                fewest.is_some_and(|n| n as u32 >= pairs) || self.rounds >= pairs.saturating_mul(2)
            }
            Stop::Adaptive { time_ns_max, pairs_min } => {
                let balanced = self.rounds.is_multiple_of(2);
                elapsed_ns.saturating_add(round_ns) > time_ns_max
                    || (balanced && self.rounds >= pairs_min && self.settled())
            }
        }
    }

    fn settled(&self) -> bool {
        self.questions.iter().zip(&self.margins).all(|(question, margin)| {
            let margin = effect::margin(question.metric, *margin);
            self.combined(question).is_some_and(|c| is_settled(question.metric, &c, margin))
        })
    }

    fn combined(&self, question: &Running) -> Option<Combined> {
        effect::combine(&question.effects, &self.stop, question.levels, None)
    }

    /// What can be said of each question now.
    pub fn so_far(&self) -> Vec<SoFar> {
        let so_far = |question: &Running| {
            let combined = self.combined(question);
            let shown = combined.map(|c| c.shown(question.metric.scale()));
            let finite = shown.filter(|e| e.range95.low.is_finite() && e.range95.high.is_finite());
            let text = |e: &crate::analysis::Effect| match question.metric.scale() {
                Scale::Difference if e.estimate == 0.0 => String::from("no difference"),
                _ => words::amount(question.metric, e.estimate),
            };
            SoFar {
                cell: self.cells[question.cell].id.clone(),
                metric: question.metric,
                blocks: question.effects.len(),
                text: finite.as_ref().map(text).unwrap_or_default(),
                range: finite.map(|e| (e.estimate, e.range95.low, e.range95.high)),
            }
        };
        self.questions.iter().map(so_far).collect()
    }
}

/// Settled: the same, clearly different, or known to half the margin.
fn is_settled(metric: Metric, combined: &Combined, margin: f64) -> bool {
    let ruling = verdict::rule(metric, combined, margin, combined.p);
    let different = matches!(ruling.verdict, Verdict::Better | Verdict::Worse);
    let half_width = (combined.i95.high - combined.i95.low) / 2.0;
    ruling.verdict == Verdict::Same
        || (different && ruling.qualifier == Qualifier::Clear)
        || half_width <= margin / 2.0
}
