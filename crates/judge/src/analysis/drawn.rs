//! What was drawn anew within a run and what stayed the same, of all that no question fixes. The
//! ranges of a run hold the spread over the former alone.

use super::collect::{Block, Collected};
use super::routes;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use serde::Serialize;
use v6gap_core::arm::{BlockKind, TurnOrder};
use v6gap_core::observation::EndReport;
use v6gap_core::workload::Workload;

/// Something that a run may draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nuisance {
    /// Ports of the client.
    Ports,
    /// Sizes of writes of TCP transfers.
    Writes,
    /// Which arm goes first.
    Order,
    /// The lab that the run made.
    Lab,
    /// The processes that measure, at both ends.
    Processes,
    /// The processors that they are held on.
    Processors,
    /// The start of the hosts.
    Boot,
    /// The way between them.
    Path,
}

/// How often something was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anew {
    /// For each block.
    Block,
    /// For each round.
    Round,
    /// Never: it was the same all through, or nothing shows that it was not.
    Never,
}

/// How often one thing was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DrawnFact {
    /// What.
    pub what: Nuisance,
    /// How often.
    pub anew: Anew,
}

/// The facts of a run, in a fixed order; of what it does not have none.
pub(super) fn facts(found: &Collected<'_>) -> Vec<DrawnFact> {
    let counts = |b: &&Block<'_>| b.valid && b.kind() == BlockKind::Compare;
    let blocks: Vec<&Block<'_>> = found.blocks.iter().filter(counts).collect();
    if blocks.is_empty() {
        return Vec::new();
    }
    let moved = !routes::changes(found.trials.iter().copied()).is_empty();
    let never = |anew: Option<Anew>| Some(anew.unwrap_or(Anew::Never));
    let facts = [
        (Nuisance::Ports, anew(&blocks, port)),
        (Nuisance::Writes, writes(found, &blocks)),
        (Nuisance::Order, Some(order(&blocks))),
        (Nuisance::Lab, anew(&blocks, |block| block.drawn?.lab)),
        (Nuisance::Processes, never(at_both_ends(&blocks, |end| end.process))),
        (Nuisance::Processors, never(at_both_ends(&blocks, |end| end.processor))),
        (Nuisance::Boot, never(None)),
        (Nuisance::Path, if moved { None } else { never(None) }),
    ];
    let fact = |(what, anew): (Nuisance, Option<Anew>)| Some(DrawnFact { what, anew: anew? });
    facts.into_iter().filter_map(fact).collect()
}

/// How often a value changes that blocks have; `None` if no block has one.
fn anew<T: Ord + Copy>(
    blocks: &[&Block<'_>],
    of: impl Fn(&Block<'_>) -> Option<T>,
) -> Option<Anew> {
    // Cells may do with different values what each does with one.
    let mut cells: BTreeMap<&str, BTreeSet<T>> = BTreeMap::new();
    let mut rounds: BTreeMap<u32, BTreeSet<T>> = BTreeMap::new();
    for block in blocks {
        if let Some(value) = of(block) {
            cells.entry(block.cell()).or_default().insert(value);
            rounds.entry(block.trials.a.round).or_default().insert(value);
        }
    }
    if cells.is_empty() {
        return None;
    }
    // A run that was broken off and went on has another lab and other processes once.
    let often = |times: usize| times > 1 || (times == 1 && rounds.len() < 3);
    let all: Vec<&BTreeSet<T>> = rounds.values().collect();
    let differ = often(all.windows(2).filter(|pair| pair[0] != pair[1]).count());
    let within_rounds = often(all.iter().filter(|values| values.len() > 1).count());
    let changes = cells.values().any(|values| values.len() > 1);
    // Where a round has one block only, that is the same.
    let by_block = within_rounds || (differ && blocks.len() == rounds.len());
    Some(match (changes, by_block, differ) {
        (true, true, _) => Anew::Block,
        (true, false, true) => Anew::Round,
        (false, ..) | (true, false, false) => Anew::Never,
    })
}

/// The client's port of the first arm, where there are ports.
fn port(block: &Block<'_>) -> Option<u16> {
    let port = block.trials.a.ends.client.endpoints?.local.port();
    (port > 0).then_some(port)
}

/// Transfers whose plan leaves the size open have one in every block.
fn writes(found: &Collected<'_>, blocks: &[&Block<'_>]) -> Option<Anew> {
    let bulk = |block: &&&Block<'_>| {
        let cell = found.run.plan.cell(block.cell()).map(|(_, cell)| &cell.workload);
        matches!(cell, Some(Workload::TcpBulk(_)))
    };
    let mut transfers = blocks.iter().filter(bulk).peekable();
    transfers.peek()?;
    let drawn = transfers.any(|block| block.drawn.is_some_and(|drawn| drawn.write_bytes.is_some()));
    Some(if drawn { Anew::Block } else { Anew::Never })
}

fn order(blocks: &[&Block<'_>]) -> Anew {
    let first = |order| blocks.iter().any(|block| block.order() == order);
    match first(TurnOrder::Ab) && first(TurnOrder::Ba) {
        true => Anew::Block,
        false => Anew::Never,
    }
}

/// How often something changes at both ends; `None` where it is not known of both.
fn at_both_ends<T: Ord + Copy>(
    blocks: &[&Block<'_>],
    of: fn(&EndReport) -> Option<T>,
) -> Option<Anew> {
    let client = anew(blocks, |block| of(&block.trials.a.ends.client))?;
    let server = anew(blocks, |block| of(block.trials.a.ends.server.seen()?))?;
    Some(client.max(server))
}
