//! What a plan takes, worked out from its text alone: a host believes nobody else about it.

use std::collections::BTreeSet;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::plan::estimate::estimate;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::workload::Path;
use v6gap_store::parse_plan;

/// An adaptive run goes on for so many times its time at most, where its rounds are long.
const TIMES_MAX: u64 = 2;

/// What a job takes beside measuring, in ns: to connect, to look at the path, and to analyse.
const AROUND_NS: u64 = 60_000_000_000;

/// What the plan of this text takes.
///
/// # Errors
/// In words, if it is no plan, or none for two hosts of a fleet.
pub fn asked(text: &str) -> Result<Asked, String> {
    let read = parse_plan(text, 0, &mut |_| Ok(()));
    let (_, plan) = read.map_err(|problems| {
        let first =
            problems.first().map(|problem| format!("line {}: {}", problem.line, problem.what));
        first.unwrap_or_else(|| "it cannot be read".to_owned())
    })?;
    if plan.world.is_some() {
        return Err("it is for a lab, not for two hosts".to_owned());
    }
    if plan.cells.iter().any(|cell| cell.workload.is_of_strangers()) {
        return Err("it visits services, not a host of the fleet".to_owned());
    }
    Ok(of(&plan))
}

/// Whether a run of `plan` takes what was asked: one that is continued does what its own plan says,
/// whatever plan comes with the order.
pub(crate) fn takes(plan: &Plan, asked: &Asked) -> bool {
    of(plan) == *asked
}

fn of(plan: &Plan) -> Asked {
    let total = estimate(plan, Path::USUAL).total;
    let time_ns = match plan.design.stop {
        Stop::Adaptive { time_ns_max, .. } => time_ns_max,
        Stop::Pairs { .. } => total.time_ns as u64,
    };
    let kinds: BTreeSet<String> = plan
        .cells
        .iter()
        .filter_map(|cell| cell.workload.metrics().first())
        .map(|metric| metric.name().to_owned())
        .collect();
    Asked {
        kinds: kinds.into_iter().collect(),
        // What waits for answers asks for a rate of 0, what sends as fast as it can for none.
        rate_bps: plan
            .cells
            .iter()
            .try_fold(0, |highest: u64, cell| Some(highest.max(cell.workload.rate_bps_most()?))),
        bytes: total.bytes as u64,
        time_ns: time_ns.saturating_mul(TIMES_MAX),
    }
}

/// The longest time of a job with such a plan, in ns: whatever still runs then is killed.
pub fn longest_ns(asked: &Asked) -> u64 {
    asked.time_ns.saturating_add(AROUND_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_says_what_it_takes() {
        let text = include_str!("../../../plans/null.toml");
        let asked = asked(text).unwrap();
        assert!(!asked.kinds.is_empty() && asked.bytes > 0 && asked.time_ns > 0);
        assert_eq!(longest_ns(&asked), asked.time_ns + AROUND_NS);
        let read = |text: &str| parse_plan(text, 7, &mut |_| Ok(())).unwrap().1;
        assert!(takes(&read(text), &asked));
        let other = "v6gap = 1\nname = \"x\"\n[[measure]]\nmetric = \"throughput\"\n";
        assert!(!takes(&read(other), &asked));
    }

    #[test]
    fn what_is_no_plan_for_two_hosts_is_refused_in_words() {
        assert!(asked("v6gap = ").unwrap_err().starts_with("line 1"));
        let lab = include_str!("../../../plans/soorty-tcp.toml");
        assert!(asked(lab).is_err());
    }

    #[test]
    fn what_sends_as_fast_as_it_can_has_no_rate_and_what_waits_asks_for_none() {
        let plan = |kind: &str| {
            let text = format!("v6gap = 1\nname = \"x\"\n[[measure]]\nmetric = \"{kind}\"\n");
            asked(&text).unwrap().rate_bps
        };
        assert_eq!((plan("rtt"), plan("throughput")), (Some(0), None));
    }
}
