//! What a question needs of its own blocks before it has a verdict. One that lacks it is silent,
//! and the others are answered all the same (docs/method.md section D.2).

use super::collect::{Block, Collected};
use super::{Discarded, NullResult, Question, Verdict};
use alloc::collections::BTreeSet;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::record::TrialRecord;

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
    let own = |n: &&NullResult| n.cell == question.cell && n.metric == question.metric;
    let failed = nulls.iter().filter(own).find(|null| !null.passed);
    let same = question.diagnostics.same_with_discarded == Some(true);
    let of_blocks = blocks(discarded, question).filter(|_| !same);
    of_blocks.or(failed.map(|null| Lack::Null(null.metric, null.estimate)))
}

/// Whether too many blocks of a question were discarded, be its answer the same with them or not.
pub(super) fn blocks(discarded: &[Discarded], question: &Question) -> Option<Lack> {
    let (lost, all) = closed(discarded, question);
    too_many(lost, all).then_some(Lack::Blocks(lost, all))
}

/// Whether more may be made of a question's blocks than its own answer: that alone was asked with
/// all of them where too many were discarded.
pub(super) fn is_whole(discarded: &[Discarded], question: &Question) -> bool {
    question.verdict != Verdict::None && blocks(discarded, question).is_none()
}

/// Whether a block was discarded for what no value of it can mend, whatever it is.
pub(crate) fn is_of_run(PerArm { a, b }: PerArm<&TrialRecord>) -> bool {
    let mut findings = a.findings.iter().chain(&b.findings);
    findings.any(|finding| finding.fatal && OF_RUN.contains(&finding.gate.as_str()))
}

/// Whether so much was discarded that the whole run says nothing: too much for what holds for the
/// run, or in every cell too much, and no question has an answer in spite of that.
pub(super) fn nothing_left(
    found: &Collected<'_>,
    nulls: &[NullResult],
    discarded: &[Discarded],
    questions: &[Question],
) -> bool {
    let closed = found.blocks.iter().filter(|block| !block.valid && is_of_run(block.trials));
    let (closed, _) = lost(closed);
    let (_, all) = lost(found.blocks.iter());
    let cells: BTreeSet<&str> = found.blocks.iter().map(Block::cell).collect();
    let silent = |cell: &&str| {
        let (lost, all) = lost(found.blocks.iter().filter(|block| block.cell() == *cell));
        too_many(lost, all)
    };
    let is_answered =
        |q: &Question| q.verdict != Verdict::None && lack(nulls, discarded, q).is_none();
    too_many(closed, all)
        || (!cells.is_empty() && cells.iter().all(silent) && !questions.iter().any(is_answered))
}

/// Whether too much is missing, discarded or failed.
pub(crate) fn too_many(missing: usize, all: usize) -> bool {
    missing as f64 > MISSING_MAX * all as f64
}

/// How many of these blocks were discarded, and how many there are. However often a block was
/// tried, what spoiled it was there once.
fn lost<'a>(blocks: impl Iterator<Item = &'a Block<'a>>) -> (usize, usize) {
    let outcomes: BTreeSet<(u32, bool)> = blocks.map(|b| (b.number, b.valid)).collect();
    (outcomes.iter().filter(|(_, valid)| !valid).count(), outcomes.len())
}

#[cfg(test)]
mod tests;
