//! Visits to real servers on loopback, over both families: each version of HTTP, what a stranger
//! may do wrong, and how much time of our own is in a phase.

mod host;
mod names;

use host::{Host, Manners};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::workload::{Http, Visit};
use v6gap_visit::{Failure, Limits, Manner, Phase, Site, Visited, Visitor, Why};

const AGENT: &str = "v6gap/test";
const SILENCE_NS: u64 = 500_000_000;

fn visit(
    visitor: &Visitor,
    host: &Host,
    http: Option<Http>,
    family: Family,
) -> Result<Visited, Failure> {
    visit_for(visitor, host, &Visit { http, ..Visit::default() }, family)
}

/// Reads so much of the body.
fn download(
    visitor: &Visitor,
    host: &Host,
    http: Http,
    (family, body_bytes): (Family, u64),
) -> Result<Visited, Failure> {
    let visit = Visit { http: Some(http), body_bytes, ..Visit::default() };
    visit_for(visitor, host, &visit, family)
}

fn visit_for(
    visitor: &Visitor,
    host: &Host,
    asked: &Visit,
    family: Family,
) -> Result<Visited, Failure> {
    let http = asked.http;
    let site = match http {
        Some(_) => format!("https://localhost:{}/page", host.port),
        None => format!("localhost:{}", host.port),
    };
    let site = Site::parse(&site).unwrap();
    let remote = SocketAddr::new(family.loopback(), host.port);
    let limits = Limits::of(asked, SILENCE_NS);
    let manner = Manner { site: &site, http, remote, local: None, agent: AGENT, limits };
    visitor.visit(&manner)
}

/// All phases until the first byte of the answer.
fn first_byte_ns(visited: &Visited) -> Option<u64> {
    let secured = visited.tls_ns.unwrap_or(0);
    let stands = visited.quic_ns.or_else(|| Some(visited.connect_ns? + secured))?;
    Some(stands + visited.response_ns?)
}

#[test]
fn each_version_is_visited_over_both_families() {
    let host = Host::start(Manners::default());
    let visitor = Visitor::default();
    for http in Http::ALL {
        for family in Family::BOTH {
            let visited = visit(&visitor, &host, Some(http), family).unwrap();
            let told = visited.told.clone().unwrap();
            assert_eq!(
                (told.status, told.body.is_whole, told.body.bytes),
                (200, true, host::BODY.len() as u64)
            );
            assert!(told.headers.contains(&("server".to_owned(), "a host".to_owned())), "{told:?}");
            let secured = visited.secured.clone().unwrap();
            assert_eq!(secured.version, "TLS 1.3");
            assert_eq!(secured.protocol.unwrap().as_bytes(), http.alpn());
            assert_eq!(visited.chain.len(), 1);
            assert_eq!(visited.endpoints.unwrap().domain, family);
            let is_quic = http == Http::Three;
            assert_eq!(
                (visited.connect_ns.is_some(), visited.tls_ns.is_some()),
                (!is_quic, !is_quic)
            );
            assert_eq!(visited.quic_ns.is_some(), is_quic);
            assert!(visited.response_ns.unwrap() > 0 && first_byte_ns(&visited).is_some());
        }
    }
    // What is said of us, and nothing else.
    let asked = host.asked();
    assert!(
        asked.iter().all(|heads| heads.iter().any(|h| h == "user-agent: v6gap/test")),
        "{asked:?}"
    );
    assert!(asked.iter().flatten().all(|h| !h.starts_with("cookie")), "{asked:?}");
}

#[test]
fn a_connection_alone_asks_for_nothing() {
    let host = Host::start(Manners::default());
    let visited = visit(&Visitor::default(), &host, None, Family::V6).unwrap();
    assert!(visited.connect_ns.is_some() && visited.told.is_none() && visited.secured.is_none());
}

/// A server that takes its time shows in the phase in which it does, and in no other.
#[test]
fn a_pause_is_in_its_phase() {
    const PAUSE_NS: u64 = 30_000_000;
    let host = Host::start(Manners { before_answer_ns: PAUSE_NS, ..Manners::default() });
    let visitor = Visitor::default();
    for http in Http::ALL {
        let visited = visit(&visitor, &host, Some(http), Family::V4).unwrap();
        let others = visited.connect_ns.unwrap_or(0) + visited.tls_ns.or(visited.quic_ns).unwrap();
        assert!(visited.response_ns.unwrap() >= PAUSE_NS, "{http}: {visited:?}");
        assert!(others < PAUSE_NS, "{http}: {visited:?}");
    }
}

#[test]
fn a_ticket_of_one_visit_is_taken_in_the_next_and_by_the_same_service_alone() {
    let (host, other) = (Host::start(Manners::default()), Host::start(Manners::default()));
    let mut visitor = Visitor::default();
    visitor.remember(Http::One).unwrap();
    let resumed = |visitor: &Visitor, host: &Host, family| {
        let visited = visit(visitor, host, Some(Http::One), family).unwrap();
        visited.secured.unwrap().resumed
    };
    let seen = [(&host, Family::V4), (&host, Family::V6), (&other, Family::V4)]
        .map(|(host, family)| resumed(&visitor, host, family));
    assert_eq!(seen, [false, true, false]);
    // Nothing is resumed where nothing may be.
    visitor.forget();
    let both = Family::BOTH.map(|family| visit(&visitor, &host, Some(Http::One), family).unwrap());
    assert!(both.iter().all(|visited| !visited.secured.as_ref().unwrap().resumed));
}

#[test]
fn what_does_not_work_is_told_by_phase() {
    let visitor = Visitor::default();
    let failed = |manners: Manners, http| {
        let host = Host::start(manners);
        visit(&visitor, &host, Some(http), Family::V6).unwrap_err()
    };
    let silent = failed(Manners { is_silent: true, ..Manners::default() }, Http::One);
    assert!(matches!((silent.phase, &silent.why), (Phase::Tls, Why::Silent(_))), "{silent}");
    let stalls = failed(Manners { stalls: true, ..Manners::default() }, Http::One);
    assert!(
        matches!((stalls.phase, &stalls.why), (Phase::Response | Phase::Body, Why::Silent(_))),
        "{stalls}"
    );
    assert!(stalls.bytes > 0);
    let one = failed(Manners { http: vec![Http::One], ..Manners::default() }, Http::Two);
    assert_eq!(one.phase, Phase::Tls, "{one}");
    // Nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let gone = visit(&visitor, &Host::nowhere(port), Some(Http::One), Family::V4).unwrap_err();
    assert!(matches!((gone.phase, &gone.why), (Phase::Connect, Why::Socket(_))), "{gone}");
}

/// Endless heads and bodies end, by their bounds.
#[test]
fn a_hostile_server_is_bounded() {
    let visitor = Visitor::default();
    let heads = Host::start(Manners { endless_head: true, ..Manners::default() });
    for http in Http::ALL {
        let failure = visit(&visitor, &heads, Some(http), Family::V4).unwrap_err();
        assert_eq!(failure.phase, Phase::Response, "{http}: {failure}");
        let bytes_max = if http == Http::Three { 1 << 28 } else { 1 << 20 };
        assert!(failure.bytes < bytes_max, "{http}: {}", failure.bytes);
    }
    let lines = Host::start(Manners { many_lines: true, ..Manners::default() });
    let failure = visit(&visitor, &lines, Some(Http::Three), Family::V6).unwrap_err();
    assert_eq!(failure.phase, Phase::Response, "{failure}");
    let body = Host::start(Manners { endless_body: true, ..Manners::default() });
    for http in Http::ALL {
        let visited = visit(&visitor, &body, Some(http), Family::V4).unwrap();
        let told = visited.told.unwrap();
        assert!(
            !told.body.is_whole && (64 << 10..1 << 20).contains(&told.body.bytes),
            "{http}: {told:?}"
        );
    }
}

/// Every byte of a body is counted, over either family and by each version, and so is the time in
/// which they came.
#[test]
fn a_download_counts_every_byte() {
    const BYTES: u64 = 3_000_000;
    let host = Host::start(Manners { body_bytes: Some(BYTES as usize), ..Manners::default() });
    let visitor = Visitor::default();
    for http in Http::ALL {
        for family in Family::BOTH {
            let visited = download(&visitor, &host, http, (family, 4_000_000)).unwrap();
            let body = visited.told.unwrap().body;
            assert_eq!((body.bytes, body.is_whole), (BYTES, true), "{http} over {family}");
            assert!(body.later_bytes > 0 && body.later_bytes < BYTES, "{http}: {body:?}");
            assert!(body.rate_bps().unwrap() > 0.0, "{http}: {body:?}");
            assert!(visited.read_bytes > BYTES, "{http}: {}", visited.read_bytes);
            // What the headers are reckoned with, where the system tells.
            let mtu = visited.granted.map(|granted| granted.path_mtu.unwrap());
            assert!(mtu.is_none_or(|mtu| mtu >= 1280 && http != Http::Three), "{http}: {mtu:?}");
        }
    }
}

#[test]
fn a_download_stops_where_it_was_to() {
    let host = Host::start(Manners { endless_body: true, ..Manners::default() });
    let visitor = Visitor::default();
    for http in Http::ALL {
        let visited = download(&visitor, &host, http, (Family::V6, 2_000_000)).unwrap();
        let body = visited.told.unwrap().body;
        let enough = 2_000_000..3_000_000;
        assert!(!body.is_whole && enough.contains(&body.bytes), "{http}: {body:?}");
    }
}

/// What is not read any more must not go on coming beside what is measured next.
#[test]
fn the_connection_of_a_body_that_is_left_off_is_reset() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let remote = listener.local_addr().unwrap();
    let sends = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n").unwrap();
        loop {
            if let Err(error) = stream.write_all(&[0; 1 << 16]) {
                return error.kind();
            }
        }
    });
    let site = Site::parse(&format!("http://127.0.0.1:{}/", remote.port())).unwrap();
    let asked = Visit { http: Some(Http::One), body_bytes: 500_000, ..Visit::default() };
    let (http, limits) = (asked.http, Limits::of(&asked, SILENCE_NS));
    let manner = Manner { site: &site, http, remote, local: None, agent: AGENT, limits };
    let visited = Visitor::default().visit(&manner).unwrap();
    assert!(!visited.told.unwrap().body.is_whole);
    let ended = sends.join().unwrap();
    assert!(matches!(ended, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{ended}");
}

/// An answer that only says that another is on its way is none.
#[test]
fn what_is_on_its_way_is_waited_for() {
    let host = Host::start(Manners { hints_early: true, ..Manners::default() });
    let visited = visit(&Visitor::default(), &host, Some(Http::Three), Family::V4).unwrap();
    let told = visited.told.unwrap();
    assert_eq!((told.status, told.body.bytes), (200, host::BODY.len() as u64));
}

#[test]
fn a_short_body_is_read_whole_and_has_no_rate() {
    let host = Host::start(Manners::default());
    let visitor = Visitor::default();
    for http in Http::ALL {
        let visited = download(&visitor, &host, http, (Family::V4, 2_000_000)).unwrap();
        let body = visited.told.unwrap().body;
        assert_eq!((body.bytes, body.is_whole), (host::BODY.len() as u64, true), "{http}");
        assert_eq!(body.rate_bps(), None, "{http}");
    }
}

#[test]
fn a_connection_that_breaks_in_the_body_is_a_failure_there() {
    let host = Host::start(Manners { breaks: true, ..Manners::default() });
    let visitor = Visitor::default();
    let failure = download(&visitor, &host, Http::One, (Family::V6, 2_000_000)).unwrap_err();
    assert_eq!(failure.phase, Phase::Body, "{failure}");
    assert!(failure.bytes > 100_000, "{}", failure.bytes);
}

/// Both families go the same way: on loopback they take the same time but for noise.
#[test]
fn families_are_alike_on_loopback() {
    let host = Host::start(Manners::default());
    let visitor = Visitor::default();
    let mut found: PerFamily<Vec<u64>> = PerFamily::default();
    for turn in 0..20 {
        let order = if turn % 2 == 0 { Family::BOTH } else { [Family::V6, Family::V4] };
        for family in order {
            let visited = visit(&visitor, &host, Some(Http::Two), family).unwrap();
            found.get_mut(family).push(first_byte_ns(&visited).unwrap());
        }
    }
    let median = |times: &Vec<u64>| {
        let mut sorted = times.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2] as f64
    };
    let ratio = median(&found.v6) / median(&found.v4);
    assert!((0.3..3.0).contains(&ratio), "{ratio}");
}
