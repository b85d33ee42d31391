//! What the tests of whole runs would have seen, by simulated runs: the rounds of the run itself in
//! another order, their coins thrown again, and an effect added to every question, so that what the
//! questions share is kept.
//!
//! A test would shuffle each of them many times. Here each is shuffled a few times, and what all of
//! them show by chance stands for each: runs with an effect of one size differ little in it. All
//! sizes are tried on the same runs and shuffles, so that what changes is the size alone.

use super::{Scored, Series, cells, counted, ranks, turn};
use crate::permutation::reached;
use crate::shuffles::Shuffles;
use crate::summary::{mean, sd};
use alloc::vec;
use alloc::vec::Vec;

/// What a test is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A step in the middle of the run, in every question.
    Step,
    /// A difference between the orders, in every question.
    Order,
}

/// The largest size that is tried, in standard deviations.
pub const SIZE_MAX: f64 = 4.0;

/// Times that the sizes are halved between, on a scale of ratios.
const HALVINGS: usize = 5;

/// Runs that are simulated.
const RUNS: usize = 50;

/// Shuffles of each, or falls of its coins.
const AGAIN: usize = 4;

/// Rounds of a simulated run: more shrink what is seen by their root.
const ROUNDS_MAX: usize = 12;

/// Questions that are ranked at once.
const LANES: usize = 4;

/// The least size, in standard deviations of one round, that such runs show at error rate `alpha`
/// in four of five cases; `None` if none up to [`SIZE_MAX`] is, or where nothing can be asked.
pub fn seen_from(all: &[Series], asked: Asked, alpha: f64) -> Option<f64> {
    let rounds = all.iter().map(|s| s.rounds.len()).max()?;
    let length = rounds.min(ROUNDS_MAX) & !1;
    let noise = Noise::of(all, rounds);
    if noise.signs.is_empty() || length < 2 {
        return None;
    }
    let mut shuffles = Shuffles::new();
    let runs: Vec<Run> =
        (0..RUNS).map(|_| Run::new(&noise, length, asked, &mut shuffles)).collect();
    let mut bench = Bench::new(&noise, length, asked);
    let mut found = |size: f64| bench.shown(&runs, size, alpha) >= RUNS - RUNS / 5;
    if !found(SIZE_MAX) {
        return None;
    }
    let (mut low, mut high) = (SIZE_MAX / 32.0, SIZE_MAX);
    for _ in 0..HALVINGS {
        let middle = libm::sqrt(low * high);
        if found(middle) { high = middle } else { low = middle }
    }
    Some(high * libm::sqrt(length as f64 / rounds as f64))
}

/// The differences of the questions with a spread, round by round, without their mean and in
/// standard deviations; NaN in a round without one.
struct Noise {
    values: Vec<f64>,
    signs: Vec<f64>,
    cells: Vec<usize>,
}

impl Noise {
    fn of(all: &[Series], rounds: usize) -> Noise {
        let scaled = |series: &Series| {
            let values: Vec<f64> = series.rounds.iter().flatten().map(|(d, _)| *d).collect();
            (mean(&values), sd(&values))
        };
        let can = |series: &&Series| ranks(series).is_some();
        let asked: Vec<_> = all.iter().filter(can).map(|s| (s, scaled(s))).collect();
        let value = |at: usize, (series, (centre, spread)): &(&Series, (f64, f64))| {
            let found = series.rounds.get(at).copied().flatten();
            found.map_or(f64::NAN, |(d, _)| (d - centre) / spread)
        };
        let row = |at: usize| asked.iter().map(move |one| value(at, one));
        Noise {
            values: (0..rounds).flat_map(row).collect(),
            signs: asked.iter().map(|(series, _)| series.sign).collect(),
            cells: counted(asked.iter().map(|(series, _)| series.cell)),
        }
    }
}

/// A simulated run without an effect: by round, then by question.
struct Run {
    noise: Vec<f64>,
    /// The sign of the question where an effect is added, otherwise 0.
    effect: Vec<f64>,
    /// The sign of the question where the first arm goes first, otherwise the other one.
    turns: Vec<f64>,
    by_chance: Vec<Way>,
}

/// A way to look at a run.
enum Way {
    /// Its rounds in an order.
    Rounds(Vec<usize>),
    /// Signs for each two rounds of each question.
    Coins(Vec<f64>),
}

impl Run {
    fn new(noise: &Noise, length: usize, asked: Asked, shuffles: &mut Shuffles) -> Run {
        let questions = noise.signs.len();
        let mut places: Vec<usize> = (0..noise.values.len() / questions).collect();
        shuffles.shuffle(&mut places);
        let row = |place: &usize| noise.values[place * questions..][..questions].iter().copied();
        let thrown = thrown(&noise.cells, length, shuffles);
        let (mut turns, mut effect) = (Vec::new(), Vec::new());
        for at in 0..length {
            let turned = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
            for (coin, sign) in thrown[at / 2 * questions..].iter().zip(&noise.signs) {
                let turn = turned * coin;
                let high = match asked {
                    Asked::Step => at >= length / 2,
                    Asked::Order => turn > 0.0,
                };
                turns.push(turn * sign);
                effect.push(if high { *sign } else { 0.0 });
            }
        }
        let mut by_chance = || match asked {
            Asked::Step => {
                let mut order: Vec<usize> = (0..length).collect();
                shuffles.shuffle(&mut order);
                Way::Rounds(order)
            }
            Asked::Order => Way::Coins(self::thrown(&noise.cells, length, shuffles)),
        };
        Run {
            noise: places[..length].iter().flat_map(row).collect(),
            effect,
            by_chance: (0..AGAIN).map(|_| by_chance()).collect(),
            turns,
        }
    }
}

/// Signs for each two rounds of each question, by a coin for each cell.
fn thrown(cells_of: &[usize], length: usize, shuffles: &mut Shuffles) -> Vec<f64> {
    let mut coins = vec![false; cells(cells_of) * (length / 2)];
    shuffles.throw(&mut coins);
    let mut signs = vec![1.0; length / 2 * cells_of.len()];
    turn(&mut signs, &coins, cells_of);
    signs
}

/// Room for a run with an effect.
struct Bench {
    scored: Scored,
    sums: Vec<f64>,
    as_it_is: Way,
}

impl Bench {
    fn new(noise: &Noise, length: usize, asked: Asked) -> Bench {
        let questions = noise.signs.len();
        let scored = Scored {
            rounds: length,
            questions,
            rows: vec![0.0; length * questions],
            between: vec![0.0; length / 2 * questions],
            cells: noise.cells.clone(),
        };
        let as_it_is = match asked {
            Asked::Step => Way::Rounds((0..length).collect()),
            Asked::Order => Way::Coins(vec![1.0; length / 2 * questions]),
        };
        Bench { scored, sums: vec![0.0; questions], as_it_is }
    }

    /// How many of the runs show an effect of this size.
    fn shown(&mut self, runs: &[Run], size: f64, alpha: f64) -> usize {
        let (mut seen, mut by_chance) = (Vec::new(), Vec::new());
        for run in runs {
            self.lay(run, size);
            seen.push(look(&self.scored, &self.as_it_is, &mut self.sums));
            for way in &run.by_chance {
                by_chance.push(look(&self.scored, way, &mut self.sums));
            }
        }
        by_chance.sort_unstable_by(f64::total_cmp);
        let p = |seen: &f64| {
            let below = by_chance.partition_point(|chance| *chance < reached(*seen));
            (by_chance.len() - below) as f64 / by_chance.len() as f64
        };
        seen.iter().filter(|seen| p(seen) <= alpha).count()
    }

    /// Scores the run with an effect.
    fn lay(&mut self, run: &Run, size: f64) {
        let Scored { rounds, questions, rows, between, .. } = &mut self.scored;
        let (length, questions) = (*rounds, *questions);
        for from in (0..questions).step_by(LANES) {
            let lanes = LANES.min(questions - from);
            let mut values = [[f32::NAN; LANES]; ROUNDS_MAX];
            for (at, values) in values.iter_mut().enumerate().take(length) {
                let place = at * questions + from;
                let both = run.noise[place..].iter().zip(&run.effect[place..]);
                for (value, (noise, effect)) in values.iter_mut().zip(both).take(lanes) {
                    *value = (noise + size * effect) as f32;
                }
            }
            let (ranks, scales) = ranked(&values);
            for (at, ranks) in ranks.iter().enumerate().take(length) {
                let row = &mut rows[at * questions + from..][..lanes];
                for (row, (rank, scale)) in row.iter_mut().zip(ranks.iter().zip(&scales)) {
                    *row = f64::from(*rank) * scale;
                }
            }
        }
        let two = rows.chunks_exact(2 * questions).zip(run.turns.chunks_exact(2 * questions));
        for (between, (ranks, turns)) in between.chunks_exact_mut(questions).zip(two) {
            let (first, second) = ranks.split_at(questions);
            let (turn_first, turn_second) = turns.split_at(questions);
            for (at, d) in between.iter_mut().enumerate() {
                *d = first[at] * turn_first[at] + second[at] * turn_second[at];
            }
        }
    }
}

/// Ranks of a few questions at once, centred and doubled, and what gives them equal weight. Values
/// are few: each is compared with each.
fn ranked(values: &[[f32; LANES]; ROUNDS_MAX]) -> ([[f32; LANES]; ROUNDS_MAX], [f64; LANES]) {
    let mut ranks = [[0.0; LANES]; ROUNDS_MAX];
    for later in 1..ROUNDS_MAX {
        for earlier in 0..later {
            for lane in 0..LANES {
                let (a, b) = (values[earlier][lane], values[later][lane]);
                let above = f32::from(u8::from(b > a)) - f32::from(u8::from(b < a));
                ranks[later][lane] += above;
                ranks[earlier][lane] -= above;
            }
        }
    }
    let mut squares = [0.0; LANES];
    for row in &ranks {
        squares.iter_mut().zip(row).for_each(|(sum, rank)| *sum += rank * rank);
    }
    let scale = |sum: f32| if sum > 0.0 { 1.0 / libm::sqrt(f64::from(sum)) } else { 0.0 };
    (ranks, squares.map(scale))
}

/// What a run shows in one way.
fn look(scored: &Scored, way: &Way, sums: &mut [f64]) -> f64 {
    match way {
        Way::Coins(signs) => scored.of_orders(signs, sums),
        Way::Rounds(order) => {
            let mut largest = 0.0;
            scored.sums(order, sums, |_, sum| {
                largest = f64::max(largest, sum);
                true
            });
            largest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One question of 8 rounds: of 16 falls of four coins two are extreme.
    #[test]
    fn few_coins_show_an_order_of_no_size() {
        let values = [0.3, -1.2, 0.8, 0.1, -0.4, 1.5, -0.9, 0.6];
        let rounds = values.iter().map(|d| Some((*d, true))).collect();
        let all = [Series { cell: 0, sign: 1.0, rounds }];
        assert_eq!(seen_from(&all, Asked::Order, 0.05), None);
        assert!(seen_from(&all, Asked::Order, 0.15).is_some());
        assert!(seen_from(&all, Asked::Step, 0.05).is_some());
    }

    /// A few questions at once, a tie and a round without a value: above less below, each.
    #[test]
    fn ranks_are_centred() {
        let mut values = [[f32::NAN; LANES]; ROUNDS_MAX];
        for (at, x) in [5.0, 1.0, 1.0, f32::NAN, 3.0].into_iter().enumerate() {
            values[at] = [x, -x, f32::NAN, 0.0];
        }
        let (ranks, scales) = ranked(&values);
        let of = |lane: usize| [0, 1, 2, 3, 4].map(|at| ranks[at][lane]);
        assert_eq!(of(0), [3.0, -2.0, -2.0, 0.0, 1.0]);
        assert_eq!(of(1), [-3.0, 2.0, 2.0, 0.0, -1.0]);
        assert_eq!(scales, [1.0 / 18_f64.sqrt(), 1.0 / 18_f64.sqrt(), 0.0, 0.0]);
    }
}
