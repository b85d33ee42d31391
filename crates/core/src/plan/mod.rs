//! The plan: what will be measured, how often and with which margins, checked and with every
//! default explicit. A plan as a person writes it is a [`draft::Draft`]; [`check::check`] makes one
//! from the other.

pub mod check;
pub mod defaults;
pub mod draft;
pub mod estimate;
pub mod fit;
pub mod later;
pub mod levels;
pub mod limits;
pub mod preset;
pub mod scale;

use crate::arm::PerArm;
use crate::family::Family;
use crate::metric::Metric;
use crate::workload::Cell;
use crate::world::{LinkModel, World};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;
use serde::{Deserialize, Serialize};

/// Longest time of a run that is given none, in ns.
pub const TIME_NS: u64 = 75_000_000_000;

/// Longest time of a demo that is given none, in ns: a quiet computer has answered in a minute, and
/// one that does other work needs more pairs.
pub const DEMO_TIME_NS: u64 = 2 * TIME_NS;

/// Blocks of each cell before the first look of an adaptive run, where nothing else is asked for.
pub const PAIRS_MIN: u32 = 8;

/// Fewest valid pairs of a question with which there can be a verdict.
pub const PAIRS_TO_DECIDE: u32 = 6;

/// When a run has measured enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Stop {
    /// After this many comparing blocks of every cell; intervals are those for a fixed number.
    Pairs {
        /// Blocks of each cell.
        pairs: u32,
    },
    /// When every question is answered or the time is over; what is shown before holds at any time.
    Adaptive {
        /// Longest time for the whole run, in ns.
        time_ns_max: u64,
        /// Blocks of each cell before the first look.
        pairs_min: u32,
    },
}

impl Default for Stop {
    fn default() -> Self {
        Stop::within(TIME_NS)
    }
}

/// A round is broken off when the run has taken so many times what was asked for.
const OVERDUE_TIMES: u64 = 2;

impl Stop {
    /// The end of an adaptive run that takes `time_ns_max` at most.
    pub const fn within(time_ns_max: u64) -> Stop {
        Stop::Adaptive { time_ns_max, pairs_min: PAIRS_MIN }
    }

    /// Whether a run with a time of its own must end in the middle of a round: where exchanges wait
    /// for what was lost, one round can take longer than all that was asked for.
    pub fn is_overdue(&self, elapsed_ns: u64) -> bool {
        match self {
            Stop::Pairs { .. } => false,
            Stop::Adaptive { time_ns_max, .. } => {
                elapsed_ns > time_ns_max.saturating_mul(OVERDUE_TIMES)
            }
        }
    }
}

/// In which order trials follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Cells shuffled in every round, and which arm goes first balanced in every two rounds.
    #[default]
    Random,
    /// Cells as the plan lists them, and the first arm always first: a facsimile of published runs
    /// (docs/experiments.md), in which what changes with time passes for one between the arms.
    Sequential,
}

impl Order {
    /// Name of the order in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Random => "random",
            Order::Sequential => "sequential",
        }
    }
}

/// How a published study combined its runs (docs/method.md section C.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Summary {
    /// The mean, without anything that says how well it is known.
    Mean,
    /// Mean and standard deviation of a run.
    MeanSd,
    /// The mean without the lowest and the highest run.
    TrimmedMean,
    /// The mean of three consistent runs of five.
    ThreeOfFive,
}

impl Summary {
    /// All of them.
    pub const ALL: [Summary; 4] =
        [Summary::Mean, Summary::MeanSd, Summary::TrimmedMean, Summary::ThreeOfFive];

    /// Name of the summary in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Summary::Mean => "mean",
            Summary::MeanSd => "mean-sd",
            Summary::TrimmedMean => "trimmed-mean",
            Summary::ThreeOfFive => "three-of-five",
        }
    }

    /// Fewest runs that it can combine.
    pub const fn runs_min(self) -> u32 {
        match self {
            Summary::Mean => 1,
            Summary::MeanSd => 2,
            Summary::TrimmedMean => 4,
            Summary::ThreeOfFive => 5,
        }
    }
}

/// How the trials are arranged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// What is compared inside a block; [`PerArm::FAMILIES`] unless the run is a null run.
    pub arms: PerArm<Family>,
    /// When to stop.
    pub stop: Stop,
    /// Half-width of the 95 % range at which a question of the metric is settled, as a share of the
    /// value or in points like the margins; metrics without one are settled by their verdict.
    #[serde(default)]
    pub precision: BTreeMap<Metric, f64>,
    /// Null blocks of each family for each cell in `null_cells`, before the first comparing block.
    pub null_blocks: u32,
    /// Indices of the cells that get null blocks.
    pub null_cells: Vec<usize>,
    /// Null blocks of each family of a cell, by its index, where that is fewer than `null_blocks`:
    /// they would take too much of the run's time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub null_fewer: BTreeMap<usize, u32>,
    /// One round in so many carries null blocks again, as sentinels.
    pub sentinel_every: u32,
    /// Most blocks of a cell in a round. How many it has, up to so many, is chosen from the null
    /// blocks (docs/method.md section B.8). Where that is 1, since the number of pairs is fixed or
    /// the run is of an earlier version, no cell rests either.
    #[serde(default = "Design::one", skip_serializing_if = "Design::is_one")]
    pub blocks_max: u32,
    /// In which order trials follow each other.
    #[serde(default)]
    pub order: Order,
    /// How the study that the plan repeats combined its runs, if it repeats one.
    #[serde(default)]
    pub summary: Option<Summary>,
    /// Whether families that take different interfaces are compared all the same.
    #[serde(default)]
    pub different_links: bool,
    /// Pause after each trial for packets still under way, in ns.
    pub settle_ns: u64,
    /// Confidence of the ranges shown.
    pub confidence: f64,
}

impl Design {
    /// Null blocks of each family of the cell with this index before the first comparing block, if
    /// it gets any.
    pub fn null_blocks_of(&self, cell: usize) -> u32 {
        self.null_fewer.get(&cell).map_or(self.null_blocks, |fewer| self.null_blocks.min(*fewer))
    }

    const fn one() -> u32 {
        1
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_one(blocks: &u32) -> bool {
        *blocks == 1
    }
}

/// What a plan says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Short name.
    pub name: String,
    /// What it is for, one sentence.
    pub description: String,
    /// The published experiment that it repeats, as in `raicu/tcp-100`.
    #[serde(default)]
    pub reference: Option<String>,
    /// What is measured, in the order in which it is reported. All cells take part in every round.
    pub cells: Vec<Cell>,
    /// How the trials are arranged.
    pub design: Design,
    /// Margins: smaller differences do not matter. Fixed before the run.
    pub margins: BTreeMap<Metric, f64>,
    /// The world of the lab that the run takes place in; `None` on a real path.
    pub world: Option<World>,
    /// Seed of every random choice.
    pub seed: u64,
}

/// A checked plan. Whoever has one may read its [`Parts`] and change none: it comes from
/// [`check::check`] or out of a stored run, and another comes from it by a transition with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan(Parts);

impl Deref for Plan {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Plan {
    /// What it says, to be changed unchecked: for tests, and clippy refuses it elsewhere.
    pub fn parts_mut(&mut self) -> &mut Parts {
        &mut self.0
    }

    /// The margin of a metric.
    pub fn margin(&self, metric: Metric) -> f64 {
        self.margins.get(&metric).copied().unwrap_or_else(|| metric.margin_default())
    }

    /// The first cell that belongs in a lab, if the plan has none to run in.
    pub fn out_of_place(&self) -> Option<&Cell> {
        let belongs = |cell: &&Cell| cell.workload.belongs_in_a_lab();
        self.cells.iter().find(belongs).filter(|_| self.world.is_none())
    }

    /// The first cell, if any, that cannot be measured between the nodes of this plan's world in a
    /// lab that was made as `made`, and the node where it cannot: on links of the wire model the
    /// lab has buckets at hosts and at its own client and server, and not at what only forwards.
    pub fn unpaced_in(&self, made: &World) -> Option<(usize, &Cell)> {
        let wanted = self.world.as_ref().filter(|_| made.model == LinkModel::Wire)?;
        let mut ends = [wanted.client, wanted.server].into_iter();
        let node = ends.find(|&node| made.only_forwards(node))?;
        let cell = self.cells.iter().find(|cell| cell.workload.runs_ahead())?;
        Some((node, cell))
    }

    /// The cell of that id and its index.
    pub fn cell(&self, id: &str) -> Option<(usize, &Cell)> {
        self.cells.iter().enumerate().find(|(_, cell)| cell.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;
    use crate::world::Link;

    /// Nothing holds a sender to the rate at a router that only forwards in a lab that is up.
    #[test]
    fn what_runs_ahead_is_measured_where_the_lab_has_buckets() {
        let links = alloc::vec![Link::ethernet(Some(100_000_000)); 4];
        let made = World::chain(LinkModel::Wire, links);
        let plan = |client, server| {
            let world = made.clone().measured(client, server);
            preset::first_look(PerArm::FAMILIES, Some(world), 1)
        };
        assert_eq!(plan(0, 4).unpaced_in(&made), None);
        for (client, server, router) in [(1, 4, 1), (0, 3, 3), (4, 2, 2), (1, 3, 1)] {
            let plan = plan(client, server);
            let (node, cell) = plan.unpaced_in(&made).unwrap();
            assert!(node == router && cell.workload.runs_ahead(), "{node}: {cell:?}");
            // Made for these ends, or with buckets everywhere.
            assert_eq!(plan.unpaced_in(&made.clone().measured(client, server)), None);
            let shaped = World { model: LinkModel::Shaped, ..made.clone() };
            assert_eq!(plan.unpaced_in(&shaped), None);
        }
        let mut one_by_one = plan(1, 3);
        one_by_one.parts_mut().cells.retain(|cell| !cell.workload.runs_ahead());
        assert!(!one_by_one.cells.is_empty());
        assert_eq!(one_by_one.unpaced_in(&made), None);
        for cell in &mut one_by_one.parts_mut().cells {
            if let Workload::Echo(echo) = &mut cell.workload {
                echo.outstanding = 2;
            }
        }
        let (_, cell) = one_by_one.unpaced_in(&made).unwrap();
        assert!(matches!(cell.workload, Workload::Echo(_)));
    }
}
