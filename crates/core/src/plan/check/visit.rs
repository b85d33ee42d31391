//! The cells of a plan that visits a host which does not run this program.

use super::Problems;
use crate::metric::Metric;
use crate::plan::draft::{Measure, Site};
use crate::workload::{Echo, Http, Lookup, Transport, Visit, Workload};
use alloc::format;
use alloc::vec::Vec;

/// Bytes of an echo of ICMP.
const ECHO_BYTES: u32 = 64;

/// Echoes of an arm in a block.
const ECHOES: u32 = 5;

/// The workloads of a table.
pub(super) fn workloads(
    key: &str,
    measure: &Measure,
    site: &Site,
    problems: &mut Problems,
) -> Vec<Workload> {
    match Metric::from_name(&measure.metric) {
        Some(
            Metric::FirstByte | Metric::Connect | Metric::Tls | Metric::Response | Metric::Quic,
        ) => visits(site, problems),
        Some(Metric::Lookup) => alloc::vec![Workload::Lookup(Lookup::default())],
        Some(Metric::Rtt) => alloc::vec![Workload::Echo(echo())],
        Some(other) => {
            let what = format!("{other} takes a host that runs v6gap (v6gap run HOST)");
            problems.add(format!("{key}.metric"), what);
            Vec::new()
        }
        None => {
            let known = [
                Metric::FirstByte,
                Metric::Connect,
                Metric::Tls,
                Metric::Response,
                Metric::Quic,
                Metric::Lookup,
                Metric::Rtt,
            ];
            problems.one_of(format!("{key}.metric"), &measure.metric, &known.map(Metric::name));
            Vec::new()
        }
    }
}

/// A visit by each version; the phases are those of the first one over TCP.
fn visits(site: &Site, problems: &mut Problems) -> Vec<Workload> {
    let mut versions = Vec::new();
    for text in &site.http {
        match Http::ALL.into_iter().find(|http| matches(*http, text)) {
            Some(http) if !versions.contains(&http) => versions.push(http),
            Some(_) => {}
            None => problems.one_of("site.http", text, &Http::ALL.map(Http::number)),
        }
    }
    let secure = !site.plain;
    let visit = |http, phases| Visit { http, secure, phases, ..Visit::default() };
    if site.http.is_empty() {
        return alloc::vec![Workload::Visit(visit(None, true))];
    }
    let first = versions.iter().find(|http| **http != Http::Three).copied();
    let of = |http: Http| Workload::Visit(visit(Some(http), first == Some(http)));
    versions.iter().copied().map(of).collect()
}

/// HTTP/1.1 may be written as 1.
fn matches(http: Http, text: &str) -> bool {
    http.number() == text || http == Http::One && text == "1"
}

/// Echoes of ICMP, a few in a block: they are a stranger's to answer.
fn echo() -> Echo {
    Echo {
        transport: Transport::Icmp,
        message_bytes: ECHO_BYTES,
        connections: 1,
        turn_exchanges: ECHOES,
        turns: 1,
        warmup_exchanges: 0,
        ..Echo::default()
    }
}
