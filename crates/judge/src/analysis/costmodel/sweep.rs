//! Which cells are a sweep of sizes, and what each round of the run measured of them.

use crate::analysis::collect::{Block, Collected};
use crate::analysis::predict::{self, Packets};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::arm::{BlockKind, PerArm};
use v6gap_core::metric::Metric;
use v6gap_core::workload::{Cell, Echo, Workload};
use v6gap_stats::outliers::MAD_TO_SD;
use v6gap_stats::summary;

/// Most units that are resampled; beyond it neighbouring rounds are joined.
const UNITS_MAX: usize = 200;

/// Deviations from the median, in scaled median deviations, beyond which a value counts as that
/// far: a round that something disturbed must not decide.
const CLIP: f64 = 3.5;

/// One size of a sweep.
pub(super) struct Level {
    pub cell: String,
    pub echo: Echo,
    /// Sum of the values in each unit: of the mean of both arms and of their difference, in ns,
    /// and how many they are.
    units: Vec<Sums>,
    whole: Sums,
}

/// Sums over rounds.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    middle_ns: f64,
    difference_ns: f64,
    count: f64,
}

/// Round trips of several sizes that are alike otherwise.
pub(super) struct Sweep {
    /// By size.
    pub levels: Vec<Level>,
    /// Rounds in which anything of it counts.
    pub rounds: usize,
    /// What is resampled: rounds, or runs of them.
    pub units: usize,
    pub packets: PerArm<Packets>,
}

/// The sweeps of a run, in the order of the plan: groups of exchanges of two processes that differ
/// in size alone, which is that of both families, with one request on the way at a time.
pub(super) fn sweeps(found: &Collected<'_>) -> Vec<Sweep> {
    let mut groups: Vec<(Echo, Vec<(&Cell, &Echo)>)> = Vec::new();
    for cell in &found.run.plan.cells {
        let Workload::Echo(echo) = &cell.workload else { continue };
        let is_usual = echo.outstanding == 1 && echo.parity.is_usual() && echo.method.is_usual();
        if !is_usual || found.unmeasured.contains_key(cell.id.as_str()) {
            continue;
        }
        // A slow line leaves large messages fewer exchanges, and connections.
        let kind = Echo {
            message_bytes: 0,
            connections: 0,
            turns: 0,
            turn_exchanges: 0,
            warmup_exchanges: 0,
            ..echo.clone()
        };
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push((cell, echo)),
            None => groups.push((kind, [(cell, echo)].into())),
        }
    }
    let several = groups.into_iter().filter(|(_, members)| members.len() > 1);
    several.map(|(_, members)| sweep(found, members)).filter(|s| s.rounds > 0).collect()
}

fn sweep(found: &Collected<'_>, mut members: Vec<(&Cell, &Echo)>) -> Sweep {
    members.sort_by_key(|(_, echo)| echo.message_bytes);
    let counts = |b: &&Block<'_>| b.valid && b.kind() == BlockKind::Compare;
    let of = |id: &str| -> Vec<&Block<'_>> {
        found.blocks.iter().filter(counts).filter(|b| b.cell() == id).collect()
    };
    let blocks: Vec<Vec<&Block<'_>>> = members.iter().map(|(cell, _)| of(&cell.id)).collect();
    let mut numbers: Vec<u32> = blocks.iter().flatten().map(|b| b.trials.a.round).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let rounds = numbers.len();
    let joined = rounds.div_ceil(UNITS_MAX).max(1);
    let unit: BTreeMap<u32, usize> =
        numbers.into_iter().enumerate().map(|(i, number)| (number, i / joined)).collect();
    let units = rounds.div_ceil(joined);
    let all: Vec<&Block<'_>> = blocks.iter().flatten().copied().collect();
    let plan = &found.run.plan;
    let packets = PerArm::from_fn(|arm| {
        predict::packets(plan, *plan.design.arms.get(arm), &all, |b| b.trials.get(arm))
    });
    let level = |((cell, echo), blocks): (&(&Cell, &Echo), &Vec<&Block<'_>>)| {
        level(cell, echo, blocks, &unit, units)
    };
    Sweep { levels: members.iter().zip(&blocks).map(level).collect(), rounds, units, packets }
}

fn level(
    cell: &Cell,
    echo: &Echo,
    blocks: &[&Block<'_>],
    unit: &BTreeMap<u32, usize>,
    units: usize,
) -> Level {
    let value = |b: &Block<'_>| {
        let of = |t: &v6gap_core::record::TrialRecord| t.values.get(&Metric::Rtt).map(|s| s * 1e9);
        let (a, b_) = (of(b.trials.a)?, of(b.trials.b)?);
        Some((*unit.get(&b.trials.a.round)?, f64::midpoint(a, b_), b_ - a))
    };
    let values: Vec<(usize, f64, f64)> = blocks.iter().filter_map(|b| value(b)).collect();
    let middles = clipped(values.iter().map(|v| v.1).collect());
    let differences = clipped(values.iter().map(|v| v.2).collect());
    let mut level = Level {
        cell: cell.id.clone(),
        echo: echo.clone(),
        units: alloc::vec![Sums::default(); units],
        whole: Sums::default(),
    };
    for ((place, _, _), (middle, difference)) in values.iter().zip(middles.iter().zip(differences))
    {
        let one = Sums { middle_ns: *middle, difference_ns: difference, count: 1.0 };
        level.units[*place].add(&one);
        level.whole.add(&one);
    }
    level
}

/// Values far from the others brought to the edge of what is usual.
fn clipped(mut values: Vec<f64>) -> Vec<f64> {
    let (centre, spread) = (summary::median(&values), summary::mad(&values));
    let far = CLIP * MAD_TO_SD * spread;
    if far > 0.0 {
        values.iter_mut().for_each(|v| *v = v.clamp(centre - far, centre + far));
    }
    values
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.middle_ns += other.middle_ns;
        self.difference_ns += other.difference_ns;
        self.count += other.count;
    }

    fn arms(&self) -> PerArm<f64> {
        let (middle, half) = (self.middle_ns / self.count, self.difference_ns / self.count / 2.0);
        PerArm { a: middle - half, b: middle + half }
    }
}

impl Level {
    /// Whether anything was measured.
    pub fn is_measured(&self) -> bool {
        self.whole.count > 0.0
    }

    /// The round trip of each arm over these units, in ns; over all if they hold none of it.
    pub fn centre_ns(&self, units: &[usize]) -> PerArm<f64> {
        let mut sums = Sums::default();
        units.iter().for_each(|&unit| sums.add(&self.units[unit]));
        if sums.count > 0.0 { sums.arms() } else { self.whole.arms() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_value_counts_as_the_edge_of_the_usual() {
        let found = clipped([10.0, 11.0, 9.0, 10.5, 9.5, 900.0].into());
        assert!(found[5] < 20.0 && found[..5] == [10.0, 11.0, 9.0, 10.5, 9.5], "{found:?}");
        assert_eq!(clipped([3.0, 3.0, 3.0, 8.0].into()), [3.0, 3.0, 3.0, 8.0]);
    }
}
