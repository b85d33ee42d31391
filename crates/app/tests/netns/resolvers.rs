//! What programs and a probe make of name servers: how far away they are, and what an answer costs
//! that comes late, that refuses, or that never comes.

use super::name_servers::{BEHIND, BOTH, DNS, asking, bind9, dnsdist};
use super::probe::{SIX_MS, TRIP_MS, lab};
use super::sites::{AT, NAME, PORT, caddy, curl};
use super::support::{
    Home, PROGRAM, figure, measured, noted, number, question, race, text, times, words,
};
use super::two_hosts::Lab;
use serde_json::Value;

/// Delay of the last link that makes both families alike, in ms.
const ALIKE_MS: u32 = 5;

/// How much later an answer is made, in ms, and in the language of dnsdist.
const LATE_MS: f64 = 300.0;
const LATE: &str = "addAction(QTypeRule(DNSQType.AAAA), DelayAction(300))";

/// What a run says of a host that is at these addresses and whose name it looks up.
fn run(lab: &Lab, home: &Home, host: &str, measure: &str) -> Value {
    let [four, six] = AT;
    asked(lab, home, host, measure, &["--v4", four, "--v6", six, "--resolver", four])
}

/// What a run says of a host that is to be found so.
fn asked(lab: &Lab, home: &Home, host: &str, measure: &str, found: &[&str]) -> Value {
    let mut probe = lab.command(home, "client");
    probe.args(["probe", host]).args(found);
    probe.args(["--measure", measure, "--pairs", &times(6, 24).to_string(), "--timeout", "1s"]);
    probe.args(["--mine", "--no-report", "--no-path", "--json", "-q"]);
    let output = probe.output().unwrap();
    measured(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The name server itself as a host, which takes connections as well.
fn itself() -> String {
    format!("{NAME}:{DNS}")
}

/// What a metric of a cell took over IPv4 and over IPv6, in ms; of looking up, that of A and AAAA.
fn took(result: &Value, cell: &str, metric: &str) -> [f64; 2] {
    let q = question(result, cell, metric);
    ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e3)
}

fn looked_up(result: &Value) -> [f64; 2] {
    took(result, "lookup-udp", "lookup")
}

/// By how much later a connection stands than by IPv4 alone, in ms, and in which share of pairs it
/// is one of IPv6.
fn chosen(result: &Value, policy: &str) -> (f64, f64) {
    let race = race(result, policy);
    (number(&race["stands_later_ns"]) / 1e6, number(&race["v6"]) / number(&race["pairs"]))
}

#[track_caller]
fn near(what: &str, found: f64, truth: f64, off_max: f64) {
    figure(&format!("{what}, ms ({truth})"), format!("{found:.2}"));
    assert!((found - truth).abs() <= off_max, "{what}: {found} is not {truth}");
}

/// How long the system takes to look the site up, in ms.
fn system_ms(lab: &Lab, home: &Home) -> f64 {
    // What Python loads for its first question is no part of it.
    const ASK: &str = "import socket, sys, time\nsocket.getaddrinfo('localhost', 443)\n\
                       begun = time.monotonic()\n\
                       socket.getaddrinfo(sys.argv[1], 443, type=socket.SOCK_STREAM)\n\
                       print((time.monotonic() - begun) * 1e3)\n";
    let mut python = asking(lab, home, "client", AT[0]);
    let output = python.args(["python3", "-c", ASK, NAME]).output().unwrap();
    text(&output.stdout).trim().parse().unwrap_or_else(|why| panic!("{why}: {output:?}"))
}

/// A question takes the way to its name server, whatever is asked for. The one that was named is
/// also the one who says where the host is: no other knows it here.
pub fn are_as_far_as_they_are() {
    let (home, lab) = lab("resolvers", SIX_MS);
    let server = bind9(&lab, &home, DNS, &BOTH, "");
    let over = |resolver| {
        let result = asked(&lab, &home, &itself(), "lookup", &["--resolver", resolver]);
        let server = &result["hosts"]["server"];
        assert_eq!([&server["v4"], &server["v6"]], AT, "{resolver}");
        looked_up(&result)
    };
    let [over_four, over_six] = AT.map(over);
    drop(server);
    near("AAAA later than A by IPv4", over_four[1] - over_four[0], 0.0, 0.3);
    for (at, record) in ["A", "AAAA"].into_iter().enumerate() {
        near(&format!("{record} by IPv6 later"), over_six[at] - over_four[at], TRIP_MS, 0.3);
    }
}

/// Name servers are compared beside each other: the one whose AAAA answers come late, and the one
/// behind it, which is asked over the other family and at another port.
pub fn are_compared() {
    let (home, lab) = lab("resolvers-two", ALIKE_MS);
    let servers = [bind9(&lab, &home, BEHIND, &BOTH, ""), dnsdist(&lab, &home, LATE)];
    let behind = format!("[{}]:{BEHIND}", AT[1]);
    let both = [AT[0], behind.as_str()];
    let named = both.map(|server| ["--resolver", server]).concat();
    let result = asked(&lab, &home, &itself(), "lookup", &named);
    drop(servers);
    let cells = [("lookup-udp", LATE_MS), ("lookup-udp-server-2", 0.0)];
    for (server, (cell, later_ms)) in both.into_iter().zip(cells) {
        let q = question(&result, cell, "lookup");
        assert_eq!(q["place"], server, "{q:#}");
        assert_eq!(q["label"], format!("Looking up A and AAAA, at {server}"));
        let [four, six] = took(&result, cell, "lookup");
        near(&format!("AAAA later than A at {server}"), six - four, later_ms, 1.0);
    }
}

/// An AAAA answer that comes late is waited for by those that wait for both, as curl does, and not
/// by RFC 8305.
pub fn may_be_late() {
    let (home, lab) = lab("resolvers-late", ALIKE_MS);
    let servers =
        [caddy(&lab, &home), bind9(&lab, &home, BEHIND, &BOTH, ""), dnsdist(&lab, &home, LATE)];
    let site = format!("https://{NAME}:{PORT}/");
    let result = run(&lab, &home, &site, "lookup,first-byte");
    let [four, six] = looked_up(&result);
    near("AAAA later than A", six - four, LATE_MS, 1.0);
    let (later, share) = chosen(&result, "rfc-8305");
    near("RFC 8305 later", later, 50.0, 1.0);
    assert_eq!(share, 0.0, "{}", result["races"]);
    let (later, share) = chosen(&result, "one-after-the-other");
    near("one family after the other later", later, LATE_MS, 1.0);
    assert_eq!(share, 1.0, "{}", result["races"]);
    // The same by those programs themselves.
    near("the system's resolver", system_ms(&lab, &home), six, 5.0);
    let (later, share) = chosen(&result, "curl");
    let connect = took(&result, "first-byte-tcp-http-2", "connect")[0];
    let runs = times(5, 20);
    let seen: Vec<(String, f64)> =
        (0..runs).map(|_| curl(asking(&lab, &home, "client", AT[0]), &[])).collect();
    drop(servers);
    let right = seen.iter().filter(|(address, _)| address.contains(':') == (share > 0.5)).count();
    assert!(right * 20 >= 19 * runs, "{seen:?}");
    let mut ms: Vec<f64> = seen.iter().map(|(_, ms)| *ms).collect();
    ms.sort_by(f64::total_cmp);
    near("curl's connection", ms[runs / 2], four + connect + later, 5.0);
}

/// What is done to questions for AAAA, and what is said of it.
const MISSING: [(&str, &str); 2] = [
    ("RCodeAction(DNSRCode.SERVFAIL)", "the name server answers SERVFAIL for AAAA"),
    (
        "DropAction()",
        "the name server does not answer for AAAA: programs that wait for both answers wait for \
         15 s",
    ),
];

/// An AAAA answer that refuses or never comes is named, and what it costs those that wait for it.
pub fn may_be_missing() {
    let (home, lab) = lab("resolvers-missing", ALIKE_MS);
    let behind = bind9(&lab, &home, BEHIND, &BOTH, "");
    for (action, said) in MISSING {
        let rule = format!("addAction(QTypeRule(DNSQType.AAAA), {action})");
        let server = dnsdist(&lab, &home, &rule);
        let result = run(&lab, &home, &itself(), "lookup,connect");
        assert!(noted(&result, said), "{action}: {:#}", result["checks"]);
        figure(action, said);
        if action == "DropAction()" {
            near("RFC 8305 later", chosen(&result, "rfc-8305").0, 50.0, 1.0);
            near("curl later", chosen(&result, "curl").0, 15_000.0, 1.0);
            let shown = words(&home.v6gap(&["show", "last"]).stdout);
            assert!(shown.contains("it stands 15.0 s later"), "{shown}");
            // As the system has it the name has no such address at all.
            near("the system's resolver", system_ms(&lab, &home), 15_000.0, 500.0);
            let mut probe = asking(&lab, &home, "client", AT[0]);
            probe.arg(PROGRAM).args(["probe", &itself(), "--mine", "--no-path", "-q"]);
            let output = probe.args(["--timeout", "1s"]).output().unwrap();
            let found = words(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{found}");
            let broken = "no address: the name server does not answer for AAAA";
            assert!(found.contains("IPv6 is broken") && found.contains(broken), "{found}");
            assert!(found.contains("15.0 s by curl 7.88"), "{found}");
        }
        drop(server);
    }
    drop(behind);
}
