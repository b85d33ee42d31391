//! What a machine does while nothing is measured: taken off what it does in trials.

use super::evidence::Machine;
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

/// Whether a trial of `workload` has a value that needs the idle machine.
pub fn needs_idle(workload: &Workload) -> bool {
    workload.metrics().contains(&Metric::Cpu)
}

/// Watches the machine for [`IDLE_NS`]; to be called while nothing is measured.
pub fn idle() -> Idle {
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
