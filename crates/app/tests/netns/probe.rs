//! `v6gap probe` where the truth is known: real servers behind a lab's links, of which IPv6 is
//! 10 ms farther each way.

use super::sites::{AT, NAME, PORT, caddy, nginx};
use super::support::{Home, figure, measured, number, question, text, times};
use super::two_hosts::Lab;
use serde_json::Value;

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
v6.delay = "15 ms"
"#;

/// How much longer a round trip is over IPv6, in ms.
const TRIP_MS: f64 = 20.0;

/// The metrics of a cell with the round trips that each takes.
type Trips = (&'static str, &'static [(&'static str, u32)]);

/// Each phase takes as many round trips as it has: connecting, TLS 1.3, QUIC and the response one,
/// the first byte three over TCP and two over QUIC.
pub fn finds_the_world() {
    let (home, lab) = lab("probe");
    let server = caddy(&lab, &home);
    let two = &[("connect", 1), ("tls", 1), ("response", 1), ("first-byte", 3)];
    let trips: [Trips; 3] = [
        ("first-byte-tcp-http-2", two),
        ("first-byte-tcp-http-1.1", &[("response", 1), ("first-byte", 3)]),
        ("first-byte-udp-http-3", &[("quic", 1), ("first-byte", 2)]),
    ];
    let result = visited(&lab, &home, "2,1.1,3", &trips);
    drop(server);
    assert!(noted(&result, "a TLS ticket from IPv4 was accepted over IPv6"), "{result:#}");
}

/// TLS 1.2 takes two round trips.
pub fn finds_an_older_tls() {
    let (home, lab) = lab("probe-tls");
    let server = nginx(&lab, &home, "TLSv1.2");
    let two = &[("connect", 1), ("tls", 2), ("response", 1), ("first-byte", 4)];
    visited(&lab, &home, "2", &[("first-byte-tcp-http-2", two)]);
    drop(server);
}

fn lab(name: &str) -> (Home, Lab) {
    let home = Home::new(name);
    let world = home.path().join("world.toml");
    std::fs::write(&world, WORLD).unwrap();
    let lab = Lab::up(name, &[world.to_str().unwrap()]);
    (home, lab)
}

/// Measures the site, and holds each difference against the world's.
fn visited(lab: &Lab, home: &Home, http: &str, trips: &[Trips]) -> Value {
    let mut probe = lab.command(home, "client");
    let [four, six] = AT;
    probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
    probe.args(["--mine", "--no-report", "--json", "-q", "--measure", "first-byte"]);
    let pairs = times(6, 24).to_string();
    let output = probe.args(["--http", http, "--pairs", &pairs]).output().unwrap();
    measured(&output);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
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
    assert!(missed.is_empty(), "{missed:?} {}", text(&output.stderr));
    result
}

fn noted(result: &Value, words: &str) -> bool {
    let checks = result["checks"].as_array().unwrap();
    checks.iter().any(|check| check["text"].as_str().unwrap_or_default().contains(words))
}
