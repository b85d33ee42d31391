//! A recording: a stored run that happens again, with the same events at the same times, and no
//! packet. What is said of it is worked out from its trials as it was when they were measured.

use crate::news::{News, Watcher};
use crate::trouble::Trouble;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::plan::Plan;
use v6gap_core::record::{Ending, Line, RunHeader, TrialRecord};
use v6gap_core::run::{Action, Event, Machine};
use v6gap_judge::stopping::Interim;
use v6gap_store::{Journal, Store};
use v6gap_sys::clock;

/// How often is looked whether it shall stop, in ns.
const LOOK_NS: u64 = 50_000_000;

/// Longest pause between two blocks, in ns: a run that was resumed may have rested for days.
const PAUSE_NS_MAX: u64 = 60_000_000_000;

/// What was played.
pub struct Played {
    /// The lines until the end.
    pub lines: Vec<Line>,
    /// Whether it was stopped before they were at an end.
    pub stopped: bool,
}

/// Plays what follows `header` in a journal, `speed` times as fast, to the end or until `stop` is
/// set. With `keep` it is stored there again as it goes, in place of a result of its name.
///
/// # Errors
/// If it cannot be stored.
pub fn replay(
    header: &RunHeader,
    lines: &[Line],
    speed: f64,
    keep: Option<&Store>,
    watch: &mut dyn Watcher,
    stop: &AtomicBool,
) -> Result<Played, Trouble> {
    let journal = keep.map(|store| afresh(header, store)).transpose()?;
    watch.told(&News::Plays);
    watch.told(&News::Begins(header));
    let mut player = Player::new(header, watch, journal, speed);
    let played = player.play(lines, stop);
    player.watch.told(&News::Over);
    Ok(Played { stopped: played? == Ending::Stopped, lines: player.said })
}

/// The journal of the same name, begun again.
fn afresh(header: &RunHeader, store: &Store) -> Result<Journal, Trouble> {
    if store.has(&header.id) {
        store.remove(&header.id)?;
    }
    Ok(store.create(header)?)
}

struct Player<'a> {
    plan: &'a Plan,
    machine: Machine<'a, Infallible>,
    watch: &'a mut dyn Watcher,
    journal: Option<Journal>,
    /// What was played so far.
    said: Vec<Line>,
    speed: f64,
    /// When the last block was over, in ns since the run began.
    now_ns: u64,
}

impl<'a> Player<'a> {
    fn new(
        header: &'a RunHeader,
        watch: &'a mut dyn Watcher,
        journal: Option<Journal>,
        speed: f64,
    ) -> Self {
        let said = vec![Line::Run(Box::new(header.clone()))];
        let (plan, machine) = (&header.plan, Machine::new(header, Box::new(Interim::of(header))));
        Player { plan, machine, watch, journal, said, speed, now_ns: 0 }
    }

    /// What was measured, stored and given up is in the lines; the run says what happens.
    fn play(&mut self, lines: &'a [Line], stop: &AtomicBool) -> Result<Ending, Trouble> {
        let mut rest = lines;
        loop {
            match self.machine.next(self.now_ns, false) {
                Action::Tell(event) => self.watch.told(&News::Run(&event)),
                Action::Store(_) | Action::Settle(_) => {}
                Action::Measure(_) | Action::End(_) => {
                    let length = match rest {
                        [] => return Ok(Ending::Complete),
                        // Before the machine chooses for itself.
                        [_, _, Line::Block(_), Line::Allotted(_), ..] => 4,
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

    fn keep(&mut self, lines: &[Line]) -> Result<(), Trouble> {
        self.said.extend_from_slice(lines);
        Ok(self.journal.as_mut().map_or(Ok(()), |journal| journal.append(lines))?)
    }

    /// A block in its time, with what follows from it, or what was noted between two; false if it
    /// was stopped before its end.
    fn lines(&mut self, lines: &'a [Line], stop: &AtomicBool) -> bool {
        if let [Line::Trial(one), Line::Trial(other), Line::Block(block), ..] = lines {
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
                self.watch.told(&News::Run(&Event::Done { cell, a, b, valid }));
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
