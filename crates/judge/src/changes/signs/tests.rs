//! What moves together, and what it is taken for.

use crate::changes::{Event, Watched, What};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::watch::Kind;
use v6gap_core::watch::log::{Ended, Noted, Outcome, Seen};

/// The first visit after the change.
const FIRST: u64 = 20;

/// Round trips of a short and of a long message, connecting, a transfer and what is lost.
const ASKED: [(&str, Metric, f64); 5] = [
    ("rtt-tcp-64", Metric::Rtt, 5e-3),
    ("rtt-tcp-16384", Metric::Rtt, 20e-3),
    ("connect-tcp", Metric::Connect, 5e-3),
    ("throughput-tcp", Metric::Throughput, 19e6),
    ("throughput-udp-1408", Metric::Loss, 0.005),
];

/// A visit of which these are multiplied, over IPv6 or over both families, after the change. Each
/// question goes up and down by half a percent in a way of its own.
fn visit(number: u64, factors: [f64; 5], both: bool) -> Ended {
    let wave = |every: u64| if (number / every).is_multiple_of(2) { 1.005 } else { 0.995 };
    let seen =
        ASKED.iter().zip(factors).zip(1..).map(|(((cell, metric, usual), factor), place)| {
            let factor = if number >= FIRST { factor } else { 1.0 };
            let v4 = usual * wave(1) * if both { factor } else { 1.0 };
            let values = PerFamily { v4, v6: usual * wave(1 + place) * factor };
            Seen { cell: (*cell).to_owned(), metric: *metric, blocks: 4, values, errors: None }
        });
    Ended {
        at_unix_ns: number * 30 + 5,
        began_unix_ns: number * 30,
        path: "lab-b".to_owned(),
        kind: Kind::Light,
        outcome: Outcome::Measured,
        run: None,
        bytes: 0,
        seen: seen.collect(),
        answers: Vec::new(),
        noted: Noted::default(),
        facts: Vec::new(),
    }
}

/// Of each question that changed: its cell, and the name, family and values of its suspects.
type Told = Vec<(String, Vec<(String, Option<Family>, String, String)>)>;

fn told(factors: [f64; 5], both: bool) -> Told {
    let mut path = Watched::default();
    let events: Vec<Event> =
        (0..FIRST + 30).flat_map(|number| path.take(&visit(number, factors, both))).collect();
    let of = |event: Event| match event.what {
        What::Changed { asked, change } => {
            assert_eq!(change.first.visit, FIRST, "{}", asked.cell);
            let named = change.suspects.into_iter();
            let named = named.map(|s| (s.name, s.family, s.before, s.after));
            (asked.cell, named.collect::<Vec<_>>())
        }
        What::Outage { .. } => panic!("{event:?}"),
    };
    events.into_iter().map(of).collect()
}

/// The names of the suspects of a cell.
fn names<'a>(told: &'a Told, cell: &str) -> Vec<&'a str> {
    let (_, named) = told.iter().find(|(of, _)| of == cell).expect("it changed");
    named.iter().map(|(name, ..)| name.as_str()).collect()
}

#[test]
fn a_longer_line_is_seen_by_every_exchange() {
    let told = told([5.0, 2.0, 5.0, 1.0, 1.0], false);
    assert_eq!(told.len(), 3, "{told:?}");
    for cell in ["rtt-tcp-64", "rtt-tcp-16384", "connect-tcp"] {
        assert_eq!(names(&told, cell), ["delay"], "{told:?}");
    }
    let (_, of_connect) = told.iter().find(|(cell, _)| cell == "connect-tcp").expect("it changed");
    let (_, family, before, after) = &of_connect[0];
    assert_eq!(
        (*family, before.as_str(), after.as_str()),
        (Some(Family::V6), "5.00 ms", "25.0 ms")
    );
}

#[test]
fn a_slower_line_leaves_short_exchanges_alone() {
    let told = told([1.0, 1.6, 1.0, 0.5, 1.0], false);
    assert_eq!(told.len(), 2, "{told:?}");
    for cell in ["rtt-tcp-16384", "throughput-tcp"] {
        assert_eq!(names(&told, cell), ["rate"], "{told:?}");
    }
}

/// No rate makes transfers faster and longer exchanges slower.
#[test]
fn what_moves_against_each_other_has_no_rate_in_common() {
    let told = told([1.0, 1.6, 1.0, 2.0, 1.0], false);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|(_, named)| named.is_empty()), "{told:?}");
}

#[test]
fn a_line_that_loses_more_is_named_by_its_losses() {
    let told = told([1.0, 1.0, 1.0, 0.3, 10.0], false);
    assert_eq!(names(&told, "throughput-tcp"), ["loss"], "{told:?}");
    // What is lost has no other losses to point at.
    assert!(!names(&told, "throughput-udp-1408").contains(&"loss"), "{told:?}");
}

#[test]
fn a_transfer_alone_says_nothing_of_its_reason() {
    let told = told([1.0, 1.0, 1.0, 0.5, 1.0], false);
    assert_eq!((told.len(), names(&told, "throughput-tcp").len()), (1, 0), "{told:?}");
}

/// Where both families change alike, each is named.
#[test]
fn what_both_families_do_is_of_both() {
    let told = told([5.0, 2.0, 5.0, 1.0, 1.0], true);
    for (cell, named) in &told {
        let families: Vec<Option<Family>> = named.iter().map(|(_, family, ..)| *family).collect();
        assert_eq!(families, [Some(Family::V4), Some(Family::V6)], "{cell}: {named:?}");
    }
}
