//! A recording: a stored run that happens again, with the same events at the same times, and no
//! packet. What is said of it is worked out from its trials as it was when they were measured.

use super::conclude;
use super::measure::{interruptible, stop_at_end_of_input};
use super::progress::Progress as View;
use crate::args::ResultArgs;
use crate::failure::{Failure, Outcome};
use crate::settings::Context;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::plan::Plan;
use v6gap_core::record::{Ending, Line, RunHeader, TrialRecord};
use v6gap_core::run::{Action, Event, Machine};
use v6gap_judge::stopping::Interim;
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
    let mut view = View::new(result, &stop, context);
    view.say("a recording: nothing is measured");
    view.begin(header);
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
    machine: Machine<'a, Infallible>,
    view: View,
    journal: Option<Journal>,
    /// What was played so far.
    said: Vec<Line>,
    speed: f64,
    /// When the last block was over, in ns since the run began.
    now_ns: u64,
}

impl<'a> Player<'a> {
    fn new(header: &'a RunHeader, view: View, journal: Option<Journal>, speed: f64) -> Self {
        let said = vec![Line::Run(Box::new(header.clone()))];
        let (plan, machine) = (&header.plan, Machine::new(header, Box::new(Interim::of(header))));
        Player { plan, machine, view, journal, said, speed, now_ns: 0 }
    }

    /// What was measured, stored and given up is in the lines; the run says what happens.
    fn play(&mut self, lines: &'a [Line], stop: &AtomicBool) -> Result<Ending, Failure> {
        let mut rest = lines;
        loop {
            match self.machine.next(self.now_ns, false) {
                Action::Tell(event) => self.view.event(&event),
                Action::Store(_) | Action::Settle(_) => {}
                Action::Measure(_) | Action::End(_) => {
                    let length = match rest {
                        [] => return Ok(Ending::Complete),
                        [Line::Trial(_), Line::Trial(_), Line::Block(_), ..] => 3,
                        [_, ..] => 1,
                    };
                    let (lines, more) = rest.split_at(length);
                    if !self.lines(lines, stop) {
                        self.keep(&[Line::End(Ending::Stopped)])?;
                        return Ok(Ending::Stopped);
                    }
                    self.keep(lines)?;
                    rest = more;
                }
            }
        }
    }

    fn keep(&mut self, lines: &[Line]) -> Result<(), Failure> {
        self.said.extend_from_slice(lines);
        Ok(self.journal.as_mut().map_or(Ok(()), |journal| journal.append(lines))?)
    }

    /// A block in its time, or what was noted between two; false if it was stopped before its end.
    fn lines(&mut self, lines: &'a [Line], stop: &AtomicBool) -> bool {
        if let [Line::Trial(one), Line::Trial(other), Line::Block(block)] = lines {
            let end = |trial: &TrialRecord| trial.started_ns.saturating_add(trial.duration_ns);
            let end_ns = end(one).max(end(other));
            let took_ns = end_ns.saturating_sub(self.now_ns).min(PAUSE_NS_MAX);
            self.now_ns = end_ns;
            if !rest((took_ns as f64 / self.speed) as u64, stop) {
                return false;
            }
            if let Some((_, cell)) = self.plan.cell(&one.cell) {
                let (a, b) = if one.arm == Arm::A { (one, other) } else { (other, one) };
                let (a, b, valid) = (a.clone(), b.clone(), block.valid);
                self.view.event(&Event::Done { cell, a, b, valid });
            }
        }
        lines.iter().for_each(|line| self.machine.recorded(line));
        true
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
