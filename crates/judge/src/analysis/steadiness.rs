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

    fn new(p: Option<f64>, seen_from_sd: Option<f64>) -> Joint {
        let found = p.is_some_and(|p| p <= ALPHA);
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
        let all = Window::whole(series(questions));
        let most = all.of_most();
        let (window, seen_from_sd) = Window::that_sees_most([&all, &most], Asked::Step);
        let change = rounds::change(&window.series);
        let after = change.and_then(|c| Some(*window.rounds.get(c.after.checked_sub(1)?)?));
        let coins = match order {
            Order::Random => {
                let (window, seen_from_sd) = Window::that_sees_most([&all, &most], Asked::Order);
                Joint::new(rounds::order(&window.series), seen_from_sd)
            }
            Order::Sequential => Joint::NOTHING,
        };
        Steadiness { change: Joint::new(change.map(|c| c.p), seen_from_sd), after, order: coins }
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

/// Rounds that are asked together.
struct Window {
    series: Vec<Series>,
    /// Their numbers.
    rounds: Vec<u32>,
}

impl Window {
    fn whole(series: Vec<Series>) -> Window {
        let last = series.iter().map(|one| one.rounds.len()).max().unwrap_or(0);
        Window { series, rounds: (1..=last as u32).collect() }
    }

    /// The rounds that at least half of the questions have, two and two as coins were thrown: cells
    /// rest once they are answered, and what the few others show for long would hide, among
    /// rounds that most have no part in, what all show together.
    fn of_most(&self) -> Window {
        let has = |at: usize| {
            let those =
                self.series.iter().filter(|one| one.rounds.get(at).is_some_and(|r| r.is_some()));
            2 * those.count() >= self.series.len()
        };
        let twos = (0..self.rounds.len()).step_by(2).filter(|&at| has(at) || has(at + 1));
        let kept: Vec<usize> =
            twos.flat_map(|at| [at, at + 1]).filter(|&at| at < self.rounds.len()).collect();
        let series = self.series.iter().map(|one| Series {
            rounds: kept.iter().map(|&at| one.rounds[at]).collect(),
            ..one.clone()
        });
        Window {
            series: series.collect(),
            rounds: kept.iter().map(|&at| self.rounds[at]).collect(),
        }
    }

    /// The one in which the smaller effect would show, the first of equals, and that effect. What
    /// would show is found from runs in another order, so that the choice has no part in what does.
    fn that_sees_most([all, most]: [&Window; 2], asked: Asked) -> (&Window, Option<f64>) {
        let from = |window: &Window| rounds::seen_from(&window.series, asked, ALPHA);
        let of_all = from(all);
        let of_most = if most.rounds.len() < all.rounds.len() { from(most) } else { None };
        match (of_all, of_most) {
            (Some(a), Some(m)) if m < a => (most, of_most),
            (None, Some(_)) => (most, of_most),
            _ => (all, of_all),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run};
    use v6gap_core::arm::PerArm;

    /// Cells that rest after 8 rounds, and one that goes on to 40.
    fn resting(step_after: Option<u32>) -> Vec<Question> {
        let found = analyse(&run(&plan(PerArm::FAMILIES, 1), 40, &EVEN)).unwrap();
        let mut questions = found.questions;
        for question in questions.iter_mut().skip(1) {
            question.pairs.retain(|pair| pair.round <= 8);
        }
        for pair in questions.iter_mut().flat_map(|q| &mut q.pairs) {
            if step_after.is_some_and(|after| pair.round > after) {
                pair.values.b *= 1.01;
            }
        }
        questions
    }

    /// The last cell alone must not make the run too long to tell anything.
    #[test]
    fn cells_that_rest_are_asked_in_the_rounds_that_they_have() {
        let all = rounds::seen_from(&series(&resting(None)), Asked::Step, ALPHA);
        assert!(all.is_none_or(|size| size > SEEN_FROM_MAX), "all rounds tell nothing: {all:?}");
        let steady = Steadiness::of(&resting(None), Order::Random);
        for joint in [steady.change, steady.order] {
            assert!(matches!(joint.told(), Told::Absent { seen_from_sd } if seen_from_sd < 2.5));
        }
        let changed = Steadiness::of(&resting(Some(4)), Order::Random);
        assert!(changed.change.found && changed.after == Some(4), "{changed:?}");
    }
}
