//! The runs of a fleet, drawn up with a known truth and the same each time: sites of five hosts
//! each, a path between each two of them. Over IPv6 one site is 5 ms farther, for one path since
//! 12 h; one host was not measured for three days; of one path nothing can be told.
//!
//! Journals are stand-ins that nothing may open, but for one.

use std::path::{Path, PathBuf};
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::analysis::summary::{Answer, SCHEMA, Summary};
use v6gap_store::{Ended, Head, Store};

/// Hosts of a site.
const OF_SITE: usize = 5;

/// The site that is farther over IPv6.
pub const FAR: usize = 7;

/// The host that was not measured lately: s3/h2.
pub const STALE: usize = 17;

/// The path of which nothing can be told: s1/h1 to s2/h2.
pub const OPEN: (usize, usize) = (6, 12);

/// The path that changed, s0/h0 to s7/h0, and how many runs of it there were before.
pub const CHANGED: (usize, usize) = (0, 35);
pub const EARLIER: u64 = 48;

/// Of these, so many found IPv6 farther.
pub const SINCE: u64 = 12;

const MINUTE_NS: u64 = 60_000_000_000;
const HOUR_NS: u64 = 60 * MINUTE_NS;
const DAY_NS: u64 = 24 * HOUR_NS;

/// A round trip over IPv4, and how much farther the far site is, in s.
const ROUND_TRIP: f64 = 10e-3;
const FARTHER: f64 = 5e-3;

/// The folder of the runs of so many sites as they are at that time. The newest of the path that
/// changed is this recorded run.
pub fn fill(home: &Path, sites: usize, now_ns: u64, (id, journal): (&str, &str)) -> PathBuf {
    let store = Store::at(home);
    let hosts = sites * OF_SITE;
    for (from, to) in (0..hosts).flat_map(|from| (from + 1..hosts).map(move |to| (from, to))) {
        let days = if from == STALE || to == STALE { 3 } else { 0 };
        let minutes = 5 + ((from * 7 + to * 3) % 40) as u64;
        let began_ns = now_ns - days * DAY_NS - minutes * MINUTE_NS;
        let what = if (from, to) == OPEN { Found::Open } else { Found::of(is_far(from, to)) };
        match (from, to) == CHANGED {
            true => put(&store, id, (from, to), began_ns, what, journal),
            false => put(&store, &format!("p{from:02}{to:02}"), (from, to), began_ns, what, ""),
        }
    }
    for ago in 1..=EARLIER {
        let id = format!("q{ago:02}");
        put(&store, &id, CHANGED, now_ns - ago * HOUR_NS, Found::of(ago < SINCE), "");
    }
    home.join("runs")
}

/// Adds a run that finds IPv6 farther.
pub fn add(home: &Path, id: &str, ends: (usize, usize), began_ns: u64) {
    put(&Store::at(home), id, ends, began_ns, Found::Farther, "");
}

/// What a host is called.
pub fn name(host: usize) -> String {
    format!("s{}/h{}", host / OF_SITE, host % OF_SITE)
}

/// Whether one end alone is at the far site.
pub fn is_far(from: usize, to: usize) -> bool {
    (from / OF_SITE == FAR) != (to / OF_SITE == FAR)
}

/// What a run finds.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Farther,
    Same,
    Open,
}

impl Found {
    fn of(farther: bool) -> Self {
        if farther { Found::Farther } else { Found::Same }
    }
}

fn put(
    store: &Store,
    id: &str,
    (from, to): (usize, usize),
    began_ns: u64,
    what: Found,
    journal: &str,
) {
    let id = id.parse().unwrap();
    let folder = store.folder(&id);
    std::fs::create_dir_all(&folder).unwrap();
    let journal = if journal.is_empty() { "not to be opened" } else { journal };
    let head = Head {
        between: Some([name(from), name(to)]),
        id,
        started_unix_ns: began_ns,
        target: name(to),
        plan: "first-look".to_owned(),
        world: None,
        ended: Some(Ended::Complete),
        journal_bytes: journal.len() as u64,
        title: String::new(),
        note: String::new(),
        set_up: None,
    };
    let text = summary(what, began_ns / HOUR_NS).encode();
    // First: whoever looks takes a folder with a journal for a run.
    std::fs::write(folder.join("summary.json"), head.line(Some(&text))).unwrap();
    std::fs::write(folder.join("journal.jsonl"), journal).unwrap();
}

fn summary(what: Found, hour: u64) -> Summary {
    let wave = |hours: u64| if (hour / hours).is_multiple_of(2) { 1e-4 } else { -1e-4 };
    let round_trip = ROUND_TRIP * f64::exp(wave(2));
    let wave = wave(1);
    let router = |last: u16| vec![std::net::IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last])];
    let way = if what == Found::Farther { 7 } else { 5 };
    let headline = match what {
        Found::Farther => "IPv6 takes 50 % longer.",
        Found::Same => "IPv6 and IPv4 are the same.",
        Found::Open => "Whether IPv6 differs cannot be told.",
    };
    let far = (FARTHER / ROUND_TRIP).ln_1p();
    let rtt = match what {
        Found::Farther => answer("rtt-tcp-64", Metric::Rtt, round_trip, (far + wave, 2e-4)),
        Found::Same => answer("rtt-tcp-64", Metric::Rtt, round_trip, (1e-3 + wave, 2e-4)),
        Found::Open => answer("rtt-tcp-64", Metric::Rtt, round_trip, (6e-3, 5e-3)),
    };
    let rate = answer("throughput-tcp", Metric::Throughput, 94.1e6, (wave, 2e-4));
    Summary {
        schema: SCHEMA.to_owned(),
        by: env!("CARGO_PKG_VERSION").to_owned(),
        valid: true,
        headline: headline.to_owned(),
        granted: Vec::new(),
        questions: vec![rtt, rate],
        hops: PerFamily { v4: Vec::new(), v6: vec![router(1), router(way)] },
    }
}

/// An answer by the logarithm of the ratio and its standard error, with a margin of 1 %.
fn answer(cell: &str, metric: Metric, v4: f64, (ratio, error): (f64, f64)) -> Answer {
    let ends = [ratio, ratio - 2.0 * error, ratio + 2.0 * error].map(f64::exp_m1);
    let verdict = match ends {
        [_, low, high] if -0.01 < low && high < 0.01 => Verdict::Same,
        [_, low, high] if low <= 0.0 && high >= 0.0 => Verdict::CannotTell,
        _ => Verdict::Worse,
    };
    let found = |estimate: f64| Some([Some(estimate), Some(error)]);
    Answer {
        cell: cell.to_owned(),
        metric,
        verdict,
        within: None,
        effect: Some(ends.map(Some)),
        values: [Some(v4), Some(v4 * ratio.exp())],
        found: [found(ratio), found(v4.ln()), found(v4.ln() + ratio)],
    }
}
