//! `v6gap probe` where the truth is known: real servers behind a lab's links, of which IPv6 is
//! 10 ms farther each way.

use super::sites::{AT, NAME, PORT, caddy, curl, nginx};
use super::support::{Home, figure, measured, noted, number, question, race, text, times};
use super::tier::is_night;
use super::two_hosts::Lab;
use serde_json::Value;

/// A world whose IPv6 is a round trip of so many ms behind the router.
const WORLD: &str = r#"
v6gap   = 1
hosts   = ["client", "server"]
routers = ["router"]
[every]
rate  = "100 Mbit/s"
[[links]]
between = ["client", "router"]
delay   = "5 ms"
[[links]]
between  = ["router", "server"]
delay    = "5 ms"
v6.delay = "SIX ms"
"#;

/// Delay of the last link over IPv6, in ms.
pub const SIX_MS: u32 = 15;

/// How much longer a round trip is over IPv6 then, in ms.
pub const TRIP_MS: f64 = 20.0;

/// The metrics of a cell with the round trips that each takes.
type Trips = (&'static str, &'static [(&'static str, u32)]);

/// Each phase takes as many round trips as it has: connecting, TLS 1.3, QUIC and the response one,
/// the first byte three over TCP and two over QUIC.
pub fn finds_the_world() {
    let (home, lab) = lab("probe", SIX_MS);
    let server = caddy(&lab, &home);
    let two = &[("connect", 1), ("tls", 1), ("response", 1), ("first-byte", 3)];
    let trips: [Trips; 3] = [
        ("first-byte-tcp-http-2", two),
        ("first-byte-udp-http-3", &[("quic", 1), ("first-byte", 2)]),
        ("first-byte-tcp-http-1.1", &[("response", 1), ("first-byte", 3)]),
    ];
    let (http, trips) = if is_night() { ("2,3,1.1", &trips[..]) } else { ("2,3", &trips[..2]) };
    let result = visited(&lab, &home, http, trips);
    drop(server);
    assert!(noted(&result, "a TLS ticket from IPv4 was accepted over IPv6"), "{result:#}");
    // Each router's address as it is on the client's side, and the host behind it.
    for (family, expected) in [("v4", ["10.46.1.2", AT[0]]), ("v6", ["fd46:1::2", AT[1]])] {
        let rungs = result["hops"][family].as_array().unwrap();
        let by: Vec<&str> =
            rungs.iter().map(|rung| rung["by"][0]["address"].as_str().unwrap()).collect();
        assert_eq!(by, expected);
    }
    let race = race(&result, "rfc-8305");
    assert_eq!(race["v6"], race["pairs"]);
    let later = |what: &str| number(&race[what]) / 1e6;
    let [stands_ms, byte_ms] = ["stands_later_ns", "first_byte_later_ns"].map(later);
    figure("RFC 8305 later than IPv4 alone, ms", format!("{stands_ms:.2}, {byte_ms:.2}"));
    let off = [stands_ms - TRIP_MS, byte_ms - 3.0 * TRIP_MS].map(f64::abs);
    assert!(off[0] < 0.3 && off[1] < 0.6, "{race:#}");
}

/// TLS 1.2 takes two round trips.
pub fn finds_an_older_tls() {
    let (home, lab) = lab("probe-tls", SIX_MS);
    let server = nginx(&lab, &home, "TLSv1.2");
    let two = &[("connect", 1), ("tls", 2), ("response", 1), ("first-byte", 4)];
    let trips: [Trips; 2] = [
        ("first-byte-tcp-http-2", two),
        ("first-byte-tcp-http-1.1", &[("response", 1), ("first-byte", 4)]),
    ];
    visited(&lab, &home, "2,1.1", &trips);
    drop(server);
}

/// curl chooses as was reckoned from the visits, and its connection stands when it was to.
pub fn foretells_curl() {
    for (six_ms, trip_ms) in [(15, 20.0), (55, 100.0), (155, 300.0)] {
        let (home, lab) = lab(&format!("probe-curl-{six_ms}"), six_ms);
        let server = caddy(&lab, &home);
        let result = measure(&lab, &home, "2");
        let race = race(&result, "curl");
        let foretold = number(&race["v6"]) / number(&race["pairs"]);
        // IPv4 alone takes the round trip of its links.
        let stands_ms = FOUR_MS + number(&race["stands_later_ns"]) / 1e6;
        let runs = times(5, 20);
        let places = format!("{NAME}:{PORT}:[{}],{}", AT[1], AT[0]);
        let stands = |_| {
            let (address, ms) = curl(lab.exec(&home, "client"), &["--resolve", &places]);
            (address.contains(':'), ms)
        };
        let seen: Vec<(bool, f64)> = (0..runs).map(stands).collect();
        drop(server);
        let right = seen.iter().filter(|(six, _)| *six == (foretold > 0.5)).count();
        let mut ms: Vec<f64> = seen.iter().map(|(_, ms)| *ms).collect();
        ms.sort_by(f64::total_cmp);
        let median_ms = ms[runs / 2];
        figure(
            &format!("IPv6 {trip_ms} ms later: chosen as foretold, stands after, foretold"),
            format!("{right} of {runs}, {median_ms:.1} ms, {stands_ms:.1} ms"),
        );
        assert!(right * 20 >= 19 * runs, "{seen:?} {race:#}");
        assert!((median_ms - stands_ms).abs() < 5.0, "{seen:?} {race:#}");
    }
}

/// A round trip over IPv4, in ms.
const FOUR_MS: f64 = 20.0;

/// Connecting, TLS and the answer take as long as curl's own with the same server.
pub fn agrees_with_curl() {
    let (home, lab) = lab("probe-phases", SIX_MS);
    let server = nginx(&lab, &home, "TLSv1.3");
    let result = measure(&lab, &home, "2");
    let [four, six] = [("-4", AT[0]), ("-6", AT[1])].map(|(flag, address)| {
        let runs = times(6, 24);
        let seen: Vec<[f64; 3]> = (0..runs).map(|_| phases(&lab, flag, address, &home)).collect();
        [0, 1, 2].map(|at| {
            let mut ms: Vec<f64> = seen.iter().map(|phases| phases[at]).collect();
            ms.sort_by(f64::total_cmp);
            ms[runs / 2]
        })
    });
    drop(server);
    for (at, metric) in ["connect", "tls", "response"].into_iter().enumerate() {
        let q = question(&result, "first-byte-tcp-http-2", metric);
        let ours = ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e3);
        let theirs = [four[at], six[at]];
        figure(&format!("{metric}, ms, and curl's"), format!("{ours:.2?}, {theirs:.2?}"));
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() < 0.3 + 0.02 * theirs;
        assert!(near(ours[1] - ours[0], theirs[1] - theirs[0]), "{metric}");
        assert!(near(ours[0], theirs[0]) && near(ours[1], theirs[1]), "{metric}");
    }
}

/// How long connecting, TLS and the answer took curl, in ms, TLS in a visit of its own whose trace
/// is written: before its first message it makes ready what it needs, and what comes with the
/// answer to that it reads as it reckons, each in some ms.
fn phases(lab: &Lab, flag: &str, address: &str, home: &Home) -> [f64; 3] {
    let run = |more: &[&str]| {
        let mut curl = lab.exec(home, "client");
        curl.args(["curl", "-sk", flag, "--http2", "-o", "/dev/null"]).args(more);
        curl.args(["--resolve", &format!("{NAME}:{PORT}:{address}")]);
        curl.arg(format!("https://{NAME}:{PORT}/")).output().unwrap()
    };
    let output = run(&["-w", "%{time_connect} %{time_appconnect} %{time_starttransfer}"]);
    let told: Vec<f64> = text(&output.stdout).split(' ').map(|s| s.parse().unwrap()).collect();
    let [connected, secured, answered] = told[..] else { panic!("{output:?}") };
    let said = text(&run(&["-v", "--trace-time"]).stderr);
    let begun_s = traced(&said, "(OUT), TLS handshake, Client hello");
    let over_s = traced(&said, "(IN), TLS handshake, Server hello");
    let handshake_s = (over_s - begun_s).rem_euclid(DAY_S);
    [connected, handshake_s, answered - secured].map(|seconds| seconds * 1e3)
}

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// When curl did what a line of its trace says, in seconds of the day.
fn traced(said: &str, what: &str) -> f64 {
    let line = said.lines().find(|line| line.contains(what));
    let at = line.and_then(|line| line.split(' ').next()).unwrap_or_else(|| panic!("{said}"));
    at.split(':').fold(0.0, |sum, part| sum * 60.0 + part.parse::<f64>().unwrap())
}

/// That world with so long a delay of the last link over IPv6.
pub fn lab(name: &str, six_ms: u32) -> (Home, Lab) {
    let home = Home::new(name);
    let lab = Lab::of_world(&home, name, &WORLD.replace("SIX", &six_ms.to_string()));
    (home, lab)
}

/// What a run says of the site.
fn measure(lab: &Lab, home: &Home, http: &str) -> Value {
    let mut probe = lab.command(home, "client");
    let [four, six] = AT;
    probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
    probe.args(["--mine", "--no-report", "--json", "-q", "--measure", "first-byte"]);
    let pairs = times(6, 24).to_string();
    let output = probe.args(["--http", http, "--pairs", &pairs]).output().unwrap();
    measured(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Measures the site, and holds each difference against the world's.
fn visited(lab: &Lab, home: &Home, http: &str, trips: &[Trips]) -> Value {
    let result = measure(lab, home, http);
    let mut missed = Vec::new();
    for (cell, metrics) in trips {
        for (metric, trips) in *metrics {
            let q = question(&result, cell, metric);
            let [v4, v6] = ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e3);
            let (truth_ms, found_ms) = (f64::from(*trips) * TRIP_MS, v6 - v4);
            let line = format!("{v4:.2} and {v6:.2}, {found_ms:+.2} of {truth_ms}");
            figure(&format!("{cell} {metric}, ms"), line);
            // 0.3 ms for one phase, and 0.6 ms for the sum of several.
            let off_ms_max = if *metric == "first-byte" { 0.6 } else { 0.3 };
            if (found_ms - truth_ms).abs() > off_ms_max {
                missed.push(format!("{cell} {metric}: {found_ms} ms"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
    result
}
