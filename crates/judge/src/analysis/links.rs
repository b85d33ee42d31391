//! Whether both families leave by the same interface: by two of them two links are compared.

use super::collect::Collected;
use super::{Check, CheckState};
use alloc::format;
use alloc::string::ToString;
use v6gap_core::family::Family;
use v6gap_core::host::names;

/// What fails a run whose families leave by different interfaces, or a note where the plan allows
/// it. In a lab the world says which links there are, and a null run has one family.
pub(super) fn check(found: &Collected<'_>) -> Option<Check> {
    let plan = &found.run.plan;
    if plan.world.is_some() || plan.design.arms.is_null() {
        return None;
    }
    let facts = &found.run.hosts.client.facts;
    let [v4, v6] = Family::BOTH.map(|family| facts.get(names::way_out(family)));
    let (v4, v6) = v4.zip(v6).filter(|(v4, v6)| v4 != v6)?;
    let differ = format!("IPv4 and IPv6 took different interfaces ({v4}, {v6})");
    let id = "interfaces".to_string();
    Some(match plan.design.different_links {
        true => Check { id, state: CheckState::Note, text: differ + ", as was allowed" },
        false => {
            let text = format!(
                "{differ}, so two links are compared, not two protocols: --bind chooses addresses \
                 of one interface, --allow-different-links compares them all the same"
            );
            Check { id, state: CheckState::Failed, text }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, plan, run};
    use super::*;
    use crate::analysis::analyse;
    use v6gap_core::arm::PerArm;
    use v6gap_core::record::Line;

    /// The check of a run between two hosts that leaves by these interfaces.
    fn over(v4: &str, v6: &str, allowed: bool) -> Option<Check> {
        let mut plan = plan(PerArm::FAMILIES, 3);
        plan.parts_mut().world = None;
        plan.parts_mut().design.different_links = allowed;
        let mut lines = run(&plan, 8, &EVEN);
        if let Some(Line::Run(header)) = lines.first_mut() {
            let ways = [(Family::V4, v4), (Family::V6, v6)];
            let ways = ways.map(|(family, name)| (names::way_out(family).into(), name.into()));
            header.hosts.client.facts.extend(ways);
        }
        let found = analyse(&lines).unwrap();
        let check = found.checks.into_iter().find(|check| check.id == "interfaces");
        assert_eq!(found.valid, check.as_ref().is_none_or(|c| c.state == CheckState::Note));
        check
    }

    #[test]
    fn families_on_different_interfaces_have_no_verdict_unless_that_is_allowed() {
        let refused = over("eth0", "wg0", false).unwrap();
        assert_eq!(refused.state, CheckState::Failed);
        let said = "IPv4 and IPv6 took different interfaces (eth0, wg0)";
        assert!(refused.text.starts_with(said), "{}", refused.text);
        assert_eq!(over("eth0", "wg0", true).unwrap().state, CheckState::Note);
        assert_eq!(over("eth0", "eth0", false), None);
    }
}
