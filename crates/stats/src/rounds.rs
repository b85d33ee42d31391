//! All questions of a run together: did the differences change from one round to a later one, and
//! did it matter which arm went first? Both come from the hosts rather than from one question, so
//! what each question shows a little of is added up.
//!
//! Every question gives its ranks, centred and of equal weight, so none outweighs the others and
//! wild values cannot. What is added up are *squares*: a change of any sign in any question counts.
//!
//! * *A change* is looked for with Pettitt's statistic (1979) of all questions: the largest sum
//!   over the questions of `U_t^2`. Its p-value is the share of all orders of the whole rounds that
//!   reach it ([`crate::permutation`]); rounds stay whole, so whatever questions share within a
//!   round is kept. It assumes that rounds without a change could have come in any order.
//! * *Who went first* was drawn by a coin for each cell and each two rounds. What is added up over
//!   the questions are the squared differences between the orders, and the square of their sum
//!   over the root of the number of questions: where going first does to all questions the same,
//!   that tells it soonest. The p-value is the share of all falls of the coins that reach it (a
//!   randomisation test: Fisher 1935). It assumes nothing but the coins: neither independent
//!   rounds nor independent questions.
//!
//! What either would have seen is found by simulation with the values themselves.

mod seen;

use crate::permutation::{EXACT_BELOW, first_sets, reached};
use crate::shuffles::Shuffles;
use crate::trend::doubled_mean_ranks;
use alloc::vec;
use alloc::vec::Vec;
pub use seen::{Asked, SIZE_MAX, seen_from};

/// One question by rounds. Rounds 0 and 1, 2 and 3, … shared a coin.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The cell that it was measured in: questions of one cell share their coins.
    pub cell: usize,
    /// 1, or -1 where a larger difference is what a smaller one is in the other questions.
    pub sign: f64,
    /// Its difference in each round, and whether the first arm went first; `None` in a round
    /// without one.
    pub rounds: Vec<Option<(f64, bool)>>,
}

/// Fewest values of a question that is asked along.
const VALUES_MIN: usize = 4;

/// Fewest and most shuffles or falls of coins that stand for all of them.
const DRAWS: (usize, usize) = (199, 999);

/// Values that all draws together may touch.
const WORK: usize = 20_000_000;

/// Coins of which all falls are tried one by one: 2^10.
const COINS_ENUMERATED_MAX: usize = 10;

/// A change between two rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// It comes after this many rounds.
    pub after: usize,
    /// p-value of "no change".
    pub p: f64,
}

/// Looks for a change; `None` without a question that has values enough, and not all alike.
pub fn change(all: &[Series]) -> Option<Change> {
    let scored = Scored::of(all)?;
    let (after, seen) = scored.largest();
    let p = match scored.rounds {
        few if few < EXACT_BELOW => first_sets(&scored.of_sets(), seen),
        _ => scored.shuffled(seen),
    };
    Some(Change { after, p })
}

/// p-value of "it did not matter which arm went first"; `None` as for [`change`].
pub fn order(all: &[Series]) -> Option<f64> {
    Some(Scored::of(all)?.coins())
}

fn draws(work: usize) -> usize {
    (WORK / work.max(1)).clamp(DRAWS.0, DRAWS.1)
}

/// Ranks of the questions that can be asked along: centred, the sum of their squares 1, and 0 in a
/// round without a value. All questions of a round stand together, since they are added up so.
struct Scored {
    rounds: usize,
    questions: usize,
    rows: Vec<f64>,
    /// For each two rounds the difference between the orders, by question.
    between: Vec<f64>,
    /// The cell of each question, counted from 0 without gaps.
    cells: Vec<usize>,
}

impl Scored {
    fn of(all: &[Series]) -> Option<Scored> {
        let rounds = all.iter().map(|s| s.rounds.len()).max()?;
        let asked: Vec<_> = all.iter().filter_map(|s| Some((s, ranks(s)?))).collect();
        let questions = asked.len();
        let mut scored = Scored {
            rounds,
            questions,
            rows: vec![0.0; rounds * questions],
            between: vec![0.0; rounds.div_ceil(2) * questions],
            cells: counted(asked.iter().map(|(series, _)| series.cell)),
        };
        for (question, (series, ranks)) in asked.into_iter().enumerate() {
            let mut ranks = ranks.into_iter();
            for (at, round) in series.rounds.iter().enumerate() {
                if let Some((_, first)) = round {
                    let rank = ranks.next().unwrap_or(0.0);
                    let turn = if *first { series.sign } else { -series.sign };
                    scored.rows[at * questions + question] = rank;
                    scored.between[at / 2 * questions + question] += rank * turn;
                }
            }
        }
        (questions > 0).then_some(scored)
    }

    /// Where the sum of squares is largest (the earliest, of equals), and that sum.
    fn largest(&self) -> (usize, f64) {
        let order: Vec<usize> = (0..self.rounds).collect();
        let mut found = (0, 0.0);
        self.sums(&order, &mut vec![0.0; self.questions], |after, sum| {
            if sum > found.1 {
                found = (after, sum);
            }
            true
        });
        found
    }

    /// The sums of squares of the rounds in an order, one after the other, as long as `go_on` says;
    /// `sums` is room for as many values as there are questions.
    fn sums(&self, order: &[usize], sums: &mut [f64], mut go_on: impl FnMut(usize, f64) -> bool) {
        sums.fill(0.0);
        for (at, &round) in order.iter().enumerate().take(order.len().saturating_sub(1)) {
            let row = &self.rows[round * self.questions..][..self.questions];
            sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += row);
            if !go_on(at + 1, squares(sums)) {
                return;
            }
        }
    }

    /// The sum of squares of every set of rounds, rounds as bits.
    fn of_sets(&self) -> Vec<f64> {
        let n = self.rounds;
        let row = |round: usize| &self.rows[round * self.questions..][..self.questions];
        let product = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
        let products: Vec<f64> = (0..n * n).map(|at| product(at / n, at % n)).collect();
        let mut sums = vec![0.0; 1 << n];
        for set in 1..sums.len() {
            let (round, mut others) = (set.trailing_zeros() as usize, set & (set - 1));
            let mut sum = sums[others] + products[round * n + round];
            while others != 0 {
                sum += 2.0 * products[round * n + others.trailing_zeros() as usize];
                others &= others - 1;
            }
            sums[set] = sum;
        }
        sums
    }

    /// Share of shuffled rounds that reach `seen`, the order that was seen among them.
    fn shuffled(&self, seen: f64) -> f64 {
        let draws = draws(self.rounds * self.questions);
        let limit = reached(seen);
        let mut shuffles = Shuffles::new();
        let mut order: Vec<usize> = (0..self.rounds).collect();
        let mut sums = vec![0.0; self.questions];
        let mut at_least = 1;
        for _ in 0..draws {
            shuffles.shuffle(&mut order);
            let mut below = true;
            self.sums(&order, &mut sums, |_, sum| {
                below = sum < limit;
                below
            });
            at_least += usize::from(!below);
        }
        at_least as f64 / (draws + 1) as f64
    }

    /// The difference between the orders of all questions, each two rounds of each question turned
    /// by their sign; `sums` as for [`Scored::sums`].
    fn of_orders(&self, signs: &[f64], sums: &mut [f64]) -> f64 {
        sums.fill(0.0);
        let pairs = self.between.chunks_exact(self.questions);
        for (between, signs) in pairs.zip(signs.chunks_exact(self.questions)) {
            let both = between.iter().zip(signs);
            sums.iter_mut().zip(both).for_each(|(sum, (d, sign))| *sum += d * sign);
        }
        let all: f64 = sums.iter().sum();
        squares(sums) + all * all / libm::sqrt(self.questions as f64)
    }

    /// Share of the falls of the coins that reach the difference between the orders: of all falls
    /// where coins are few, otherwise of draws, the fall that was seen among them.
    fn coins(&self) -> f64 {
        let pairs = self.rounds.div_ceil(2);
        let coins = cells(&self.cells) * pairs;
        let (mut signs, mut sums) = (vec![1.0; pairs * self.questions], vec![0.0; self.questions]);
        let limit = reached(self.of_orders(&signs, &mut sums));
        let mut turned = vec![false; coins];
        let mut reaches = |turned: &[bool]| {
            turn(&mut signs, turned, &self.cells);
            u32::from(self.of_orders(&signs, &mut sums) >= limit)
        };
        if coins <= COINS_ENUMERATED_MAX {
            let mut at_least = 0;
            for fall in 0_u32..1 << coins {
                turned.iter_mut().enumerate().for_each(|(i, t)| *t = fall >> i & 1 == 1);
                at_least += reaches(&turned);
            }
            return f64::from(at_least) / f64::from(1_u32 << coins);
        }
        let draws = draws(pairs * self.questions);
        let mut shuffles = Shuffles::new();
        let mut at_least = 1;
        for _ in 0..draws {
            shuffles.throw(&mut turned);
            at_least += reaches(&turned);
        }
        at_least as f64 / (draws + 1) as f64
    }
}

/// The ranks of the values of a question; `None` for one that has too few, or all alike.
fn ranks(series: &Series) -> Option<Vec<f64>> {
    let values: Vec<f64> = series.rounds.iter().flatten().map(|(d, _)| *d).collect();
    if values.len() < VALUES_MIN || values.iter().any(|d| d.is_nan()) {
        return None;
    }
    let centre = values.len() as f64 + 1.0;
    let ranks: Vec<f64> =
        doubled_mean_ranks(&values).into_iter().map(|r| r as f64 - centre).collect();
    let length = libm::sqrt(squares(&ranks));
    (length > 0.0).then(|| ranks.into_iter().map(|rank| rank / length).collect())
}

/// The same cells, counted from 0 without gaps.
fn counted(cells: impl Iterator<Item = usize>) -> Vec<usize> {
    let cells: Vec<usize> = cells.collect();
    let mut known = cells.clone();
    known.sort_unstable();
    known.dedup();
    cells.iter().map(|cell| known.binary_search(cell).unwrap_or(0)).collect()
}

/// How many cells there are, of those that are counted from 0.
fn cells(counted: &[usize]) -> usize {
    counted.iter().max().map_or(0, |last| last + 1)
}

/// The signs of each two rounds of each question, by the coins of each cell.
fn turn(signs: &mut [f64], turned: &[bool], cells: &[usize]) {
    let pairs = signs.len() / cells.len();
    for (pair, signs) in signs.chunks_exact_mut(cells.len()).enumerate() {
        let of = |cell: usize| if turned[cell * pairs + pair] { -1.0 } else { 1.0 };
        signs.iter_mut().zip(cells).for_each(|(sign, cell)| *sign = of(*cell));
    }
}

/// The sum of squares, in four sums that do not wait for each other.
fn squares(values: &[f64]) -> f64 {
    let (fours, rest) = values.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, x)| *sum += x * x);
    }
    sums.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(cell: usize, values: &[f64]) -> Series {
        let round = |(at, d): (usize, &f64)| Some((*d, at.is_multiple_of(2)));
        Series { cell, sign: 1.0, rounds: values.iter().enumerate().map(round).collect() }
    }

    /// Of one question the change is Pettitt's, and p is his.
    #[test]
    fn one_question_is_pettitt() {
        for values in [
            &[1.0, 3.0, 2.0, 2.5, 9.0, 8.0, 7.0, 7.0][..],
            &[4.0, 1.0, 1.0, 6.0, 2.0, 8.0, 9.0, 3.0, 7.0],
        ] {
            let alone = crate::trend::pettitt(values);
            let found = change(&[series(0, values)]).unwrap();
            assert_eq!(found.after, alone.after);
            let exact = crate::trend::exact_p(values, alone.k);
            assert!((found.p - exact).abs() < 1e-12, "{found:?} {exact}");
        }
    }

    /// Questions that hardly show a thing each show it together, whatever its sign.
    #[test]
    fn questions_add_up() {
        let all = [
            series(0, &[1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 8.0]),
            series(1, &[7.0, 8.0, 4.0, 6.0, 5.0, 3.0, 1.0, 2.0]),
            series(2, &[1.0, 5.0, 3.0, 2.0, 6.0, 8.0, 4.0, 7.0]),
        ];
        let p = |all: &[Series]| change(all).unwrap().p;
        let alone = all.iter().map(|one| p(core::slice::from_ref(one)));
        assert!(p(&all) < alone.fold(1.0, f64::min), "{}", p(&all));
    }

    /// One cell, eight rounds: four coins, of which two of sixteen falls separate the orders.
    #[test]
    fn coins_of_one_cell_are_all_tried() {
        let p = order(&[series(0, &[9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0])]);
        assert_eq!(p, Some(2.0 / 16.0));
    }

    /// A drift of the host does not pass for an effect of the order.
    #[test]
    fn a_drift_is_no_order() {
        let rising: Vec<f64> = (0..16).map(f64::from).collect();
        let turned = Series {
            cell: 1,
            sign: 1.0,
            rounds: rising.iter().map(|d| Some((*d, *d as u32 % 4 < 2))).collect(),
        };
        assert!(order(&[turned]).unwrap() > 0.2);
    }

    #[test]
    fn nothing_to_ask() {
        assert_eq!((change(&[]), order(&[series(0, &[1.0; 9])])), (None, None));
        assert_eq!(change(&[series(0, &[1.0, 2.0, 3.0])]), None);
        assert_eq!(seen_from(&[series(0, &[1.0; 8])], Asked::Step, 0.05), None);
    }

    /// A round without a value is neither early nor late.
    #[test]
    fn rounds_may_lack_a_value() {
        let mut gap = series(0, &[1.0, 3.0, 2.0, 0.0, 9.0, 8.0, 7.0, 7.5]);
        gap.rounds[3] = None;
        let found = change(&[gap]).unwrap();
        assert!((3..=4).contains(&found.after) && found.p < 0.2, "{found:?}");
    }
}
