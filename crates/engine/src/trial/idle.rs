//! What a machine does while nothing is measured: taken off what it does in trials.

use super::evidence::Machine;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Busy, EndReport};
use v6gap_core::workload::Workload;
use v6gap_sys::clock;

/// How long the idle machine is watched, in ns: 50 ticks of the kernel's clock for each processor.
/// Both arms of every block have the same figure taken off.
const IDLE_NS: u64 = 500_000_000;

/// The idle machine, or why it is not known.
pub type Idle = Result<Busy, String>;

/// Whether one look serves all sessions of this process.
static ONCE: AtomicBool = AtomicBool::new(false);
static SEEN: OnceLock<Busy> = OnceLock::new();

/// The machine is watched once from now on, for all sessions of this process: they are those of one
/// run of which both ends are here.
pub fn watch_once() {
    ONCE.store(true, Ordering::Relaxed);
}

/// Whether a trial of `workload` has a value that needs the idle machine.
pub fn needs_idle(workload: &Workload) -> bool {
    workload.metrics().contains(&Metric::Cpu)
}

/// Watches the machine for [`IDLE_NS`]; to be called while nothing is measured.
pub fn idle() -> Idle {
    if !ONCE.load(Ordering::Relaxed) {
        return watch();
    }
    match SEEN.get() {
        Some(busy) => Ok(*busy),
        // What could not be seen is looked for again the next time.
        None => watch().map(|busy| *SEEN.get_or_init(|| busy)),
    }
}

fn watch() -> Idle {
    let look = || Machine::look().map_err(|missing| missing.to_string());
    let before = look()?;
    clock::rest(Duration::from_nanos(IDLE_NS));
    Ok(look()?.busy_since(&before))
}

/// The reports of an end with what its idle machine does, if that was watched.
pub fn with_idle(mut reports: Vec<(Arm, EndReport)>, idle: Option<Idle>) -> Vec<(Arm, EndReport)> {
    for (_, report) in &mut reports {
        match (&mut report.machine, &idle) {
            (Some(machine), Some(Ok(busy))) => machine.idle = Some(*busy),
            // A system that does not tell of the machine has said so.
            (Some(_), Some(Err(missing))) => report.unavailable.push(missing.clone()),
            (None, _) | (_, None) => {}
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_watched_once_is_not_watched_again() {
        watch_once();
        let first = idle();
        let started_ns = clock::now_ns();
        assert_eq!(idle(), first);
        assert!(clock::now_ns() - started_ns < IDLE_NS);
    }
}
