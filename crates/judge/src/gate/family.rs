//! The proof of family: the measuring sockets and the per-family counters of both ends must say
//! that the trial really used the family it is booked under, or at the server the one into which a
//! translator on the way turns it. Looking up asks for the address of a family, over whichever
//! one the name server has: there the record that was asked for is the proof.

use super::{families, fatal};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Endpoints, Measured};
use v6gap_core::record::{GateFinding, TrialRecord};
use v6gap_core::workload::{Cell, Method, Transport, Workload};

pub(super) fn judge(cell: &Cell, trial: &TrialRecord, findings: &mut Vec<GateFinding>) {
    for (who, end, family) in families(trial) {
        if let Measured::LookedUp(answer) = &end.measured {
            if answer.record != family.record() {
                let seen = format!("{who}: asked for {}", answer.record);
                findings.push(fatal("family-proved", seen));
            }
            continue;
        }
        // Where no process of the far end has a socket its counters must do.
        if is_unattended(&cell.workload) && end.endpoints.is_none() {
            if let Some(seen) = silent_counter(family, end) {
                findings.push(fatal("family-proved", format!("{who}: {seen}")));
            }
            continue;
        }
        if let Some(seen) = contradiction(family, end) {
            findings.push(fatal("family-proved", format!("{who}: {seen}")));
        }
    }
}

/// Whether the far end's process has no part: its kernel answers ICMP echoes, and one thread has
/// both ends.
fn is_unattended(workload: &Workload) -> bool {
    let one_thread = matches!(workload, Workload::Echo(echo) if echo.method == Method::Stack);
    one_thread || workload.transport() == Transport::Icmp
}

/// What speaks against `end` having used `family`, if anything does.
fn contradiction(family: Family, end: &EndReport) -> Option<String> {
    let Some(endpoints) = &end.endpoints else {
        return Some(String::from("the socket's addresses were not read"));
    };
    let connections = end.connections.iter().map(|connection| &connection.endpoints);
    let mut all = core::iter::once(endpoints).chain(connections);
    all.find_map(|endpoints| foreign(family, endpoints)).or_else(|| silent_counter(family, end))
}

/// What speaks against these being addresses of `family`, if anything does.
fn foreign(family: Family, endpoints: &Endpoints) -> Option<String> {
    if endpoints.domain != family {
        return Some(format!("the socket is of family {}", endpoints.domain));
    }
    for address in [endpoints.local, endpoints.peer] {
        match Family::of(&address.ip()) {
            Some(found) if found == family => {}
            Some(_) => return Some(format!("{address} is not an {family} address")),
            None => return Some(format!("{address} is IPv4 mapped into IPv6")),
        }
    }
    None
}

/// Counters are kept for both families or for none; a family whose counter did not move carried
/// nothing.
fn silent_counter(family: Family, end: &EndReport) -> Option<String> {
    let moved = |f: Family| end.counter(received(f)) > 0;
    let counted = Family::BOTH.into_iter().any(moved);
    (counted && !moved(family)).then(|| format!("no {family} packet was counted"))
}

/// The counter of IP packets received (RFC 4293 ipSystemStatsInReceives).
fn received(family: Family) -> &'static str {
    match family {
        Family::V4 => "Ip.InReceives",
        Family::V6 => "Ip6.InReceives",
    }
}
