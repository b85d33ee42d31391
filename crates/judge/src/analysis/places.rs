//! Where the trials of a cell go, of a run that goes to several places: pairs of addresses of a
//! site, and name servers.

use super::words;
use alloc::format;
use alloc::string::{String, ToString};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::record::RunHeader;
use v6gap_core::workload::{Cell, Lookup, Workload};

/// The place of a workload, as in "192.0.2.7 and 2001:db8::7", or a name server; nothing where the
/// run goes to one place alone, or where it does not know.
pub fn place(run: &RunHeader, workload: &Workload) -> Option<String> {
    match workload {
        Workload::Visit(visit) => pair(run, visit.pair),
        Workload::Lookup(lookup) => {
            run.resolvers.get(usize::from(lookup.server)).map(Lookup::called)
        }
        Workload::Echo(_) => first(run),
        Workload::TcpBulk(_)
        | Workload::UdpBulk(_)
        | Workload::Connect(_)
        | Workload::Probe(_)
        | Workload::Capacity(_)
        | Workload::Frames(_) => None,
    }
}

/// The first pair of addresses, where there are several: what is done once is done there.
pub fn first(run: &RunHeader) -> Option<String> {
    pair(run, 0)
}

fn pair(run: &RunHeader, index: u8) -> Option<String> {
    let pair = run.address_pairs.get(usize::from(index))?;
    Some(format!("{} and {}", pair.v4, pair.v6))
}

/// The name of a question of this run, as of [`words::label`], with its place.
pub fn label(run: &RunHeader, cell: &Cell, metric: Metric, mtu: PerArm<Option<u32>>) -> String {
    let label = words::label(cell, metric, run.plan.design.arms, mtu);
    named(&label, place(run, &cell.workload).as_deref())
}

/// What is asked at a place, where it has one.
pub fn named(what: &str, place: Option<&str>) -> String {
    match place {
        Some(place) => format!("{what}, at {place}"),
        None => what.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use v6gap_core::family::PerFamily;
    use v6gap_core::plan::preset;
    use v6gap_core::workload::{Connect, Echo, Visit};

    fn run() -> RunHeader {
        let pair =
            |v4: &str, v6: &str| PerFamily { v4: v4.parse().unwrap(), v6: v6.parse().unwrap() };
        RunHeader {
            address_pairs: vec![pair("192.0.2.1", "2001:db8::1"), pair("192.0.2.2", "2001:db8::2")],
            resolvers: vec!["192.0.2.53:53".parse().unwrap(), "[::1]:5300".parse().unwrap()],
            ..RunHeader::new("x1".parse().unwrap(), preset::first_look(PerArm::FAMILIES, None, 1))
        }
    }

    #[test]
    fn a_question_names_its_place_where_there_are_several() {
        let of = |run: &RunHeader, workload, metric| {
            label(run, &Cell::named(workload), metric, PerArm::default())
        };
        let visit = |pair| Workload::Visit(Visit { pair, ..Visit::default() });
        let echo = || Workload::Echo(Echo::default());
        let lookup = |server| Workload::Lookup(Lookup { server });
        let run = run();
        for (workload, metric, expected) in [
            (visit(0), Metric::Connect, "Connecting, at 192.0.2.1 and 2001:db8::1"),
            (visit(1), Metric::FirstByte, "First byte, HTTP/2, at 192.0.2.2 and 2001:db8::2"),
            (lookup(0), Metric::Lookup, "Looking up A and AAAA, at 192.0.2.53"),
            (lookup(1), Metric::Lookup, "Looking up A and AAAA, at [::1]:5300"),
        ] {
            assert_eq!(of(&run, workload, metric), expected);
        }
        assert!(of(&run, echo(), Metric::Rtt).ends_with(", at 192.0.2.1 and 2001:db8::1"));
        // What a journal does not name has a name all the same.
        assert_eq!(of(&run, visit(3), Metric::Connect), "Connecting");
        let connect = Workload::Connect(Connect::default());
        assert_eq!(of(&run, connect, Metric::Connect), "Connecting");
        let one = RunHeader { address_pairs: vec![], resolvers: vec![], ..run };
        assert_eq!(of(&one, visit(0), Metric::Connect), "Connecting");
        assert_eq!(of(&one, lookup(0), Metric::Lookup), "Looking up A and AAAA");
    }
}
