//! For how long a reflector held the packets of round trips, by its own stamps. It is no part of
//! them (RFC 8762), while the server's turn is a part of exchanges between two ends of this
//! program: so both are told, what was left out and what an exchange took with it.

use super::collect::Collected;
use super::resources::gather;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::observation::Held;
use v6gap_stats::summary;

/// What was held over one family, by medians over the trials of valid blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// Identifier of the cell.
    pub cell: String,
    /// Over which family.
    pub family: Family,
    /// The median of what was held, in ns.
    pub held_ns: f64,
    /// Round trips with it, in ns.
    pub whole_ns: f64,
}

/// What was told of each cell over each family, in the order of the plan.
pub(super) fn told(found: &Collected<'_>) -> Vec<Told> {
    let cell = |place: usize| found.run.plan.cells[place].id.to_string();
    let entry = |((place, family), all): ((usize, Family), Vec<Held>)| {
        let median =
            |of: fn(&Held) -> f64| summary::median(&all.iter().map(of).collect::<Vec<_>>());
        let (held_ns, whole_ns) = (median(|held| held.median_ns), median(|held| held.whole_ns));
        Told { cell: cell(place), family, held_ns, whole_ns }
    };
    gather(found, |trial| trial.ends.client.held).into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, plan, run};
    use crate::analysis::{Check, CheckState, analyse};
    use alloc::vec::Vec;
    use v6gap_core::arm::PerArm;
    use v6gap_core::family::Family;
    use v6gap_core::observation::Held;
    use v6gap_core::record::Line;

    /// The notes of a run of which one cell's reflector told this.
    fn said(held: impl Fn(Family) -> Option<Held>) -> Vec<Check> {
        let plan = plan(PerArm::FAMILIES, 7);
        let of = plan.cells[0].id.clone();
        let mut lines = run(&plan, 8, &EVEN);
        for line in &mut lines {
            if let Line::Trial(trial) = line
                && trial.cell == of
            {
                trial.ends.client.held = held(trial.family);
            }
        }
        let checks = analyse(&lines).unwrap().checks.into_iter();
        checks.filter(|check| check.id == "held").collect()
    }

    #[test]
    fn what_was_held_is_said_of_each_family() {
        assert!(said(|_| None).is_empty());
        let found = said(|family| {
            let (median_ns, whole_ns) = match family {
                Family::V4 => (75_240.0, 4_245_830.0),
                Family::V6 => (81_960.0, 4_251_100.0),
            };
            Some(Held { median_ns, whole_ns, ..Held::default() })
        });
        assert_eq!(found.len(), 2);
        let parts = [["75.2 µs", "4245.8 µs", "over IPv4"], ["82.0 µs", "4251.1 µs", "over IPv6"]];
        for (check, parts) in found.iter().zip(parts) {
            assert_eq!(check.state, CheckState::Note);
            assert!(parts.iter().all(|part| check.text.contains(part)), "{check:?}");
        }
    }
}
