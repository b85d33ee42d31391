//! Whether a difference goes with something that no question fixes and that was drawn for its
//! blocks or rounds (docs/method.md section C.12): the answer would then be another one with
//! another choice.

use super::Range;
use super::collect::{Block, Collected};
use super::effect::BLOCKS_MIN;
use super::rounds;
use crate::reach;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::observation::{EndReport, Ends};
use v6gap_core::workload::Direction;
use v6gap_stats::bartels::bartels;
use v6gap_stats::kruskal::kruskal_wallis;
use v6gap_stats::spearman::spearman;
use v6gap_stats::{Interval, multiplicity, paired_t, summary};

/// A faster link has no rate of its own: it carries what the hosts make of it, in bit/s.
const FAST_BPS: f64 = 5e9;

/// Chance that a run says so of any question without cause: that of the guards.
const ALPHA: f64 = 0.01;

/// p-value from which on a choice is taken to move the values.
const MOVED_ALPHA: f64 = 0.05;

/// Into how many parts the blocks are told in the order of a size.
const PARTS: usize = 3;

/// What was drawn and may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The size of writes, in bytes.
    Writes,
    /// The size of reads, in bytes: where both ends are of this program, and so draw it.
    Reads,
    /// What writes leave over when they are cut into whole segments of the first arm, as a share
    /// of a segment.
    FirstSegments,
    /// Likewise of the second arm.
    SecondSegments,
    /// The client's processor, by its number.
    ClientProcessor,
    /// The server's.
    ServerProcessor,
}

/// How a difference goes with a choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// What was drawn.
    pub to: Choice,
    /// What was drawn for: valid blocks, or rounds of processors.
    pub draws: usize,
    /// p-value of the test, by permutation.
    pub p: f64,
    /// The same after Holm over all that was looked at in the run.
    pub p_adjusted: f64,
    /// Whether the difference depends on it.
    pub depends: bool,
    /// The segment that was reckoned with, in bytes; of segments alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_bytes: Option<u32>,
    /// The draws by what was chosen: thirds of sizes and remainders, or each processor.
    pub parts: Vec<Part>,
}

impl Sensitivity {
    /// The parts with the least and the largest effect, in the order of what was chosen.
    pub fn extremes(&self) -> Option<[&Part; 2]> {
        // One draw alone has no range.
        let told = || self.parts.iter().filter(|part| part.draws > 1);
        let by_effect = |a: &&Part, b: &&Part| a.effect.total_cmp(&b.effect);
        let (least, most) = (told().min_by(by_effect)?, told().max_by(by_effect)?);
        Some(if least.chosen[0] <= most.chosen[0] { [least, most] } else { [most, least] })
    }
}

/// Draws of about one choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Part {
    /// The smallest and the largest choice, as [`Choice`] counts them.
    pub chosen: [f64; 2],
    /// How many draws they are.
    pub draws: usize,
    /// Their mean effect: `b/a − 1`, or `b − a` in the metric's unit.
    pub effect: f64,
    /// Its 95 % range, by Student's t.
    pub range: Range,
}

/// What one block or round says of a metric.
#[derive(Debug, Clone, Copy)]
struct Draw {
    chosen: f64,
    effect: f64,
    /// Mean of both arms, on the scale of the effect.
    level: f64,
}

/// All that was looked at, in the order of the plan.
pub(super) fn judge(found: &Collected<'_>) -> Vec<Sensitivity> {
    let mut all = Vec::new();
    for cell in &found.run.plan.cells {
        let counts =
            |b: &&Block<'_>| b.valid && b.kind() == BlockKind::Compare && b.cell() == cell.id;
        let blocks: Vec<&Block<'_>> = found.blocks.iter().filter(counts).collect();
        let both_draw = found.run.session.seen().is_some();
        let direction = cell.workload.direction().unwrap_or(Direction::Send);
        for &metric in cell.workload.metrics() {
            all.extend(of_question(&cell.id, metric, &blocks, (both_draw, direction)));
        }
    }
    let p: Vec<f64> = all.iter().map(|one| one.p).collect();
    for (one, p_adjusted) in all.iter_mut().zip(multiplicity::holm(&p)) {
        one.p_adjusted = p_adjusted;
        one.depends = p_adjusted <= ALPHA;
    }
    all
}

fn of_question(
    cell: &str,
    metric: Metric,
    blocks: &[&Block<'_>],
    (both_draw, direction): (bool, Direction),
) -> Vec<Sensitivity> {
    let size = |block: &Block<'_>| Some(f64::from(block.drawn?.write_bytes?));
    let reads = |block: &Block<'_>| Some(f64::from(block.drawn.filter(|_| both_draw)?.read_bytes?));
    let left_over = |arm: Arm| {
        let segment = segment(blocks, arm, direction)?;
        let of = move |block: &Block<'_>| Some(size(block)? % f64::from(segment));
        let share = |d: Draw| Draw { chosen: d.chosen / f64::from(segment), ..d };
        Some((segment, draws(metric, blocks, of).into_iter().map(share).collect::<Vec<_>>()))
    };
    let with = |to: Choice, draws: Vec<Draw>, segment| look(cell, metric, to, draws, segment);
    let of_arm = |to: Choice, arm: Arm| {
        let (segment, draws) = left_over(arm)?;
        with(to, draws, Some(segment))
    };
    let of_processor = |to: Choice, end: End| with(to, by_round(metric, blocks, end), None);
    [
        with(Choice::Writes, draws(metric, blocks, size), None),
        with(Choice::Reads, draws(metric, blocks, reads), None),
        of_arm(Choice::FirstSegments, Arm::A),
        of_arm(Choice::SecondSegments, Arm::B),
        of_processor(Choice::ClientProcessor, |ends| Some(&ends.client)),
        of_processor(Choice::ServerProcessor, |ends| ends.server.seen()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// One of the ends.
type End = fn(&Ends) -> Option<&EndReport>;

/// The largest segment that was sent over an arm, where all trials had the same, and both ends if
/// both send.
fn segment(blocks: &[&Block<'_>], arm: Arm, direction: Direction) -> Option<u32> {
    let of = |block: &&Block<'_>| {
        let ends = &block.trials.get(arm).ends;
        let client = ends.client.granted.mss;
        let server = || ends.server.seen().and_then(|end| end.granted.mss);
        match direction {
            Direction::Send => client,
            Direction::Receive => server(),
            Direction::Both => client.filter(|_| client == server()),
        }
    };
    let all: BTreeSet<Option<u32>> = blocks.iter().map(of).collect();
    (all.len() == 1).then(|| all.into_iter().next()?).flatten().filter(|bytes| *bytes > 0)
}

/// The blocks of which a choice is known.
fn draws(
    metric: Metric,
    blocks: &[&Block<'_>],
    chosen: impl Fn(&Block<'_>) -> Option<f64>,
) -> Vec<Draw> {
    blocks.iter().filter_map(|block| draw(metric, block, chosen(block)?)).collect()
}

fn draw(metric: Metric, block: &Block<'_>, chosen: f64) -> Option<Draw> {
    let PerArm { a, b } = block.values(metric)?;
    let effect = block.effect(metric)?;
    let level = match metric.scale() {
        Scale::Ratio => libm::log(a * b) / 2.0,
        Scale::Difference => (a + b) / 2.0,
    };
    effect.is_finite().then_some(Draw { chosen, effect, level })
}

/// The rounds of which one end's processor is known: a round draws it for all blocks of the cell,
/// which share more than that.
fn by_round(metric: Metric, blocks: &[&Block<'_>], end: End) -> Vec<Draw> {
    let processor = |b: &Block<'_>| Some(f64::from(end(&b.trials.a.ends)?.processor?));
    let of_block = |block: &&Block<'_>| {
        let draw = draw(metric, block, processor(block)?)?;
        Some((block.round(), draw))
    };
    let all: Vec<(u32, Draw)> = blocks.iter().filter_map(of_block).collect();
    let of_round = |round: &[(u32, Draw)]| {
        let chosen = round.first()?.1.chosen;
        let together = |of: fn(&Draw) -> f64| {
            let all = round.iter().map(|(_, draw)| of(draw));
            rounds::together(metric.scale(), &all.collect::<Vec<_>>())
        };
        // A process that ended in the middle of a round was replaced on another one.
        let is_one = round.iter().all(|(_, draw)| draw.chosen == chosen);
        is_one.then(|| Draw {
            chosen,
            effect: together(|d| d.effect),
            level: together(|d| d.level),
        })
    };
    all.chunk_by(|a, b| a.0 == b.0).filter_map(of_round).collect()
}

/// Where a choice does not even move the values, nobody expects it to move their difference; on a
/// fast link it is always looked at.
fn look(
    cell: &str,
    metric: Metric,
    to: Choice,
    mut draws: Vec<Draw>,
    segment_bytes: Option<u32>,
) -> Option<Sensitivity> {
    let differ = draws.windows(2).any(|pair| pair[0].chosen != pair[1].chosen);
    if draws.len() < BLOCKS_MIN || !differ {
        return None;
    }
    draws.sort_by(|a, b| a.chosen.total_cmp(&b.chosen));
    let levels: Vec<f64> = draws.iter().map(|draw| draw.level).collect();
    let fast = metric == Metric::Throughput && summary::median(&levels) >= libm::log(FAST_BPS);
    if !fast && p(to, &draws, |draw| draw.level) > MOVED_ALPHA {
        return None;
    }
    let p = p(to, &draws, |draw| draw.effect);
    Some(Sensitivity {
        cell: cell.to_string(),
        metric,
        to,
        draws: draws.len(),
        p,
        p_adjusted: p,
        depends: false,
        segment_bytes,
        parts: parts(to, metric, &draws),
    })
}

/// p-value of "goes with the choice". Sizes are looked at for a rise or fall as well as for any
/// other law, so that the smaller p of two tests counts twice.
fn p(to: Choice, draws: &[Draw], of: fn(&Draw) -> f64) -> f64 {
    let chosen: Vec<f64> = draws.iter().map(|draw| draw.chosen).collect();
    let values: Vec<f64> = draws.iter().map(of).collect();
    match to {
        Choice::Writes | Choice::Reads => {
            let rises = spearman(&chosen, &values).p;
            (2.0 * rises.min(bartels(&chosen, &values, false).p)).min(1.0)
        }
        Choice::FirstSegments | Choice::SecondSegments => bartels(&chosen, &values, true).p,
        Choice::ClientProcessor | Choice::ServerProcessor => {
            let numbers: Vec<u32> = chosen.iter().map(|number| *number as u32).collect();
            kruskal_wallis(&numbers, &values).p
        }
    }
}

/// The parts of draws that are in the order of what was chosen.
fn parts(to: Choice, metric: Metric, draws: &[Draw]) -> Vec<Part> {
    match to {
        Choice::Writes | Choice::Reads | Choice::FirstSegments | Choice::SecondSegments => {
            let end = |number: usize| number * draws.len() / PARTS;
            (0..PARTS).map(|n| part(metric, &draws[end(n)..end(n + 1)])).collect()
        }
        Choice::ClientProcessor | Choice::ServerProcessor => {
            let of_one = draws.chunk_by(|a, b| a.chosen == b.chosen);
            of_one.map(|draws| part(metric, draws)).collect()
        }
    }
}

fn part(metric: Metric, draws: &[Draw]) -> Part {
    let effects: Vec<f64> = draws.iter().map(|draw| draw.effect).collect();
    let scale = metric.scale();
    let found = paired_t::t_interval(&effects, reach::ALPHA);
    let chosen = [draws.first(), draws.last()].map(|end| end.map_or(0.0, |draw| draw.chosen));
    let Interval { low, high } = found.interval;
    let range = Range { low: scale.shown(low), high: scale.shown(high) };
    Part { chosen, draws: draws.len(), effect: scale.shown(summary::mean(&effects)), range }
}
