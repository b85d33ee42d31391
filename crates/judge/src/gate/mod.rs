//! Gates: conditions that a trial must meet to count (docs/method.md part D).
//!
//! Each gate looks at one kind of evidence in a stored trial and says what it saw. A fatal finding
//! makes the block invalid; any other is a reason for doubt that travels with the value. Gates
//! never look at the measured value itself, so they cannot favour an outcome.

mod family;
mod host;
mod marking;
mod path;

pub(crate) use host::{STEAL_SHARE_MAX, STEAL_TICKS_S};

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::EndReport;
use v6gap_core::plan::Plan;
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::values;
use v6gap_core::workload::Cell;

/// The gates that `trial` did not pass; empty if all is well.
pub fn judge(plan: &Plan, cell: &Cell, trial: &TrialRecord) -> Vec<GateFinding> {
    let mut findings = Vec::new();
    family::judge(cell, trial, &mut findings);
    host::judge(plan, cell, trial, &mut findings);
    path::judge(plan, cell, trial, &mut findings);
    marking::judge(cell, trial, &mut findings);
    measured(cell, trial, &mut findings);
    lost(trial, &mut findings);
    findings
}

/// A trial without a usable value cannot be compared.
fn measured(cell: &Cell, trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    for metric in cell.workload.metrics() {
        let positive_needed = metric.scale() == v6gap_core::metric::Scale::Ratio;
        let usable = |v: &f64| v.is_finite() && (*v > 0.0 || !positive_needed);
        if !trial.values.get(metric).is_some_and(usable) {
            findings.push(fatal("measured", "the trial gave no value"));
        }
    }
}

/// What never came back is in no mean, so it is said.
fn lost(trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    // What failed is the same for all times of a workload.
    if let Some(times) = values::times(Metric::Connect, &trial.ends)
        && times.lost > 0
    {
        let of = times.count + times.lost;
        findings.push(caveat("lost", format!("{} of {of} were lost or failed", times.lost)));
    }
}

fn fatal(gate: &str, seen: impl Into<String>) -> GateFinding {
    GateFinding { gate: gate.to_string(), fatal: true, seen: seen.into() }
}

fn caveat(gate: &str, seen: impl Into<String>) -> GateFinding {
    GateFinding { gate: gate.to_string(), fatal: false, seen: seen.into() }
}

/// Both ends of a trial with the name that messages use.
fn ends(trial: &TrialRecord) -> [(&'static str, &EndReport); 2] {
    [("the client", &trial.ends.client), ("the server", &trial.ends.server)]
}

/// The same with the family that each must have used: the server another than the client where the
/// address that the client sent to is a translator's.
fn families(trial: &TrialRecord) -> [(&'static str, &EndReport, Family); 2] {
    let sent_to = trial.ends.client.endpoints.map(|endpoints| endpoints.peer.ip());
    let proper = sent_to.filter(|address| Family::of(address) == Some(trial.family));
    let far = proper.and_then(|address| Family::arriving(&address)).unwrap_or(trial.family);
    let [(client, near_end), (server, far_end)] = ends(trial);
    [(client, near_end, trial.family), (server, far_end, far)]
}

#[cfg(test)]
mod tests;
