//! The course of a run: rounds of blocks until enough is known.
//!
//! The runner takes each round from [`v6gap_core::schedule`], measures its blocks, asks the gates,
//! hands the records to be stored, and asks the stopping rule. It keeps nothing that the journal
//! does not hold, so a run that broke off goes on from its journal.

mod block;
mod position;

pub use block::{RunError, measure_block};

use crate::control::Connection;
use crate::trial::TrialError;
use crate::trial::client::ClientContext;
use block::{Bench, Measured};
use position::Position;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use v6gap_core::family::Family;
use v6gap_core::gate;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Beside, Lateness};
use v6gap_core::plan::Plan;
use v6gap_core::record::{BlockRecord, Ending, GaveUp, Line, RunHeader, TrialRecord};
use v6gap_core::schedule::{self, Block};
use v6gap_core::stopping::{Progress, SoFar};
use v6gap_core::workload::{Cell, Transport, Workload};
use v6gap_sys::clock;

/// A block that fails a gate is tried again at most so many times.
const ATTEMPTS_AGAIN: u32 = 3;

/// Why a run ends in the middle of a round.
const OVERDUE: &str = "it had taken twice its time in the middle of a round, as happens where \
    exchanges wait for what was lost; more time (--for) or less to measure (--measure) would help";

/// What happens during a run, to be shown.
#[derive(Debug)]
pub enum Event<'a> {
    /// A block begins.
    Block {
        /// Its round.
        round: u32,
        /// Its cell.
        cell: &'a Cell,
        /// How far the round is: this block and how many there are.
        turn: (usize, usize),
        /// What it is for.
        block: &'a Block,
    },
    /// Both trials of a block are done.
    Done {
        /// Its cell.
        cell: &'a Cell,
        /// The trial of the reference.
        a: &'a TrialRecord,
        /// The trial of what is compared with it.
        b: &'a TrialRecord,
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
        so_far: &'a [SoFar],
    },
}

/// What a run needs from outside.
pub trait Hooks {
    /// Stores lines so that they survive a crash. Called once for each block.
    ///
    /// # Errors
    /// If they are not safe; the run ends then.
    fn store(&mut self, lines: &[Line]) -> io::Result<()>;

    /// Told of everything that happens, always between trials.
    fn event(&mut self, event: Event<'_>);

    /// How late the lab's user-space link was since this was last asked; `None` without one.
    fn lateness(&mut self) -> Option<Lateness>;

    /// Told before the first packet of a trial, or of both that are measured in turns.
    fn before(&mut self, _trial: &About<'_>) {}

    /// What others saw of that trial. Asked after its last packet, even if it failed.
    fn beside(&mut self) -> Option<Beside> {
        None
    }
}

/// A trial that is about to begin.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// Number of its block.
    pub block: u32,
    /// Its round.
    pub round: u32,
    /// How many times the block was tried before.
    pub attempt: u32,
    /// What it measures.
    pub cell: &'a Cell,
    /// Its family; `None` if both arms are measured in turns.
    pub family: Option<Family>,
}

/// Measures until the plan's stopping rule is met, `stop` is set or something fails. `lines` is
/// what the journal already holds, the header first.
///
/// # Errors
/// If the server is lost, lines cannot be stored, a task cannot be done as it stands, or the last
/// cell fails again and again. What was stored stays valid.
pub fn run(
    lines: &[Line],
    header: &RunHeader,
    connection: &mut Connection,
    context: &ClientContext,
    hooks: &mut dyn Hooks,
    stop: &AtomicBool,
) -> Result<Ending, RunError> {
    let mut runner = Runner::new(lines, header, hooks, stop);
    let plan = &header.plan;
    let mut bench = Bench::new(connection, context, plan.design.settle_ns);
    bench = bench.in_world(plan.world.as_ref());
    let ending = runner.rounds(&mut bench);
    let told = match &ending {
        Ok(ending) => ending.clone(),
        Err(error) => Ending::Failed { error: error.to_string() },
    };
    runner.hooks.store(&[Line::End(told)]).map_err(RunError::Store)?;
    ending
}

struct Runner<'a> {
    plan: &'a Plan,
    left_out: Vec<usize>,
    hooks: &'a mut dyn Hooks,
    stop: &'a AtomicBool,
    progress: Progress,
    position: Position,
    started_ns: u64,
    longest_round_ns: u64,
}

impl<'a> Runner<'a> {
    fn new(
        lines: &[Line],
        header: &'a RunHeader,
        hooks: &'a mut dyn Hooks,
        stop: &'a AtomicBool,
    ) -> Self {
        let plan = &header.plan;
        let given_up = |id: &str| {
            lines.iter().any(|line| matches!(line, Line::GaveUp(gave_up) if gave_up.cell == id))
        };
        let cells = |which: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..plan.cells.len()).filter(|&c| which(&plan.cells[c].id)).collect()
        };
        let mut left_out = cells(&|id| header.refused.contains_key(id));
        let mut progress = Progress::new(plan, &left_out);
        let position = Position::after(plan, lines, &mut progress);
        for cell in cells(&given_up) {
            progress.give_up(cell);
            left_out.push(cell);
        }
        Runner {
            plan,
            left_out,
            hooks,
            stop,
            progress,
            position,
            started_ns: clock::now_ns(),
            longest_round_ns: 0,
        }
    }

    fn rounds(&mut self, bench: &mut Bench<'_>) -> Result<Ending, RunError> {
        while self.left_out.len() < self.plan.cells.len() {
            let start_ns = clock::now_ns();
            if let Some(ending) = self.round(bench)? {
                return Ok(ending);
            }
            let elapsed_ns = clock::now_ns() - self.started_ns;
            if self.position.round > 0 {
                self.progress.round_done();
                self.longest_round_ns = self.longest_round_ns.max(clock::now_ns() - start_ns);
                let so_far = self.progress.so_far();
                let rounds = self.progress.rounds();
                self.hooks.event(Event::Round { rounds, elapsed_ns, so_far: &so_far });
            }
            self.position.next_round();
            if self.progress.complete(elapsed_ns, self.longest_round_ns) {
                break;
            }
        }
        Ok(Ending::Complete)
    }

    /// Measures what is left of the present round; the end of the run if that came in between.
    fn round(&mut self, bench: &mut Bench<'_>) -> Result<Option<Ending>, RunError> {
        let blocks = schedule::round(self.plan, self.position.round);
        while let Some(block) = blocks.get(self.position.turn) {
            if !self.left_out.contains(&block.cell) {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(Some(Ending::Stopped));
                }
                if self.progress.is_overdue(clock::now_ns() - self.started_ns) {
                    return Ok(Some(Ending::Failed { error: OVERDUE.to_owned() }));
                }
                let cell = &self.plan.cells[block.cell];
                let measured = |blocks: &[Block]| {
                    blocks.iter().filter(|block| !self.left_out.contains(&block.cell)).count()
                };
                let turn = (measured(&blocks[..=self.position.turn]), measured(&blocks));
                self.hooks.event(Event::Block { round: block.round, cell, turn, block });
                self.attempts(bench, block, cell)?;
            }
            self.position.next_block();
        }
        Ok(None)
    }

    /// Measures a block until it passes its gates or the attempts are used up.
    fn attempts(
        &mut self,
        bench: &mut Bench<'_>,
        block: &Block,
        cell: &Cell,
    ) -> Result<(), RunError> {
        let mut failed = None;
        for attempt in self.position.attempt..=ATTEMPTS_AGAIN {
            // Of the link only what happens during the block counts.
            self.hooks.lateness();
            let number = self.position.block;
            let measured = bench.block(self.plan, block, cell, (number, attempt), self.hooks);
            let link = self.hooks.lateness();
            failed = match measured {
                Ok(measured) => {
                    let valid = self.judged(measured, link, cell)?;
                    bench.settle(&cell.workload);
                    if valid {
                        return Ok(());
                    }
                    None
                }
                Err(error) => match Fate::of(&error) {
                    Fate::Again => Some(error),
                    Fate::CellOver => return self.give_up(vec![block.cell], error),
                    Fate::UdpOver => return self.give_up(self.over_udp(), error),
                    Fate::RunOver => return Err(error),
                },
            };
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        match failed {
            Some(error) => self.give_up(vec![block.cell], error),
            None => Ok(()),
        }
    }

    /// Asks the gates, stores the block, and tells whether it is valid.
    fn judged(
        &mut self,
        measured: Measured,
        link: Option<Lateness>,
        cell: &Cell,
    ) -> Result<bool, RunError> {
        let Measured { a, b } = measured;
        let finish = |mut trial: TrialRecord| {
            trial.block = self.position.block;
            trial.started_ns = trial.started_ns.saturating_sub(self.started_ns);
            trial.link = link;
            trial.findings = gate::judge(self.plan, cell, &trial);
            trial
        };
        let (a, b) = (finish(a), finish(b));
        let valid = a.findings.iter().chain(&b.findings).all(|finding| !finding.fatal);
        self.store(&a, &b, valid)?;
        self.hooks.event(Event::Done { cell, a: &a, b: &b, valid });
        if valid {
            self.progress.add(&a, &b);
        }
        Ok(valid)
    }

    /// The cells of the rest of the run that send datagrams.
    fn over_udp(&self) -> Vec<usize> {
        let is_udp = |&cell: &usize| self.plan.cells[cell].workload.transport() == Transport::Udp;
        let all = 0..self.plan.cells.len();
        all.filter(is_udp).filter(|cell| !self.left_out.contains(cell)).collect()
    }

    /// What failed at every attempt, or would, is left out from now on; the rest of the run goes
    /// on. If there is no rest, the run has failed, and may be tried again with these cells.
    fn give_up(&mut self, cells: Vec<usize>, error: RunError) -> Result<(), RunError> {
        if self.left_out.len() + cells.len() == self.plan.cells.len() {
            return Err(error);
        }
        let why = error.to_string();
        let gone = |&cell: &usize| {
            let cell = self.plan.cells[cell].id.clone();
            Line::GaveUp(GaveUp { cell, why: why.clone() })
        };
        let lines: Vec<Line> = cells.iter().map(gone).collect();
        self.hooks.store(&lines).map_err(RunError::Store)?;
        for cell in cells {
            self.progress.give_up(cell);
            self.left_out.push(cell);
        }
        Ok(())
    }

    fn store(&mut self, a: &TrialRecord, b: &TrialRecord, valid: bool) -> Result<(), RunError> {
        let lines = [
            Line::Trial(Box::new(a.clone())),
            Line::Trial(Box::new(b.clone())),
            Line::Block(BlockRecord { block: a.block, valid }),
        ];
        self.hooks.store(&lines).map_err(RunError::Store)
    }
}

/// What follows from an error.
enum Fate {
    /// Another attempt may succeed.
    Again,
    /// What this cell needs is not to be had; others may do without.
    CellOver,
    /// No datagram comes through: no cell that sends any can be measured, and none is asked again.
    UdpOver,
    /// Nothing more can be measured, or the plan does not fit what the run has.
    RunOver,
}

impl Fate {
    fn of(error: &RunError) -> Self {
        match error {
            RunError::Trial(TrialError::Missing { .. } | TrialError::Unsuitable { .. })
            | RunError::Lost(_)
            | RunError::Random(_)
            | RunError::Store(_) => Fate::RunOver,
            RunError::Trial(TrialError::Blocked { .. }) => Fate::UdpOver,
            RunError::Trial(error) if error.is_lasting() => Fate::CellOver,
            RunError::Server { lasting: true, .. } => Fate::CellOver,
            RunError::Trial(_) | RunError::Server { lasting: false, .. } => Fate::Again,
        }
    }
}

/// Whether packets of the workload may still be under way when it is over.
fn lingers(workload: &Workload) -> bool {
    let bulk = [Metric::Throughput, Metric::Capacity, Metric::RateAtLoss];
    workload.metrics().iter().any(|metric| bulk.contains(metric))
}
