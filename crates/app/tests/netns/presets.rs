//! The published experiments end to end in their own labs, at the small scale.

use super::support::{Home, figure, full_form, text};
use serde_json::Value;
use std::time::Instant;

/// Those that any machine carries in a few seconds.
const TRANSFERS: [&str; 2] = ["goyal-throughput", "soorty-memory"];

/// One with prediction and published values in every cell.
const ROUND_TRIPS: [&str; 1] = ["raicu-udp-rtt"];

/// All others that name a lab of their own.
const OTHERS: [&str; 13] = [
    "raicu-tcp-rtt",
    "raicu-10mbit-tcp",
    "raicu-10mbit-udp",
    "raicu-throughput",
    "raicu-priority",
    "goyal-ping",
    "goyal-router-to-router",
    "soorty-tcp",
    "manford-udp",
    "manford-rtt",
    "sailan-window",
    "windows",
    "cpu",
];

pub fn transfers() {
    TRANSFERS.iter().for_each(|name| run(name));
}

pub fn round_trips() {
    ROUND_TRIPS.iter().for_each(|name| run(name));
}

pub fn others() {
    if full_form() {
        OTHERS.iter().for_each(|name| run(name));
    }
}

/// Every cell has values of both families and stands beside what was published, or says why not.
fn run(name: &str) {
    let home = Home::new(&format!("preset-{name}"));
    let start = Instant::now();
    let args = ["plan", "run", name, "--scale", "small", "--json", "-q", "--no-report"];
    let output = home.v6gap(&args);
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{name}: {e}: {}", text(&output.stderr)));
    let seconds = start.elapsed().as_secs_f64();
    let questions = result["questions"].as_array().unwrap();
    let measured = |q: &&Value| q["v4"]["estimate"].is_f64() && q["v6"]["estimate"].is_f64();
    let with_values = questions.iter().filter(measured).count();
    let line =
        format!("{with_values} of {} questions have values, {seconds:.1} s", questions.len());
    figure(name, line);
    assert!(output.status.success(), "{name}: {}: {}", result["headline"], text(&output.stderr));
    for q in questions {
        let (cell, why) = (&q["cell"], &q["why_none"]);
        assert!(measured(&q) || why.is_string(), "{name}: {cell} has neither value nor reason");
    }
    assert!(2 * with_values > questions.len(), "{name}: most questions have no value");
    if let Some((study, _)) = name.split_once('-') {
        assert_eq!(result["published"]["study"], study, "{name}");
        let combined = result["as_published"].as_array().unwrap();
        assert_eq!(combined.len(), with_values, "{name}: each as the study combined its runs");
    }
}
