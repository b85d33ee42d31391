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
        Some(Metric::Lookup) => lookups(site, problems),
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

/// A question to each name server.
fn lookups(site: &Site, problems: &mut Problems) -> Vec<Workload> {
    let many = count("site.resolvers", site.resolvers, Lookup::SERVERS_MAX, problems);
    (0..many).map(|server| Workload::Lookup(Lookup { server })).collect()
}

/// How many there are of what is one where nothing is said.
fn count(key: &str, asked: Option<u32>, most: u8, problems: &mut Problems) -> u8 {
    let many = asked.map_or(Some(1), |many| u8::try_from(many).ok());
    many.filter(|many| (1..=most).contains(many)).unwrap_or_else(|| {
        problems.add(key, format!("must be between 1 and {most}"));
        1
    })
}

/// A visit by each version to each pair of addresses; the phases are those of the first version
/// over TCP.
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
    let visit = |http, phases| Visit { http, secure, phases, body_bytes, pair: 0 };
    let first = versions.iter().find(|http| **http != Http::Three).copied();
    let of = |http: Http| visit(Some(http), first == Some(http));
    let each: Vec<Visit> = match site.http.is_empty() {
        true => alloc::vec![visit(None, true)],
        false => versions.iter().copied().map(of).collect(),
    };
    let pairs = count("site.addresses", site.addresses, Visit::PAIRS_MAX, problems);
    let of_pair = |pair| {
        let here = move |visit: Visit| Workload::Visit(Visit { pair, ..visit });
        each.clone().into_iter().map(here)
    };
    (0..pairs).flat_map(of_pair).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, check, draft, preset};

    fn checked(change: impl FnOnce(&mut Site)) -> Result<Plan, Vec<check::Problem>> {
        let mut site = draft::Site {
            url: "https://example.org/".into(),
            http: alloc::vec!["2".into(), "3".into()],
            ..draft::Site::default()
        };
        change(&mut site);
        check::check(&preset::visits_draft(site, true, true), 1)
    }

    fn ids(plan: &Plan) -> Vec<&str> {
        plan.cells.iter().map(|cell| cell.id.as_str()).collect()
    }

    #[test]
    fn each_pair_of_addresses_and_each_name_server_is_a_cell() {
        let one = ["lookup-udp", "rtt-icmp-64", "first-byte-tcp-http-2", "first-byte-udp-http-3"];
        assert_eq!(ids(&checked(|_| {}).unwrap()), one);
        let several = checked(|site| {
            site.addresses = Some(2);
            site.resolvers = Some(3);
        });
        let several = several.unwrap();
        let expected = [
            "lookup-udp",
            "lookup-udp-server-2",
            "lookup-udp-server-3",
            "rtt-icmp-64",
            "first-byte-tcp-http-2",
            "first-byte-udp-http-3",
            "first-byte-tcp-http-2-addresses-2",
            "first-byte-udp-http-3-addresses-2",
        ];
        assert_eq!(ids(&several), expected);
        // The noise of the first bounds that of the others.
        assert_eq!(several.design.null_cells, [0, 3, 4, 5]);
    }

    #[test]
    fn no_more_are_visited_or_asked_than_four() {
        for (addresses, resolvers, key) in [
            (Some(0), None, "site.addresses"),
            (Some(5), None, "site.addresses"),
            (None, Some(300), "site.resolvers"),
        ] {
            let wrong = checked(|site| {
                site.addresses = addresses;
                site.resolvers = resolvers;
            });
            let wrong = wrong.unwrap_err();
            assert_eq!((wrong[0].key.as_str(), wrong.len()), (key, 1), "{wrong:?}");
            assert_eq!(wrong[0].what, "must be between 1 and 4");
        }
    }
}
