//! A run at a server with limits, over a link that carries more.

use super::support::{Home, document, figure, measured, number, text};
use super::two_hosts::Lab;
use serde_json::Value;

/// The limit of the server, in bit/s.
const LIMIT_BPS: f64 = 20e6;

/// Nothing is refused, round trips are compared, and throughput, which reached the limit, is not.
/// What the server took is within its limits.
pub fn answers_what_it_can() {
    let home = Home::new("limits");
    let lab = Lab::up("limits", &["--model", "bare", "--rate", "none"]);
    let server = lab.serve(&home, &["--public", "--max-rate", "20M"]);
    let both = ["10.46.2.2", "--v6", "fd46:2::2"];
    let args = [&both[..], &["--measure", "throughput,rtt", "--pairs", "6"]].concat();
    let more = ["-t", "300ms", "--json", "--no-report", "-q"];
    let ran = lab.command(&home, "client").args(args).args(more).output().unwrap();
    drop(server);
    measured(&ran);
    let result = document(&ran);
    let limit = "reached the limit of 20 Mbit/s that the server announces";
    for question in result["questions"].as_array().unwrap() {
        let verdict = &question["verdict"];
        if question["metric"] == "throughput" {
            assert_eq!((verdict, &question["why_none"]), (&"none".into(), &limit.into()));
            assert!(question["effect"].is_null(), "{question:#}");
        } else if question["metric"] == "rtt" {
            assert!(question["effect"].is_object(), "{question:#}");
        }
    }
    let checks = result["checks"].as_array().unwrap().iter();
    let noted = checks.filter(|check| check["text"].as_str().unwrap().ends_with("[N403]"));
    assert!(noted.count() > 0, "{:#}", result["checks"]);
    let shown = text(&home.v6gap(&["show", "last"]).stdout);
    assert!(shown.contains("reached the limit of 20"), "{shown}");
    let journal = text(&home.v6gap(&["export", "last", "--format", "jsonl"]).stdout);
    taken(&journal);
}

/// What the server counted of every transfer that it received.
fn taken(journal: &str) {
    let lines: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(number(&lines[0]["session"]["seen"]["limits"]["rate_bps"]), LIMIT_BPS);
    let mut most: f64 = 0.0;
    let transfers = lines.iter().filter(|line| line["cell"] == "throughput-tcp");
    let measured = |line: &Value| line["ends"]["server"]["seen"]["measured"].clone();
    let bytes = transfers.map(|line| number(&measured(line)["received"]["bytes"]));
    let bytes: Vec<f64> = bytes.collect();
    assert!(bytes.len() >= 12, "{} trials", bytes.len());
    for bytes in bytes {
        // A step of 2 ms and a burst of as little come on top of 0.3 s at the limit.
        assert!(bytes <= 0.32 * LIMIT_BPS / 8.0, "{bytes} B");
        most = most.max(bytes);
    }
    figure("most bytes of a transfer of 0.3 s at 20 Mbit/s", most);
}
