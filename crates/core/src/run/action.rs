//! What a run asks of whoever drives it, and what it is told.

use super::judge::SoFar;
use crate::arm::{BlockKind, PerArm};
use crate::family::Family;
use crate::observation::{Beside, Ends};
use crate::plan::Plan;
use crate::record::{Drawn, Ending, Line, TrialRecord};
use crate::schedule::Block;
use crate::workload::{Cell, Workload};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt::Display;

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Action<'p> {
    /// Measure both arms of a block, and tell what came of it.
    Measure(Attempt<'p>),
    /// Store lines so that they survive a crash. If they cannot be stored, the run has failed.
    Store(Vec<Line>),
    /// Tell whoever watches.
    Tell(Event<'p>),
    /// Let packets of a trial of this cell arrive that are still under way.
    Settle(&'p Cell),
    /// The run is over. An error that ended it is in [`take_error`](super::Machine::take_error).
    End(Ending),
}

/// An attempt at a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt<'p> {
    /// Number of the block.
    pub number: u32,
    /// How many times it was tried before.
    pub attempt: u32,
    /// What it is for.
    pub block: Block,
    /// What it measures.
    pub cell: &'p Cell,
}

impl Attempt<'_> {
    /// The family of each arm.
    pub fn arms(&self, plan: &Plan) -> PerArm<Family> {
        match self.block.kind {
            BlockKind::Compare => plan.design.arms,
            BlockKind::Null(family) => PerArm::null(family),
        }
    }

    /// Seed of its ports and payload: another attempt uses others. The lower half is the block's,
    /// from which the ends draw the size of reads.
    pub fn seed(&self) -> u64 {
        self.block.seed.wrapping_add(u64::from(self.attempt) << 48)
    }

    /// What both its arms do. All attempts at a block do the same, as they keep its order and its
    /// size of reads: what fails more often at some sizes would otherwise choose among them.
    pub fn workload(&self) -> Workload {
        self.cell.workload.drawn(self.block.seed)
    }

    /// What chance decided for it in the lab of that number.
    pub fn drawn(&self, lab: Option<u32>) -> Drawn {
        let (seed, workload) = (self.seed(), &self.cell.workload);
        let write_bytes = workload.clone().draw(self.block.seed);
        let read_bytes = workload.reads_bytes(seed);
        Drawn { seed, order: self.block.order, write_bytes, read_bytes, lab }
    }
}

/// What one arm of an attempt gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// What both ends saw.
    pub ends: Ends,
    /// When it began, in ns since 1970 (UTC).
    pub started_unix_ns: u64,
    /// When it began, in ns of the clock that the run is told.
    pub started_ns: u64,
    /// How long it took, in ns.
    pub duration_ns: u64,
    /// What others saw of it.
    pub beside: Option<Box<Beside>>,
}

/// What a driver says of an attempt that failed.
pub trait Trouble: Display {
    /// A stable word for it, as in `server`.
    fn word(&self) -> &'static str;

    /// The family of the trial that failed, if only one can be meant.
    fn family(&self) -> Option<Family> {
        None
    }
}

/// For drivers that tell no errors apart.
impl Trouble for String {
    fn word(&self) -> &'static str {
        "failed"
    }
}

/// For drivers that never fail.
impl Trouble for Infallible {
    fn word(&self) -> &'static str {
        match *self {}
    }
}

/// What follows from a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Another attempt may succeed.
    Again,
    /// What this cell needs is not to be had; others may do without.
    CellOver,
    /// No datagram comes through: no cell that sends any can be measured, and none is asked again.
    UdpOver,
    /// Nothing more can be measured, or the plan does not fit what the run has.
    RunOver,
}

/// What happens during a run, to be shown; always between trials.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'p> {
    /// A block begins.
    Block {
        /// Cell of the block.
        cell: &'p Cell,
        /// How far the round is: this block and how many there are.
        turn: (usize, usize),
        /// What it is for.
        block: Block,
    },
    /// Both trials of a block are done.
    Done {
        /// Cell of the block.
        cell: &'p Cell,
        /// The trial of the reference.
        a: Box<TrialRecord>,
        /// The trial of what is compared with it.
        b: Box<TrialRecord>,
        /// Whether it passed its gates.
        valid: bool,
    },
    /// A round is over.
    Round {
        /// Rounds of comparing so far.
        rounds: u32,
        /// Time of this session so far, in ns.
        elapsed_ns: u64,
        /// What can be said so far.
        so_far: Vec<SoFar>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::preset;
    use crate::run::ATTEMPTS_AGAIN;
    use crate::schedule;
    use crate::workload::TcpBulk;
    use alloc::collections::BTreeSet;

    #[test]
    fn attempts_at_a_block_have_its_sizes_and_seeds_of_their_own() {
        let plan = preset::first_look(PerArm::FAMILIES, None, 7);
        let mut transfers = 0;
        for block in schedule::round(&plan, 1) {
            let cell = &plan.cells[block.cell];
            let drawn = |attempt| Attempt { number: 1, attempt, block, cell }.drawn(None);
            let first = drawn(0);
            transfers += u32::from(first.read_bytes.is_some());
            let mut seeds = BTreeSet::new();
            for again in (0..=ATTEMPTS_AGAIN).map(drawn) {
                assert_eq!(again.write_bytes, first.write_bytes);
                assert_eq!(again.read_bytes, first.read_bytes);
                // The tasks of both arms, as the engine makes them.
                for seed in [again.seed, again.seed ^ (1 << 32)] {
                    let read = u32::try_from(TcpBulk::read_bytes(seed)).ok();
                    assert!(first.read_bytes.is_none() || read == first.read_bytes);
                    assert!(seeds.insert(seed), "ports and payload are drawn anew");
                }
            }
        }
        assert!(transfers > 0);
    }
}
