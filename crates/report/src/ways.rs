//! The ways to a host over both families, router by router, as every form shows them.

use v6gap_core::family::PerFamily;
use v6gap_core::ladder::{Answered, Rung};
use v6gap_core::unit::format_span;

/// What [`answer`] gives.
pub(crate) type Answer = Option<(String, Option<u64>)>;

/// Distances of the longer way.
pub(crate) fn distances(hops: &PerFamily<Vec<Rung>>) -> usize {
    hops.v4.len().max(hops.v6.len())
}

/// Who answered at a place of a way, and the shortest time to an answer in ns; nothing beyond its
/// end.
pub(crate) fn answer(way: &[Rung], index: usize) -> Answer {
    let rung = way.get(index)?;
    let who = |answered: &Answered| match &answered.name {
        Some(name) => format!("{name} ({})", answered.address),
        None => answered.address.to_string(),
    };
    let who: Vec<String> = rung.by.iter().map(who).collect();
    let who = if who.is_empty() { "no answer".to_owned() } else { who.join(" ") };
    Some((who, rung.best_ns()))
}

/// What stands at a place of both ways, each by its name: "3: IPv4 192.0.2.1 after 1.2 ms, IPv6 no
/// answer". Nothing is said of a way beyond its end.
pub(crate) fn told(index: usize, ways: [(String, Answer); 2]) -> String {
    let who = |(name, answer): (String, Answer)| {
        Some(match answer? {
            (who, Some(ns)) => format!("{name} {who} after {}", format_span(ns as f64)),
            (who, None) => format!("{name} {who}"),
        })
    };
    let said: Vec<String> = ways.into_iter().filter_map(who).collect();
    format!("{}: {}", index + 1, said.join(", "))
}
