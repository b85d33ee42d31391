//! What all questions of a run say together: whether the difference between the arms changed while
//! it was measured, and whether it mattered which arm went first. Both are properties of the hosts,
//! so all questions are asked at once (docs/method.md section C.8), and a test that found nothing
//! says what it would have found.

use super::collect::Block;
use super::effect;
use super::{Question, diagnostics};
use alloc::vec;
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{BlockKind, TurnOrder};
use v6gap_core::plan::Order;
use v6gap_stats::rounds::{self, Asked, Series};
use v6gap_stats::summary;

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
    pub(super) fn of(questions: &[Question], blocks: &[Block<'_>], order: Order) -> Steadiness {
        let all = Window::whole(series(questions));
        let most = all.of_most();
        let (window, seen_from_sd) = Window::that_sees_most([&all, &most], Asked::Step);
        let change = rounds::change(&window.series);
        let after = change.and_then(|c| Some(*window.rounds.get(c.after.checked_sub(1)?)?));
        let coins = match order {
            Order::Random => {
                let all = Window::whole(turns(questions, blocks));
                let most = all.of_most();
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
    let mut all = Vec::new();
    for (question, cell) in questions.iter().zip(cells(questions)) {
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

/// The cell of each question, counted from 0.
fn cells(questions: &[Question]) -> Vec<usize> {
    let mut known: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for question in questions {
        let found = known.iter().position(|cell| *cell == question.cell);
        all.push(found.unwrap_or(known.len()));
        if found.is_none() {
            known.push(&question.cell);
        }
    }
    all
}

/// The valid blocks of each question by the arm that went first. A cell may have several in a
/// round, of which the arms begin in turn: what the order does would cancel in their mean. Means
/// over two rounds spread no more than those of one, so what shows is told in spreads of a pair.
fn turns(questions: &[Question], blocks: &[Block<'_>]) -> Vec<Series> {
    let of = |(question, cell): (&Question, usize)| {
        let counts = |block: &&Block<'_>| {
            block.valid
                && block.kind() == BlockKind::Compare
                && block.round() > 0
                && block.cell() == question.cell
        };
        let turn = |block: &Block<'_>| {
            let effect = block.effect(question.metric).filter(|effect| effect.is_finite())?;
            Some((block.round(), block.order(), effect))
        };
        let rounds = by_turn(blocks.iter().filter(counts).filter_map(turn));
        Series { cell, sign: effect::orientation(question.metric), rounds }
    };
    let mut all: Vec<Series> = questions.iter().zip(cells(questions)).map(of).collect();
    let last = all.iter().filter_map(|one| one.rounds.iter().rposition(Option::is_some)).max();
    let length = last.map_or(0, |last| last + 1);
    all.iter_mut().for_each(|one| one.rounds.resize(length, None));
    all
}

/// Blocks of two rounds, which shared a coin.
#[derive(Debug, Clone, Default)]
struct Two {
    /// Whether those in which the first arm went first stand in the place of the earlier round.
    is_first_earlier: bool,
    /// Their effects, by that place.
    effects: [Vec<f64>; 2],
}

/// From rounds, orders and effects of blocks the mean effect of each order in each two rounds. Of
/// one block in each round it is that of the round itself.
fn by_turn(blocks: impl Iterator<Item = (u32, TurnOrder, f64)>) -> Vec<Option<(f64, bool)>> {
    let mut twos: Vec<Option<Two>> = Vec::new();
    for (round, order, effect) in blocks {
        let (at, is_first) = ((round as usize).saturating_sub(1), order == TurnOrder::Ab);
        twos.resize(twos.len().max(at / 2 + 1), None);
        let two = twos[at / 2].get_or_insert_with(|| Two {
            is_first_earlier: is_first == at.is_multiple_of(2),
            ..Two::default()
        });
        two.effects[usize::from(is_first != two.is_first_earlier)].push(effect);
    }
    let both = |two: Option<Two>| {
        let Two { is_first_earlier, effects } = two.unwrap_or_default();
        let [earlier, later] =
            effects.map(|effects| (!effects.is_empty()).then(|| summary::mean(&effects)));
        [earlier.map(|mean| (mean, is_first_earlier)), later.map(|mean| (mean, !is_first_earlier))]
    };
    twos.into_iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::collect::collect;
    use crate::analysis::tests::{EVEN, Truth, normal, plan, run, run_of};
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use v6gap_core::arm::PerArm;
    use v6gap_core::schedule;

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

    /// What these questions and the blocks behind them say.
    fn asked(questions: &[Question]) -> Steadiness {
        let lines = run(&plan(PerArm::FAMILIES, 1), 40, &EVEN);
        let mut blocks = collect(&lines).unwrap().blocks;
        blocks.retain(|block| {
            let mut own = questions.iter().filter(|q| block.cell() == q.cell);
            own.any(|q| q.pairs.iter().any(|pair| pair.round == block.round()))
        });
        Steadiness::of(questions, &blocks, Order::Random)
    }

    /// The last cell alone must not make the run too long to tell anything.
    #[test]
    fn cells_that_rest_are_asked_in_the_rounds_that_they_have() {
        let all = rounds::seen_from(&series(&resting(None)), Asked::Step, ALPHA);
        assert!(all.is_none_or(|size| size > SEEN_FROM_MAX), "all rounds tell nothing: {all:?}");
        let steady = asked(&resting(None));
        for joint in [steady.change, steady.order] {
            assert!(matches!(joint.told(), Told::Absent { seen_from_sd } if seen_from_sd < 2.5));
        }
        let changed = asked(&resting(Some(4)));
        assert!(changed.change.found && changed.after == Some(4), "{changed:?}");
    }

    /// Places of one block a round are the rounds; of several each order has one of its own.
    #[test]
    fn blocks_are_taken_together_by_order() {
        use TurnOrder::{Ab, Ba};
        let single = [(1, Ba, 1.0), (2, Ab, 2.0), (4, Ba, 4.0)];
        let expected = [Some((1.0, false)), Some((2.0, true)), None, Some((4.0, false))];
        assert_eq!(by_turn(single.into_iter()), expected);
        let double = [(1, Ba, 1.0), (1, Ab, 2.0), (2, Ab, 4.0), (2, Ba, 5.0), (3, Ab, 7.0)];
        let expected = [Some((3.0, false)), Some((3.0, true)), Some((7.0, true)), None];
        assert_eq!(by_turn(double.into_iter()), expected);
        assert!(by_turn(core::iter::empty()).is_empty());
    }

    /// Eight rounds of so many blocks of each cell, with noise of 1, more of it that those of a
    /// round share, and an effect of the order.
    fn simulated(seed: u64, count: u32, shared: f64, order: f64) -> Vec<Series> {
        let plan = plan(PerArm::FAMILIES, seed);
        let rounds: Vec<_> = (1..=8).map(|n| schedule::round_of(&plan, n, |_| count)).collect();
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let question = |cell: usize| {
            let mut seen = Vec::new();
            for round in &rounds {
                let of_round = shared * normal(&mut rng);
                for block in round.iter().filter(|block| block.cell == cell) {
                    let turn = if block.order == TurnOrder::Ab { order } else { 0.0 };
                    if block.kind == BlockKind::Compare {
                        seen.push((block.round, block.order, of_round + normal(&mut rng) + turn));
                    }
                }
            }
            Series { cell, sign: 1.0, rounds: by_turn(seen.into_iter()) }
        };
        (0..plan.cells.len()).map(question).collect()
    }

    /// Also where each round holds both orders, so that their effect cancels in its mean.
    #[test]
    fn an_order_that_would_have_been_seen_is() {
        const RUNS: u64 = 60;
        for (count, shared) in [(1, 0.0), (2, 0.0), (2, 1.0), (3, 0.0), (4, 0.5)] {
            let share = |order: f64| {
                let is_found = |seed: &u64| {
                    let run = simulated(1000 + *seed, count, shared, order);
                    rounds::order(&run).is_some_and(|p| p <= ALPHA)
                };
                (0..RUNS).filter(is_found).count() as f64 / RUNS as f64
            };
            let seen_from = |seed: u64| {
                let run = simulated(seed, count, shared, 0.0);
                rounds::seen_from(&run, Asked::Order, ALPHA).unwrap_or(f64::INFINITY)
            };
            let mut sizes: Vec<f64> = (0..5).map(seen_from).collect();
            sizes.sort_by(f64::total_cmp);
            let of_a_pair = libm::sqrt(shared * shared + 1.0 / f64::from(count));
            let [by_chance, found] = [0.0, sizes[2] * of_a_pair].map(share);
            let about = (count, shared, sizes[2], by_chance, found);
            assert!(sizes[2] < 1.5 && by_chance <= 0.15 && found >= 0.65, "{about:?}");
        }
    }

    /// The same of a whole run.
    #[test]
    fn an_order_that_cancels_in_each_round_is_found() {
        let truth = Truth { second_turn: 0.01, ..EVEN };
        let lines = run_of(&plan(PerArm::FAMILIES, 2), 8, &truth, 2);
        let found = analyse(&lines).unwrap().steadiness;
        assert!(found.order.found, "{found:?}");
    }
}
