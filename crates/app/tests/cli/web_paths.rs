//! The paths of a watch in the pages: what they are told is what the terminal says, also as the
//! watch goes on and of one that was recorded.

use crate::support::Sandbox;
use crate::watch::json;
use crate::watch_changes::{FIRST, QUARTER_NS, VISITS, begin_ns, write_changed};
use crate::web::{Web, until};
use serde_json::Value;

#[test]
fn without_a_watch_there_is_no_path() {
    let web = Web::known();
    let status = web.get("/paths").json();
    assert_eq!(status["schema"], "v6gap.watch.status/1");
    assert_eq!(status["paths"].as_array().map(Vec::len), Some(0), "{status:#}");
    for (path, expected) in [
        ("/paths/lab-b/strips", 400),
        ("/paths/--help/strips", 400),
        ("/paths/a%00b/strips", 400),
        ("/paths/lab-b/strips?since=--help", 400),
        ("/paths/lab-b/strips?since=soon", 400),
    ] {
        assert_eq!(web.get(path).status, expected, "{path}");
    }
}

#[test]
fn pages_are_told_of_a_path_what_the_terminal_says() {
    let (web, begin_ns) = (Web::known(), begin_ns());
    write_changed(&web.sandbox, begin_ns);
    let status = web.get("/paths").json();
    assert_eq!(status["paths"], json(&web.sandbox, "watch status --json")["paths"]);
    let told = web.get("/paths/lab-b/strips?since=3d").json();
    let [strip] = &told["strips"].as_array().unwrap()[..] else { panic!("{told:#}") };
    let svg = strip["svg"].as_str().unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("role=\"img\""), "{svg}");
    let first = v6gap_report::date(begin_ns + FIRST * QUARTER_NS);
    assert_eq!(strip["rows"][1][0], first, "{strip:#}");
    assert_eq!([&strip["rows"][0][5], &strip["rows"][1][5]], ["≈ within 5 %", "▼ worse"]);
    let change = &strip["changes"][0];
    assert_eq!(change["first"], first);
    assert_eq!(change["sentences"][1], "Routers to lab-b over IPv6: 9 before, 12 since.");
    // Of the last day there is what followed the change, and of its last hour nothing.
    let later = web.get("/paths/lab-b/strips?since=1d").json();
    assert_eq!(later["strips"][0]["rows"].as_array().map(Vec::len), Some(1), "{later:#}");
    let later = web.get("/paths/lab-b/strips?since=1h").json();
    assert_eq!(later["strips"].as_array().map(Vec::len), Some(0), "{later:#}");
    let line = "watch history lab-b --since 3d --format strips";
    let terminal: Value = serde_json::from_str(&web.sandbox.run(line).ended(0).out).unwrap();
    for part in ["schema", "path", "outages", "runs"] {
        assert_eq!(terminal[part], told[part], "{part}");
    }
    assert_eq!(terminal["strips"][0]["rows"], strip["rows"]);
}

/// A page that is open is told when a watch begins in another process, and the next one that is
/// opened is told at once.
#[test]
fn pages_follow_a_watch_that_goes_on() {
    let web = Web::known();
    let mut page = web.events("/paths/events");
    let first = until(&mut page, "\n\n");
    let first = if first.contains("data:") { first } else { until(&mut page, "data:") };
    assert!(first.contains("event: status") && first.contains("\"paths\":[]"), "{first}");
    write_changed(&web.sandbox, begin_ns());
    let told = until(&mut page, "\"name\":\"lab-b\"");
    assert!(told.contains("\"name\":\"lab-b\""), "{told}");
    let other = until(&mut web.events("/paths/events"), "\"name\":\"lab-b\"");
    assert!(other.contains("\"name\":\"lab-b\""), "{other}");
}

#[test]
fn following_ends_with_its_input() {
    let sandbox = Sandbox::new();
    let said = sandbox.run_on("watch status --follow --stop-at-eof", "").ended(0).out;
    assert!(said.starts_with("Nothing is watched yet."), "{said}");
    let line = sandbox.run_on("watch status --follow --json --stop-at-eof", "").ended(0).out;
    assert_eq!(line.lines().count(), 1, "{line}");
    sandbox.run("watch status --stop-at-eof").ended(2);
}

/// As where `head` has seen enough.
#[test]
fn following_ends_when_nobody_reads_it() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start("watch status --follow --json");
    drop(child.stdout.take());
    write_changed(&sandbox, begin_ns());
    assert!(child.wait().unwrap().success());
}

/// A year later it shows what it showed then.
#[test]
fn a_recorded_watch_is_as_it_was() {
    let (recorded, begin_ns) = (Sandbox::new(), begin_ns() - 365 * 96 * QUARTER_NS);
    write_changed(&recorded, begin_ns);
    let log = recorded.path("watch");
    let web = Web::known_with(&format!("--demo 7k2f9q --demo-watch {}", log.display()));
    let status = web.get("/paths").json();
    let path = &status["paths"][0];
    let last_ns = begin_ns + (VISITS - 1) * QUARTER_NS + 20_000_000_000;
    assert_eq!(path["visits"][0]["measured_unix_ns"], last_ns, "{status:#}");
    assert_eq!(path["changes"][0]["first_unix_ns"], begin_ns + FIRST * QUARTER_NS);
    let told = web.get("/paths/lab-b/strips").json();
    assert_eq!(told["at_unix_ns"], last_ns);
    assert_eq!(told["strips"][0]["rows"].as_array().map(Vec::len), Some(2), "{told:#}");
    let events = until(&mut web.events("/paths/events"), "\"name\":\"lab-b\"");
    assert!(events.contains("\"name\":\"lab-b\""), "{events}");
    // The watch of this computer itself is another one.
    assert_eq!(
        json(&web.sandbox, "watch status --json")["paths"].as_array().map(Vec::len),
        Some(0)
    );
    web.sandbox.run("web --no-open --demo 7k2f9q --demo-watch nosuch").ended(2);
    web.sandbox.run("web --no-open --demo-watch watch").ended(2);
}
