//! What the null blocks say: the difference that the instrument finds where there is none.

use super::collect::Block;
use super::effect;
use super::{NullResult, Range};
use alloc::vec::Vec;
use v6gap_core::arm::BlockKind;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Plan;
use v6gap_core::workload::Cell;
use v6gap_stats::{paired_t, summary};

/// Error rate of a null check: low, since every check of a run can take the verdict away.
const ALPHA: f64 = 0.01;

/// The null results of a plan, cell by cell.
pub(super) fn judge(plan: &Plan, blocks: &[Block<'_>]) -> Vec<NullResult> {
    let mut results = Vec::new();
    for cell in &plan.cells {
        for &metric in cell.workload.metrics() {
            results.extend(judge_one(plan, cell, metric, blocks));
        }
    }
    results
}

/// A null fails when its range excludes no difference *and* its centre is large enough to matter: a
/// third of the margin.
fn judge_one(plan: &Plan, cell: &Cell, metric: Metric, blocks: &[Block<'_>]) -> Option<NullResult> {
    let effects = effects(cell, metric, blocks, |_| true);
    if effects.len() < 2 {
        return None;
    }
    let estimate = paired_t::t_interval(&effects, ALPHA);
    let matters = effect::margin(metric, plan.margin(metric)) / 3.0;
    let off = !estimate.interval.contains(0.0) && libm::fabs(estimate.centre) > matters;
    let show = |x: f64| match metric.scale() {
        Scale::Ratio => libm::expm1(x),
        Scale::Difference => x,
    };
    Some(NullResult {
        cell: cell.id.clone(),
        metric,
        estimate: show(estimate.centre),
        range: Range { low: show(estimate.interval.low), high: show(estimate.interval.high) },
        blocks: effects.len(),
        sd: summary::sd(&effects),
        passed: effects.len() < effect::NULLS_MIN || !off,
    })
}

/// Effects of the null blocks before the first comparison, to tune the symmetric range with: the
/// noise must not depend on what it is used for.
pub(super) fn before_comparing(blocks: &[Block<'_>], cell: &Cell, metric: Metric) -> Vec<f64> {
    effects(cell, metric, blocks, |b| b.trials.a.round == 0)
}

/// Effects of a cell's valid null blocks.
fn effects(
    cell: &Cell,
    metric: Metric,
    blocks: &[Block<'_>],
    wanted: impl Fn(&Block<'_>) -> bool,
) -> Vec<f64> {
    blocks
        .iter()
        .filter(|b| b.valid && b.cell() == cell.id && b.kind() != BlockKind::Compare && wanted(b))
        .filter_map(|b| {
            let a = b.trials.a.values.get(&metric)?;
            let b = b.trials.b.values.get(&metric)?;
            Some(effect::of_block(metric, *a, *b))
        })
        .collect()
}
