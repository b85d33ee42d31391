//! Reflectors of STAMP: `serve --stamp` answers `run --against stamp`, open and authenticated, and
//! its round trips are those of this program's own exchanges over UDP.

use super::sites::AT;
use super::support::{Home, figure, measured, number, question, text, times};
use super::two_hosts::Lab;
use serde_json::Value;

/// How far the round trips of both may be apart, in µs.
const APART_US_MAX: f64 = 10.0;

pub fn is_measured_against() {
    let home = Home::new("stamp");
    let key = home.path().join("key");
    std::fs::write(&key, "0x000102030405060708090a0b0c0d0e0f\n").unwrap();
    let lab = Lab::up("stamp", &["--delay", "1ms"]);
    let open = lab.serve(&home, &["--stamp"]);
    let pairs = times(6, 20).to_string();
    let sizes = ["-l", "128", "--pairs", &pairs];
    let run = |more: &[&str]| -> Value {
        let [four, six] = AT;
        let mut run = lab.command(&home, "client");
        run.args(["run", four, "--v6", six, "--no-report", "-q", "--json"]).args(sizes);
        let output = run.args(more).output().unwrap();
        measured(&output);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let own = run(&["--measure", "rtt,udp"]);
    let reflected = run(&["--against", "stamp"]);
    drop(open);
    let file = key.to_str().unwrap();
    let _sealed = lab.serve(&home, &["--stamp", "--stamp-key-file", file]);
    let sealed = run(&["--against", "stamp", "--key-file", file]);
    for (how, result) in [("open", &reflected), ("authenticated", &sealed)] {
        for family in ["v4", "v6"] {
            let us = |result: &Value| {
                let q = question(result, "rtt-udp-128", "rtt");
                number(&q[family]["estimate"]) * 1e6
            };
            let (ours, theirs) = (us(&own), us(result));
            figure(&format!("{how} {family}, µs, and own"), format!("{theirs:.1}, {ours:.1}"));
            let most = APART_US_MAX * times(5, 1) as f64;
            assert!((ours - theirs).abs() < most, "{how} {family}: {theirs} and {ours}");
        }
    }
    // Packets that no key authenticates are not answered.
    let [four, six] = AT;
    let mut refused = lab.command(&home, "client");
    refused.args(["run", four, "--v6", six, "--against", "stamp", "--connect-timeout", "500ms"]);
    let said = text(&refused.output().unwrap().stderr);
    assert!(said.contains("[E215"), "{said}");
}
