//! What a watch tells of changes and outages: from a log whose truth is known, and on loopback to a
//! program and to a service.

#[path = "../../../core/tests/common/visit.rs"]
mod made;

pub use made::QUARTER_NS;

use crate::ports::free;
use crate::schemas::fits;
use crate::support::Sandbox;
use crate::watch::{Watching, description, json, logged};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::watch::With;
use v6gap_core::watch::log::{Answer, Ended, Fact, Listed, Logged, Watching as Begun};
use v6gap_store::Store;

/// Visits of the log, and the first of them that finds IPv6 slower.
pub const VISITS: u64 = 120;
pub const FIRST: u64 = 60;

/// Two days ago.
pub fn begin_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_nanos()).unwrap() - 2 * 96 * QUARTER_NS
}

fn visit(number: u64, began_unix_ns: u64) -> Ended {
    let (longer, routers) = if number >= FIRST { (1.089, "12") } else { (1.007, "9") };
    Ended {
        at_unix_ns: began_unix_ns + 20_000_000_000,
        began_unix_ns,
        bytes: 1000,
        answers: vec![Answer {
            cell: "rtt-tcp-64".to_owned(),
            metric: Metric::Rtt,
            label: "Round trip 64 B, TCP".to_owned(),
            verdict: "worse".to_owned(),
            answer: "▼ worse".to_owned(),
            text: "8.9 % longer".to_owned(),
            range: None,
            margin: None,
            predicted: None,
        }],
        facts: vec![Fact {
            name: "routers".to_owned(),
            family: Some(Family::V6),
            value: routers.to_owned(),
        }],
        ..made::visit(number, longer, 1e-3)
    }
}

/// A data folder with the log of a path that changed once; with when it began.
fn changed() -> (Sandbox, u64) {
    let (sandbox, begin_ns) = (Sandbox::new(), begin_ns());
    write_changed(&sandbox, begin_ns);
    (sandbox, begin_ns)
}

/// Writes that log, as if the watch had begun then.
pub fn write_changed(sandbox: &Sandbox, begin_ns: u64) {
    let mut log = Store::at(&sandbox.path("")).open_watch_log().unwrap();
    let listed = Listed {
        name: "lab-b".to_owned(),
        host: "lab-b".to_owned(),
        with: With::Run,
        every_ns: Some(QUARTER_NS),
        throughput_every_ns: None,
        time_ns: None,
        measure: Vec::new(),
        margins: BTreeMap::new(),
    };
    let begun = Begun { at_unix_ns: begin_ns, budget_bytes: None, paths: vec![listed] };
    log.append(&Logged::Watching(begun)).unwrap();
    for number in 0..VISITS {
        let ended = visit(number, begin_ns + number * QUARTER_NS);
        log.append(&Logged::Ended(Box::new(ended))).unwrap();
    }
}

#[test]
fn a_log_with_one_change_is_told_in_two_spells() {
    let (sandbox, begin_ns) = changed();
    let history = json(&sandbox, "watch history lab-b --measure rtt-tcp-64 --json");
    fits("watch-history", &history);
    let spells = history["spells"].as_array().unwrap();
    assert_eq!(spells.len(), 2, "{history:#}");
    let [before, since] = [&spells[0], &spells[1]];
    assert_eq!([&before["visits"], &since["visits"]], [FIRST, VISITS - FIRST]);
    assert_eq!([&before["verdict"], &since["verdict"]], ["same", "worse"]);
    assert_eq!([&before["goes_on"], &since["goes_on"]], [false, true]);
    assert_eq!(since["from_unix_ns"], begin_ns + FIRST * QUARTER_NS);
    let near = |value: &serde_json::Value, x: f64| (value.as_f64().unwrap() - x).abs() < 1e-3;
    assert!(near(&before["effect"], 0.007) && near(&since["effect"], 0.089), "{history:#}");
    let change = &since["change"];
    assert!(change["who"] == "v6" && near(&change["margin"], 0.05), "{change:#}");
    assert_eq!(change["first_unix_ns"], begin_ns + FIRST * QUARTER_NS);
    assert!(change["visits_after"].as_u64().is_some_and(|n| (2..20).contains(&n)), "{change:#}");
    assert_eq!(change["suspects"][0]["text"], "Routers to lab-b over IPv6: 9 before, 12 since.");

    let text = sandbox.run("watch history lab-b --measure rtt").ended(0).out;
    for said in [
        "≈ within 5 %",
        "▼ worse",
        "visits after",
        "The change is of IPv6 alone: IPv4 1.00 times as before, IPv6 1.08.",
        "Routers to lab-b over IPv6: 9 before, 12 since.",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let csv = sandbox.run("watch history lab-b --format csv-spells").ended(0).out;
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.lines().all(|line| line.split(',').count() == 16), "{csv}");
    let visits = sandbox.run("watch history lab-b --format csv").ended(0).out;
    assert_eq!(visits.lines().count() as u64, VISITS + 1);
}

#[test]
fn status_says_when_a_path_changed() {
    let (sandbox, begin_ns) = changed();
    let status = json(&sandbox, "watch status --json");
    fits("watch-status", &status);
    let changes = status["paths"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{status:#}");
    assert_eq!(changes[0]["first_unix_ns"], begin_ns + FIRST * QUARTER_NS);
    let text = sandbox.run("watch status").ended(0).out;
    let row = text.lines().find(|line| line.starts_with("lab-b")).unwrap();
    let date = v6gap_report::date(begin_ns + FIRST * QUARTER_NS);
    assert!(text.contains("CHANGED") && row.ends_with(&date), "{text}");
}

/// Both families of a host that nobody serves are down from the first visit on.
#[test]
fn a_program_reads_what_happened() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("watch.toml", &description(free()));
    let told = sandbox.path("told.jsonl");
    let script = sandbox.write("told.sh", &format!("#!/bin/sh\ncat >> {}\n", told.display()));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut watch = Watching::with(&sandbox, &format!("--on-change {}", script.display()));
    let is_told = |line: &String| line.contains("  IPv6 to here does not answer, since ");
    assert!((&mut watch.said).map(Result::unwrap).any(|line| is_told(&line)), "it ended");
    // What waits is told before it ends.
    let (code, rest) = watch.stop();
    assert_eq!(code, 0, "{rest:?}");
    let told = std::fs::read_to_string(told).unwrap();
    let told: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let families: Vec<&str> =
        told.iter().map(|event| event["outage"]["family"].as_str().unwrap()).collect();
    assert_eq!(families, ["v4", "v6"], "{told:#?}");
    assert!(told.iter().all(|event| event["schema"] == "v6gap.watch.event/1"), "{told:#?}");
    let status = json(&sandbox, "watch status --json");
    fits("watch-status", &status);
    fits("watch-history", &json(&sandbox, "watch history here --json"));
    let notified = &status["notified"];
    assert!(notified["told"] == 2 && notified["lost"] == 0, "{notified:#}");
}

/// A service that answers with these, one connection after the other, and gives the bodies.
fn service(answers: &'static [&'static str]) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("[::1]:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = move |status: &&str| {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(&stream);
        let (mut line, mut bytes) = (String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                bytes = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; bytes];
        reader.read_exact(&mut body).unwrap();
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        (&stream).write_all(text.as_bytes()).unwrap();
        String::from_utf8(body).unwrap()
    };
    (port, std::thread::spawn(move || answers.iter().map(answer).collect()))
}

#[test]
fn a_service_that_fails_twice_is_told_all_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("watch.toml", &description(free()));
    let (port, bodies) = service(&["500 no", "503 no", "200 yes", "200 yes"]);
    let watch = Watching::with(&sandbox, &format!("--on-change http://[::1]:{port}/hook"));
    let bodies = bodies.join().unwrap();
    let (code, rest) = watch.stop();
    assert_eq!(code, 0, "{rest:?}");
    assert!(bodies[..3].iter().all(|body| *body == bodies[0]), "{bodies:?}");
    assert!(bodies[3].contains("\"family\":\"v6\""), "{bodies:?}");
    let log = logged(&sandbox);
    let notified: Vec<u64> = log
        .iter()
        .filter(|entry| entry["entry"] == "notified" && entry["why"].is_null())
        .map(|entry| entry["tries"].as_u64().unwrap())
        .collect();
    assert_eq!(notified, [3, 1], "{log:#?}");
    // Visits went on meanwhile, each a second after the other.
    let visits = log.iter().filter(|entry| entry["entry"] == "ended").count();
    assert!(visits > 1, "{log:#?}");
}
