//! What is scraped of a watch: a kept text, and that no name breaks out of its label.

use crate::snapshots::check;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::watch::Kind;
use v6gap_core::watch::metrics::{Counted, Metrics, OfPath, Question};
use v6gap_report::metrics::{names, text};

const DOCUMENT: &str = include_str!("../../../docs/metrics.md");

fn question(metric: Metric, verdict: &str, range: [f64; 3], values: [f64; 2]) -> Question {
    Question {
        kind: Kind::Light,
        metric,
        verdict: verdict.to_owned(),
        range: Some(range),
        margin: Some(0.05),
        predicted: Some(0.25),
        values: Some(PerFamily { v4: values[0], v6: values[1] }),
    }
}

/// A path that was measured, and one of which nothing is known but that it is down.
fn watched() -> Metrics {
    let questions = [
        ("connect", question(Metric::Connect, "inconclusive", [0.0, -0.25, 0.25], [0.5, 0.5])),
        ("rtt-tcp-64", question(Metric::Rtt, "worse", [0.5, 0.25, 0.75], [0.25, 0.375])),
        ("rtt-tcp-64:loss", question(Metric::Loss, "same", [0.0, -0.5, 0.5], [0.0, 0.125])),
        ("throughput-tcp", question(Metric::Throughput, "none", [-0.5, -0.75, 0.0], [8e6, 4e6])),
    ];
    let counted = Counted {
        windows: [("measured", 12), ("behind", 1)].into(),
        discarded: [("steal".to_owned(), 3)].into(),
        changes: [("rtt-tcp-64".to_owned(), 1)].into(),
        sent_bytes: 123_456,
    };
    let measured = OfPath {
        host: "lab-b.example".to_owned(),
        every_ns: 900_000_000_000,
        addresses: PerFamily { v4: Some("192.0.2.7".to_owned()), v6: Some("2001:db8::7".into()) },
        up: Some(PerFamily { v4: true, v6: true }),
        measured_unix_ns: Some(1_763_560_962_500_000_000),
        questions: questions.map(|(name, question)| (name.to_owned(), question)).into(),
        counted,
    };
    let down = OfPath {
        host: "nas".to_owned(),
        every_ns: 1_500_000_000,
        up: Some(PerFamily { v4: true, v6: false }),
        ..OfPath::default()
    };
    let paths = [("lab-b".to_owned(), measured), ("na\"s\\\n".to_owned(), down)];
    Metrics { from: "lab-a".to_owned(), version: "1.0".to_owned(), paths: paths.into() }
}

#[test]
fn what_is_scraped() {
    check("metrics.txt", &text(&watched()));
    let nothing = text(&Metrics::new("lab-a", "1.0"));
    let series: Vec<&str> = nothing.lines().filter(|line| !line.starts_with("# ")).collect();
    assert_eq!(series, ["v6gap_build_info{from=\"lab-a\",version=\"1.0\"} 1.0"]);
}

/// Each line is a description or one value of one series, whatever a path is called.
#[test]
fn every_line_is_one_value() {
    let text = text(&watched());
    let mut series: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        assert!(
            names().any(|known| name.starts_with(&format!("{known}{{from=\"lab-a\""))),
            "{line}"
        );
        series.push(name);
    }
    let all = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), all, "a series is there twice");
}

#[test]
fn every_name_is_documented() {
    for name in names() {
        assert!(DOCUMENT.contains(&format!("`{name}`")), "{name}");
    }
}
