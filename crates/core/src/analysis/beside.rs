//! What stood beside the trials: that somebody captured, and what they missed.

use crate::observation::Beside;
use crate::record::TrialRecord;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What is to be known of captures: that there were any, which costs time of the processors that
/// measure; what they lost; and what could not be written.
pub(super) fn notes(trials: &[&TrialRecord]) -> Vec<String> {
    let all: Vec<&Beside> = trials.iter().filter_map(|trial| trial.beside.as_deref()).collect();
    let mut dropped: BTreeMap<&str, u64> = BTreeMap::new();
    let mut nodes: Vec<&str> = Vec::new();
    for tap in all.iter().flat_map(|beside| &beside.taps) {
        if !nodes.contains(&tap.node.as_str()) {
            nodes.push(&tap.node);
        }
        *dropped.entry(&tap.node).or_default() += tap.dropped;
    }
    let mut notes = Vec::new();
    if !nodes.is_empty() {
        let nodes = nodes.join(" and ");
        notes.push(format!(
            "packets were captured at {nodes} while trials ran; that takes processor time, so \
             times may be longer and rates lower than without"
        ));
    }
    for (node, count) in dropped.into_iter().filter(|(_, count)| *count > 0) {
        notes.push(format!("the capture at {node} missed {count} frames: it could not keep up"));
    }
    for trouble in all.iter().flat_map(|beside| &beside.troubles) {
        if !notes.contains(trouble) {
            notes.push(trouble.to_string());
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::{Arm, BlockKind, TurnOrder};
    use crate::family::Family;
    use crate::observation::{PerEnd, Tapped};
    use alloc::boxed::Box;
    use alloc::vec;

    fn trial(beside: Option<Beside>) -> TrialRecord {
        TrialRecord {
            block: 0,
            cell: "x".into(),
            kind: BlockKind::Compare,
            round: 1,
            arm: Arm::A,
            family: Family::V4,
            order: TurnOrder::Ab,
            attempt: 0,
            started_unix_ns: 0,
            started_ns: 0,
            duration_ns: 0,
            values: Default::default(),
            ends: PerEnd::default(),
            findings: Vec::new(),
            link: None,
            beside: beside.map(Box::new),
        }
    }

    #[test]
    fn a_capture_is_a_caveat_and_so_is_what_it_missed() {
        let tap = |node: &str, dropped| Tapped { node: node.into(), dropped, ..Tapped::default() };
        let beside = Beside {
            taps: vec![tap("client", 0), tap("server", 7)],
            troubles: vec!["capture at client: full".into()],
            ..Beside::default()
        };
        let (with, without) = (trial(Some(beside)), trial(None));
        assert_eq!(notes(&[&without]), Vec::<String>::new());
        let told = notes(&[&with, &without, &with]);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].starts_with("packets were captured at client and server"), "{told:?}");
        assert_eq!(told[1], "the capture at server missed 14 frames: it could not keep up");
        assert_eq!(told[2], "capture at client: full");
    }
}
