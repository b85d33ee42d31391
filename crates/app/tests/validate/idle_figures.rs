//! The figures of row m, from its journals.

use crate::idle::{Draws, blocks, of_case};
use crate::results::Results;
use serde_json::Value;
use std::collections::BTreeSet;
use v6gap_core::arm::PerArm;
use v6gap_stats::Estimate;
use v6gap_stats::bootstrap::Joint;
use v6gap_stats::paired_t::t_interval;
use v6gap_stats::signed_rank::hodges_lehmann;
use v6gap_stats::summary::{mean, sd};

/// Resamples of the bootstrap, and where its draws begin.
const RESAMPLES: usize = 4_000;
const SEED: u64 = 6;

/// Error rate of all ranges.
const ALPHA: f64 = 0.05;

/// Without the process, and with it: positions in what there is of each.
const WITHOUT: usize = 0;
const WITH: usize = 1;

/// What was measured in a pair of periods, without the process and with it.
#[derive(Default)]
struct Pair {
    blocks: [Vec<PerArm<f64>>; 2],
    discarded: [usize; 2],
    /// Which of both came second.
    second: usize,
}

impl Pair {
    /// Logarithms of the second arm against the first, of blocks of a family against itself.
    fn apart(&self, state: usize) -> impl Iterator<Item = f64> + '_ {
        self.blocks[state].iter().map(|block| (block.b / block.a).ln())
    }

    /// The mean logarithm of its round trips.
    fn level(&self, state: usize) -> f64 {
        let both = self.blocks[state].iter().map(|block| (block.a * block.b).ln() / 2.0);
        mean(&both.collect::<Vec<_>>())
    }
}

/// Lines of the table for each process that was idle.
///
/// # Errors
/// If a journal cannot be read.
pub(crate) fn summary(results: &Results) -> Result<String, String> {
    let lines = results.lines();
    let of_row = lines.iter().filter(|done| done["row"] == "m");
    let cases: BTreeSet<&str> = of_row.filter_map(|done| done["case"].as_str()).collect();
    let mut text = String::new();
    for case in cases {
        let pairs = measured(results, &lines, case)?;
        if !pairs.is_empty() {
            text.push_str(&rows(case, &pairs));
        }
    }
    if text.is_empty() {
        text.push_str("| m | A/A beside an idle process | 1.000 ± 0.001 | not measured yet |\n");
    }
    Ok(text)
}

/// The pairs that are whole.
fn measured(results: &Results, lines: &[Value], case: &str) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    for periods in of_case(lines, case).into_values() {
        let [Some(without), Some(with)] = periods else { continue };
        let seed = |done: &Value| done["seed"].as_u64();
        let second = if seed(with) > seed(without) { WITH } else { WITHOUT };
        let mut pair = Pair { second, ..Pair::default() };
        for (state, done) in [(WITHOUT, without), (WITH, with)] {
            (pair.blocks[state], pair.discarded[state]) = blocks(&results.journal(done)?);
        }
        // A period in which all blocks were discarded compares nothing.
        if pair.blocks.iter().all(|blocks| !blocks.is_empty()) {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}

/// Round trips of the periods that `one` names against those of the others. By ranks, as something
/// else on the host may hold up a period by more than all else together.
fn levels(pairs: &[Pair], one: impl Fn(&Pair) -> usize) -> Estimate {
    let level = |pair: &Pair| {
        let of = one(pair);
        pair.level(of) - pair.level(WITHOUT + WITH - of)
    };
    hodges_lehmann(&pairs.iter().map(level).collect::<Vec<f64>>(), ALPHA)
}

fn rows(case: &str, pairs: &[Pair]) -> String {
    let apart = |state: usize| pairs.iter().flat_map(|p| p.apart(state)).collect::<Vec<f64>>();
    let ratio = |found: Estimate| {
        let [centre, low, high] =
            [found.centre, found.interval.low, found.interval.high].map(f64::exp);
        format!("{centre:.5} [{low:.5}, {high:.5}]")
    };
    let count = |state: usize| pairs.iter().map(|pair| pair.blocks[state].len()).sum::<usize>();
    let lost = |state: usize| pairs.iter().map(|pair| pair.discarded[state]).sum::<usize>();
    let percent = |state: usize| format!("{:.3} %", sd(&apart(state)) * 100.0);
    let of_units = |units: &[usize]| {
        let of = |state: usize| {
            units.iter().flat_map(|unit| pairs[*unit].apart(state)).collect::<Vec<f64>>()
        };
        sd(&of(WITH)) / sd(&of(WITHOUT))
    };
    let mut draws = Draws(SEED);
    let drawn = Joint::new(pairs.len(), of_units, RESAMPLES, || draws.next());
    let scatter = drawn.interval(|ratio| *ratio, ALPHA).estimate;
    let mut text = String::new();
    for (state, words) in [(WITHOUT, "without"), (WITH, "with")] {
        text.push_str(&format!(
            "| m | {case}, idle: A/A {words} it | 1.000 ± 0.001 | {}, SD {}, {} blocks, {} \
             discarded |\n",
            ratio(t_interval(&apart(state), ALPHA)),
            percent(state),
            count(state),
            lost(state),
        ));
    }
    text.push_str(&format!(
        "| m | {case}, idle: SD of A/A with it against without (BCa bootstrap of pairs of periods) \
         | ≤ 1.10 | {:.3} [{:.3}, {:.3}] |\n\
         | m | {case}, idle: round trips with it against without (Hodges and Lehmann, {} pairs of \
         periods) | – | {} |\n\
         | m | {case}, idle: round trips of the second period of a pair against the first | 1 | {} \
         |\n",
        scatter.centre,
        scatter.interval.low,
        scatter.interval.high,
        pairs.len(),
        ratio(levels(pairs, |_| WITH)),
        ratio(levels(pairs, |pair| pair.second)),
    ));
    text
}
