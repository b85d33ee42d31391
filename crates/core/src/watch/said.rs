//! What the process that makes a visit says, read as it comes: its run, what it measured, how much
//! it moved, and why it could not.
//!
//! It is this program with `--json-stream` (docs/schema/event.json), whose exit codes are those of
//! the command line.

use super::log::{Answer, Errors, Fact, Noted, Outcome, Seen};
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use crate::record::RunId;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::Value;

/// What a visit takes at most, as the program reckons before anything is sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expected {
    /// Payload bytes of all of it.
    pub bytes: u64,
    /// Payload bytes of a block of each cell.
    pub cells: BTreeMap<String, f64>,
}

impl Expected {
    /// From what `--dry-run --json` writes.
    pub fn of(text: &str) -> Option<Expected> {
        let told: Value = serde_json::from_str(text).ok()?;
        let cell = |cell: &Value| Some((cell["id"].as_str()?.to_owned(), cell["bytes"].as_f64()?));
        let cells = told["cells"].as_array()?.iter().filter_map(cell).collect();
        Some(Expected { bytes: told["bytes"].as_f64()? as u64, cells })
    }
}

/// How a visit came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Came {
    /// How it ended.
    pub how: How,
    /// Payload bytes that it moved.
    pub bytes: u64,
    /// What it measured itself.
    pub seen: Vec<Seen>,
    /// What its run says since.
    pub answers: Vec<Answer>,
    /// What else was noted.
    pub noted: Noted,
    /// What else it knew of the path.
    pub facts: Vec<Fact>,
}

impl Came {
    /// One that could not even be begun, for that reason in words.
    pub fn failed(why: String) -> Self {
        Came {
            how: How::Ended(Outcome::Failed { why }),
            bytes: 0,
            seen: Vec::new(),
            answers: Vec::new(),
            noted: Noted::default(),
            facts: Vec::new(),
        }
    }
}

/// How a visit ended, before it is known what follows from that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// For good.
    Ended(Outcome),
    /// Something else is being measured.
    Taken,
    /// The run of the day cannot be continued: the path is another one than it was, or the run is
    /// gone.
    NotContinued,
}

/// A trial of a block of which the other one has not been told.
#[derive(Debug)]
struct Trial {
    block: u64,
    cell: String,
    family: Family,
    values: BTreeMap<Metric, f64>,
}

/// Sums of the values of both families, on the scale of the metric.
#[derive(Debug, Default)]
struct Sums {
    blocks: u32,
    sums: PerFamily<f64>,
    /// Of their squares.
    squares: PerFamily<f64>,
    /// Of the squares of what IPv6 has more than IPv4.
    apart: f64,
}

impl Sums {
    fn add(&mut self, values: PerFamily<f64>) {
        self.blocks += 1;
        for family in Family::BOTH {
            let value = *values.get(family);
            *self.sums.get_mut(family) += value;
            *self.squares.get_mut(family) += value * value;
        }
        let apart = values.v6 - values.v4;
        self.apart += apart * apart;
    }

    fn means(&self) -> PerFamily<f64> {
        self.sums.map(|sum| sum / f64::from(self.blocks))
    }

    /// Standard errors of the means; one block alone tells nothing of them.
    fn errors(&self) -> Option<Errors> {
        let n = f64::from(self.blocks);
        let error =
            |sum: f64, squares: f64| libm::sqrt((squares - sum * sum / n).max(0.0) / (n - 1.0) / n);
        let sum = self.sums;
        (self.blocks > 1).then(|| Errors {
            effect: error(sum.v6 - sum.v4, self.apart),
            families: PerFamily::from_fn(|f| error(*sum.get(f), *self.squares.get(f))),
        })
    }
}

/// What was known of the path, each fact once.
#[derive(Debug, Default)]
struct Facts {
    /// As the beginning told.
    told: Vec<Fact>,
    /// The least that trials had of each, by its name.
    least: BTreeMap<(&'static str, Family), u64>,
    /// The addresses that they went to.
    addresses: PerFamily<Option<String>>,
}

impl Facts {
    fn begin(&mut self, event: &Value) {
        let fact = |fact: &Value| {
            let text = |name: &str| fact[name].as_str().map(ToOwned::to_owned);
            Some(Fact { name: text("name")?, family: family(fact), value: text("value")? })
        };
        self.told = event["facts"].as_array().into_iter().flatten().filter_map(fact).collect();
    }

    fn trial(&mut self, family: Family, event: &Value) {
        for (name, field) in [("path-mtu", "path_mtu"), ("routers", "routers")] {
            let Some(value) = event[field].as_u64() else { continue };
            let least = self.least.entry((name, family)).or_insert(value);
            *least = value.min(*least);
        }
        if let Some(address) = event["address"].as_str() {
            let known = self.addresses.get_mut(family);
            known.get_or_insert_with(|| address.to_owned());
        }
    }

    /// All of them; where both tell, what trials had.
    fn all(self) -> Vec<Fact> {
        let least = self.least.into_iter().map(|((name, family), value)| Fact {
            name: name.to_owned(),
            family: Some(family),
            value: value.to_string(),
        });
        let PerFamily { v4, v6 } = self.addresses;
        let addresses = [(Family::V4, v4), (Family::V6, v6)].into_iter();
        let addresses = addresses.filter_map(|(family, value)| {
            Some(Fact { name: "address".to_owned(), family: Some(family), value: value? })
        });
        let mut all: Vec<Fact> = least.chain(addresses).collect();
        for fact in self.told {
            let is_it = |known: &Fact| known.name == fact.name && known.family == fact.family;
            if !all.iter().any(is_it) {
                all.push(fact);
            }
        }
        all
    }
}

/// An error as documents have it.
#[derive(Debug)]
struct Error {
    code: String,
    title: String,
    family: Option<Family>,
}

/// What was said so far.
#[derive(Debug, Default)]
pub struct Said {
    expected: BTreeMap<String, f64>,
    run: Option<RunId>,
    bytes: f64,
    open: Option<Trial>,
    sums: BTreeMap<(String, Metric), Sums>,
    answers: Vec<Answer>,
    addresses: PerFamily<Option<String>>,
    /// The first gate that discarded a block, by the block's number.
    discarded: BTreeMap<u64, String>,
    facts: Facts,
    error: Option<Error>,
}

impl Said {
    /// Nothing; blocks take what was expected where nobody counts.
    pub fn new(expected: &Expected) -> Self {
        Said { expected: expected.cells.clone(), ..Said::default() }
    }

    /// The run that is measured into, once it has a name.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Takes note of a line; what is no event is passed over.
    pub fn line(&mut self, text: &str) {
        // The last line is the whole result, of which everything needed has been told.
        if !text.starts_with("{\"event\"") && !text.contains("\"event\":\"error\"") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(text) else { return };
        match event["event"].as_str() {
            Some("begin") => {
                self.run = event["id"].as_str().and_then(|id| id.parse().ok());
                let address = |family: &str| event[family].as_str().map(ToOwned::to_owned);
                self.addresses = PerFamily { v4: address("v4"), v6: address("v6") };
                self.facts.begin(&event);
            }
            Some("trial") => self.trial(&event),
            Some("verdict") => self.answers.extend(answer(&event)),
            Some("error") => self.error = Some(error(&event)),
            _ => {}
        }
    }

    /// What came of the visit, now that its process has ended with `exit`; `None` if it was killed.
    /// `continued` is whether it was to continue a run.
    pub fn came(self, exit: Option<i32>, continued: bool) -> Came {
        let how = self.how(exit, continued);
        let seen = |((cell, metric), of): ((String, Metric), Sums)| {
            let values = of.means().map(|mean| metric.scale().value(mean));
            Seen { cell, metric, blocks: of.blocks, values, errors: of.errors() }
        };
        let seen = self.sums.into_iter().map(seen).collect();
        let mut noted = Noted { addresses: self.addresses, discarded: BTreeMap::new() };
        for gate in self.discarded.into_values() {
            *noted.discarded.entry(gate).or_default() += 1;
        }
        let facts = self.facts.all();
        // A block is told when all of it is there: what broke may have been any.
        let is_whole = self.run.is_none() || how == How::Ended(Outcome::Measured);
        let largest = self.expected.values().copied().fold(0.0, f64::max);
        let under_way = if is_whole { 0.0 } else { largest };
        let (bytes, answers) = ((self.bytes + under_way) as u64, self.answers);
        Came { how, bytes, seen, answers, noted, facts }
    }

    fn how(&self, exit: Option<i32>, continued: bool) -> How {
        let code = self.error.as_ref().map_or("", |error| error.code.as_str());
        let family = self.error.as_ref().and_then(|error| error.family);
        let why = || match (&self.error, exit) {
            (Some(Error { code, title, .. }), _) if code.is_empty() => title.clone(),
            (Some(Error { code, title, .. }), _) => format!("{title} [{code}]"),
            (None, Some(exit)) => format!("the program ended with {exit}"),
            (None, None) => "the program was killed".to_string(),
        };
        How::Ended(match (code, exit) {
            ("E204" | "E505", _) => return How::Taken,
            // It broke in the middle, something else answers, or the resolver of this host knows
            // no name: whether each family gets there is not known then, and the next visit tells.
            ("E103" | "E205" | "E206" | "E211" | "E212" | "E402", _) => {
                Outcome::Failed { why: why() }
            }
            ("E210", _) if family.is_none() => Outcome::Failed { why: why() },
            ("E207" | "E208" | "E209" | "E213", _) | (_, Some(7)) => {
                Outcome::Refused { why: why() }
            }
            // Large packets that vanish on the path of a family, and a family over which
            // connections are cut while the other one is well.
            ("E401" | "E210", _) => Outcome::Down { family, why: why() },
            // The run of the day cannot be read, or is none that could go on.
            ("E504", _) | (_, Some(2)) if continued && self.run.is_none() => {
                return How::NotContinued;
            }
            (_, Some(3)) => Outcome::Down { family, why: why() },
            (_, Some(4)) => Outcome::Down { family: None, why: why() },
            (_, Some(0 | 6 | 10 | 11)) if self.run.is_some() => Outcome::Measured,
            (_, Some(130)) => Outcome::Stopped,
            _ => Outcome::Failed { why: why() },
        })
    }

    fn trial(&mut self, event: &Value) {
        let Some(cell) = event["cell"].as_str() else { return };
        self.bytes += moved(event, self.expected.get(cell).copied().unwrap_or(0.0) / 2.0);
        if let Some(block) = event["block"].as_u64().filter(|_| event["valid"] == false)
            && let Some(gate) = event["gates"][0].as_str()
        {
            self.discarded.entry(block).or_insert_with(|| gate.to_owned());
        }
        let counts = event["valid"] == true && event["null"] == false;
        let Some(family) = family(event) else { return };
        self.facts.trial(family, event);
        let Some(block) = event["block"].as_u64().filter(|_| counts) else { return };
        let value =
            |(name, value): (&String, &Value)| Some((Metric::from_name(name)?, value.as_f64()?));
        let values = event["values"].as_object();
        let values = values.into_iter().flatten().filter_map(value).collect();
        let trial = Trial { block, cell: cell.to_owned(), family, values };
        match self.open.take() {
            Some(other)
                if other.block == block && other.cell == trial.cell && other.family != family =>
            {
                self.add(&other, &trial);
            }
            _ => self.open = Some(trial),
        }
    }

    /// Adds a block.
    fn add(&mut self, one: &Trial, other: &Trial) {
        for (&metric, &first) in &one.values {
            let Some(&second) = other.values.get(&metric) else { continue };
            let scale = metric.scale();
            let (first, second) = (scale.of_value(first), scale.of_value(second));
            if first.is_finite() && second.is_finite() {
                let of = self.sums.entry((one.cell.clone(), metric)).or_default();
                of.add(PerFamily::from_fn(|f| if f == one.family { first } else { second }));
            }
        }
    }
}

/// Payload bytes of a trial: what its connections sent, or its rate makes of its time, or what was
/// expected of it.
fn moved(trial: &Value, expected: f64) -> f64 {
    let connections = trial["connections"].as_array().map_or(&[][..], Vec::as_slice);
    let sent = connections.iter().filter_map(|one| one["sent_bytes"].as_f64()).sum::<f64>();
    let rate = trial["values"][Metric::Throughput.name()].as_f64().unwrap_or(0.0);
    let carried = rate / 8.0 * trial["duration_s"].as_f64().unwrap_or(0.0);
    match sent.max(carried) {
        counted if counted > 0.0 => counted,
        _ => expected,
    }
}

fn answer(event: &Value) -> Option<Answer> {
    let text = |name: &str| event[name].as_str().map(ToOwned::to_owned);
    let ends = event["range"].as_array().map_or(&[][..], Vec::as_slice);
    let range: Vec<f64> = ends.iter().filter_map(Value::as_f64).collect();
    Some(Answer {
        cell: text("cell")?,
        metric: Metric::from_name(event["metric"].as_str()?)?,
        label: text("label")?,
        verdict: text("verdict")?,
        answer: text("answer")?,
        text: text("text")?,
        range: range.try_into().ok(),
        margin: event["margin"].as_f64(),
        predicted: event["predicted"].as_f64(),
    })
}

fn error(event: &Value) -> Error {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    Error { code: text("code"), title: text("title"), family: family(event) }
}

fn family(of: &Value) -> Option<Family> {
    match of["family"].as_str() {
        Some("v4") => Some(Family::V4),
        Some("v6") => Some(Family::V6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expected {
        let text = r#"{"bytes": 1000.9, "cells": [{"id": "connect", "bytes": 100.0},
                       {"id": "rtt-tcp-64", "bytes": 60.0}]}"#;
        Expected::of(text).unwrap()
    }

    fn trial(block: u32, family: &str, valid: bool, null: bool, connect: f64) -> String {
        format!(r#"{{"event":"trial","block":{block},"cell":"connect","family":"{family}","#)
            + &format!(r#""valid":{valid},"null":{null},"duration_s":0.5,"#)
            + &format!(r#""values":{{"connect":{connect},"loss":{connect},"new-one":1.0}}}}"#)
    }

    fn said(lines: &[String]) -> Said {
        let mut said = Said::new(&expected());
        lines.iter().for_each(|line| said.line(line));
        said
    }

    #[test]
    fn what_is_expected_is_read() {
        assert_eq!((expected().bytes, expected().cells.len()), (1000, 2));
        assert_eq!(Expected::of("{}"), None);
        assert_eq!(Expected::of("error: no"), None);
    }

    #[test]
    fn a_visit_has_the_means_of_its_valid_blocks() {
        let begin = r#"{"event":"begin","id":"7k2f9q","client":"a","v4":null,"v6":"2001:db8::7"}"#;
        let begin = begin.to_owned();
        let verdict = r#"{"event":"verdict","cell":"connect","label":"Connecting",
            "metric":"connect","verdict":"same","answer":"= same","text":"0.1 % longer",
            "range":[0.001,null,0.01],"margin":0.05,"predicted":null,"sentence":""}"#
            .to_owned();
        let lines = [
            begin,
            trial(0, "v4", true, true, 9.0),
            trial(0, "v4", true, true, 9.0),
            trial(1, "v4", true, false, 1.0),
            trial(1, "v6", true, false, 2.0),
            trial(2, "v6", false, false, 5.0),
            trial(2, "v4", false, false, 5.0),
            trial(2, "v6", true, false, 8.0),
            trial(2, "v4", true, false, 4.0),
            r#"{"event":"trial","block":3,"cell":"x","valid":false,"null":false,"family":"v4"}"#
                .to_owned(),
            r#"{"event":"trial","block":3,"cell":"x","valid":false,"null":false,"family":"v6",
                "gates":["steal","drops"]}"#
                .to_owned(),
            verdict,
            r#"{"schema":"v6gap.result/1","event":"trial"}"#.to_owned(),
            "not an event".to_owned(),
        ];
        let said = said(&lines);
        assert_eq!(said.run().map(RunId::as_str), Some("7k2f9q"));
        let came = said.came(Some(6), true);
        assert_eq!(came.how, How::Ended(Outcome::Measured));
        // 8 trials of half a block each.
        assert_eq!(came.bytes, 400);
        let [connect, loss] = &came.seen[..] else { panic!("{came:?}") };
        assert_eq!((connect.metric, connect.blocks), (Metric::Connect, 2));
        // Geometric means of ratios, plain ones of shares.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(connect.values.v4, 2.0) && near(connect.values.v6, 4.0), "{connect:?}");
        assert_eq!((loss.metric, loss.values), (Metric::Loss, PerFamily { v4: 2.5, v6: 5.0 }));
        // Two values 1 and 4, 2 and 8, whose differences are 1 and 4.
        let errors = loss.errors.unwrap();
        assert!(near(errors.families.v4, 1.5) && near(errors.families.v6, 3.0), "{errors:?}");
        assert!(near(errors.effect, 1.5), "{errors:?}");
        assert!(connect.errors.is_some_and(|errors| errors.effect < 1e-6), "{connect:?}");
        assert_eq!(came.answers.len(), 1);
        assert_eq!((came.answers[0].answer.as_str(), came.answers[0].range), ("= same", None));
        assert_eq!((came.answers[0].margin, came.answers[0].predicted), (Some(0.05), None));
        let Noted { addresses, discarded } = came.noted;
        let told = PerFamily { v4: None, v6: Some("2001:db8::7".to_owned()) };
        assert_eq!((addresses, discarded), (told, BTreeMap::from([("steal".to_owned(), 1)])));
    }

    #[test]
    fn what_is_known_of_the_path_is_told_once() {
        let begin = r#"{"event":"begin","id":"7k2f9q","facts":[
            {"name":"server","value":"1.0"},{"name":"address","family":"v6","value":"::9"},
            {"name":"route","family":"v4","value":"a b"},{"name":"wrong"}]}"#;
        let trial = |family: &str, mtu: u32, address: &str| {
            format!(r#"{{"event":"trial","cell":"connect","family":"{family}","values":{{}},"#)
                + &format!(r#""path_mtu":{mtu},"routers":3,"address":"{address}"}}"#)
        };
        let lines = [
            begin.to_owned(),
            trial("v4", 1500, "192.0.2.7"),
            trial("v6", 1500, "::7"),
            trial("v6", 1280, "::8"),
        ];
        let facts = said(&lines).came(Some(0), false).facts;
        let told: Vec<String> = facts
            .iter()
            .map(|Fact { name, family, value }| {
                format!("{name} {} {value}", family.map_or("both".to_owned(), |f| f.to_string()))
            })
            .collect();
        let expected = [
            "path-mtu IPv4 1500",
            "path-mtu IPv6 1280",
            "routers IPv4 3",
            "routers IPv6 3",
            "address IPv4 192.0.2.7",
            "address IPv6 ::7",
            "server both 1.0",
            "route IPv4 a b",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn bytes_are_those_that_were_counted() {
        let sent = r#"{"event":"trial","cell":"throughput-tcp","values":{"throughput":8e6},
            "duration_s":2,"connections":[{"sent_bytes":3000000},{"sent_bytes":4}]}"#;
        let paced = r#"{"event":"trial","cell":"loss","values":{"throughput":8e6},
            "duration_s":2}"#;
        assert_eq!(said(&[sent.to_owned()]).came(None, false).bytes, 3_000_004);
        assert_eq!(said(&[paced.to_owned()]).came(None, false).bytes, 2_000_000);
        // What breaks in a block that has not been told had most of the largest one.
        let begin = r#"{"event":"begin","id":"7k2f9q"}"#.to_owned();
        let lines = [begin, trial(0, "v4", true, true, 9.0), trial(0, "v4", true, true, 9.0)];
        let bytes = |exit| said(&lines).came(exit, false).bytes;
        assert_eq!([bytes(Some(0)), bytes(Some(3)), bytes(None)], [100, 200, 200]);
    }

    #[track_caller]
    fn ends(code: &str, family: &str, exit: Option<i32>, name: &str) {
        let error =
            format!(r#"{{"code":"{code}","title":"no","family":"{family}","event":"error"}}"#);
        let How::Ended(outcome) = said(&[error]).came(exit, false).how else { panic!("{code}") };
        assert_eq!(outcome.name(), name, "{code} {exit:?}");
        if let Outcome::Down { family: found, why } = outcome {
            assert_eq!(found.is_some(), family == "v6" && exit != Some(4), "{code}");
            assert_eq!(why, format!("no [{code}]"));
        }
    }

    #[test]
    fn every_end_is_told_from_the_others() {
        ends("E202", "v6", Some(3), "down");
        ends("E203", "", Some(4), "down");
        ends("E103", "", Some(2), "failed");
        ends("E401", "v6", Some(6), "down");
        ends("E208", "", Some(4), "refused");
        ends("E214", "", Some(7), "refused");
        ends("E205", "", Some(4), "failed");
        // What breaks in the middle tells of no family, and not of both.
        for code in ["E210", "E211", "E212", "E402"] {
            ends(code, "", Some(4), "failed");
        }
        ends("E509", "", Some(1), "failed");
        let how = |code: &str, exit, continued| {
            let error = format!(r#"{{"event":"error","code":"{code}","title":"no"}}"#);
            said(&[error]).came(exit, continued).how
        };
        assert_eq!(how("E204", Some(4), false), How::Taken);
        let cut = r#"{"event":"error","code":"E210","title":"no","family":"v6"}"#.to_owned();
        let (family, why) = (Some(Family::V6), "no [E210]".to_owned());
        let cut = said(&[cut]).came(Some(4), false).how;
        assert_eq!(cut, How::Ended(Outcome::Down { family, why }));
        assert_eq!(how("E505", Some(2), true), How::Taken);
        assert_eq!(how("E504", Some(1), true), How::NotContinued);
        assert_eq!(how("E502", Some(2), true), How::NotContinued);
        assert!(matches!(how("E502", Some(2), false), How::Ended(Outcome::Failed { .. })));
        let silent = said(&[]).came(None, false).how;
        let why = "the program was killed".to_owned();
        assert_eq!(silent, How::Ended(Outcome::Failed { why }));
        assert_eq!(said(&[]).came(Some(130), false).how, How::Ended(Outcome::Stopped));
    }
}
