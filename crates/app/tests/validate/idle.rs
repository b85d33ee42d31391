//! Row m: what a process that is idle on the host does to what others measure there. Round trips
//! with a family against itself, in turns with the process and without it.
//!
//! A period is a run of a few blocks, and a pair is a period with the process and one without it.
//! Of four pairs the order of the first is drawn and gives those of the others, so that neither
//! what drifts nor what comes second is of one of both. Before each period the process is started
//! and has become idle, so that what it does to become so does not tell them apart: before one of
//! them it is ended again. Then the host rests as long in both cases.

#[path = "../../../core/tests/common/splitmix.rs"]
mod splitmix;

use crate::bystander::{Bystander, Kind};
use crate::results::Results;
use crate::site::{self, Placement, Site};
use crate::{Budget, known, plans, say};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Plan;
use v6gap_core::record::Line;
use v6gap_core::world::{LinkModel, World};
use v6gap_stats::summary::mean;
use v6gap_sys::clock;

/// Pairs of periods.
pub(crate) const RUNS: usize = 28;

/// How long a block lasts, in s.
pub(crate) const BLOCK_S: f64 = 1.4;

/// Blocks of a period.
const BLOCKS: u32 = 8;

/// Rate of the links, in bit/s.
const RATE_BPS: u64 = 100_000_000;

/// Exchanges of a turn, as the plan has it.
const EXCHANGES: f64 = 20.0;

/// Fewest and most turns of a block.
const TURNS: (f64, f64) = (40.0, 10_000.0);

/// Rest of the host before a period, when a process has become idle or has ended.
const SETTLED: Duration = Duration::from_secs(2);

/// Pairs whose orders follow from one draw: two of each family.
const DRAWN: u64 = 4;

/// Periods that may fail.
const FAILURES_MAX: usize = 5;

/// The lines of each pair by its number, that without the process first.
type Lines<'a> = BTreeMap<u64, [Option<&'a Value>; 2]>;

/// The lines of a case.
pub(crate) fn of_case<'a>(lines: &'a [Value], case: &str) -> Lines<'a> {
    let mut pairs = Lines::new();
    for done in lines.iter().filter(|done| done["row"] == "m" && done["case"] == case) {
        if let (Some(number), Some(with)) = (done["pair"].as_u64(), done["with"].as_bool()) {
            pairs.entry(number).or_default()[usize::from(with)] = Some(done);
        }
    }
    pairs
}

/// Makes what is missing of `pairs` pairs, in one lab, with blocks of `block_s`.
///
/// # Errors
/// If the lab cannot be built, or too many periods fail.
pub(crate) fn run(
    pairs: usize,
    block_s: f64,
    kind: &Kind,
    results: &Results,
    budget: &Budget,
) -> Result<(), String> {
    let is_whole = |pair: &[Option<&Value>; 2]| pair.iter().all(Option::is_some);
    let missing = || {
        let lines = results.lines();
        let made = of_case(&lines, &kind.name());
        pairs.saturating_sub(made.values().filter(|pair| is_whole(pair)).count())
    };
    if missing() == 0 {
        return Ok(());
    }
    let world = World::client_router_server(LinkModel::Wire, Some(RATE_BPS));
    site::with(&world, Placement::usual(), results.next_seed(), |site| {
        let first = plan(&world, Family::V6, TURNS.0, 2, results.next_seed())?;
        if let Some(why) = site.refused(&first).into_values().next() {
            say(&format!("{}: nothing was measured: {why}", kind.name()));
            return Ok(());
        }
        let turns = turns(&site.run(first, &mut |_| ())?, block_s);
        let mut failures = 0;
        while missing() > 0 && !budget.is_used_up() {
            if let Err(why) = pair(site, &world, turns, kind, results) {
                failures += 1;
                say(&format!("{}: {why}", kind.name()));
                if failures > FAILURES_MAX {
                    return Err("too many periods failed".to_owned());
                }
            }
        }
        Ok(())
    })
}

fn plan(world: &World, family: Family, turns: f64, pairs: u32, seed: u64) -> Result<Plan, String> {
    let text = plans::null(plans::IDLE, known::short(family));
    let text = text.replace("PAIRS", &pairs.to_string()).replace("TURNS", &format!("{turns:.0}"));
    plans::plan(&text, world, seed)
}

/// Turns of each arm with which a block lasts so long on a path where these were measured: an even
/// number.
fn turns(lines: &[Line], block_s: f64) -> f64 {
    let (blocks, _) = blocks(lines);
    let of_both: Vec<f64> = blocks.iter().map(|block| block.a + block.b).collect();
    if of_both.is_empty() {
        return TURNS.0;
    }
    let turns = block_s / (EXCHANGES * mean(&of_both));
    2.0 * (turns.clamp(TURNS.0, TURNS.1) / 2.0).round()
}

/// Round trips of both arms of the valid blocks, in s, and how many blocks were discarded.
pub(crate) fn blocks(lines: &[Line]) -> (Vec<PerArm<f64>>, usize) {
    let (mut valid, mut discarded) = (Vec::new(), 0);
    let mut open: PerArm<Option<f64>> = PerArm::default();
    for line in lines {
        match line {
            Line::Trial(trial) => {
                *open.get_mut(trial.arm) = trial.values.get(&Metric::Rtt).copied();
            }
            Line::Block(block) => {
                let PerArm { a, b } = std::mem::take(&mut open);
                match a.zip(b).filter(|_| block.valid) {
                    Some((a, b)) => valid.push(PerArm { a, b }),
                    None => discarded += 1,
                }
            }
            _ => {}
        }
    }
    (valid, discarded)
}

/// Both periods of the next pair, families in turn.
fn pair(
    site: &Site<'_>,
    world: &World,
    turns: f64,
    kind: &Kind,
    results: &Results,
) -> Result<(), String> {
    let lines = results.lines();
    let made = of_case(&lines, &kind.name());
    let number = made.keys().next_back().map_or(0, |last| last + 1);
    let family = Family::BOTH[usize::from(number % 2 == 1)];
    let drawn = Draws(results.next_seed()).next() >> 63 == 1;
    let first = with_first(&lines, &kind.name(), number, drawn);
    for with in [first, !first] {
        let seed = results.next_seed();
        let plan = plan(world, family, turns, BLOCKS, seed)?;
        let idle = Bystander::start(kind, site, &results.folder().join("beside"))?;
        let beside = if with {
            Some(idle)
        } else {
            drop(idle);
            None
        };
        clock::rest(SETTLED);
        let lines = site.run(plan, &mut |_| ())?;
        beside.map_or(Ok(()), Bystander::end)?;
        let facts = json!({
            "row": "m", "case": kind.name(), "seed": seed, "session": "", "pair": number,
            "with": with, "turns": turns,
        });
        results.keep(facts, &lines)?;
        let (valid, discarded) = blocks(&lines);
        let beside = if with { "with" } else { "without" };
        let counts = format!("{} blocks, {discarded} discarded", valid.len());
        say(&format!("{} {number} {beside}: {counts}", kind.name()));
    }
    Ok(())
}

/// Whether the period with the process is the first of that pair; `drawn` says so of one that
/// begins its four, others follow from what is there: there and back, of each family and of both.
fn with_first(lines: &[Value], case: &str, number: u64, drawn: bool) -> bool {
    let turned = |number: u64| matches!(number % DRAWN, 1 | 2);
    // In the order in which they were made.
    let of_case = lines.iter().filter(|done| done["row"] == "m" && done["case"] == case);
    let earlier =
        of_case.filter_map(|done| Some((done["pair"].as_u64()?, done["with"].as_bool()?)));
    let mut of_four = earlier.filter(|(other, _)| other / DRAWN == number / DRAWN);
    let begun = of_four.next().map(|(other, with)| with != turned(other));
    begun.unwrap_or(drawn) != turned(number)
}

/// SplitMix64 from a seed.
pub(crate) struct Draws(pub u64);

impl Draws {
    /// 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        splitmix::next(&mut self.0)
    }
}
