//! A run between two hosts: the driver of [`v6gap_core::run`], which measures over a session.

mod block;
mod drawn;

pub use block::{RunError, measure_block};

use crate::control::Connection;
use crate::trial::Kind;
use crate::trial::client::ClientContext;
use block::Bench;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::arm::PerArm;
use v6gap_core::family::Family;
use v6gap_core::observation::{Beside, Lateness};
use v6gap_core::plan::Plan;
use v6gap_core::record::{Ending, Line};
use v6gap_core::run::{Action, Attempt, Event, Fate, Machine, Observed};
use v6gap_core::schedule;
use v6gap_core::workload::Workload;
use v6gap_sys::clock;

/// In so many parts, each in a lab of its own where the run makes them, the null blocks before the
/// first comparison are measured.
const NULL_PARTS: u32 = 4;

/// The rest before the first attempt after one that failed.
const AGAIN: Duration = Duration::from_millis(100);

/// What a run needs from outside.
pub trait Hooks {
    /// Stores lines so that they survive a crash. Called once for each block.
    ///
    /// # Errors
    /// If they are not safe; the run ends then.
    fn store(&mut self, lines: &[Line]) -> io::Result<()>;

    /// Told of everything that happens, always between trials.
    fn event(&mut self, event: &Event<'_>);

    /// How late the lab's user-space link was since this was last asked; `None` without one.
    fn lateness(&mut self) -> Option<Lateness>;

    /// Told before the first packet of a trial of this family, or of both that are measured in
    /// turns.
    fn before(&mut self, _attempt: &Attempt<'_>, _family: Option<Family>) {}

    /// What others saw of that trial. Asked after its last packet, even if it failed.
    fn beside(&mut self) -> Option<Beside> {
        None
    }
}

/// Who measures the attempts of a run.
pub trait Performer {
    /// Measures both arms of a block.
    ///
    /// # Errors
    /// Why there is no value.
    fn attempt(
        &mut self,
        plan: &Plan,
        attempt: &Attempt<'_>,
        hooks: &mut dyn Hooks,
    ) -> Result<PerArm<Observed>, RunError>;

    /// Lets packets of a trial arrive that are still under way.
    fn settle(&mut self, workload: &Workload);
}

/// How far [`run_round`] came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// All blocks of a round, or of a part of the null blocks before the first, are measured, and
    /// others follow.
    RoundOver,
    /// The run is over.
    Over(Ending),
}

/// Measures until the plan's stopping rule is met, `stop` is set or something fails. The machine
/// knows what the journal already holds.
///
/// # Errors
/// If the server is lost, lines cannot be stored, a task cannot be done as it stands, or the last
/// cell fails again and again. What was stored stays valid.
pub fn run(
    machine: Machine<'_, RunError>,
    connection: &mut Connection,
    context: &ClientContext,
    hooks: &mut dyn Hooks,
    stop: &AtomicBool,
) -> Result<Ending, RunError> {
    let mut bench = bench(machine.plan(), connection, context);
    run_by(machine, &mut bench, hooks, stop)
}

/// As [`run`], by anybody who measures.
///
/// # Errors
/// As of [`run`].
pub fn run_by(
    mut machine: Machine<'_, RunError>,
    performer: &mut dyn Performer,
    hooks: &mut dyn Hooks,
    stop: &AtomicBool,
) -> Result<Ending, RunError> {
    loop {
        if let Course::Over(ending) = measure(&mut machine, performer, hooks, stop)? {
            return Ok(ending);
        }
    }
}

/// As [`run`], to the end of the round that the machine is in, or of its part of the null blocks.
/// Another call goes on where this one ended, over another connection if need be.
///
/// # Errors
/// As of [`run`]; the run is over then.
pub fn run_round(
    machine: &mut Machine<'_, RunError>,
    connection: &mut Connection,
    context: &ClientContext,
    hooks: &mut dyn Hooks,
    stop: &AtomicBool,
) -> Result<Course, RunError> {
    let mut bench = bench(machine.plan(), connection, context);
    measure(machine, &mut bench, hooks, stop)
}

fn bench<'a>(plan: &Plan, connection: &'a mut Connection, context: &'a ClientContext) -> Bench<'a> {
    Bench::new(connection, context, plan.design.settle_ns).in_world(plan.world.as_ref())
}

fn measure(
    machine: &mut Machine<'_, RunError>,
    performer: &mut dyn Performer,
    hooks: &mut dyn Hooks,
    stop: &AtomicBool,
) -> Result<Course, RunError> {
    let plan = machine.plan();
    let (mut part, mut again) = (None, false);
    loop {
        match machine.next(clock::now_ns(), stop.load(Ordering::Relaxed)) {
            Action::Measure(attempt) => {
                let of = part_of(plan, &attempt);
                // The machine asks for it again.
                if *part.get_or_insert(of) != of {
                    return Ok(Course::RoundOver);
                }
                // Of the link only what happens during the block counts.
                hooks.lateness();
                if again {
                    pause(attempt.attempt);
                }
                again = false;
                match performer.attempt(plan, &attempt, hooks) {
                    Ok(observed) => machine.measured(observed, hooks.lateness()),
                    Err(error) => {
                        let fate = fate(&error);
                        again = fate == Fate::Again;
                        machine.failed(error, fate);
                    }
                }
            }
            Action::Store(lines) => {
                if let Err(error) = hooks.store(&lines) {
                    machine.failed(RunError::Store(error), Fate::RunOver);
                }
            }
            Action::Tell(event) => hooks.event(&event),
            Action::Settle(cell) => performer.settle(&cell.workload),
            Action::End(ending) => {
                return machine.take_error().map_or(Ok(Course::Over(ending)), Err);
            }
        }
    }
}

/// The round of an attempt, and which part of the null blocks before the first it is in.
fn part_of(plan: &Plan, attempt: &Attempt<'_>) -> (u32, u32) {
    if attempt.block.round > 0 {
        return (attempt.block.round, 0);
    }
    let all = schedule::round(plan, 0).len().max(1);
    (0, attempt.number.saturating_mul(NULL_PARTS) / u32::try_from(all).unwrap_or(u32::MAX))
}

/// Rests before an attempt after one that failed, the longer the more often its block was tried:
/// what is over in a moment, as a route that changes, must not end a cell.
fn pause(tried: u32) {
    clock::rest(AGAIN.saturating_mul(1 << tried.saturating_sub(1).min(3)));
}

/// What follows from an error.
fn fate(error: &RunError) -> Fate {
    match error {
        RunError::Lost(_) | RunError::Declined(_) => Fate::RunOver,
        RunError::Random(_) | RunError::Store(_) => Fate::RunOver,
        RunError::Trial(error) => match error.kind() {
            Kind::Missing | Kind::Unsuitable => Fate::RunOver,
            Kind::Blocked => Fate::UdpOver,
            _ if error.is_lasting() => Fate::CellOver,
            _ => Fate::Again,
        },
        RunError::Server(failure) if failure.lasting => Fate::CellOver,
        RunError::Server(_) => Fate::Again,
    }
}
