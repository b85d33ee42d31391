//! What is lately of a watch that is older than that.

use super::*;
use std::collections::BTreeMap;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::watch::With;
use v6gap_core::watch::log::{Ended, Errors, Listed, Noted, Outcome, Seen};

const NOW_NS: u64 = 100 * DAY_NS;

const QUARTER_NS: u64 = 900_000_000_000;

/// The first visit over IPv6 that takes a tenth longer.
const FIRST: u64 = 60;

/// When a visit began, of which that one was 53 days ago.
fn began_unix_ns(number: u64) -> u64 {
    NOW_NS - 53 * DAY_NS - FIRST * QUARTER_NS + number * QUARTER_NS
}

/// A visit whose round trips go up and down by half a percent, over both families by themselves.
fn visit(number: u64) -> Ended {
    let sign = |every: u64| if (number / every).is_multiple_of(2) { 1.0 } else { -1.0 };
    let longer = if number >= FIRST { 1.1 } else { 1.0 };
    let values = PerFamily {
        v4: 145e-6 * f64::exp(0.005 * sign(1)),
        v6: 146e-6 * longer * f64::exp(0.005 * sign(2)),
    };
    let errors = Some(Errors { effect: 1e-3, families: PerFamily { v4: 1e-3, v6: 1e-3 } });
    let cell = "rtt-tcp-64".to_owned();
    Ended {
        at_unix_ns: began_unix_ns(number) + 20,
        began_unix_ns: began_unix_ns(number),
        path: "lab-b".to_owned(),
        kind: Kind::Light,
        outcome: Outcome::Measured,
        run: None,
        bytes: 5,
        seen: vec![Seen { cell, metric: Metric::Rtt, blocks: 8, values, errors }],
        answers: Vec::new(),
        noted: Noted::default(),
        facts: Vec::new(),
    }
}

/// A path that was listed with that margin, a day before anything is lately.
fn listed(margin: f64) -> Logged {
    let path = Listed {
        name: "lab-b".to_owned(),
        host: "lab-b".to_owned(),
        with: With::Run,
        every_ns: Some(QUARTER_NS),
        throughput_every_ns: None,
        time_ns: None,
        measure: Vec::new(),
        margins: BTreeMap::from([(Metric::Rtt, margin)]),
    };
    let at_unix_ns = NOW_NS - BACK_NS - DAY_NS;
    Logged::Watching(Watching { at_unix_ns, budget_bytes: None, paths: vec![path] })
}

/// What is lately of a log that begins so.
fn known(margin: f64) -> Lately {
    let folder = format!("v6gap-lately-{}-{margin}", std::process::id());
    let store = Store::at(&std::env::temp_dir().join(folder));
    let mut log = store.open_watch_log().unwrap();
    log.append(&listed(margin)).unwrap();
    for number in 0..100 {
        log.append(&Logged::Ended(Box::new(visit(number)))).unwrap();
    }
    drop(log);
    let known = lately(&store, Some(NOW_NS)).unwrap();
    store.clear().unwrap();
    known
}

#[test]
fn what_is_lately_is_as_it_was_listed_before() {
    let (wide, narrow) = (known(0.2), known(0.02));
    let changed = |of: &Lately| of.followed.last("lab-b", "rtt-tcp-64", Metric::Rtt).is_some();
    assert!(!changed(&wide), "nobody was told of a tenth within a fifth");
    assert!(changed(&narrow));
    let paths = wide.known.watching.map(|watching| watching.paths.len());
    assert_eq!((paths, wide.known.since_unix_ns), (Some(1), Some(began_unix_ns(0) + 20)));
}
