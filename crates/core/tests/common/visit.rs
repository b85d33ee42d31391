//! A visit as the log of a watch has it, for the tests of those who read such logs. They are of
//! several crates, so that each takes this file as a module of its own.

use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::watch::Kind;
use v6gap_core::watch::log::{Ended, Noted, Outcome, Seen};

/// From one visit to the next, in ns.
pub const QUARTER_NS: u64 = 900_000_000_000;

/// How long a visit takes, in ns.
const TAKES_NS: u64 = 20_000_000_000;

/// The visit of that number to `lab-b`: a round trip over IPv6 takes `longer` times as long as over
/// IPv4, and those of each family go up and down by the part `noise` in a way of its own.
pub fn visit(number: u64, longer: f64, noise: f64) -> Ended {
    let sign = |every: u64| if (number / every).is_multiple_of(2) { 1.0 } else { -1.0 };
    let values = PerFamily {
        v4: 145e-6 * (1.0 + noise * sign(1)),
        v6: 145e-6 * longer * (1.0 + noise * sign(2)),
    };
    let cell = "rtt-tcp-64".to_owned();
    let seen = Seen { cell, metric: Metric::Rtt, blocks: 8, values, errors: None };
    Ended {
        at_unix_ns: number * QUARTER_NS + TAKES_NS,
        began_unix_ns: number * QUARTER_NS,
        path: "lab-b".to_owned(),
        kind: Kind::Light,
        outcome: Outcome::Measured,
        run: None,
        bytes: 0,
        seen: vec![seen],
        answers: Vec::new(),
        noted: Noted::default(),
        facts: Vec::new(),
    }
}
