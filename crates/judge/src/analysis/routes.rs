//! Whether the packets of a family kept their route: each router takes one from the hop limit, so
//! what is left of it on arrival says how many there were. Another number is another route, and
//! values from before and after are of two paths.

use super::words::counted;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Ends, Measured, OneWay};
use v6gap_core::record::TrialRecord;

/// The ways of packets, in words.
pub(super) const WAYS: [&str; 2] = ["to the server", "back"];

/// What changed between or during these trials, which are in the order of time: one sentence for
/// each family and way. Nothing where the systems do not tell hop limits.
pub(super) fn changes<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> Vec<String> {
    let mut routers: BTreeMap<(Family, usize), Vec<u8>> = BTreeMap::new();
    for trial in trials {
        for (way, passed) in passed(&trial.ends).into_iter().enumerate() {
            let seen = routers.entry((trial.family, way)).or_default();
            for passed in passed {
                if seen.last() != Some(&passed) {
                    seen.push(passed);
                }
            }
        }
    }
    let say = |((family, way), seen): ((Family, usize), Vec<u8>)| {
        let what = match &seen[..] {
            [] | [_] => return None,
            [before, after] => format!(": {}, then {after}", in_words(*before)),
            many => {
                let (least, most) = (many.iter().min()?, many.iter().max()?);
                format!(" {} times, between {least} and {}", many.len() - 1, in_words(*most))
            }
        };
        Some(format!("the route {} over {family} changed{what}", WAYS[way]))
    };
    routers.into_iter().filter_map(say).collect()
}

fn in_words(routers: u8) -> String {
    counted(routers.into(), "router")
}

/// How many routers packets passed on each of [`WAYS`]; each number that was seen, in no order of
/// time within a trial.
pub(super) fn passed(ends: &Ends) -> [Vec<u8>; 2] {
    let Some(server) = ends.server.seen() else { return Default::default() };
    [one_way(&ends.client, server), one_way(server, &ends.client)]
}

fn one_way(from: &EndReport, to: &EndReport) -> Vec<u8> {
    let Some(sent) = from.granted.marking.hop_limit else { return Vec::new() };
    let stream = match &to.measured {
        Measured::Probed(probed) => Some(&probed.back),
        Measured::Returned(returned) => Some(&returned.there),
        _ => None,
    };
    let of_stream = |way: &OneWay| way.hop_limits.iter().map(|(hops, _)| *hops).collect();
    let arrived: Vec<u8> = match stream.map(of_stream) {
        Some(all) => all,
        None => to.granted.arrived.and_then(|marks| marks.hop_limit).into_iter().collect(),
    };
    // More than was sent is not of these packets.
    arrived.into_iter().filter_map(|left| sent.checked_sub(left)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::blank;
    use alloc::boxed::Box;
    use alloc::vec;
    use v6gap_core::observation::{Granted, PerEnd, Returned};
    use v6gap_core::workload::Marking;

    /// A trial in which packets were sent with one hop limit and came to the server with another.
    fn trial(family: Family, sent: Option<u8>, came: Option<u8>) -> TrialRecord {
        let marks = |hop_limit| Marking { hop_limit, ..Marking::default() };
        let client = Granted { marking: marks(sent), ..Granted::default() };
        let server = Granted { arrived: Some(marks(came)), ..Granted::default() };
        let end = |granted| EndReport { granted, ..EndReport::default() };
        let ends = PerEnd { client: end(client), server: end(server) };
        TrialRecord { ends: ends.into(), ..blank("x", family) }
    }

    #[test]
    fn a_route_that_changes_is_told_for_its_family_and_way() {
        let of = |trials: &[TrialRecord]| changes(trials.iter());
        let v6 = |sent, came| trial(Family::V6, Some(sent), Some(came));
        let v4 = trial(Family::V4, Some(64), Some(60));
        // Marked otherwise, the same way: 4 routers.
        assert_eq!(of(&[v6(64, 60), v4.clone(), v6(9, 5), v6(64, 60)]), Vec::<String>::new());
        assert_eq!(
            of(&[v6(64, 63), v4.clone(), v6(64, 61), v4, v6(9, 6)]),
            ["the route to the server over IPv6 changed: 1 router, then 3"]
        );
        assert_eq!(
            of(&[v6(64, 61), v6(64, 60), v6(64, 61)]),
            ["the route to the server over IPv6 changed 2 times, between 3 and 4 routers"]
        );
        // What is not told is no change.
        let untold =
            [v6(64, 61), trial(Family::V6, Some(64), None), trial(Family::V6, None, Some(9))];
        assert_eq!(of(&untold), Vec::<String>::new());
    }

    #[test]
    fn a_stream_of_probes_tells_a_change_in_its_middle() {
        let mut one = trial(Family::V4, Some(64), Some(61));
        let there = OneWay { hop_limits: vec![(60, 3), (61, 900)], ..OneWay::default() };
        let returned = Returned { there, ..Returned::default() };
        one.ends.server.seen_mut().unwrap().measured = Measured::Returned(Box::new(returned));
        let expected = "the route to the server over IPv4 changed: 4 routers, then 3";
        assert_eq!(changes([one].iter()), [expected]);
    }
}
