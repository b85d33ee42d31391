//! What a server agrees to do: every field of a task is checked against its limits before anything
//! is started, because a task comes from the network.

use crate::task::Task;
pub use crate::workload::Objection;
use crate::workload::{Limits, Marking, Workload, range};

/// Longest time that a task may take, in ns, by its own numbers or else by the limits.
pub fn bound_ns(workload: &Workload, limits: &Limits) -> u64 {
    workload.longest_ns().unwrap_or(limits.task_ns)
}

/// Time in ns from the beginning of `workload` before which a server does not begin the next task,
/// so that its exchanges keep to the rate on average; 0 without a limit.
pub fn rest_ns(workload: &Workload, limits: &Limits) -> u64 {
    let Some(bps) = limits.rate_bps else { return 0 };
    let bits = u128::from(workload.exchanged_bytes()) * 8;
    u64::try_from(bits * 1_000_000_000 / u128::from(bps.max(1))).unwrap_or(u64::MAX)
}

/// Checks every field of a task: whether it can be done at all, and whether it is within `limits`.
///
/// # Errors
/// The first objection.
pub fn check(task: &Task, limits: &Limits) -> Result<(), Objection> {
    task.check()?;
    check_allowed(&task.workload, limits)?;
    range("duration in ns", task.workload.longest_ns().unwrap_or(0), 0..=limits.task_ns)?;
    task.workload.check_limits(limits)
}

/// What an operator may deny to all: it costs the server, or others on the way.
fn check_allowed(workload: &Workload, limits: &Limits) -> Result<(), Objection> {
    if !limits.spin && workload.wait().polls() {
        return Err(Objection::Denied {
            what: "waiting without sleep (\"spin\", \"yield\") to clients without a key",
        });
    }
    if limits.marking {
        return Ok(());
    }
    let Marking { traffic_class, hop_limit, flow_label, dont_fragment: _ } = workload.marking();
    if traffic_class.is_some() || hop_limit.is_some() || flow_label.is_some() {
        return Err(Objection::Denied { what: "marks of packets (class, hop limit, flow label)" });
    }
    if workload.settings().is_some_and(|settings| settings.congestion.is_some()) {
        return Err(Objection::Denied { what: "the choice of a congestion control" });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
