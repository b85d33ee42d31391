//! kill -9 of either end at random moments: finished blocks survive and the run can go on.

use super::support::{
    Home, document, figure, goes_on, is_disturbance, is_spoiled, text, times, told,
};
use super::two_hosts::Lab;
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

pub fn survives() {
    let kills = times(2, 20);
    let lab = Lab::up("crash", &[]);
    let mut kept = Vec::new();
    for kill in 0..kills {
        kept.push(one(&lab, kill));
    }
    figure("kills", kills);
    figure("finished trials kept in each", format!("{kept:?}"));
}

/// Kills the client (even) or the server (odd) some time into a run, then shows and resumes it.
fn one(lab: &Lab, kill: usize) -> u64 {
    let home = Home::new(&format!("crash{kill}"));
    let mut server = lab.serve(&home, &[]);
    // Every fourth run moves bulk data as well; without it a run is over in seconds.
    let measure = if kill % 4 == 3 { "throughput,rtt,tcp" } else { "rtt,connect,tcp" };
    let target = ["10.46.2.2", "--v6", "fd46:2::2", "--measure", measure, "--pairs", "6", "-q"];
    let mut client = lab.command(&home, "client");
    let client = client.args(target).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut client = wait_for_journal(&home, client.spawn().unwrap());
    // Spread over the run without a clock-seeded generator: 0.2 to 6 s, a different moment each
    // time.
    let moment = Duration::from_millis(200 + (kill as u64 * 2477) % 5800);
    let start = Instant::now();
    while start.elapsed() < moment && client.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    if kill.is_multiple_of(2) {
        client.kill().unwrap();
        client.wait().unwrap();
    } else {
        server.0.kill().unwrap();
        let ended = client.wait_with_output().unwrap();
        // One that was over by then has an answer, or none for the machine's sake.
        let is_right = matches!(ended.status.code(), Some(0 | 4)) || is_spoiled(&ended);
        assert!(is_right, "kill {kill}: {}", told(&ended));
        drop(server);
        server = lab.serve(&home, &[]);
    }
    let before = shown(&home);
    if before["stopped"].is_null() {
        // It was over before the kill: nothing to resume.
        return before["trials"].as_u64().unwrap();
    }
    let resumed = lab
        .command(&home, "client")
        .args(["10.46.2.2", "--v6", "fd46:2::2", "--continue", "last", "--json", "-q"])
        .output()
        .unwrap();
    let after = document(&resumed);
    assert!(after["trials"].as_u64() >= before["trials"].as_u64());
    drop(server);
    if is_spoiled(&resumed) {
        return before["trials"].as_u64().unwrap();
    }
    assert!(resumed.status.success(), "kill {kill}: {}", told(&resumed));
    assert_eq!(after["valid"], true, "kill {kill}: {}", after["headline"]);
    for question in after["questions"].as_array().unwrap() {
        // A machine that wakes up late differs from itself, which is said in place of a verdict.
        let why = question["why_none"].as_str().unwrap_or_default();
        assert!(question["verdict"] != "none" || is_disturbance(why), "kill {kill}: {question:#}");
    }
    before["trials"].as_u64().unwrap()
}

fn wait_for_journal(home: &Home, mut client: Child) -> Child {
    let runs = home.path().join("runs");
    let start = Instant::now();
    while std::fs::read_dir(&runs).map_or(0, Iterator::count) == 0 {
        goes_on(&mut client, "it measured");
        assert!(start.elapsed() < Duration::from_secs(20), "no journal within 20 s");
        std::thread::yield_now();
    }
    client
}

fn shown(home: &Home) -> Value {
    let output = home.v6gap(&["show", "last", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let again = home.v6gap(&["show", "last", "--format", "json"]);
    assert_eq!(output.stdout, again.stdout, "two analyses of one run differ");
    serde_json::from_slice(&output.stdout).unwrap()
}
