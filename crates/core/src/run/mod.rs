//! The course of a run: rounds of blocks until enough is known, as a machine without clock, socket
//! or disk.
//!
//! Whoever drives it asks [`Machine::next`] what is to be done, does it, and tells what came of it
//! with [`Machine::measured`] or [`Machine::failed`]; lines that a journal already holds are told
//! with [`Machine::recorded`]. Who measures is the driver's business: two hosts over a session, a
//! simulated network, or a stored run that is shown again. What is valid and when it is enough, a
//! [`Judge`] says. The machine keeps nothing that the
//! journal does not hold but the time and the last error, so that a run that broke off goes on from
//! its journal.

mod action;
mod judge;
mod position;

pub use action::{Action, Attempt, Event, Fate, Observed, Trouble};
pub use judge::{Judge, SoFar};

use crate::arm::{Arm, PerArm};
use crate::observation::Lateness;
use crate::plan::{Plan, Stop};
use crate::record::{
    Allotted, BlockRecord, Drawn, Ending, FailedAttempt, GaveUp, Line, Mark, RunHeader, TrialRecord,
};
use crate::schedule::{self, Block};
use crate::values;
use crate::workload::{Cell, Path, Transport};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use position::Position;

/// A block that fails, or fails a gate, is tried again at most so many times; one that fails a gate
/// not at all where the time that is left is needed for the least number of rounds.
pub const ATTEMPTS_AGAIN: u32 = 3;

/// Why a run ends in the middle of a round.
const OVERDUE: &str = "it had taken twice its time in the middle of a round, as happens where \
    exchanges wait for what was lost; more time (--for) or less to measure (--measure) would help";

/// A run. `E` is the error of the driver that measures.
#[derive(Debug)]
pub struct Machine<'p, E> {
    plan: &'p Plan,
    /// Cells that are not measured, or not any more.
    left_out: Vec<usize>,
    judge: Box<dyn Judge>,
    /// Rounds in which families were compared.
    rounds: u32,
    /// Blocks of each cell in a round, once they are chosen; until then each has one.
    allotted: Option<Vec<u32>>,
    /// Cells that rest in this round.
    resting: Vec<usize>,
    position: Position,
    /// Trials of the journal whose block is not there yet.
    open: BTreeMap<Arm, &'p TrialRecord>,
    /// What is done before anything is decided.
    due: VecDeque<Action<'p>>,
    /// Why the last attempt failed, if it did, and what follows from that.
    failed: Option<(E, Fate)>,
    /// Whether datagrams of a trial came through.
    udp_came: bool,
    /// Whether an attempt was asked for of which nothing was told yet.
    asked: bool,
    /// Number of the block that was announced last.
    announced: Option<u32>,
    labs: Labs,
    /// How the run ended.
    ending: Option<Ending>,
    clock: Clock,
}

/// The labs that were made for the run, by their numbers.
#[derive(Debug, Default)]
struct Labs {
    /// The one that is measured in.
    present: Option<u32>,
    /// The last one.
    last: u32,
}

/// Times of this session, in ns of the driver's clock.
#[derive(Debug, Default)]
struct Clock {
    began_ns: Option<u64>,
    /// When it was asked last what is to be done.
    now_ns: u64,
    round_began_ns: u64,
    /// What the last two rounds took, and what their blocks were planned to take.
    rounds_ns: [(u64, f64); 2],
}

impl Clock {
    /// What a round will take whose blocks are planned to take so long: cells that rest make
    /// rounds shorter, and null blocks longer. By what is planned of the difference, or by the
    /// difference as a factor, whichever is the smaller change: rounds of short blocks take a
    /// multiple of their plan, which says nothing of long ones, and on a fast path all take a part.
    fn round_ns(&self, planned_ns: f64) -> u64 {
        let moved = |&(took_ns, planned_then_ns): &(u64, f64)| {
            if took_ns == 0 || planned_then_ns <= 0.0 {
                return took_ns;
            }
            let took_ns = took_ns as f64;
            let (by_time, by_factor) =
                (took_ns + planned_ns - planned_then_ns, took_ns * planned_ns / planned_then_ns);
            let moved_ns = match planned_ns >= planned_then_ns {
                true => by_time.min(by_factor),
                false => by_time.max(by_factor),
            };
            moved_ns as u64
        };
        self.rounds_ns.iter().map(moved).fold(0, u64::max)
    }

    /// What a round takes in which nothing is tried again, if one was measured.
    fn smooth_round_ns(&self) -> Option<u64> {
        self.rounds_ns.iter().map(|(took_ns, _)| *took_ns).filter(|ns| *ns > 0).min()
    }
}

impl<'p, E: Trouble> Machine<'p, E> {
    /// A run of which nothing is measured yet.
    pub fn new(header: &'p RunHeader, judge: Box<dyn Judge>) -> Self {
        let plan = &header.plan;
        Machine {
            plan,
            judge,
            rounds: 0,
            allotted: None,
            resting: Vec::new(),
            left_out: header.left_out(),
            position: Position::first(plan),
            open: BTreeMap::new(),
            due: VecDeque::new(),
            failed: None,
            udp_came: false,
            asked: false,
            announced: None,
            labs: Labs::default(),
            ending: None,
            clock: Clock::default(),
        }
    }

    /// A run that goes on with what its journal already holds.
    pub fn resumed(header: &'p RunHeader, lines: &'p [Line], judge: Box<dyn Judge>) -> Self {
        let mut machine = Self::new(header, judge);
        lines.iter().for_each(|line| machine.recorded(line));
        machine
    }

    /// What is measured.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// What is measured from now on is measured in a lab that was made for it and of which the
    /// journal holds nothing; returns its number.
    pub fn enter_lab(&mut self) -> u32 {
        self.labs.last = self.labs.last.saturating_add(1);
        self.labs.present = Some(self.labs.last);
        self.labs.last
    }

    /// What is to be done next, at `now_ns` of a clock that never goes back; `stop` if somebody
    /// asked for the end. The same is asked for until it is told what came of it.
    pub fn next(&mut self, now_ns: u64, stop: bool) -> Action<'p> {
        if self.clock.began_ns.is_none() {
            self.clock.began_ns = Some(now_ns);
            self.clock.round_began_ns = now_ns;
        }
        self.clock.now_ns = now_ns;
        loop {
            if let Some(action) = self.due.pop_front() {
                return action;
            }
            if let Some(ending) = &self.ending {
                return Action::End(ending.clone());
            }
            if let Some(attempt) = self.decide(now_ns, stop) {
                self.asked = true;
                return Action::Measure(attempt);
            }
        }
    }

    /// What an attempt gave, and how late the lab's user-space link was during it, if there is one.
    pub fn measured(&mut self, observed: PerArm<Observed>, link: Option<Lateness>) {
        let Some(attempt) = self.attempt() else { return };
        (self.failed, self.asked) = (None, false);
        let PerArm { a, b } = observed;
        let mut a = self.record(&attempt, Arm::A, a, link);
        let mut b = self.record(&attempt, Arm::B, b, link);
        let found = self.judge.gates(self.plan, attempt.cell, PerArm { a: &a, b: &b });
        (a.findings, b.findings) = (found.a, found.b);
        let valid = a.findings.iter().chain(&b.findings).all(|finding| !finding.fatal);
        let again = !self.is_short(took_ns(&a, &b));
        self.tried(&a, &b, valid, again);
        let drawn = Some(attempt.drawn(self.labs.present));
        let end = Line::Block(BlockRecord { block: a.block, valid, drawn });
        let (a, b) = (Box::new(a), Box::new(b));
        self.due.push_back(Action::Store(vec![
            Line::Trial(a.clone()),
            Line::Trial(b.clone()),
            end,
        ]));
        self.due.push_back(Action::Tell(Event::Done { cell: attempt.cell, a, b, valid }));
        self.due.push_back(Action::Settle(attempt.cell));
    }

    /// The present attempt gave nothing, or what it gave could not be stored.
    pub fn failed(&mut self, error: E, fate: Fate) {
        if !core::mem::take(&mut self.asked) {
            // What could not be stored is not told either.
            self.due.clear();
        } else if let Some(attempt) = self.attempt() {
            let failed = failed_attempt(&attempt, self.labs.present, &error);
            self.judge.failed(&failed);
            self.due.push_back(Action::Store(vec![Line::Failed(failed)]));
        }
        self.position.attempt += 1;
        self.position.failed();
        // Where datagrams came through before, a silence is one of some time.
        let fate = if fate == Fate::UdpOver && self.udp_came { Fate::Again } else { fate };
        self.failed = Some((error, fate));
    }

    /// A line that the journal already holds. Whoever shows a stored run tells each line when it
    /// was, with [`next`](Self::next) in between; for a run that goes on all of them are told
    /// first.
    pub fn recorded(&mut self, line: &'p Line) {
        self.ending = None;
        match line {
            Line::Trial(trial) => {
                self.open.insert(trial.arm, trial);
                return;
            }
            Line::Block(end) => {
                self.labs.seen(end.drawn.as_ref());
                if let (Some(&a), Some(&b)) = (self.open.get(&Arm::A), self.open.get(&Arm::B)) {
                    self.tried(a, b, end.valid, true);
                }
            }
            Line::Allotted(allotted) => self.allotted(allotted),
            Line::GaveUp(gone) => {
                if let Some((cell, _)) = self.plan.cell(&gone.cell) {
                    self.leave_out(cell);
                }
            }
            Line::Failed(failed) => {
                self.labs.seen(Some(&failed.drawn));
                if self.reached(&failed.mark()) {
                    self.position.failed();
                }
                self.judge.failed(failed);
            }
            // Whoever goes on with the run may try as often again.
            Line::End(_) => self.position.next_session(),
            Line::Run(_) => {}
        }
        self.open.clear();
    }

    /// The error that ended the run, if one did; the machine has it no more.
    pub fn take_error(&mut self) -> Option<E> {
        self.failed.take_if(|(_, fate)| *fate == Fate::RunOver).map(|(error, _)| error)
    }

    /// The next attempt; `None` if something else has to be done first.
    fn decide(&mut self, now_ns: u64, stop: bool) -> Option<Attempt<'p>> {
        let elapsed_ns = now_ns.saturating_sub(self.clock.began_ns.unwrap_or(now_ns));
        if let Some((_, Fate::RunOver)) = &self.failed {
            self.end_by_error();
        } else if self.left_out.len() >= self.plan.cells.len() {
            self.end(Ending::Complete);
        } else if let Some(attempt) = self.attempt() {
            if self.is_given_up(stop) {
                self.give_up(attempt.block.cell);
            } else if stop {
                self.end(Ending::Stopped);
            } else if self.position.is_spent() {
                // It broke off behind the last attempt that there was to be.
                self.position.next_block();
            } else if attempt.attempt == 0 && self.plan.design.stop.is_overdue(elapsed_ns) {
                self.end(Ending::Failed { error: OVERDUE.to_owned() });
            } else if self.announced != Some(attempt.number) {
                self.announce(&attempt);
            } else {
                return Some(attempt);
            }
        } else {
            self.round_over(now_ns, elapsed_ns);
        }
        None
    }

    /// The next attempt of the present round, behind cells that are left out.
    fn attempt(&mut self) -> Option<Attempt<'p>> {
        while let Some(&block) = self.position.blocks.get(self.position.turn) {
            if !self.left_out.contains(&block.cell) {
                let Position { block: number, attempt, .. } = self.position;
                return Some(Attempt {
                    number,
                    attempt,
                    block,
                    cell: &self.plan.cells[block.cell],
                });
            }
            self.position.next_block();
        }
        None
    }

    fn announce(&mut self, attempt: &Attempt<'p>) {
        self.announced = Some(attempt.number);
        let measured = |blocks: &[Block]| {
            blocks.iter().filter(|block| !self.left_out.contains(&block.cell)).count()
        };
        let blocks = &self.position.blocks;
        let turn = (measured(&blocks[..=self.position.turn]), measured(blocks));
        self.due.push_back(Action::Tell(Event::Block {
            cell: attempt.cell,
            turn,
            block: attempt.block,
        }));
    }

    /// The record of one arm, before the gates have looked at it.
    fn record(
        &self,
        attempt: &Attempt<'p>,
        arm: Arm,
        observed: Observed,
        link: Option<Lateness>,
    ) -> TrialRecord {
        let Attempt { number, attempt: tried, block, cell } = *attempt;
        let began_ns = self.clock.began_ns.unwrap_or(0);
        TrialRecord {
            block: number,
            cell: cell.id.clone(),
            kind: block.kind,
            round: block.round,
            arm,
            family: *attempt.arms(self.plan).get(arm),
            order: block.order,
            attempt: tried,
            started_unix_ns: observed.started_unix_ns,
            started_ns: observed.started_ns.saturating_sub(began_ns),
            duration_ns: observed.duration_ns,
            values: values::values(&cell.workload, &observed.ends),
            ends: observed.ends,
            findings: Vec::new(),
            link,
            beside: observed.beside,
        }
    }

    /// Whether what is left of the time, `took_ns` after it was asked last, is needed for the
    /// rounds that a run has at least: to measure a block again would cost all answers.
    fn is_short(&self, took_ns: u64) -> bool {
        let Stop::Adaptive { time_ns_max, pairs_min } = self.plan.design.stop else { return false };
        let blocks = |cell: usize| self.allotted.as_ref().map_or(1, |blocks| blocks[cell]);
        let cells = (0..self.plan.cells.len()).filter(|cell| !self.left_out.contains(cell));
        let planned = cells.map(|cell| f64::from(blocks(cell)) * self.block_ns(cell));
        let round_ns = self.clock.smooth_round_ns().unwrap_or_else(|| planned.sum::<f64>() as u64);
        let left = u64::from(pairs_min.saturating_sub(self.rounds));
        let Clock { began_ns, now_ns, round_began_ns, .. } = self.clock;
        let since = |ns: u64| ns.saturating_sub(began_ns.unwrap_or(ns));
        let elapsed_ns = since(now_ns).saturating_add(took_ns);
        let rounds = |count: u64| count.saturating_mul(round_ns);
        let end_ns = match self.position.round {
            0 => elapsed_ns.saturating_add(rounds(left)),
            // What is done of the present round need not be done again.
            _ => {
                let smooth_ns = since(round_began_ns).saturating_add(rounds(left));
                smooth_ns.max(elapsed_ns.saturating_add(rounds(left.saturating_sub(1))))
            }
        };
        end_ns > time_ns_max
    }

    /// What a block of a cell is planned to take, in ns.
    fn block_ns(&self, cell: usize) -> f64 {
        2.0 * self.plan.cells[cell].workload.cost(Path::USUAL).time_ns
    }

    /// What the blocks of the present round are planned to take, in ns.
    fn planned_ns(&self) -> f64 {
        let blocks = self.position.blocks.iter().map(|block| block.cell);
        blocks.filter(|cell| !self.left_out.contains(cell)).map(|cell| self.block_ns(cell)).sum()
    }

    /// Takes note of an attempt that has records. Its block is done if it is valid, was tried as
    /// often as it may be, or is not to be tried again.
    fn tried(&mut self, a: &TrialRecord, b: &TrialRecord, valid: bool, again: bool) {
        let known = self.reached(&a.mark());
        let transport = self.plan.cell(&a.cell).map(|(_, cell)| cell.workload.transport());
        self.udp_came |= transport == Some(Transport::Udp);
        if known && (valid || !again || self.position.is_tried_enough()) {
            self.position.next_block();
        }
        match valid {
            true => self.judge.add(a, b),
            false => self.judge.discarded(a, b),
        }
    }

    /// Moves behind an attempt; false if it is none of this schedule.
    fn reached(&mut self, mark: &Mark<'_>) -> bool {
        if mark.round > self.position.round {
            // One of which no cell was measured is one all the same.
            self.rounds = mark.round - 1;
            self.enter(mark.round);
        }
        self.position.follow(self.plan, mark)
    }

    /// On to a round. Rounds form pairs, in which a cell has as many blocks of either order, so
    /// that cells rest for two of them.
    fn enter(&mut self, round: u32) {
        if !round.is_multiple_of(2) {
            self.resting = self.judge.resting(self.rounds);
        }
        let Machine { resting, allotted, .. } = &*self;
        let count = |cell: usize| match (resting.contains(&cell), allotted) {
            (true, _) => 0,
            (false, Some(blocks)) => blocks.get(cell).copied().unwrap_or(1),
            (false, None) => 1,
        };
        let blocks = schedule::round_of(self.plan, round, count);
        self.position.enter(round, blocks);
    }

    /// Gives each cell its blocks, from the next block on.
    fn allotted(&mut self, allotted: &Allotted) {
        let blocks = |cell: &Cell| allotted.cells.get(&cell.id).map_or(1, |of| of.blocks.max(1));
        self.allotted = Some(self.plan.cells.iter().map(blocks).collect());
        if self.position.round > 0 && self.position.turn == 0 {
            self.enter(self.position.round);
        }
    }

    fn round_over(&mut self, now_ns: u64, elapsed_ns: u64) {
        let round_ns = now_ns.saturating_sub(self.clock.round_began_ns);
        if self.position.round > 0 {
            self.rounds = self.rounds.saturating_add(1);
            self.clock.rounds_ns = [self.clock.rounds_ns[1], (round_ns, self.planned_ns())];
            let (rounds, so_far) = (self.rounds, self.judge.so_far());
            self.due.push_back(Action::Tell(Event::Round { rounds, elapsed_ns, so_far }));
        }
        self.clock.round_began_ns = now_ns;
        if self.position.round == 0
            && self.allotted.is_none()
            && let Some(allotted) = self.judge.allot(elapsed_ns)
        {
            self.allotted(&allotted);
            self.due.push_back(Action::Store(vec![Line::Allotted(allotted)]));
        }
        self.enter(self.position.round.saturating_add(1));
        if self.judge.complete(self.rounds, elapsed_ns, self.clock.round_ns(self.planned_ns())) {
            self.end(Ending::Complete);
        }
    }

    /// Whether what failed will not be tried again. Somebody who asked for the end may have made
    /// it fail.
    fn is_given_up(&self, stop: bool) -> bool {
        match &self.failed {
            None | Some((_, Fate::RunOver)) => false,
            Some((_, Fate::Again)) => !stop && self.position.is_tried_enough(),
            Some((_, Fate::CellOver | Fate::UdpOver)) => true,
        }
    }

    /// What failed at every attempt, or would, is left out from now on; the rest of the run goes
    /// on. If there is no rest, the run has failed, and may be tried again with these cells. Of a
    /// block that could be measured and was spoiled no more is to be had, and the next one follows.
    fn give_up(&mut self, present: usize) {
        let Some((error, fate)) = self.failed.take() else { return };
        if fate == Fate::Again && self.position.is_spent() {
            return self.position.next_block();
        }
        let cells = match fate {
            Fate::UdpOver => self.over_udp(present),
            Fate::Again | Fate::CellOver | Fate::RunOver => vec![present],
        };
        if self.left_out.len() + cells.len() >= self.plan.cells.len() {
            self.failed = Some((error, Fate::RunOver));
            return;
        }
        let why = error.to_string();
        let gone = |&cell: &usize| {
            let cell = self.plan.cells[cell].id.clone();
            Line::GaveUp(GaveUp { cell, why: why.clone() })
        };
        self.due.push_back(Action::Store(cells.iter().map(gone).collect()));
        cells.into_iter().for_each(|cell| self.leave_out(cell));
    }

    /// The present cell and those of the rest of the run that send datagrams.
    fn over_udp(&self, present: usize) -> Vec<usize> {
        let is_udp = |cell: usize| self.plan.cells[cell].workload.transport() == Transport::Udp;
        let gone = |&cell: &usize| cell == present || is_udp(cell);
        let all = 0..self.plan.cells.len();
        all.filter(gone).filter(|cell| !self.left_out.contains(cell)).collect()
    }

    fn leave_out(&mut self, cell: usize) {
        self.judge.give_up(cell);
        if !self.left_out.contains(&cell) {
            self.left_out.push(cell);
        }
    }

    fn end_by_error(&mut self) {
        let Some((error, _)) = &self.failed else { return };
        self.end(Ending::Failed { error: error.to_string() });
    }

    fn end(&mut self, ending: Ending) {
        self.due.push_back(Action::Store(vec![Line::End(ending.clone())]));
        self.ending = Some(ending);
    }
}

impl Labs {
    /// Takes note of the lab of an attempt that the journal holds.
    fn seen(&mut self, drawn: Option<&Drawn>) {
        self.last = self.last.max(drawn.and_then(|drawn| drawn.lab).unwrap_or(0));
    }
}

/// How long a block took, whose trials may have been made in turns.
fn took_ns(a: &TrialRecord, b: &TrialRecord) -> u64 {
    let end_ns = |trial: &TrialRecord| trial.started_ns.saturating_add(trial.duration_ns);
    end_ns(a).max(end_ns(b)).saturating_sub(a.started_ns.min(b.started_ns))
}

fn failed_attempt(attempt: &Attempt<'_>, lab: Option<u32>, error: &impl Trouble) -> FailedAttempt {
    let Attempt { number, attempt: tried, block, cell } = *attempt;
    FailedAttempt {
        block: number,
        cell: cell.id.clone(),
        kind: block.kind,
        round: block.round,
        attempt: tried,
        family: error.family(),
        error: error.word().to_owned(),
        why: error.to_string(),
        drawn: attempt.drawn(lab),
    }
}
