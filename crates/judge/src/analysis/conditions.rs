//! What a question needs of its own blocks before it has a verdict. One that lacks it is silent,
//! and the others are answered all the same (docs/method.md section D.2).

use super::collect::{Block, Collected};
use super::{Discarded, NullResult, Question};
use alloc::collections::BTreeSet;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::metric::Metric;

/// Share of what was asked that may be missing: more may be another thing than what is left.
const MISSING_MAX: f64 = 0.20;

/// Gates that speak of the whole run, whatever cell they closed in: a family that was not proved,
/// and a clock that was set.
const OF_RUN: [&str; 2] = ["family-proved", "clock-step"];

/// What a question lacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lack {
    /// Too many of its blocks were discarded: so many of so many.
    Blocks(usize, usize),
    /// A family compared with itself differed by so much: ratio − 1 or difference.
    Null(Metric, f64),
}

/// How many blocks of a question were discarded, and of how many. A block may be discarded because
/// it has no value, so that those of `closed` count and not the pairs that are left of them.
fn closed(discarded: &[Discarded], question: &Question) -> (usize, usize) {
    let compared = |d: &&Discarded| d.cell == question.cell && d.kind == BlockKind::Compare;
    let numbers: BTreeSet<u32> = discarded.iter().filter(compared).map(|d| d.block).collect();
    let valid = question.pairs.iter().filter(|pair| pair.valid).map(|pair| pair.blocks as usize);
    (numbers.len(), numbers.len() + valid.sum::<usize>())
}

/// What a question lacks, if anything. Where it has the same answer with all of its blocks, no
/// choice among them made that.
pub(super) fn lack(
    nulls: &[NullResult],
    discarded: &[Discarded],
    question: &Question,
) -> Option<Lack> {
    let (lost, all) = closed(discarded, question);
    let own = |n: &&NullResult| n.cell == question.cell && n.metric == question.metric;
    let failed = nulls.iter().filter(own).find(|null| !null.passed);
    let same = question.diagnostics.same_with_discarded == Some(true);
    match failed {
        _ if too_many(lost, all) && !same => Some(Lack::Blocks(lost, all)),
        Some(null) => Some(Lack::Null(null.metric, null.estimate)),
        None => None,
    }
}

/// How many blocks of a question were discarded, and of how many, where that is too many and yet
/// changes nothing.
pub(super) fn too_many_that_change_nothing(
    discarded: &[Discarded],
    question: &Question,
) -> Option<(usize, usize)> {
    let same = question.diagnostics.same_with_discarded == Some(true);
    Some(closed(discarded, question)).filter(|(lost, all)| same && too_many(*lost, *all))
}

/// Whether a block was discarded for what no value of it can mend, whatever it is.
pub(super) fn is_of_run(block: &Block<'_>) -> bool {
    let PerArm { a, b } = block.trials;
    let mut findings = a.findings.iter().chain(&b.findings);
    findings.any(|finding| finding.fatal && OF_RUN.contains(&finding.gate.as_str()))
}

/// Whether so much was discarded that the whole run says nothing: in every cell too much, or too
/// much for what holds for the run.
pub(super) fn nothing_left(found: &Collected<'_>) -> bool {
    let closed = found.blocks.iter().filter(|block| !block.valid && is_of_run(block));
    let (closed, _) = discarded(closed);
    let (_, all) = discarded(found.blocks.iter());
    let cells: BTreeSet<&str> = found.blocks.iter().map(Block::cell).collect();
    let silent = |cell: &&str| {
        let of_cell = found.blocks.iter().filter(|block| block.cell() == *cell);
        let (discarded, all) = discarded(of_cell);
        too_many(discarded, all)
    };
    too_many(closed, all) || (!cells.is_empty() && cells.iter().all(silent))
}

/// Whether too much is missing, discarded or failed.
pub(super) fn too_many(missing: usize, all: usize) -> bool {
    missing as f64 > MISSING_MAX * all as f64
}

/// How many of these blocks were discarded, and how many there are. However often a block was
/// tried, what spoiled it was there once.
fn discarded<'a>(blocks: impl Iterator<Item = &'a Block<'a>>) -> (usize, usize) {
    let outcomes: BTreeSet<(u32, bool)> = blocks.map(|b| (b.number, b.valid)).collect();
    (outcomes.iter().filter(|(_, valid)| !valid).count(), outcomes.len())
}

#[cfg(test)]
mod tests;
