//! What a question needs of its own blocks before it has a verdict. One that lacks it is silent,
//! and the others are answered all the same (docs/method.md section D.2).

use super::collect::{Block, Collected};
use super::{NullResult, Pair, Question};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use v6gap_core::arm::PerArm;
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

/// What a question lacks, if anything.
pub(super) fn lack(nulls: &[NullResult], question: &Question) -> Option<Lack> {
    let (valid, closed): (Vec<&Pair>, Vec<&Pair>) = question.pairs.iter().partition(|p| p.valid);
    let discarded = closed.iter().map(|pair| pair.block).collect::<BTreeSet<u32>>().len();
    let all = discarded + valid.iter().map(|pair| pair.blocks as usize).sum::<usize>();
    let own = |n: &&NullResult| n.cell == question.cell && n.metric == question.metric;
    let failed = nulls.iter().filter(own).find(|null| !null.passed);
    match failed {
        _ if too_many(discarded, all) => Some(Lack::Blocks(discarded, all)),
        Some(null) => Some(Lack::Null(null.metric, null.estimate)),
        None => None,
    }
}

/// Whether so much was discarded that the whole run says nothing: in every cell too much, or too
/// much for what holds for the run.
pub(super) fn nothing_left(found: &Collected<'_>) -> bool {
    let closed_for_all = |block: &&Block<'_>| {
        let PerArm { a, b } = block.trials;
        let mut findings = a.findings.iter().chain(&b.findings);
        findings.any(|finding| finding.fatal && OF_RUN.contains(&finding.gate.as_str()))
    };
    let closed = found.blocks.iter().filter(|block| !block.valid).filter(closed_for_all);
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
