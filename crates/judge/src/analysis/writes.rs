//! Whether a difference goes with the size of writes that its blocks drew (docs/method.md section
//! C.12): the answer would then be another one with another size.

use super::collect::{Block, Collected};
use super::effect::BLOCKS_MIN;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::metric::{Metric, Scale};
use v6gap_stats::spearman::spearman;
use v6gap_stats::{multiplicity, summary};

/// A faster link has no rate of its own: it carries what the hosts make of it, in bit/s.
const FAST_BPS: f64 = 5e9;

/// Chance that a run says so of any question without cause: that of the guards.
const ALPHA: f64 = 0.01;

/// p-value from which on the size is taken to move the values.
const MOVED_ALPHA: f64 = 0.05;

/// How a difference goes with the size of writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByWrites {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// Valid blocks that drew a size.
    pub blocks: usize,
    /// Rank correlation of the effect with the size, −1 to 1.
    pub rho: f64,
    /// Its p-value: the share of all ways to match sizes and effects with one as far from 0.
    pub p: f64,
    /// The same after Holm over the questions of the run that were looked at.
    pub p_adjusted: f64,
    /// Whether the difference depends on the size.
    pub depends: bool,
    /// The blocks by size: smallest, middle and largest third.
    pub thirds: [Third; 3],
}

/// Blocks with writes of about one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Third {
    /// Smallest and largest write, in bytes.
    pub bytes: [u32; 2],
    /// How many they are.
    pub blocks: usize,
    /// Their mean effect: `b/a − 1`, or `b − a` in the metric's unit.
    pub effect: f64,
}

/// What one block says of a metric.
struct Sized {
    bytes: u32,
    effect: f64,
    /// Mean of both arms, on the scale of the effect.
    level: f64,
}

/// Every question that was looked at, in the order of the plan.
pub(super) fn judge(found: &Collected<'_>) -> Vec<ByWrites> {
    let mut all = Vec::new();
    for cell in &found.run.plan.cells {
        for &metric in cell.workload.metrics() {
            let counts =
                |b: &&Block<'_>| b.valid && b.kind() == BlockKind::Compare && b.cell() == cell.id;
            let blocks = found.blocks.iter().filter(counts);
            let mut blocks: Vec<Sized> = blocks.filter_map(|b| sized(metric, b)).collect();
            blocks.sort_by_key(|block| block.bytes);
            if blocks.len() >= BLOCKS_MIN && is_looked_at(metric, &blocks) {
                all.push(one(&cell.id, metric, &blocks));
            }
        }
    }
    let p: Vec<f64> = all.iter().map(|one| one.p).collect();
    for (one, p_adjusted) in all.iter_mut().zip(multiplicity::holm(&p)) {
        one.p_adjusted = p_adjusted;
        one.depends = p_adjusted <= ALPHA;
    }
    all
}

fn sized(metric: Metric, block: &Block<'_>) -> Option<Sized> {
    let PerArm { a, b } = block.values(metric)?;
    let (effect, bytes) = (block.effect(metric)?, block.drawn?.write_bytes?);
    let level = match metric.scale() {
        Scale::Ratio => libm::log(a * b) / 2.0,
        Scale::Difference => (a + b) / 2.0,
    };
    effect.is_finite().then_some(Sized { bytes, effect, level })
}

/// Where the size does not even move the values, nobody expects it to move their difference.
fn is_looked_at(metric: Metric, blocks: &[Sized]) -> bool {
    let levels: Vec<f64> = blocks.iter().map(|block| block.level).collect();
    let fast = metric == Metric::Throughput && summary::median(&levels) >= libm::log(FAST_BPS);
    fast || spearman(&sizes(blocks), &levels).p <= MOVED_ALPHA
}

fn sizes(blocks: &[Sized]) -> Vec<f64> {
    blocks.iter().map(|block| f64::from(block.bytes)).collect()
}

fn one(cell: &str, metric: Metric, blocks: &[Sized]) -> ByWrites {
    let effects: Vec<f64> = blocks.iter().map(|block| block.effect).collect();
    let found = spearman(&sizes(blocks), &effects);
    let third = |number: usize| {
        let part = &blocks[number * blocks.len() / 3..(number + 1) * blocks.len() / 3];
        let effects: Vec<f64> = part.iter().map(|block| block.effect).collect();
        let mean = summary::mean(&effects);
        let effect = match metric.scale() {
            Scale::Ratio => libm::expm1(mean),
            Scale::Difference => mean,
        };
        let ends = [part.first(), part.last()].map(|end| end.map_or(0, |block| block.bytes));
        Third { bytes: ends, blocks: part.len(), effect }
    };
    ByWrites {
        cell: cell.to_string(),
        metric,
        blocks: blocks.len(),
        rho: found.rho,
        p: found.p,
        p_adjusted: found.p,
        depends: false,
        thirds: [third(0), third(1), third(2)],
    }
}
