//! A run while it is measured: what is known of it after each event, and the view of that as a few
//! lines, which are redrawn in place or told now and then. Nothing in it is a verdict.

mod frame;
mod strip;
mod table;

pub use frame::Moment;

use crate::number;
use std::collections::{BTreeMap, VecDeque};
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::Measured;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::record::{RunHeader, TrialRecord};
use v6gap_core::run::SoFar;
use v6gap_core::workload::Cell;
use v6gap_judge::analysis::{places, words as names};

/// Trials that the strips of the families show.
const TRIALS: usize = 40;

/// What is known of a run that is being measured.
#[derive(Debug, Clone)]
pub struct Live {
    plan: Plan,
    /// Where the trials of a cell go, by its name, of a run that goes to several places.
    places: BTreeMap<String, String>,
    arms: PerArm<String>,
    /// The block under way, in words; empty before the first.
    doing: String,
    /// The round under way, and how much of it is done.
    round: (u32, f64),
    rounds: u32,
    /// Whose turn it is; nobody's between trials, everybody's where both take turns.
    turn: PerArm<bool>,
    /// The latest trials in order: whose, of which cell, and the value of its first metric.
    course: VecDeque<(Arm, usize, f64)>,
    /// The latest value of each metric.
    latest: PerArm<BTreeMap<Metric, f64>>,
    /// The cell under way, by its place in the plan.
    under_way: Option<usize>,
    /// Of the first metric of each cell.
    means: Vec<PerArm<table::Mean>>,
    /// What else the latest trial told, in words.
    details: PerArm<String>,
    so_far: Vec<SoFar>,
}

impl Live {
    /// Nothing measured yet.
    pub fn new(header: &RunHeader) -> Self {
        let plan = header.plan.clone();
        let of = plan.design.arms;
        let arms = match of.is_null() {
            true => PerArm { a: of.a.to_string(), b: format!("{} again", of.b) },
            false => of.map(|family| family.to_string()),
        };
        let place = |cell: &Cell| Some((cell.id.clone(), places::place(header, &cell.workload)?));
        let places = plan.cells.iter().filter_map(place).collect();
        Live {
            plan,
            places,
            arms,
            doing: String::new(),
            round: (0, 0.0),
            rounds: 0,
            turn: PerArm::default(),
            course: VecDeque::new(),
            latest: PerArm::default(),
            under_way: None,
            means: Vec::new(),
            details: PerArm::default(),
            so_far: Vec::new(),
        }
    }

    /// A block begins; it is the `turn.0`th of `turn.1` in its round.
    pub fn block(&mut self, round: u32, cell: &str, kind: BlockKind, turn: (usize, usize)) {
        self.doing = match kind {
            BlockKind::Compare => cell.to_owned(),
            BlockKind::Null(family) => format!("{cell}, {family} with itself"),
        };
        self.under_way = self.plan.cells.iter().position(|other| other.id == cell);
        self.round = (round, (turn.0.max(1) - 1) as f64 / turn.1.max(1) as f64);
    }

    /// A trial begins, of one family or of both in turns.
    pub fn turn(&mut self, family: Option<Family>) {
        let of = self.plan.design.arms;
        self.turn = of.map(|arm| family.is_none_or(|family| family == arm));
    }

    /// Both trials of a block are done. Those that compare show in the strips.
    pub fn trials(&mut self, a: &TrialRecord, b: &TrialRecord, valid: bool) {
        self.turn = PerArm::default();
        if !valid {
            let findings = a.findings.iter().chain(&b.findings);
            let why = findings.filter(|finding| finding.fatal).map(|f| f.seen.as_str()).next();
            self.doing = format!("{} again: {}", a.cell, why.unwrap_or("a check failed"));
            return;
        }
        if a.kind != BlockKind::Compare {
            return;
        }
        let in_order = a.order.arms().map(|arm| if arm == Arm::A { a } else { b });
        for trial in in_order {
            self.trial(trial);
        }
    }

    fn trial(&mut self, trial: &TrialRecord) {
        let Some(cell) = self.plan.cells.iter().position(|cell| cell.id == trial.cell) else {
            return;
        };
        let first = self.plan.cells[cell].workload.metrics().first();
        if let Some(value) = first.and_then(|metric| trial.values.get(metric)) {
            self.add_to_level(cell, trial.arm, *value);
            self.course.push_back((trial.arm, cell, *value));
            if self.course.len() > TRIALS {
                self.course.pop_front();
            }
        }
        self.latest.get_mut(trial.arm).extend(trial.values.clone());
        *self.details.get_mut(trial.arm) = details(trial);
    }

    /// A round of comparing is over.
    pub fn round(&mut self, rounds: u32, so_far: &[SoFar]) {
        self.rounds = rounds;
        self.so_far = so_far.to_vec();
    }

    /// How much of the run is done at most, as a share; it may be over earlier.
    fn share(&self, elapsed_ns: u64) -> f64 {
        let share = match self.plan.design.stop {
            Stop::Adaptive { time_ns_max, .. } => elapsed_ns as f64 / time_ns_max.max(1) as f64,
            Stop::Pairs { pairs } => {
                (f64::from(self.round.0.max(1) - 1) + self.round.1) / f64::from(pairs.max(1))
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// "at most 38 s left", or nothing where nobody knows.
    fn left(&self, elapsed_ns: u64) -> Option<String> {
        let seconds = |ns: u64| ns.div_ceil(1_000_000_000);
        match self.plan.design.stop {
            Stop::Adaptive { time_ns_max, .. } => {
                Some(format!("at most {} s left", seconds(time_ns_max.saturating_sub(elapsed_ns))))
            }
            Stop::Pairs { .. } => {
                let share = self.share(elapsed_ns);
                let left = elapsed_ns as f64 * (1.0 - share) / share;
                (share > 0.05).then(|| format!("about {} s left", seconds(left as u64)))
            }
        }
    }

    /// "pair 4 of 30", or "round 4": in an adaptive one a cell has as many pairs as it takes.
    fn pair(&self, round: u32) -> String {
        match self.plan.design.stop {
            Stop::Pairs { pairs } => format!("pair {} of {pairs}", round.min(pairs)),
            Stop::Adaptive { .. } => format!("round {round}"),
        }
    }

    /// The name of a question, as the result will have it but for what only the result knows.
    fn label(&self, question: &SoFar) -> String {
        let cell = self.plan.cells.iter().find(|cell| cell.id == question.cell);
        let arms = self.plan.design.arms;
        let label = |cell| names::label(cell, question.metric, arms, PerArm::default());
        let label = cell.map_or_else(|| question.cell.clone(), label);
        let place = self.places.get(&question.cell).map(String::as_str);
        places::named(&label, place).replace(", ", " ")
    }

    /// The metrics whose values stand beside the strips: the first two that were measured.
    fn shown(&self) -> Vec<Metric> {
        let measured = |metric: &Metric| {
            self.latest.a.contains_key(metric) || self.latest.b.contains_key(metric)
        };
        Metric::ALL.into_iter().filter(measured).take(2).collect()
    }

    /// The latest values of a metric in one unit, and the unit.
    fn values(&self, metric: Metric) -> (PerArm<String>, &'static str) {
        let latest = [&self.latest.a, &self.latest.b].map(|values| values.get(&metric).copied());
        let (mut texts, unit) = number::series(metric, &latest);
        let b = texts.pop().unwrap_or_default();
        (PerArm { a: texts.pop().unwrap_or_default(), b }, unit)
    }
}

/// What was sent again, the congestion window of the first connection at its end, and what the
/// trial took of the client's processor.
fn details(trial: &TrialRecord) -> String {
    let sent_again = trial.ends.all().find_map(|end| match &end.measured {
        Measured::Sent(sent) => sent.retransmitted_segments,
        _ => None,
    });
    let sending = trial.ends.all().flat_map(|end| &end.connections).find(|c| c.sent_bytes > 0);
    let window = sending.and_then(|connection| Some(connection.account?.cwnd));
    let window = window.map(|segments| format!("cwnd {segments} segments"));
    let client = &trial.ends.client;
    let processor = client.user_ns.zip(client.system_ns).filter(|_| trial.duration_ns > 0);
    let share = |(user, system): (u64, u64)| {
        format!("processor {:.0} %", (user + system) as f64 / trial.duration_ns as f64 * 100.0)
    };
    let sent_again = sent_again.map(|n| format!("sent again {n}"));
    let parts = [sent_again, window, processor.map(share)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
