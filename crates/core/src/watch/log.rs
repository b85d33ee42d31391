//! The log of a watch: one line for each thing that happened. Everything that a watch knows when it
//! is begun again is in it, and everything that lists and histories of paths show.
//!
//! docs/watch.md describes the form; a later version adds fields and kinds of entry.

use super::{Kind, Watch, WatchedPath, With};
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use crate::plan::check::share;
use crate::record::{RecordError, RunId};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The version that is written.
pub const VERSION: u32 = 1;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Logged {
    /// A watch was begun, of these paths.
    Watching(Watching),
    /// A visit began.
    Began(Began),
    /// The run that a visit measures into has that name; told of new runs alone.
    Measures(Measures),
    /// A visit ended.
    Ended(Box<Ended>),
    /// Visits that were due were not made.
    Missed(Missed),
    /// Whoever is to hear of changes was told of something, or could not be.
    Notified(Notified),
}

/// A watch was begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watching {
    /// When, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// Most bytes of all visits of a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_bytes: Option<u64>,
    /// What is watched.
    pub paths: Vec<Listed>,
}

impl Watching {
    /// That this watch is begun then, in ns since the Unix epoch.
    pub fn of(watch: &Watch, at_unix_ns: u64) -> Self {
        let listed = |path: &WatchedPath| Listed {
            name: path.name.clone(),
            host: path.host.clone(),
            with: path.with,
            every_ns: path.every_ns,
            throughput_every_ns: path.throughput_every_ns,
            time_ns: Some(path.time_ns),
            measure: path.measure.clone(),
            // They were checked with the watch.
            margins: path
                .margins
                .iter()
                .filter_map(|(metric, text)| Some((*metric, share("margin", text).ok()?)))
                .collect(),
        };
        let paths = watch.paths.iter().map(listed).collect();
        Watching { at_unix_ns, budget_bytes: watch.budget_bytes, paths }
    }
}

/// A path that is watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// What it is called.
    pub name: String,
    /// The host.
    pub host: String,
    /// What answers there.
    pub with: With,
    /// Time from one light visit to the next, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// Time from one visit of throughput to the next, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_every_ns: Option<u64>,
    /// Longest time that a visit measures, in ns; earlier versions did not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// What light visits measure, where that is not what is usual.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measure: Vec<String>,
    /// Margins that are not the usual ones, as shares.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub margins: BTreeMap<Metric, f64>,
}

impl Listed {
    /// Time from one visit of that kind to the next, in ns, if there are any.
    pub fn period_ns(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Light => self.every_ns,
            Kind::Throughput => self.throughput_every_ns,
        }
    }

    /// Whether visits go on with the run of a day that began when it was listed so.
    pub fn continues(&self, before: &Listed) -> bool {
        let asked = |of: &Listed| (of.with, of.measure.clone(), of.margins.clone());
        asked(self) == asked(before)
    }

    /// Whether visits last for another time than when it was listed so, as far as that is known.
    pub fn lasts_otherwise(&self, before: &Listed) -> bool {
        self.time_ns.zip(before.time_ns).is_some_and(|(is, was)| is != was)
    }
}

/// A visit began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// When, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// When it was due: no two visits of a path and kind were due at the same time, unless the
    /// clock was set back.
    pub due_unix_ns: u64,
    /// The path.
    pub path: String,
    /// What the visit is for.
    pub kind: Kind,
}

/// The run of a visit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measures {
    /// When, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// The path.
    pub path: String,
    /// What the visit is for.
    pub kind: Kind,
    /// The run.
    pub run: RunId,
}

/// A visit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// When, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// When it began.
    pub began_unix_ns: u64,
    /// The path.
    pub path: String,
    /// What the visit was for.
    pub kind: Kind,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The run that it measured into, if it came so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Payload bytes that it moved, both ways together; of one that was broken off, what it was
    /// expected to take at most.
    pub bytes: u64,
    /// What it measured itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
    /// What its whole run says since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// What else was noted.
    #[serde(default, skip_serializing_if = "Noted::is_empty")]
    pub noted: Noted,
    /// What else was known of the path then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
}

/// What is noted of a visit beside what it measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Noted {
    /// Addresses of the far end, where they were told.
    #[serde(default)]
    pub addresses: PerFamily<Option<String>>,
    /// Blocks that were discarded, by the first gate that did so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub discarded: BTreeMap<String, u64>,
}

impl Noted {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Noted::default()
    }
}

/// Something that was known of the path at a visit and that may be why figures change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Stable name, as in `path-mtu`, `routers`, `route`, `address`, `server` or `certificate`.
    pub name: String,
    /// The family that it is of; `None` if of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What it was. What was not known is not listed.
    pub value: String,
}

/// How a visit ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It measured what it was for.
    Measured,
    /// Whoever watches stopped it; what was complete is stored.
    Stopped,
    /// Something else was being measured, also a minute later.
    Taken,
    /// The far end does not want to be measured.
    Refused {
        /// Why, in words.
        why: String,
    },
    /// A family does not get there, or none does.
    Down {
        /// The family; none if it is both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        family: Option<Family>,
        /// Why, in words.
        why: String,
    },
    /// It could not be done for reasons of this host.
    Failed {
        /// Why, in words.
        why: String,
    },
    /// The watch itself ended meanwhile.
    BrokenOff,
}

impl Outcome {
    /// Names of all of them.
    pub const NAMES: [&str; 7] =
        ["measured", "stopped", "taken", "refused", "down", "failed", "broken-off"];

    /// Its name in logs and tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Outcome::Measured => "measured",
            Outcome::Stopped => "stopped",
            Outcome::Taken => "taken",
            Outcome::Refused { .. } => "refused",
            Outcome::Down { .. } => "down",
            Outcome::Failed { .. } => "failed",
            Outcome::BrokenOff => "broken-off",
        }
    }

    /// Which families it found to get there; `None` if it learnt nothing of that.
    pub fn answered(&self) -> Option<PerFamily<bool>> {
        match self {
            Outcome::Measured => Some(PerFamily { v4: true, v6: true }),
            Outcome::Down { family, .. } => {
                Some(PerFamily::from_fn(|other| family.is_some_and(|down| down != other)))
            }
            Outcome::Stopped
            | Outcome::Taken
            | Outcome::Refused { .. }
            | Outcome::Failed { .. }
            | Outcome::BrokenOff => None,
        }
    }
}

/// What a visit measured of a question: the mean of its valid blocks, of ratios the geometric one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// Valid blocks.
    pub blocks: u32,
    /// Value of each family, in SI units.
    pub values: PerFamily<f64>,
    /// How well these means are known, from two blocks on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
}

/// Standard errors of means by the scatter of their blocks, on the scale of effects: of logarithms
/// for ratios, else in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Of IPv6 against IPv4.
    pub effect: f64,
    /// Of each family by itself.
    pub families: PerFamily<f64>,
}

/// What a run says of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// What the question is called, as in "Round trip 64 B, TCP".
    pub label: String,
    /// The verdict, as documents have it.
    pub verdict: String,
    /// The verdict in words.
    pub answer: String,
    /// The difference in words, with its direction; empty without one.
    pub text: String,
    /// Estimate and 95 % range, where they are finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 3]>,
    /// A smaller difference does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The difference that headers predict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
}

/// Why a visit that was due was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Another visit was going on, or this host slept.
    Behind,
    /// It could have taken more than was left of the budget of the day.
    Budget,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 2] = [Cause::Behind, Cause::Budget];

    /// Its name in logs and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Behind => "behind",
            Cause::Budget => "budget",
        }
    }
}

/// Visits that were not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// When that was known, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// The path.
    pub path: String,
    /// What they were for.
    pub kind: Kind,
    /// Why.
    pub why: Cause,
    /// How many.
    pub visits: u64,
}

/// What somebody was to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// A change.
    Change,
    /// A family that does not answer, or does so again.
    Outage,
}

impl About {
    /// Its name in logs and events.
    pub const fn name(self) -> &'static str {
        match self {
            About::Change => "change",
            About::Outage => "outage",
        }
    }
}

/// Whoever is to hear of changes was told, or could not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notified {
    /// When that was known, in ns since the Unix epoch.
    pub at_unix_ns: u64,
    /// The path that it was about.
    pub path: String,
    /// What it was.
    pub about: About,
    /// How often it was tried.
    pub tries: u32,
    /// Why it was not told in the end, in words; nothing if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Logged {
    /// When it happened, in ns since the Unix epoch.
    pub fn at_unix_ns(&self) -> u64 {
        match self {
            Logged::Watching(entry) => entry.at_unix_ns,
            Logged::Began(entry) => entry.at_unix_ns,
            Logged::Measures(entry) => entry.at_unix_ns,
            Logged::Ended(entry) => entry.at_unix_ns,
            Logged::Missed(entry) => entry.at_unix_ns,
            Logged::Notified(entry) => entry.at_unix_ns,
        }
    }

    /// The path that it is about, if it is about one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Logged::Watching(_) => None,
            Logged::Began(entry) => Some(&entry.path),
            Logged::Measures(entry) => Some(&entry.path),
            Logged::Ended(entry) => Some(&entry.path),
            Logged::Missed(entry) => Some(&entry.path),
            Logged::Notified(entry) => Some(&entry.path),
        }
    }
}

#[derive(Serialize)]
struct Versioned<'a> {
    v: u32,
    #[serde(flatten)]
    entry: &'a Logged,
}

#[derive(Deserialize)]
struct Head {
    v: u32,
}

/// An entry as a line, without its end.
pub fn encode(entry: &Logged) -> String {
    // Plain data with string keys: nothing in it can fail to become JSON.
    serde_json::to_string(&Versioned { v: VERSION, entry }).unwrap_or_default()
}

/// The entry of a line.
///
/// # Errors
/// If it is none, or of a later version.
pub fn decode(text: &str) -> Result<Logged, RecordError> {
    let malformed = |error: serde_json::Error| RecordError::Malformed(error.to_string());
    let Head { v } = serde_json::from_str(text).map_err(malformed)?;
    if v > VERSION {
        return Err(RecordError::TooNew { found: v, known: VERSION });
    }
    serde_json::from_str(text).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// A visit that ended so, with all that one can have.
    fn ended(outcome: Outcome) -> Logged {
        Logged::Ended(Box::new(Ended {
            at_unix_ns: u64::MAX,
            began_unix_ns: 1,
            path: "lab-b".to_string(),
            kind: Kind::Light,
            outcome,
            run: Some("7k2f9q".parse().unwrap()),
            bytes: 3,
            seen: vec![Seen {
                cell: "rtt-tcp-64".to_string(),
                metric: Metric::Rtt,
                blocks: 8,
                values: PerFamily { v4: 145e-6, v6: 0.1 + 0.2 },
                errors: Some(Errors { effect: 1e-3, families: PerFamily { v4: 2e-3, v6: 0.0 } }),
            }],
            answers: vec![Answer {
                cell: "rtt-tcp-64".to_string(),
                metric: Metric::Rtt,
                label: "Round trip".to_string(),
                verdict: "worse".to_string(),
                answer: "\u{25bc} worse".to_string(),
                text: "8.9 % longer".to_string(),
                range: Some([0.089, 0.08, 0.1]),
                margin: Some(0.05),
                predicted: None,
            }],
            noted: Noted {
                addresses: PerFamily { v4: None, v6: Some("2001:db8::7".to_string()) },
                discarded: [("steal".to_string(), 2)].into(),
            },
            facts: vec![
                Fact {
                    name: "path-mtu".to_string(),
                    family: Some(Family::V6),
                    value: "1280".to_string(),
                },
                Fact { name: "server".to_string(), family: None, value: String::new() },
            ],
        }))
    }

    #[test]
    fn every_entry_is_read_again() {
        let (path, kind) = ("lab-b".to_string(), Kind::Light);
        let why = "it \"said\" so\n".to_string();
        let entries = [
            Logged::Watching(Watching {
                at_unix_ns: 0,
                budget_bytes: Some(5),
                paths: vec![Listed {
                    name: path.clone(),
                    host: "lab-b".to_string(),
                    with: With::Iperf3,
                    every_ns: None,
                    throughput_every_ns: Some(7),
                    time_ns: Some(11),
                    measure: Vec::new(),
                    margins: BTreeMap::from([(Metric::Rtt, 0.02)]),
                }],
            }),
            Logged::Began(Began { at_unix_ns: 2, due_unix_ns: 1, path: path.clone(), kind }),
            Logged::Measures(Measures {
                at_unix_ns: 3,
                path: path.clone(),
                kind: Kind::Throughput,
                run: "7k2f9q".parse().unwrap(),
            }),
            ended(Outcome::Measured),
            ended(Outcome::Down { family: Some(Family::V6), why: why.clone() }),
            ended(Outcome::Down { family: None, why: why.clone() }),
            ended(Outcome::Refused { why: why.clone() }),
            ended(Outcome::Failed { why }),
            ended(Outcome::Taken),
            ended(Outcome::Stopped),
            ended(Outcome::BrokenOff),
            Logged::Missed(Missed {
                at_unix_ns: 4,
                path: path.clone(),
                kind,
                why: Cause::Budget,
                visits: 9,
            }),
            Logged::Notified(Notified {
                at_unix_ns: 5,
                path: path.clone(),
                about: About::Outage,
                tries: 3,
                why: Some("no answer".to_string()),
            }),
        ];
        for entry in entries {
            let text = encode(&entry);
            assert!(text.starts_with("{\"v\":1,\"entry\":\"") && !text.contains('\n'), "{text}");
            if let Logged::Ended(ended) = &entry {
                assert!(Outcome::NAMES.contains(&ended.outcome.name()), "{text}");
            }
            assert_eq!(decode(&text), Ok(entry), "{text}");
        }
    }

    #[test]
    fn what_is_no_entry_is_an_error_and_a_later_one_is_named() {
        for text in ["", "{}", "{\"v\":1}", "{\"v\":1,\"entry\":\"other\"}", "[1]"] {
            assert!(matches!(decode(text), Err(RecordError::Malformed(_))), "{text}");
        }
        let later = decode("{\"v\":2,\"entry\":\"other\"}");
        assert_eq!(later, Err(RecordError::TooNew { found: 2, known: VERSION }));
    }
}
