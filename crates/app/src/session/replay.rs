//! A recording: a stored run that happens again, with the same events at the same times, and no
//! packet. What is said of it is worked out from its trials as it was when they were measured.

use super::conclude;
use super::measure::{interruptible, stop_at_end_of_input};
use super::progress::Progress as View;
use crate::args::ResultArgs;
use crate::failure::{Failure, Outcome};
use crate::settings::Context;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::plan::Plan;
use v6gap_core::record::{BlockRecord, Ending, Line, RunHeader, TrialRecord};
use v6gap_core::schedule::{self, Block};
use v6gap_core::stopping::Progress;
use v6gap_engine::run::Event;
use v6gap_store::Journal;
use v6gap_sys::clock;

/// How often is looked whether it shall stop, in ns.
const LOOK_NS: u64 = 50_000_000;

/// Longest pause between two blocks, in ns: a run that was resumed may have rested for days.
const PAUSE_NS_MAX: u64 = 60_000_000_000;

/// How a recording is played.
#[derive(Debug, Clone, Copy)]
pub struct Playing {
    /// How many times as fast.
    pub speed: f64,
    /// Whether it is stored again as it goes, in place of a result of its name.
    pub keep: bool,
}

/// Plays `lines`, the header first, to their end or until it is stopped.
///
/// # Errors
/// If they do not begin with the facts of a run, or cannot be stored.
pub fn replay(
    lines: &[Line],
    playing: Playing,
    result: &ResultArgs,
    context: &Context,
) -> Result<Outcome, Failure> {
    let Some((Line::Run(header), rest)) = lines.split_first() else {
        return Err(Failure::unexpected("it does not begin with the facts of a run"));
    };
    let stop = interruptible()?;
    if result.stop_at_eof {
        stop_at_end_of_input(&stop);
    }
    let journal = playing.keep.then(|| afresh(header, context)).transpose()?;
    let mut view = View::new(result, context);
    view.say("a recording: nothing is measured");
    view.begin(header, &stop);
    let mut player = Player::new(header, view, journal, playing.speed);
    let played = player.play(rest, &stop);
    player.view.end();
    let stopped = played? == Ending::Stopped;
    let said = player.said;
    drop(player.journal);
    // Without a place of its own its report would lie beside another result.
    let no_report = result.no_report || (!playing.keep && result.output.is_none());
    let result = ResultArgs { no_report, ..result.clone() };
    let outcome = conclude::say(&said, None, &result, context)?;
    Ok(if stopped { Outcome::Interrupted } else { outcome })
}

/// The journal of the same name, begun again.
fn afresh(header: &RunHeader, context: &Context) -> Result<Journal, Failure> {
    if context.store.list()?.iter().any(|entry| entry.header.id == header.id) {
        context.store.remove(&header.id)?;
    }
    Ok(context.store.create(header)?)
}

struct Player<'a> {
    plan: &'a Plan,
    /// Cells that were not measured, or not any more.
    left_out: Vec<usize>,
    progress: Progress,
    view: View,
    journal: Option<Journal>,
    /// What was played so far.
    said: Vec<Line>,
    speed: f64,
    /// When the last block was over, in ns since the run began.
    now_ns: u64,
    /// Round, turn and number of the last block.
    last: Option<(u32, usize, u32)>,
}

impl<'a> Player<'a> {
    fn new(header: &'a RunHeader, view: View, journal: Option<Journal>, speed: f64) -> Self {
        let plan = &header.plan;
        let refused = |&cell: &usize| header.refused.contains_key(&plan.cells[cell].id);
        let left_out: Vec<usize> = (0..plan.cells.len()).filter(refused).collect();
        let progress = Progress::new(plan, &left_out);
        let said = vec![Line::Run(Box::new(header.clone()))];
        Player { plan, left_out, progress, view, journal, said, speed, now_ns: 0, last: None }
    }

    fn play(&mut self, lines: &[Line], stop: &AtomicBool) -> Result<Ending, Failure> {
        let mut rest = lines;
        loop {
            let length = match rest {
                [Line::Trial(one), Line::Trial(other), Line::Block(block), more @ ..] => {
                    let (a, b) = if one.arm == Arm::A { (one, other) } else { (other, one) };
                    if !self.block(a, b, block, stop) {
                        self.keep(&[Line::End(Ending::Stopped)])?;
                        return Ok(Ending::Stopped);
                    }
                    if self.ends_round(a.round, more) {
                        self.round();
                    }
                    3
                }
                [Line::GaveUp(gone), ..] => {
                    let cell = self.plan.cells.iter().position(|cell| cell.id == gone.cell);
                    if let Some(cell) = cell {
                        self.progress.give_up(cell);
                        self.left_out.push(cell);
                    }
                    1
                }
                [_, ..] => 1,
                [] => return Ok(Ending::Complete),
            };
            let (played, more) = rest.split_at(length);
            self.keep(played)?;
            rest = more;
        }
    }

    fn keep(&mut self, lines: &[Line]) -> Result<(), Failure> {
        self.said.extend_from_slice(lines);
        Ok(self.journal.as_mut().map_or(Ok(()), |journal| journal.append(lines))?)
    }

    /// A block, in its time; false if it was stopped before its end.
    fn block(
        &mut self,
        a: &TrialRecord,
        b: &TrialRecord,
        block: &BlockRecord,
        stop: &AtomicBool,
    ) -> bool {
        let Some((index, cell)) = self.plan.cell(&a.cell) else { return true };
        let known = self.last.filter(|&(round, ..)| round == a.round);
        let turn = match known {
            // Another attempt at the same block.
            Some((_, turn, number)) if number == a.block => turn,
            Some((_, turn, _)) => turn + 1,
            None => 1,
        };
        let again = known.is_some_and(|(.., number)| number == a.block);
        self.last = Some((a.round, turn, a.block));
        if !again {
            let all = schedule::round(self.plan, a.round);
            let turns = all.iter().filter(|block| !self.left_out.contains(&block.cell)).count();
            let block =
                Block { round: a.round, cell: index, kind: a.kind, order: a.order, seed: 0 };
            let (round, turn) = (a.round, (turn, turns));
            self.view.event(&Event::Block { round, cell, turn, block: &block });
        }
        let end = |trial: &TrialRecord| trial.started_ns.saturating_add(trial.duration_ns);
        let end_ns = end(a).max(end(b));
        let took_ns = end_ns.saturating_sub(self.now_ns).min(PAUSE_NS_MAX);
        self.now_ns = end_ns;
        if !rest((took_ns as f64 / self.speed) as u64, stop) {
            return false;
        }
        self.view.event(&Event::Done { cell, a, b, valid: block.valid });
        if block.valid {
            self.progress.add(a, b);
        }
        true
    }

    /// Whether the round of comparing is over before what follows.
    fn ends_round(&self, round: u32, follows: &[Line]) -> bool {
        let next = follows.iter().find_map(|line| match line {
            Line::Trial(trial) if trial.round > 0 => Some(trial.round != round),
            Line::End(ending) => Some(*ending == Ending::Complete),
            _ => None,
        });
        round > 0 && next.unwrap_or(false)
    }

    fn round(&mut self) {
        self.progress.round_done();
        let so_far = self.progress.so_far();
        let (rounds, elapsed_ns) = (self.progress.rounds(), self.now_ns);
        self.view.event(&Event::Round { rounds, elapsed_ns, so_far: &so_far });
    }
}

/// Rests so long; false if it was stopped meanwhile.
fn rest(time_ns: u64, stop: &AtomicBool) -> bool {
    let until_ns = clock::now_ns().saturating_add(time_ns);
    while !stop.load(Ordering::Relaxed) {
        let left_ns = until_ns.saturating_sub(clock::now_ns());
        if left_ns == 0 {
            return true;
        }
        clock::rest(Duration::from_nanos(left_ns.min(LOOK_NS)));
    }
    false
}
