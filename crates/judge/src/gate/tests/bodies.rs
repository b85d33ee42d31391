//! Bodies of downloads: what the site does with them is told, and takes nothing from the phases.

use super::trial;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Body, Measured, Visited};
use v6gap_core::plan::{Plan, check, draft, preset};

fn plan() -> Plan {
    let site = draft::Site {
        url: "https://example.org/f.iso".into(),
        http: alloc::vec!["2".into()],
        download: Some("20 MB".into()),
        ..draft::Site::default()
    };
    check::check(&preset::visits_draft(site, false, false), 1).unwrap()
}

/// What the gates see in a trial over IPv4 beside one over IPv6: name, whether it closes, words.
fn found(own: Body, other: Body) -> Vec<(String, bool, String)> {
    let plan = plan();
    let cell = &plan.cells[0];
    let of = |family, body: Body| {
        let mut trial = trial(&plan, &cell.id, family);
        let visited = Visited { body: Some(body), ..Visited::default() };
        trial.ends.client.measured = Measured::Visited(visited.into());
        if body.rate_bps().is_none() {
            trial.values.remove(&Metric::Throughput);
        }
        trial
    };
    let (own, other) = (of(Family::V4, own), of(Family::V6, other));
    let findings = super::super::judge(&plan, cell, &own, &other).into_iter();
    findings.map(|finding| (finding.gate, finding.fatal, finding.seen)).collect()
}

const WHOLE: Body =
    Body { bytes: 5_000_000, later_bytes: 4_900_000, span_ns: 400_000_000, is_whole: true };

#[test]
fn a_body_without_a_rate_is_told_and_closes_nothing() {
    assert_eq!(found(WHOLE, WHOLE), []);
    for (body, seen) in [
        (Body { bytes: 500, ..WHOLE }, "the body has only 500 bytes"),
        (
            Body { bytes: 500, is_whole: false, ..WHOLE },
            "only 500 bytes of the body came in its time",
        ),
        (Body { span_ns: 0, ..WHOLE }, "the 5000000 bytes of the body came at once"),
    ] {
        assert_eq!(found(body, body), [("short-body".to_string(), false, seen.to_string())]);
    }
}

#[test]
fn answers_of_different_length_are_told() {
    let longer = Body { bytes: 20_000_000, is_whole: false, ..WHOLE };
    let seen = "answers differ in length: 5000000 bytes were read over IPv4, and 20000000 over \
                IPv6";
    let told = [("answers-differ".to_string(), false, seen.to_string())];
    assert_eq!(found(WHOLE, longer), told);
    assert_eq!(found(longer, longer), []);
    // Neither of them came to its end.
    assert_eq!(found(longer, Body { bytes: 300_000, ..longer }), []);
}
