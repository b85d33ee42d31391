//! The cells of a plan that visits a host which does not run this program.

use super::Problems;
use crate::metric::Metric;
use crate::plan::draft::{Measure, Site};
use crate::unit::{self, format_bytes};
use crate::workload::{Echo, Http, Lookup, Transport, Visit, Workload};
use alloc::format;
use alloc::string::{String, ToString};
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
        Some(Metric::Throughput) if site.download.is_some() => visits(site, problems),
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
    let (secure, body_bytes) = (!site.plain, body_bytes(site, problems));
    let visit = |http, phases| Visit { http, secure, phases, body_bytes };
    if site.http.is_empty() {
        return alloc::vec![Workload::Visit(visit(None, true))];
    }
    let first = versions.iter().find(|http| **http != Http::Three).copied();
    let of = |http: Http| Workload::Visit(visit(Some(http), first == Some(http)));
    versions.iter().copied().map(of).collect()
}

/// How much of the body is read: what every visit reads, or what is to be downloaded.
fn body_bytes(site: &Site, problems: &mut Problems) -> u64 {
    let key = "site.download";
    if site.download.is_some() && site.http.is_empty() {
        problems.add(key, "a connection alone has no body");
    }
    let asked = problems.read_optional(key, site.download.as_ref(), download);
    asked.unwrap_or(Visit::BODY_BYTES)
}

/// How much of a body is to be downloaded, in bytes: more than every visit reads.
///
/// # Errors
/// If it is no size, or none of these, in words.
pub fn download(text: &str) -> Result<u64, String> {
    let (read, most) = (Visit::BODY_BYTES, Visit::BODY_BYTES_MAX);
    match unit::parse_bytes(text).map_err(|e| e.to_string())? {
        bytes if bytes > read && bytes <= most => Ok(bytes),
        _ => {
            let (read, most) = (format_bytes(read), format_bytes(most));
            Err(format!("a download must be above {read} and at most {most}"))
        }
    }
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
