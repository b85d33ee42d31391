//! The log of a watch of three paths for a week, drawn at random with a known truth and the same
//! each time: on one IPv6 takes 2 % longer from some visit on and has three routers more, one has
//! no IPv6 for three hours and none at the end, on the third nothing happens. Noise and step are
//! those of docs/method.md, section C.15.

#[path = "../../../core/tests/common/splitmix.rs"]
mod splitmix;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::record::RunId;
use v6gap_core::watch::log::{
    Answer, Began, Cause, Ended, Fact, Listed, Logged, Missed, Noted, Outcome, Seen, Watching,
};
use v6gap_core::watch::{Kind, With};

const MINUTE_NS: u64 = 60_000_000_000;
const QUARTER_NS: u64 = 15 * MINUTE_NS;
const DAY: u64 = 96;
const WEEK: u64 = 7 * DAY;

/// 2026-11-16 00:00 (UTC).
const BEGIN_NS: u64 = 1_794_787_200_000_000_000;

/// Standard deviation of the effect from visit to visit, of what both families have in common, and
/// the amplitude of the daily wave.
const SD: f64 = 0.005;
const SHARED: f64 = 0.005;
const WAVE: f64 = 0.7 * SD;

/// A round trip over IPv4, in s.
const ROUND_TRIP: f64 = 4.2e-3;

/// The paths, as they are called.
pub const CHANGES: &str = "lab-b";
pub const FAILS: &str = "nas";
pub const STAYS: &str = "https://example.org/";
const NAMES: [&str; 3] = [CHANGES, FAILS, STAYS];

/// The first visit that finds IPv6 slower, and by what factor.
const STEP: u64 = 4 * DAY + 40;
const LONGER: f64 = 1.02;

/// Visits that find no IPv6.
const OUTAGE: std::ops::Range<u64> = 3 * DAY..3 * DAY + 12;
const LAST_OUTAGE: u64 = WEEK - 5;

/// SplitMix64, by which two uniform values become a normal one.
struct Source(u64);

impl Source {
    fn uniform(&mut self) -> f64 {
        (splitmix::next(&mut self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (one, other) = (1.0 - self.uniform(), self.uniform());
        libm::sqrt(-2.0 * libm::log(one)) * libm::cos(std::f64::consts::TAU * other)
    }
}

/// What a visit finds of both families.
fn values(source: &mut Source, path: &str, number: u64) -> PerFamily<f64> {
    let shared = SHARED * source.normal();
    let own = [(); 2].map(|()| SD / libm::sqrt(2.0) * source.normal());
    let day = number as f64 / DAY as f64;
    let wave = WAVE * libm::sin(std::f64::consts::TAU * day);
    let longer = if path == CHANGES && number >= STEP { libm::log(LONGER) } else { 0.0 };
    PerFamily {
        v4: ROUND_TRIP * libm::exp(shared + own[0]),
        v6: ROUND_TRIP * libm::exp(shared + own[1] + wave + longer),
    }
}

/// What the visits of a day say together: how much longer, by the mean of their effects.
fn answer(effects: &[f64]) -> Answer {
    let mean = effects.iter().sum::<f64>() / effects.len() as f64;
    let (verdict, word) =
        if mean.abs() < 0.01 { ("same", "= same") } else { ("worse", "▼ worse") };
    Answer {
        cell: "rtt-tcp-64".to_owned(),
        metric: Metric::Rtt,
        label: "Round trip 64 B, TCP".to_owned(),
        verdict: verdict.to_owned(),
        answer: word.to_owned(),
        text: format!(
            "{:.2} % {}",
            mean.abs() * 100.0,
            if mean < 0.0 { "shorter" } else { "longer" }
        ),
        range: None,
        margin: Some(0.01),
        predicted: None,
    }
}

/// One path after the other, a minute apart.
fn began_ns(path: &str, number: u64) -> u64 {
    let place = NAMES.into_iter().position(|name| name == path).unwrap() as u64;
    BEGIN_NS + number * QUARTER_NS + place * MINUTE_NS
}

/// A visit of a path, and what it found.
fn visit(path: &str, number: u64, seen: PerFamily<f64>, answer: Answer, run: &RunId) -> Ended {
    let began_unix_ns = began_ns(path, number);
    let is_down = path == FAILS && (OUTAGE.contains(&number) || number >= LAST_OUTAGE);
    let why = || "IPv6 is not answered [E202]".to_owned();
    let routers = if path == CHANGES && number >= STEP { "12" } else { "9" };
    let found = Seen {
        cell: answer.cell.clone(),
        metric: answer.metric,
        blocks: 8,
        values: seen,
        errors: None,
    };
    Ended {
        at_unix_ns: began_unix_ns + 20_000_000_000,
        began_unix_ns,
        path: path.to_owned(),
        kind: Kind::Light,
        outcome: match is_down {
            true => Outcome::Down { family: Some(Family::V6), why: why() },
            false => Outcome::Measured,
        },
        // One run that is stored stands for that of the last day.
        run: (path == CHANGES && number >= 6 * DAY && !is_down).then(|| run.clone()),
        bytes: 3_000_000,
        seen: if is_down { Vec::new() } else { vec![found] },
        answers: if is_down { Vec::new() } else { vec![answer] },
        noted: Noted::default(),
        facts: vec![Fact {
            name: "routers".to_owned(),
            family: Some(Family::V6),
            value: routers.to_owned(),
        }],
    }
}

fn listed(name: &str) -> Listed {
    Listed {
        name: name.to_owned(),
        host: name.to_owned(),
        with: if name == STAYS { With::Probe } else { With::Run },
        every_ns: Some(QUARTER_NS),
        throughput_every_ns: None,
        time_ns: None,
        measure: Vec::new(),
        margins: BTreeMap::from([(Metric::Rtt, 0.01)]),
    }
}

/// The log, as entries in the order of time.
fn entries(run: &RunId) -> Vec<Logged> {
    let paths = NAMES.map(listed).to_vec();
    let begun = Watching { at_unix_ns: BEGIN_NS, budget_bytes: None, paths };
    let mut all = vec![Logged::Watching(begun)];
    let mut source = Source(46);
    let mut of_day = NAMES.map(|_| Vec::new());
    for number in 0..WEEK {
        for (name, effects) in NAMES.into_iter().zip(&mut of_day) {
            if number.is_multiple_of(DAY) {
                effects.clear();
            }
            let seen = values(&mut source, name, number);
            effects.push(seen.v6 / seen.v4 - 1.0);
            let ended = visit(name, number, seen, answer(effects), run);
            let (path, kind, at_unix_ns) = (name.to_owned(), Kind::Light, ended.began_unix_ns);
            let due_unix_ns = at_unix_ns;
            all.push(Logged::Began(Began { at_unix_ns, due_unix_ns, path, kind }));
            all.push(Logged::Ended(Box::new(ended)));
        }
    }
    all.push(Logged::Missed(Missed {
        at_unix_ns: BEGIN_NS + WEEK * QUARTER_NS,
        path: STAYS.to_owned(),
        kind: Kind::Light,
        why: Cause::Behind,
        visits: 2,
    }));
    all
}

/// Writes it below `home`; its file.
pub fn log(home: &Path, run: &str) -> PathBuf {
    let run: RunId = run.parse().unwrap();
    let lines: Vec<String> =
        entries(&run).iter().map(|entry| v6gap_core::watch::log::encode(entry) + "\n").collect();
    let path = home.join("watch.jsonl");
    std::fs::write(&path, lines.concat()).unwrap();
    path
}
