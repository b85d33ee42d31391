//! Gates: conditions that a trial must meet to count (docs/method.md part D).
//!
//! Each gate looks at one kind of evidence in a stored trial and says what it saw. A fatal finding
//! makes the block invalid; any other is a reason for doubt that travels with the value. Gates
//! treat both arms alike: the same event has the same weight over either family, and what is borne
//! is the same for both trials of a block. So, of families that do not differ, what passes does not
//! differ either. Of families that do, evidence and value may have a cause in common, and the
//! result says what the discarded blocks would have changed.

mod family;
mod host;
mod marking;
mod path;
mod traffic;

pub(crate) use host::steal_max;
pub(crate) use traffic::OTHER_TRAFFIC_MAX;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::observation::{Body, EndReport, Far, Measured};
use v6gap_core::plan::Plan;
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::values;
use v6gap_core::workload::{Cell, Visit};

/// The gate of a download whose body has no rate.
pub(crate) const SHORT_BODY: &str = "short-body";

/// The gate of any other value that a trial lacks beside those that it has.
const NO_VALUE: &str = "no-value";

/// The gates that `trial` did not pass, `other` being the other one of its block; empty if all is
/// well.
pub fn judge(
    plan: &Plan,
    cell: &Cell,
    trial: &TrialRecord,
    other: &TrialRecord,
) -> Vec<GateFinding> {
    let mut findings = Vec::new();
    family::judge(cell, trial, &mut findings);
    host::judge(plan, cell, trial, &mut findings);
    host::lateness(plan, cell, [trial, other], &mut findings);
    path::judge(plan, cell, trial, &mut findings);
    marking::judge(cell, trial, &mut findings);
    measured(cell, trial, &mut findings);
    answers(trial, other, &mut findings);
    lost(trial, &mut findings);
    far_end(trial, &mut findings);
    findings
}

/// A trial without a usable value cannot be compared. One that has some is: what it lacks takes
/// nothing from the others, and a family that lets nothing through has no rate but a loss.
fn measured(cell: &Cell, trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    let metrics = cell.workload.metrics();
    let lacking = metrics.iter().filter_map(|&metric| Some((metric, lacks(metric, trial)?)));
    let lacking: Vec<(Metric, String)> = lacking.collect();
    if lacking.len() == metrics.len() {
        return findings.push(fatal("measured", "the trial gave no value"));
    }
    findings.extend(lacking.into_iter().map(|(metric, why)| match body_of(metric, trial) {
        Some(_) => caveat(SHORT_BODY, why),
        None => caveat(NO_VALUE, format!("{}: {why}", metric.noun())),
    }));
}

/// Why `trial` has no usable value of `metric`, if it has none.
fn lacks(metric: Metric, trial: &TrialRecord) -> Option<String> {
    let positive_needed = metric.scale() == Scale::Ratio;
    let usable = |v: &f64| v.is_finite() && (*v > 0.0 || !positive_needed);
    if trial.values.get(&metric).is_some_and(usable) {
        return None;
    }
    if let Some(body) = body_of(metric, trial) {
        return Some(without_rate(body));
    }
    let times = values::times(metric, &trial.ends).filter(|_| metric.is_percentile());
    Some(match times {
        Some(times) => {
            format!("{} exchanges, {} lost, are too few for it", times.with_lost(), times.lost)
        }
        None => "there was nothing to tell it by".to_string(),
    })
}

/// The body that a rate is of.
fn body_of(metric: Metric, trial: &TrialRecord) -> Option<&Body> {
    body(trial).filter(|_| metric == Metric::Throughput)
}

/// Why one of these trials of a block has no usable value of `metric`, and over which family; but
/// not where a body has no rate, which is the site's doing and may be another one's next time.
pub(crate) fn without(metric: Metric, trials: [&TrialRecord; 2]) -> Option<String> {
    let by_site = |trial: &&TrialRecord| trial.findings.iter().any(|f| f.gate == SHORT_BODY);
    if metric == Metric::Throughput && trials.iter().any(by_site) {
        return None;
    }
    let why = |trial: &TrialRecord| {
        Some(format!("in a trial over {} {}", trial.family, lacks(metric, trial)?))
    };
    trials.into_iter().find_map(why)
}

/// How the body of a download came.
fn body(trial: &TrialRecord) -> Option<&Body> {
    match &trial.ends.client.measured {
        Measured::Visited(visited) => visited.body.as_ref(),
        _ => None,
    }
}

/// Why a body has no rate.
fn without_rate(body: &Body) -> String {
    let bytes = body.bytes;
    match (bytes < Visit::BODY_BYTES, body.is_whole) {
        (true, true) => format!("the body has only {bytes} bytes"),
        (true, false) => format!("only {bytes} bytes of the body came in its time"),
        (false, _) => format!("the {bytes} bytes of the body came at once"),
    }
}

/// Bodies of other lengths are other files, whose rates are not those of one thing.
fn answers(trial: &TrialRecord, other: &TrialRecord, findings: &mut Vec<GateFinding>) {
    if let (Some(own), Some(others)) = (body(trial), body(other))
        && own.differs_in_length(others)
    {
        let seen = format!(
            "answers differ in length: {} bytes were read over {}, and {} over {}",
            own.bytes, trial.family, others.bytes, other.family
        );
        findings.push(caveat("answers-differ", seen));
    }
}

/// What never came back is in no mean, so it is said.
fn lost(trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    if let Some((lost, of)) = values::lost(&trial.ends)
        && lost > 0
    {
        findings.push(caveat("lost", format!("{lost} of {of} were lost or failed")));
    }
}

fn fatal(gate: &str, seen: impl Into<String>) -> GateFinding {
    GateFinding { gate: gate.to_string(), fatal: true, seen: seen.into() }
}

fn caveat(gate: &str, seen: impl Into<String>) -> GateFinding {
    GateFinding { gate: gate.to_string(), fatal: false, seen: seen.into() }
}

/// What only the far end could tell is not known, so it is said.
fn far_end(trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    if let Far::NotSeen(why) = &trial.ends.server {
        findings.push(caveat("far-end", format!("what the far end saw is not known: {why}")));
    }
}

/// The ends of a trial that were seen, with the name that messages use.
fn ends(trial: &TrialRecord) -> impl Iterator<Item = (&'static str, &EndReport)> {
    ["the client", "the server"].into_iter().zip(trial.ends.all())
}

/// The ends that were seen with the family that each must have used: the server another than the
/// client where the address that the client sent to is a translator's.
fn families(trial: &TrialRecord) -> impl Iterator<Item = (&'static str, &EndReport, Family)> {
    let sent_to = trial.ends.client.endpoints.map(|endpoints| endpoints.peer.ip());
    let proper = sent_to.filter(|address| Family::of(address) == Some(trial.family));
    let far = proper.and_then(|address| Family::arriving(&address)).unwrap_or(trial.family);
    ends(trial).zip([trial.family, far]).map(|((who, end), family)| (who, end, family))
}

#[cfg(test)]
mod tests;
