//! Plans that come with the program, end to end in a lab, at the small scale; on the simulated
//! network all run every day (`crates/lab/tests/scenarios`).

use super::coherent::contradictions;
use super::support::{Home, figure, text};
use serde_json::Value;
use std::time::Instant;

/// Those of the studies, each with a lab of its own.
const OF_STUDIES: [&str; 15] = [
    "raicu-tcp-rtt",
    "raicu-udp-rtt",
    "raicu-10mbit-tcp",
    "raicu-10mbit-udp",
    "raicu-throughput",
    "raicu-delay-variation",
    "raicu-priority",
    "goyal-throughput",
    "goyal-ping",
    "goyal-router-to-router",
    "soorty-tcp",
    "soorty-memory",
    "manford-udp",
    "manford-rtt",
    "sailan-window",
];

/// Our own that name a lab.
const OWN: [&str; 2] = ["windows", "cpu"];

/// Those that are made for two hosts, which a lab can stand in for.
const BETWEEN_HOSTS: [&str; 2] = ["first-look", "null"];

/// Those of them with small datagrams at full speed: over a cable without a rate, since few
/// computers carry both ends and a line of so many packets.
const FAST: [&str; 2] = ["sizes", "nightly"];

pub fn run_end_to_end() {
    let shipped = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans")).unwrap();
    let plans = plans();
    assert_eq!(shipped.count(), plans.len(), "every plan that comes with the program is here");
    let only = std::env::var("V6GAP_PLAN").ok();
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    plans.iter().filter(|(name, _)| wanted(name)).for_each(|(name, place)| run(name, place));
}

/// Names, and where each is measured that names no lab itself.
fn plans() -> Vec<(&'static str, &'static [&'static str])> {
    let own = OF_STUDIES.into_iter().chain(OWN).map(|name| (name, &[][..]));
    let between = BETWEEN_HOSTS.map(|name| (name, &["--lab", "cable"][..]));
    let fast = FAST.map(|name| (name, &["--lab", "bare"][..]));
    own.chain(between).chain(fast).collect()
}

/// Every cell has values of both families and stands beside what was published, or says why not.
fn run(name: &str, place: &[&str]) {
    let home = Home::new(&format!("preset-{name}"));
    let start = Instant::now();
    let args = ["plan", "run", name, "--scale", "small", "--json", "-q", "--no-report"];
    let output = home.v6gap(&[&args[..], place].concat());
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{name}: {e}: {}", text(&output.stderr)));
    let seconds = start.elapsed().as_secs_f64();
    let questions = result["questions"].as_array().unwrap();
    let both = |q: &Value| q["v4"]["estimate"].is_f64() && q["v6"]["estimate"].is_f64();
    // Of a family against itself there are two arms by other names.
    let measured = |q: &&Value| both(q) || q["effect"].is_object();
    let with_values = questions.iter().filter(measured).count();
    let line =
        format!("{with_values} of {} questions have values, {seconds:.1} s", questions.len());
    figure(name, line);
    assert!(output.status.success(), "{name}: {}: {}", result["headline"], text(&output.stderr));
    assert_eq!(contradictions(&text(&output.stdout)), Vec::<String>::new(), "{name}");
    for q in questions {
        let (cell, why) = (&q["cell"], &q["why_none"]);
        assert!(measured(&q) || why.is_string(), "{name}: {cell} has neither value nor reason");
    }
    assert!(2 * with_values > questions.len(), "{name}: most questions have no value");
    // Of one of them nothing was published.
    let published = OF_STUDIES.contains(&name) && !result["published"].is_null();
    if let Some((study, _)) = name.split_once('-').filter(|_| published) {
        assert_eq!(result["published"]["study"], study, "{name}");
        let combined = result["as_published"].as_array().unwrap().len();
        assert!((1..=with_values).contains(&combined), "{name}: as the study combined its runs");
    }
}
