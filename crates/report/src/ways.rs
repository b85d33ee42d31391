//! The ways to a host over both families, router by router, as every form shows them.

use v6gap_core::family::PerFamily;
use v6gap_core::ladder::{Answered, Rung};

/// Distances of the longer way.
pub(crate) fn distances(hops: &PerFamily<Vec<Rung>>) -> usize {
    hops.v4.len().max(hops.v6.len())
}

/// Who answered at a place of a way, and the shortest time to an answer in ns; nothing beyond its
/// end.
pub(crate) fn answer(way: &[Rung], index: usize) -> Option<(String, Option<u64>)> {
    let rung = way.get(index)?;
    let who = |answered: &Answered| match &answered.name {
        Some(name) => format!("{name} ({})", answered.address),
        None => answered.address.to_string(),
    };
    let who: Vec<String> = rung.by.iter().map(who).collect();
    let who = if who.is_empty() { "no answer".to_owned() } else { who.join(" ") };
    Some((who, rung.best_ns()))
}
