//! What a plan takes, worked out from its text alone: a host believes nobody else about it.

use std::collections::BTreeSet;
use v6gap_core::fleet::agent::limits::Asked;
use v6gap_core::plan::estimate::estimate;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::watch::said::Expected;
use v6gap_core::workload::Path;
use v6gap_store::parse_plan;

/// An adaptive run goes on for so many times its time at most, where its rounds are long.
const TIMES_MAX: u64 = 2;

/// What a job takes beside measuring, in ns: to connect, to look at the path, and to analyse.
const AROUND_NS: u64 = 60_000_000_000;

/// Rate of what sends as fast as it can where nothing tells of the path, in bit/s.
const USUAL_BPS: u64 = Path::USUAL.rate_bps as u64;

/// What the plan of this text takes on a usual path.
///
/// # Errors
/// In words, if it is no plan, or none for two hosts of a fleet.
pub fn asked(text: &str) -> Result<Asked, String> {
    asked_at(text, Some(USUAL_BPS))
}

/// As [`asked`], at a host that can send at `fastest_bps`, if that is known.
///
/// # Errors
/// As [`asked`].
pub(crate) fn asked_at(text: &str, fastest_bps: Option<u64>) -> Result<Asked, String> {
    Ok(of(&read(text)?, fastest_bps))
}

/// What the blocks of a plan take where nobody counts, as [`asked_at`]; nothing of what is no plan.
pub(crate) fn expected(text: &str, fastest_bps: Option<u64>) -> Expected {
    let Ok(plan) = read(text) else { return Expected::default() };
    let reckoned = estimate(&plan, path(&plan, fastest_bps.unwrap_or(USUAL_BPS)));
    let ids = plan.cells.iter().map(|cell| cell.id.clone());
    let cells = ids.zip(reckoned.cells.iter().map(|cost| cost.bytes)).collect();
    Expected { bytes: reckoned.total.bytes as u64, cells }
}

fn read(text: &str) -> Result<Plan, String> {
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
    Ok(plan)
}

/// Whether a run of `plan` takes what was asked: one that is continued does what its own plan says,
/// whatever plan comes with the order.
pub(crate) fn takes(plan: &Plan, asked: &Asked, fastest_bps: Option<u64>) -> bool {
    of(plan, fastest_bps) == *asked
}

/// The highest rate that a plan asks for, in bit/s. What waits for answers asks for a rate of 0,
/// what sends as fast as it can for none.
fn rate_bps(plan: &Plan) -> Option<u64> {
    let mut cells = plan.cells.iter();
    cells.try_fold(0, |highest: u64, cell| Some(highest.max(cell.workload.rate_bps_most()?)))
}

/// A path that carries what the plan asks for, or else `fastest_bps`.
fn path(plan: &Plan, fastest_bps: u64) -> Path {
    let rate_bps = rate_bps(plan).map_or(fastest_bps, |rate_bps| rate_bps.max(USUAL_BPS));
    Path { rate_bps: rate_bps as f64, ..Path::USUAL }
}

fn of(plan: &Plan, fastest_bps: Option<u64>) -> Asked {
    // All hosts and the coordinator have to reckon the same time.
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
    let rate_bps = rate_bps(plan);
    // One with a rate needs no other.
    let most_bps = fastest_bps.or(rate_bps);
    let most = most_bps.map(|most_bps| estimate(plan, path(plan, most_bps)).total);
    Asked {
        kinds: kinds.into_iter().collect(),
        rate_bps,
        bytes: most.map(|most| most.bytes as u64),
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
        assert!(!asked.kinds.is_empty() && asked.bytes > Some(0) && asked.time_ns > 0);
        assert_eq!(longest_ns(&asked), asked.time_ns + AROUND_NS);
        let read = |text: &str| parse_plan(text, 7, &mut |_| Ok(())).unwrap().1;
        assert!(takes(&read(text), &asked, Some(USUAL_BPS)));
        let other = "v6gap = 1\nname = \"x\"\n[[measure]]\nmetric = \"throughput\"\n";
        assert!(!takes(&read(other), &asked, Some(USUAL_BPS)));
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

    #[test]
    fn what_sends_as_fast_as_it_can_takes_what_the_host_can_send() {
        let of = |kind: &str, fastest_bps| {
            let text = format!(
                "v6gap = 1\nname = \"x\"\n[design]\npairs = 8\n[[measure]]\nmetric = \"{kind}\"\n"
            );
            asked_at(&text, fastest_bps).unwrap()
        };
        let usual = of("throughput", Some(USUAL_BPS));
        let fast = of("throughput", Some(100 * USUAL_BPS));
        assert_eq!(fast.bytes, usual.bytes.map(|bytes| 100 * bytes));
        assert_eq!(fast.time_ns, usual.time_ns);
        assert_eq!(of("throughput", None).bytes, None);
        // What waits for answers takes as much everywhere.
        let waits = of("rtt", Some(USUAL_BPS));
        assert!(waits.bytes > Some(0));
        assert_eq!((of("rtt", None), of("rtt", Some(100 * USUAL_BPS))), (waits.clone(), waits));
    }

    #[test]
    fn blocks_that_nobody_counts_take_what_was_expected() {
        let text = include_str!("../../../plans/null.toml");
        let expected = expected(text, None);
        assert!(!expected.cells.is_empty() && expected.cells.values().all(|bytes| *bytes > 0.0));
    }
}
