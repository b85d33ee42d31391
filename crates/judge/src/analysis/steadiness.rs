//! What all questions of a run say together: whether the difference between the arms changed while
//! it was measured, and whether it mattered which arm went first. Both are properties of the hosts,
//! so all questions are asked at once (docs/method.md section C.8), and a test that found nothing
//! says what it would have found.

use super::effect;
use super::{Question, diagnostics};
use alloc::vec;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::TurnOrder;
use v6gap_core::plan::Order;
use v6gap_stats::rounds::{self, Asked, Series};

/// Error rate of each of the two tests of a run. What they find is a note, and takes no verdict.
const ALPHA: f64 = 0.05;

/// The largest size, in standard deviations of a pair, that a test must be able to see: one that
/// needs more tells nothing.
const SEEN_FROM_MAX: f64 = 3.0;

/// What the questions of a run say together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Steadiness {
    /// Whether differences changed from one round to a later one.
    pub change: Joint,
    /// The number of the round that a change came after, the most likely one.
    pub after: Option<u32>,
    /// Whether it mattered which arm went first.
    pub order: Joint,
}

/// A test of all questions together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Joint {
    /// p-value of "it did not"; `None` where nothing could be asked.
    pub p: Option<f64>,
    /// Whether it did.
    pub found: bool,
    /// What four of five such runs would have shown, in standard deviations of a pair and alike in
    /// all questions; `None` where they would have shown nothing, or only what no host does.
    pub seen_from_sd: Option<f64>,
}

/// What a test can say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Told {
    /// It found what it looked for.
    Found,
    /// It did not, and would have from this size on, in standard deviations of a pair.
    Absent {
        /// That size.
        seen_from_sd: f64,
    },
    /// It could not have found it.
    CannotTell,
}

impl Joint {
    /// Nothing was asked.
    pub const NOTHING: Joint = Joint { p: None, found: false, seen_from_sd: None };

    fn new(p: Option<f64>, series: &[Series], asked: Asked) -> Joint {
        let found = p.is_some_and(|p| p <= ALPHA);
        let seen_from_sd = rounds::seen_from(series, asked, ALPHA);
        Joint { p, found, seen_from_sd: seen_from_sd.filter(|size| *size <= SEEN_FROM_MAX) }
    }

    /// What it says.
    pub fn told(&self) -> Told {
        match self.seen_from_sd {
            _ if self.found => Told::Found,
            Some(seen_from_sd) => Told::Absent { seen_from_sd },
            None => Told::CannotTell,
        }
    }
}

impl Steadiness {
    /// Nothing was asked.
    pub const NOTHING: Steadiness =
        Steadiness { change: Joint::NOTHING, after: None, order: Joint::NOTHING };

    /// Asks all questions; those of an order that is always the same cannot tell what it does.
    pub(super) fn of(questions: &[Question], order: Order) -> Steadiness {
        let series = series(questions);
        let change = rounds::change(&series);
        let coins = if order == Order::Random { series.as_slice() } else { &[] };
        Steadiness {
            change: Joint::new(change.map(|c| c.p), &series, Asked::Step),
            after: change.map(|c| c.after as u32),
            order: Joint::new(rounds::order(coins), coins, Asked::Order),
        }
    }

    /// What is to be said of drift: the questions together, or one by itself.
    pub fn drift(&self, questions: &[Question]) -> Told {
        match questions.iter().any(|q| q.diagnostics.unsteady.is_some()) {
            true => Told::Found,
            false => self.change.told(),
        }
    }

    /// What is to be said of the order: the questions together, or one by itself.
    pub fn order_mattered(&self, questions: &[Question]) -> Told {
        match diagnostics::order_mattered(questions).iter().any(|mattered| *mattered) {
            true => Told::Found,
            false => self.order.told(),
        }
    }
}

/// The valid pairs of each question by the number of their round.
fn series(questions: &[Question]) -> Vec<Series> {
    let last = questions.iter().flat_map(|q| &q.pairs).map(|pair| pair.round).max().unwrap_or(0);
    let mut cells: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for question in questions {
        let known = cells.iter().position(|cell| *cell == question.cell);
        let cell = known.unwrap_or_else(|| {
            cells.push(&question.cell);
            cells.len() - 1
        });
        let mut rounds = vec![None; last as usize];
        for pair in question.pairs.iter().filter(|pair| pair.valid && pair.round > 0) {
            let effect = pair.effect(question.metric);
            if effect.is_finite() {
                rounds[pair.round as usize - 1] = Some((effect, pair.order == TurnOrder::Ab));
            }
        }
        all.push(Series { cell, sign: effect::orientation(question.metric), rounds });
    }
    all
}
