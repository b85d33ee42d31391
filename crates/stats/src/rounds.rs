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

use crate::permutation::{EXACT_BELOW, first_sets, reached};
use crate::shuffles::Shuffles;
use crate::summary::{mean, sd};
use crate::trend::doubled_mean_ranks;
use alloc::vec;
use alloc::vec::Vec;

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
        _ => scored.shuffled(seen, draws(scored.rounds * scored.rows.len()), usize::MAX),
    };
    Some(Change { after, p })
}

/// p-value of "it did not matter which arm went first"; `None` as for [`change`].
pub fn order(all: &[Series]) -> Option<f64> {
    let scored = Scored::of(all)?;
    Some(scored.coins(None, usize::MAX))
}

/// What a test is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A step in the middle of the run, in every question.
    Step,
    /// A difference between the orders, in every question.
    Order,
}

/// Runs that are simulated for each size.
const RUNS: usize = 50;

/// Draws for the p-value of a simulated run.
const RUN_DRAWS: usize = 59;

/// Rounds of a simulated run: more shrink what is seen by their root.
const ROUNDS_MAX: usize = 12;

/// The largest size that is tried, in standard deviations.
pub const SIZE_MAX: f64 = 4.0;

/// Times that the sizes are halved between, on a scale of ratios.
const HALVINGS: usize = 5;

/// The least size, in standard deviations of one round, that such runs show at error rate `alpha`
/// in four of five cases; `None` if none up to [`SIZE_MAX`] is, or where nothing can be asked.
///
/// Simulated runs are the rounds themselves in another order, their coins thrown again, and the
/// effect added to every question: what the questions share is kept.
pub fn seen_from(all: &[Series], asked: Asked, alpha: f64) -> Option<f64> {
    let rounds = Scored::of(all)?.rounds;
    let length = rounds.min(ROUNDS_MAX) & !1;
    let noise = standardised(all, rounds);
    let found = |size: f64| {
        let mut shuffles = Shuffles::new();
        let (mut missed, mut seen) = (0, 0);
        // Four of five, or so many missed that it cannot be that many any more.
        while missed <= RUNS / 5 && seen < RUNS - RUNS / 5 {
            let run = simulated(&noise, rounds, length, asked, size, &mut shuffles);
            match Scored::of(&run).is_some_and(|scored| scored.rejects(asked, alpha)) {
                true => seen += 1,
                false => missed += 1,
            }
        }
        missed <= RUNS / 5
    };
    if length < 2 || !found(SIZE_MAX) {
        return None;
    }
    let (mut low, mut high) = (SIZE_MAX / 32.0, SIZE_MAX);
    for _ in 0..HALVINGS {
        let middle = libm::sqrt(low * high);
        if found(middle) { high = middle } else { low = middle }
    }
    Some(high * libm::sqrt(length as f64 / rounds as f64))
}

/// Differences without their mean, in standard deviations, of the questions with a spread.
fn standardised(all: &[Series], rounds: usize) -> Vec<Series> {
    let of = |series: &Series| {
        let values: Vec<f64> = series.rounds.iter().flatten().map(|(d, _)| *d).collect();
        let (centre, spread) = (mean(&values), sd(&values));
        let scale = |(d, first): (f64, bool)| ((d - centre) / spread, first);
        let mut rounds_of: Vec<_> = series.rounds.iter().map(|r| r.map(scale)).collect();
        rounds_of.resize(rounds, None);
        (spread > 0.0).then_some(Series { rounds: rounds_of, ..*series })
    };
    all.iter().filter_map(of).collect()
}

fn simulated(
    noise: &[Series],
    rounds: usize,
    length: usize,
    asked: Asked,
    size: f64,
    shuffles: &mut Shuffles,
) -> Vec<Series> {
    let mut places: Vec<usize> = (0..rounds).collect();
    shuffles.shuffle(&mut places);
    let cells = 1 + noise.iter().map(|s| s.cell).max().unwrap_or(0);
    let mut thrown = vec![false; cells * (length / 2)];
    thrown.iter_mut().for_each(|coin| *coin = shuffles.next() & 1 == 1);
    let of = |series: &Series| {
        let round = |at: usize| {
            let (d, _) = series.rounds[places[at]]?;
            let first = thrown[series.cell * (length / 2) + at / 2] == at.is_multiple_of(2);
            let high = match asked {
                Asked::Step => at >= length / 2,
                Asked::Order => first,
            };
            Some((d + if high { size * series.sign } else { 0.0 }, first))
        };
        Series { rounds: (0..length).map(round).collect(), ..*series }
    };
    noise.iter().map(of).collect()
}

fn draws(work: usize) -> usize {
    (WORK / work.max(1)).clamp(DRAWS.0, DRAWS.1)
}

/// Ranks of the questions that can be asked along: centred, the sum of their squares 1, and 0 in a
/// round without a value.
struct Scored {
    rounds: usize,
    rows: Vec<Vec<f64>>,
    /// For each two rounds the difference between the orders, by question.
    between: Vec<Vec<f64>>,
    cells: Vec<usize>,
}

impl Scored {
    fn of(all: &[Series]) -> Option<Scored> {
        let rounds = all.iter().map(|s| s.rounds.len()).max()?;
        let mut scored =
            Scored { rounds, rows: Vec::new(), between: Vec::new(), cells: Vec::new() };
        for series in all {
            let values: Vec<f64> = series.rounds.iter().flatten().map(|(d, _)| *d).collect();
            if values.len() < VALUES_MIN || values.iter().any(|d| d.is_nan()) {
                continue;
            }
            let centre = values.len() as f64 + 1.0;
            let ranks: Vec<f64> =
                doubled_mean_ranks(&values).into_iter().map(|r| r as f64 - centre).collect();
            let length = libm::sqrt(ranks.iter().map(|r| r * r).sum::<f64>());
            if length == 0.0 {
                continue;
            }
            let mut ranks = ranks.into_iter();
            let mut row = vec![0.0; rounds];
            let mut between = vec![0.0; rounds.div_ceil(2)];
            for (at, round) in series.rounds.iter().enumerate() {
                if let Some((_, first)) = round {
                    row[at] = ranks.next().unwrap_or(0.0) / length;
                    between[at / 2] += row[at] * series.sign * if *first { 1.0 } else { -1.0 };
                }
            }
            scored.rows.push(row);
            scored.between.push(between);
            scored.cells.push(series.cell);
        }
        (!scored.rows.is_empty()).then_some(scored)
    }

    /// Where the sum of squares is largest (the earliest, of equals), and that sum.
    fn largest(&self) -> (usize, f64) {
        let order: Vec<usize> = (0..self.rounds).collect();
        let mut found = (0, 0.0);
        self.sums(&order, &mut vec![0.0; self.rows.len()], |after, sum| {
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
            let mut squares = 0.0;
            for (sum, row) in sums.iter_mut().zip(&self.rows) {
                *sum += row[round];
                squares += *sum * *sum;
            }
            if !go_on(at + 1, squares) {
                return;
            }
        }
    }

    /// The sum of squares of every set of rounds, rounds as bits.
    fn of_sets(&self) -> Vec<f64> {
        let n = self.rounds;
        let product = |i: usize, j: usize| self.rows.iter().map(|row| row[i] * row[j]).sum();
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

    /// Share of shuffled rounds that reach `seen`, the order that was seen among them; no more are
    /// drawn once `enough` do.
    fn shuffled(&self, seen: f64, draws: usize, enough: usize) -> f64 {
        let limit = reached(seen);
        let mut shuffles = Shuffles::new();
        let mut order: Vec<usize> = (0..self.rounds).collect();
        let mut sums = vec![0.0; self.rows.len()];
        let mut at_least = 1;
        for _ in 0..draws {
            shuffles.shuffle(&mut order);
            let mut below = true;
            self.sums(&order, &mut sums, |_, sum| {
                below = sum < limit;
                below
            });
            at_least += usize::from(!below);
            if at_least > enough {
                break;
            }
        }
        at_least as f64 / (draws + 1) as f64
    }

    /// Share of the falls of the coins that reach the difference between the orders: of all falls
    /// where coins are few, otherwise of `wanted` draws, the fall that was seen among them; no more
    /// are drawn once `enough` do.
    fn coins(&self, wanted: Option<usize>, enough: usize) -> f64 {
        let pairs = self.rounds.div_ceil(2);
        let mut known = self.cells.clone();
        known.sort_unstable();
        known.dedup();
        let place = |cell: &usize| known.binary_search(cell).unwrap_or(0);
        let cells: Vec<usize> = self.cells.iter().map(place).collect();
        let coins = known.len() * pairs;
        let sum = |turned: &[bool]| -> f64 {
            let (mut squares, mut all) = (0.0, 0.0);
            for (between, cell) in self.between.iter().zip(&cells) {
                let turned = &turned[cell * pairs..(cell + 1) * pairs];
                let signed = between.iter().zip(turned).map(|(d, t)| if *t { -d } else { *d });
                let sum: f64 = signed.sum();
                squares += sum * sum;
                all += sum;
            }
            squares + all * all / libm::sqrt(self.rows.len() as f64)
        };
        let mut turned = vec![false; coins];
        let limit = reached(sum(&turned));
        let mut at_least = 0;
        if coins <= COINS_ENUMERATED_MAX {
            for fall in 0_u32..1 << coins {
                turned.iter_mut().enumerate().for_each(|(i, t)| *t = fall >> i & 1 == 1);
                at_least += usize::from(sum(&turned) >= limit);
            }
            return at_least as f64 / f64::from(1_u32 << coins);
        }
        let draws = wanted.unwrap_or_else(|| draws(pairs * self.rows.len()));
        let mut shuffles = Shuffles::new();
        for _ in 0..draws {
            turned.iter_mut().for_each(|coin| *coin = shuffles.next() >> 63 == 1);
            at_least += usize::from(sum(&turned) >= limit);
            if at_least >= enough {
                break;
            }
        }
        (at_least + 1) as f64 / (draws + 1) as f64
    }

    /// Whether a simulated run shows what it is asked for.
    fn rejects(&self, asked: Asked, alpha: f64) -> bool {
        let enough = (alpha * (RUN_DRAWS + 1) as f64) as usize;
        let p = match asked {
            Asked::Step => self.shuffled(self.largest().1, RUN_DRAWS, enough),
            Asked::Order => self.coins(Some(RUN_DRAWS), enough),
        };
        p <= alpha
    }
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
