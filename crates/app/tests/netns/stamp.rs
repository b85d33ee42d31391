//! Reflectors of STAMP: `serve --stamp` answers `run --against stamp`, open and authenticated, and
//! its round trips are those of this program's own exchanges over UDP.

use super::sites::AT;
use super::support::{Home, figure, measured, number, question, text, times};
use super::two_hosts::Lab;
use serde_json::Value;

/// How far the round trips of both may be apart, in µs.
const APART_US_MAX: f64 = 10.0;

/// By how much a reflector's round trips differ from own exchanges, by the median of runs in turns:
/// those of one run differ from those of the next by more than is judged here.
fn apart(how: &str, own: impl Fn() -> Value, reflected: impl Fn() -> Value) {
    let us = |result: &Value| {
        let q = question(result, "rtt-udp-128", "rtt");
        ["v4", "v6"].map(|family| number(&q[family]["estimate"]) * 1e6)
    };
    let runs: Vec<[[f64; 2]; 2]> =
        (0..times(1, 7)).map(|_| [us(&own()), us(&reflected())]).collect();
    for (at, family) in ["v4", "v6"].into_iter().enumerate() {
        let median = |of: &dyn Fn(&[[f64; 2]; 2]) -> f64| {
            let mut all: Vec<f64> = runs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let [ours, theirs] = [median(&|run| run[0][at]), median(&|run| run[1][at])];
        let longer = median(&|run| run[1][at] - run[0][at]);
        figure(
            &format!("{how} {family}, µs: own, reflected, longer"),
            format!("{ours:.1}, {theirs:.1}, {longer:+.1}"),
        );
        let most = APART_US_MAX * times(10, 1) as f64;
        assert!(longer.abs() < most, "{how} {family}: {runs:?}");
    }
}

pub fn is_measured_against() {
    let home = Home::new("stamp");
    let key = home.path().join("key");
    std::fs::write(&key, "0x000102030405060708090a0b0c0d0e0f\n").unwrap();
    let lab = Lab::up("stamp", &["--delay", "1ms"]);
    let open = lab.serve(&home, &["--stamp"]);
    let sizes = ["-l", "128", "--pairs", "6"];
    let run = |more: &[&str]| -> Value {
        let [four, six] = AT;
        let mut run = lab.command(&home, "client");
        run.args(["run", four, "--v6", six, "--no-report", "-q", "--json"]).args(sizes);
        let output = run.args(more).output().unwrap();
        measured(&output);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    apart("open", || run(&["--measure", "rtt,udp"]), || run(&["--against", "stamp"]));
    drop(open);
    let file = key.to_str().unwrap();
    let _sealed = lab.serve(&home, &["--stamp", "--stamp-key-file", file]);
    let against = ["--against", "stamp", "--key-file", file];
    apart("authenticated", || run(&["--measure", "rtt,udp"]), || run(&against));
    // Packets that no key authenticates are not answered.
    let [four, six] = AT;
    let mut refused = lab.command(&home, "client");
    refused.args(["run", four, "--v6", six, "--against", "stamp", "--connect-timeout", "500ms"]);
    let said = text(&refused.output().unwrap().stderr);
    assert!(said.contains("[E215"), "{said}");
}
