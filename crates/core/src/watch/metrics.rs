//! What a watch tells whoever collects metrics of it: what was found last of each path, and what
//! was counted since it was begun. Both are folded from the entries of its log.
//!
//! Counters begin at 0 with each process that watches, as collectors expect it: what is told of
//! before is what gauges show, and nothing that happened then is counted once more.

use super::Kind;
use super::log::{Answer, Cause, Ended, Listed, Logged, Outcome, Watching};
use crate::family::{Family, PerFamily};
use crate::metric::Metric;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What there is to tell of a watch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// The host that watches.
    pub from: String,
    /// The version of the program that does.
    pub version: String,
    /// The paths that are watched, by name.
    pub paths: BTreeMap<String, OfPath>,
}

/// What there is to tell of a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OfPath {
    /// The host that it leads to.
    pub host: String,
    /// Time from one visit to the next, in ns, of the kind that is made more often.
    pub every_ns: u64,
    /// Addresses of the host, as they were at the last visit that told them.
    pub addresses: PerFamily<Option<String>>,
    /// Whether each family gets there, by the last visit that could tell.
    pub up: Option<PerFamily<bool>>,
    /// When the last visit that measured ended, in ns since the Unix epoch.
    pub measured_unix_ns: Option<u64>,
    /// The questions, by the name that [`measures`] gives them.
    pub questions: BTreeMap<String, Question>,
    /// What was counted since this process watches.
    pub counted: Counted,
}

/// What there is to tell of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The kind of visit that asks it.
    pub kind: Kind,
    /// The metric.
    pub metric: Metric,
    /// The verdict, as documents have it.
    pub verdict: String,
    /// Estimate and 95 % range of the difference.
    pub range: Option<[f64; 3]>,
    /// A smaller difference does not matter.
    pub margin: Option<f64>,
    /// The difference that headers predict.
    pub predicted: Option<f64>,
    /// Value of each family in the last visit, in SI units.
    pub values: Option<PerFamily<f64>>,
}

/// What was counted of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// Visits, by how they ended or why they were not made.
    pub windows: BTreeMap<&'static str, u64>,
    /// Discarded blocks, by the gate.
    pub discarded: BTreeMap<String, u64>,
    /// Changes that were found, by the question.
    pub changes: BTreeMap<String, u64>,
    /// Payload bytes of all visits.
    pub sent_bytes: u64,
}

/// How a visit can end that was due.
pub fn results() -> impl Iterator<Item = &'static str> {
    Outcome::NAMES.into_iter().chain(Cause::ALL.map(Cause::name))
}

/// What questions are called among metrics, in their order: the first one of a cell as the cell,
/// and the others of it `CELL:METRIC`.
pub fn measures(answers: &[Answer]) -> Vec<String> {
    let is_first = |at: usize| !answers[..at].iter().any(|other| other.cell == answers[at].cell);
    let name = |(at, answer): (usize, &Answer)| match is_first(at) {
        true => answer.cell.clone(),
        false => format!("{}:{}", answer.cell, answer.metric),
    };
    answers.iter().enumerate().map(name).collect()
}

impl Metrics {
    /// Nothing, of what the host of that name watches with a program of that version.
    pub fn new(from: &str, version: &str) -> Self {
        Metrics { from: from.into(), version: version.into(), paths: BTreeMap::new() }
    }

    /// Takes note of an entry of what was before: of what was found, and of no count.
    pub fn recall(&mut self, entry: &Logged) {
        match entry {
            Logged::Watching(watching) => self.watching(watching),
            Logged::Ended(ended) => self.path(&ended.path).ended(ended),
            // Other entries tell of nothing that was found.
            _ => {}
        }
    }

    /// Takes note of an entry of what happens now.
    pub fn take(&mut self, entry: &Logged) {
        self.recall(entry);
        match entry {
            Logged::Ended(ended) => self.path(&ended.path).counted.ended(ended),
            Logged::Missed(missed) => {
                let windows = &mut self.path(&missed.path).counted.windows;
                add(windows.entry(missed.why.name()).or_default(), missed.visits);
            }
            _ => {}
        }
    }

    /// A change of that question of a path was found.
    pub fn changed(&mut self, path: &str, cell: &str, metric: Metric) {
        let path = self.path(path);
        let name = format!("{cell}:{metric}");
        let name = if path.questions.contains_key(&name) { name } else { cell.into() };
        add(path.counted.changes.entry(name).or_default(), 1);
    }

    fn path(&mut self, name: &str) -> &mut OfPath {
        self.paths.entry(name.into()).or_default()
    }

    /// The paths are those that are watched now; nothing is told of others any more.
    fn watching(&mut self, watching: &Watching) {
        let mut before = core::mem::take(&mut self.paths);
        for listed in &watching.paths {
            // A path of that name to another host is another path.
            let same = |path: &OfPath| path.host.is_empty() || path.host == listed.host;
            let known = before.remove(&listed.name).filter(same).unwrap_or_default();
            self.paths.insert(listed.name.clone(), known.listed(listed));
        }
    }
}

impl OfPath {
    fn listed(mut self, listed: &Listed) -> Self {
        let period = |kind: Kind| listed.period_ns(kind);
        self.host.clone_from(&listed.host);
        self.every_ns = Kind::ALL.into_iter().filter_map(period).min().unwrap_or(0);
        self.questions.retain(|_, question| period(question.kind).is_some());
        self
    }

    fn ended(&mut self, ended: &Ended) {
        for family in Family::BOTH {
            if let Some(address) = ended.noted.addresses.get(family) {
                *self.addresses.get_mut(family) = Some(address.clone());
            }
        }
        if ended.outcome == Outcome::Measured {
            self.measured_unix_ns = Some(ended.at_unix_ns);
        }
        self.up = ended.outcome.answered().or(self.up);
        if ended.answers.is_empty() {
            return;
        }
        self.questions.retain(|_, question| question.kind != ended.kind);
        for (answer, name) in ended.answers.iter().zip(measures(&ended.answers)) {
            self.counted.changes.entry(name.clone()).or_default();
            self.questions.insert(name, question(ended, answer));
        }
    }

    /// Whether a family gets there; `None` before the first visit that could tell.
    pub fn is_up(&self, family: Family) -> Option<bool> {
        self.up.map(|up| *up.get(family))
    }
}

impl Counted {
    fn ended(&mut self, ended: &Ended) {
        add(self.windows.entry(ended.outcome.name()).or_default(), 1);
        add(&mut self.sent_bytes, ended.bytes);
        for (gate, blocks) in &ended.noted.discarded {
            add(self.discarded.entry(gate.clone()).or_default(), *blocks);
        }
    }
}

fn question(ended: &Ended, answer: &Answer) -> Question {
    let mut seen = ended.seen.iter();
    let seen = seen.find(|seen| seen.cell == answer.cell && seen.metric == answer.metric);
    Question {
        kind: ended.kind,
        metric: answer.metric,
        verdict: answer.verdict.clone(),
        range: answer.range,
        margin: answer.margin,
        predicted: answer.predicted,
        values: seen.map(|seen| seen.values),
    }
}

fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

#[cfg(test)]
mod tests {
    use super::super::With;
    use super::super::log::{Began, Missed, Noted, Seen};
    use super::*;
    use alloc::boxed::Box;
    use alloc::string::ToString;
    use alloc::vec;

    fn answer(cell: &str, metric: Metric, verdict: &str) -> Answer {
        Answer {
            cell: cell.to_string(),
            metric,
            label: String::new(),
            verdict: verdict.to_string(),
            answer: String::new(),
            text: String::new(),
            range: Some([0.09, 0.08, 0.1]),
            margin: Some(0.05),
            predicted: None,
        }
    }

    fn ended(kind: Kind, outcome: Outcome, answers: Vec<Answer>) -> Logged {
        Logged::Ended(Box::new(Ended {
            at_unix_ns: 7,
            began_unix_ns: 5,
            path: "lab-b".to_string(),
            kind,
            outcome,
            run: None,
            bytes: 100,
            seen: vec![Seen {
                cell: "rtt-tcp-64".to_string(),
                metric: Metric::Rtt,
                blocks: 8,
                values: PerFamily { v4: 1e-3, v6: 2e-3 },
                errors: None,
            }],
            answers,
            noted: Noted {
                addresses: PerFamily { v4: None, v6: Some("2001:db8::7".to_string()) },
                discarded: [("steal".to_string(), 2)].into(),
            },
            facts: Vec::new(),
        }))
    }

    fn measured() -> Logged {
        let answers = vec![
            answer("rtt-tcp-64", Metric::Rtt, "worse"),
            answer("rtt-tcp-64", Metric::Loss, "same"),
            answer("connect", Metric::Connect, "none"),
        ];
        ended(Kind::Light, Outcome::Measured, answers)
    }

    fn down(kind: Kind, family: Option<Family>) -> Logged {
        ended(kind, Outcome::Down { family, why: String::new() }, Vec::new())
    }

    fn watching(host: &str, throughput_every_ns: Option<u64>) -> Logged {
        let path = Listed {
            name: "lab-b".to_string(),
            host: host.to_string(),
            with: With::Run,
            every_ns: Some(900),
            throughput_every_ns,
            time_ns: None,
            measure: Vec::new(),
            margins: BTreeMap::new(),
        };
        Logged::Watching(Watching { at_unix_ns: 1, budget_bytes: None, paths: vec![path] })
    }

    fn told(entries: &[Logged]) -> Metrics {
        let mut metrics = Metrics::new("lab-a", "1.0");
        entries.iter().for_each(|entry| metrics.take(entry));
        metrics
    }

    #[test]
    fn a_visit_tells_of_its_questions_and_is_counted() {
        let missed = Logged::Missed(Missed {
            at_unix_ns: 9,
            path: "lab-b".to_string(),
            kind: Kind::Light,
            why: Cause::Behind,
            visits: 3,
        });
        let metrics = told(&[watching("b", Some(800)), measured(), measured(), missed]);
        let path = &metrics.paths["lab-b"];
        assert_eq!((path.every_ns, path.measured_unix_ns), (800, Some(7)));
        assert_eq!(path.addresses.v6.as_deref(), Some("2001:db8::7"));
        let names: Vec<&str> = path.questions.keys().map(String::as_str).collect();
        assert_eq!(names, ["connect", "rtt-tcp-64", "rtt-tcp-64:loss"]);
        let question = &path.questions["rtt-tcp-64"];
        assert_eq!((question.verdict.as_str(), question.margin), ("worse", Some(0.05)));
        assert_eq!(question.values, Some(PerFamily { v4: 1e-3, v6: 2e-3 }));
        assert_eq!(path.questions["connect"].values, None);
        let counted = &path.counted;
        assert_eq!(counted.windows, BTreeMap::from([("measured", 2), ("behind", 3)]));
        assert_eq!((counted.sent_bytes, counted.discarded["steal"]), (200, 4));
        // There before the first change, or else nobody could see that it became one.
        assert_eq!(counted.changes["connect"], 0);
        let mut metrics = metrics.clone();
        metrics.changed("lab-b", "rtt-tcp-64", Metric::Rtt);
        metrics.changed("lab-b", "rtt-tcp-64", Metric::Loss);
        let changes = &metrics.paths["lab-b"].counted.changes;
        assert_eq!((changes["rtt-tcp-64"], changes["rtt-tcp-64:loss"]), (1, 1));
        assert!(counted.windows.keys().all(|name| results().any(|result| result == *name)));
    }

    #[test]
    fn what_was_before_is_shown_and_not_counted() {
        let mut metrics = Metrics::new("lab-a", "1.0");
        [watching("b", None), measured()].iter().for_each(|entry| metrics.recall(entry));
        metrics.take(&watching("b", None));
        let path = &metrics.paths["lab-b"];
        assert_eq!((path.questions.len(), path.is_up(Family::V6)), (3, Some(true)));
        assert_eq!((path.counted.sent_bytes, path.counted.windows.len()), (0, 0));
        metrics.take(&watching("another", None));
        assert!(metrics.paths["lab-b"].questions.is_empty());
        let nothing = Watching { at_unix_ns: 1, budget_bytes: None, paths: Vec::new() };
        metrics.take(&Logged::Watching(nothing));
        assert!(metrics.paths.is_empty());
    }

    #[test]
    fn a_family_is_up_if_the_last_visit_that_could_tell_says_so() {
        let begun = watching("b", Some(900));
        let up = |entries: &[Logged]| {
            let metrics = told(entries);
            Family::BOTH.map(|family| metrics.paths["lab-b"].is_up(family))
        };
        assert_eq!(up(core::slice::from_ref(&begun)), [None, None]);
        let v6_down = [begun.clone(), measured(), down(Kind::Throughput, Some(Family::V6))];
        assert_eq!(up(&v6_down), [Some(true), Some(false)]);
        // Whatever it is for, a visit that measured found both.
        let over = [&v6_down[..], &[measured()]].concat();
        assert_eq!(up(&over), [Some(true); 2]);
        assert_eq!(up(&[begun.clone(), down(Kind::Light, None)]), [Some(false), Some(false)]);
        assert_eq!(up(&[begun.clone(), down(Kind::Light, None), measured()]), [Some(true); 2]);
        let began = Logged::Began(Began {
            at_unix_ns: 1,
            due_unix_ns: 1,
            path: "lab-b".to_string(),
            kind: Kind::Light,
        });
        assert_eq!(up(&[watching("b", None), began]), [None, None]);
    }
}
