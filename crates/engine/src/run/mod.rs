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
use v6gap_core::family::Family;
use v6gap_core::observation::{Beside, Lateness};
use v6gap_core::record::{Ending, Line};
use v6gap_core::run::{Action, Attempt, Event, Fate, Machine};
use v6gap_sys::clock;

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

/// Measures until the plan's stopping rule is met, `stop` is set or something fails. The machine
/// knows what the journal already holds.
///
/// # Errors
/// If the server is lost, lines cannot be stored, a task cannot be done as it stands, or the last
/// cell fails again and again. What was stored stays valid.
pub fn run(
    mut machine: Machine<'_, RunError>,
    connection: &mut Connection,
    context: &ClientContext,
    hooks: &mut dyn Hooks,
    stop: &AtomicBool,
) -> Result<Ending, RunError> {
    let plan = machine.plan();
    let mut bench = Bench::new(connection, context, plan.design.settle_ns);
    bench = bench.in_world(plan.world.as_ref());
    loop {
        match machine.next(clock::now_ns(), stop.load(Ordering::Relaxed)) {
            Action::Measure(attempt) => {
                // Of the link only what happens during the block counts.
                hooks.lateness();
                match bench.attempt(plan, &attempt, hooks) {
                    Ok(observed) => machine.measured(observed, hooks.lateness()),
                    Err(error) => {
                        let fate = fate(&error);
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
            Action::Settle(cell) => bench.settle(&cell.workload),
            Action::End(ending) => return machine.into_error().map_or(Ok(ending), Err),
        }
    }
}

/// What follows from an error.
fn fate(error: &RunError) -> Fate {
    match error {
        RunError::Lost(_) | RunError::Random(_) | RunError::Store(_) => Fate::RunOver,
        RunError::Trial(error) => match error.kind() {
            Kind::Missing | Kind::Unsuitable => Fate::RunOver,
            Kind::Blocked => Fate::UdpOver,
            _ if error.is_lasting() => Fate::CellOver,
            _ => Fate::Again,
        },
        RunError::Server { lasting: true, .. } => Fate::CellOver,
        RunError::Server { lasting: false, .. } => Fate::Again,
    }
}
