//! What the visits of a path found, from the log of the watch. Whoever shows a history asks here,
//! and knows nothing of where it comes from.

use super::BACK_NS;
use std::collections::BTreeMap;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::record::RunId;
use v6gap_core::watch::log::{Answer, Ended, Logged, Seen};
use v6gap_core::watch::{Kind, day_of};
use v6gap_judge::analysis::effect;
use v6gap_judge::changes::{Event, Watched, What};
use v6gap_store::{Store, StoreError};

pub use v6gap_judge::changes::Spells;

/// Which history is asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The path.
    pub path: String,
    /// Identifier of a cell or name of a metric; all of them without one.
    pub measure: Option<String>,
    /// From when on, in ns since the Unix epoch.
    pub since_unix_ns: u64,
    /// Up to when, likewise.
    pub to_unix_ns: u64,
}

impl Wanted {
    fn is_asked(&self, cell: &str, metric: Metric) -> bool {
        self.measure.as_ref().is_none_or(|asked| asked == cell || asked == metric.name())
    }
}

/// What a visit measured of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// When it began, in ns since the Unix epoch.
    pub began_unix_ns: u64,
    /// What it was for.
    pub kind: Kind,
    /// The run that it measured into.
    pub run: Option<RunId>,
    /// What it measured.
    pub seen: Seen,
    /// The difference of IPv6 against IPv4: relative for ratios, else in the unit of the metric.
    pub effect: f64,
}

/// What a day found of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Day {
    /// The day, of UTC since the Unix epoch.
    pub day: u64,
    /// Identifier of the cell.
    pub cell: String,
    /// The metric.
    pub metric: Metric,
    /// Visits that measured it.
    pub visits: u32,
    /// The mean of each family over the visits, of ratios the geometric one.
    pub values: PerFamily<f64>,
    /// What the last run of the day says.
    pub answer: Option<Answer>,
}

/// A time in which a family did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// The family.
    pub family: Family,
    /// The first visit that it did not answer, in ns since the Unix epoch.
    pub since_unix_ns: u64,
    /// When the visit ended that it answered again; none if it does not yet.
    pub until_unix_ns: Option<u64>,
}

/// The history of a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// What each visit found, in the order of time.
    pub visits: Vec<Point>,
    /// What each day found, in the order of time.
    pub days: Vec<Day>,
    /// What each question was between changes.
    pub spells: Vec<Spells>,
    /// When a family did not answer, in the order of time.
    pub silences: Vec<Silence>,
    /// The paths of which anything is known.
    pub paths: Vec<String>,
}

/// The history that is asked for; empty if there is none.
///
/// # Errors
/// If the log cannot be read.
pub fn read(store: &Store, wanted: &Wanted) -> Result<History, StoreError> {
    let mut reading = Reading::of(wanted);
    // As far back as a watch looks that is begun, so that the first changes are dated as it did.
    let from_unix_ns = wanted.since_unix_ns.saturating_sub(BACK_NS);
    store.read_watch_log(from_unix_ns, &mut |entry| reading.take(&entry))?;
    Ok(reading.history())
}

/// A history as it is made of what is known, in the order of time.
pub(super) struct Reading<'a> {
    wanted: &'a Wanted,
    found: Found,
    path: Watched,
}

impl<'a> Reading<'a> {
    /// The beginning of the history that is asked for.
    pub(super) fn of(wanted: &'a Wanted) -> Self {
        let path = Watched::keeping(wanted.since_unix_ns);
        Reading { wanted, found: Found::default(), path }
    }

    /// Takes what happened next.
    pub(super) fn take(&mut self, entry: &Logged) {
        if entry.at_unix_ns() > self.wanted.to_unix_ns {
            return;
        }
        self.found.take(entry, self.wanted);
        match entry {
            Logged::Watching(watching) => {
                let own = watching.paths.iter().find(|listed| listed.name == self.wanted.path);
                if own.is_some_and(|listed| self.path.listed(listed)) {
                    self.found.begin_anew();
                }
            }
            Logged::Ended(ended) if ended.path == self.wanted.path => {
                let events = self.path.take(ended);
                events.iter().for_each(|event| self.found.outage(event));
            }
            Logged::Began(_)
            | Logged::Measures(_)
            | Logged::Ended(_)
            | Logged::Missed(_)
            | Logged::Notified(_) => {}
        }
    }

    /// What was taken.
    pub(super) fn history(self) -> History {
        let Reading { wanted, found: Found { visits, days, paths, mut silences }, path } = self;
        silences.retain(|of| of.until_unix_ns.is_none_or(|until| until >= wanted.since_unix_ns));
        let mut spells = path.spells();
        spells.retain(|of| wanted.is_asked(&of.asked.cell, of.asked.metric));
        let days = days.into_iter().map(|((day, cell, metric), of)| Day {
            day,
            cell,
            metric,
            visits: of.visits,
            values: of.sums.map(|sum| metric.scale().value(sum / f64::from(of.visits))),
            answer: of.answer,
        });
        History { visits, days: days.collect(), spells, silences, paths }
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    visits: Vec<Point>,
    days: BTreeMap<(u64, String, Metric), OfDay>,
    silences: Vec<Silence>,
    paths: Vec<String>,
}

#[derive(Default)]
struct OfDay {
    visits: u32,
    /// Sums of the values, on the scale of the metric.
    sums: PerFamily<f64>,
    answer: Option<Answer>,
}

impl Found {
    fn take(&mut self, entry: &Logged, wanted: &Wanted) {
        if let Logged::Watching(watching) = entry {
            watching.paths.iter().for_each(|path| self.knows(&path.name));
        }
        entry.path().into_iter().for_each(|path| self.knows(path));
        let Logged::Ended(ended) = entry else { return };
        if ended.path != wanted.path || ended.began_unix_ns < wanted.since_unix_ns {
            return;
        }
        for seen in ended.seen.iter().filter(|seen| wanted.is_asked(&seen.cell, seen.metric)) {
            self.add(ended, seen);
        }
    }

    /// The name is that of another host from now on, of which nothing is found yet.
    fn begin_anew(&mut self) {
        self.visits.clear();
        self.days.clear();
        self.silences.clear();
    }

    /// Notes an outage that begins or is over.
    fn outage(&mut self, event: &Event) {
        let What::Outage { family, outage } = event.what else { return };
        let since_unix_ns = outage.since.unix_ns;
        // The last one of a family alone can be open, however many there were.
        let last = self.silences.iter_mut().rev().find(|of| of.family == family);
        match (outage.over, last.filter(|of| of.until_unix_ns.is_none())) {
            (true, Some(open)) => open.until_unix_ns = Some(event.at_unix_ns),
            // Each is told when it begins.
            (true, None) | (false, Some(_)) => {}
            (false, None) => {
                self.silences.push(Silence { family, since_unix_ns, until_unix_ns: None });
            }
        }
    }

    fn knows(&mut self, path: &str) {
        if !self.paths.iter().any(|known| known == path) {
            self.paths.push(path.to_owned());
        }
    }

    fn add(&mut self, ended: &Ended, seen: &Seen) {
        let Seen { cell, metric, values, .. } = seen;
        let key = (day_of(ended.began_unix_ns), cell.clone(), *metric);
        let of = self.days.entry(key).or_default();
        of.visits += 1;
        of.sums.v4 += metric.scale().of_value(values.v4);
        of.sums.v6 += metric.scale().of_value(values.v6);
        let is_it = |answer: &&Answer| answer.cell == *cell && answer.metric == *metric;
        if let Some(answer) = ended.answers.iter().find(is_it) {
            of.answer = Some(answer.clone());
        }
        let difference = effect::of_block(*metric, values.v4, values.v6);
        self.visits.push(Point {
            began_unix_ns: ended.began_unix_ns,
            kind: ended.kind,
            run: ended.run.clone(),
            seen: seen.clone(),
            effect: metric.scale().shown(difference),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::watch::log::{Listed, Noted, Outcome, Watching};
    use v6gap_core::watch::{DAY_NS, With};

    fn ended(path: &str, day: u64, rtt: [f64; 2], answer: &str) -> Logged {
        let seen = |metric: Metric, [v4, v6]: [f64; 2]| Seen {
            cell: "rtt-tcp-64".to_owned(),
            metric,
            blocks: 8,
            values: PerFamily { v4, v6 },
            errors: None,
        };
        Logged::Ended(Box::new(Ended {
            at_unix_ns: day * DAY_NS + 2,
            began_unix_ns: day * DAY_NS + 1,
            path: path.to_owned(),
            kind: Kind::Light,
            outcome: Outcome::Measured,
            run: Some("7k2f9q".parse().unwrap()),
            bytes: 5,
            seen: vec![seen(Metric::Rtt, rtt), seen(Metric::Loss, [0.0, 0.5])],
            answers: vec![Answer {
                cell: "rtt-tcp-64".to_owned(),
                metric: Metric::Rtt,
                label: "Round trip".to_owned(),
                verdict: "worse".to_owned(),
                answer: answer.to_owned(),
                text: String::new(),
                range: None,
                margin: None,
                predicted: None,
            }],
            noted: Noted::default(),
            facts: Vec::new(),
        }))
    }

    fn down(path: &str, day: u64, family: Family) -> Logged {
        let Logged::Ended(ended) = ended(path, day, [1.0, 1.0], "") else { unreachable!() };
        let outcome = Outcome::Down { family: Some(family), why: "no".to_owned() };
        let ended = *ended;
        Logged::Ended(Box::new(Ended { outcome, seen: Vec::new(), ..ended }))
    }

    fn history(measure: Option<&str>, since_day: u64) -> History {
        let folder = std::env::temp_dir().join(format!(
            "v6gap-history-{}-{}-{since_day}",
            std::process::id(),
            measure.unwrap_or("all")
        ));
        let store = Store::at(&folder);
        let mut log = store.open_watch_log().unwrap();
        for entry in [
            ended("lab-b", 1, [1.0, 2.0], "first"),
            ended("nas", 1, [1.0, 9.0], "other"),
            ended("lab-b", 1, [4.0, 8.0], "second"),
            ended("lab-b", 2, [1.0, 1.0], "third"),
            down("lab-b", 2, Family::V6),
            ended("lab-b", 2, [1.0, 1.0], "third"),
            down("lab-b", 2, Family::V4),
            // Later than what is asked for.
            ended("lab-b", 3, [1.0, 1.0], "fourth"),
        ] {
            log.append(&entry).unwrap();
        }
        let since_unix_ns = since_day * DAY_NS;
        let measure = measure.map(str::to_owned);
        let to_unix_ns = 3 * DAY_NS;
        let wanted = Wanted { path: "lab-b".to_owned(), measure, since_unix_ns, to_unix_ns };
        let found = read(&store, &wanted).unwrap();
        store.clear().unwrap();
        found
    }

    #[test]
    fn each_day_has_the_means_of_its_visits_and_its_last_answer() {
        let found = history(Some("rtt"), 0);
        assert_eq!(found.visits.len(), 4);
        assert!((found.visits[0].effect - 1.0).abs() < 1e-12, "{found:?}");
        let [first, second] = &found.days[..] else { panic!("{found:?}") };
        assert_eq!((first.day, first.visits, second.visits), (1, 2, 2));
        assert!((first.values.v4 - 2.0).abs() < 1e-12 && (first.values.v6 - 4.0).abs() < 1e-12);
        assert_eq!(first.answer.as_ref().map(|a| a.answer.as_str()), Some("second"));
        assert_eq!(found.paths, ["lab-b", "nas"]);
        let [spells] = &found.spells[..] else { panic!("{found:?}") };
        assert_eq!((spells.asked.label.as_str(), spells.all[0].visits), ("Round trip", 4));
    }

    /// A silence of the host that had the name before is none of the one that has it now.
    #[test]
    fn another_host_under_the_name_begins_anew() {
        let listed = |host: &str| {
            let (name, host) = ("lab-b".to_owned(), host.to_owned());
            let (every_ns, throughput_every_ns, time_ns) = (None, None, None);
            let (measure, margins) = (Vec::new(), BTreeMap::new());
            let listed = Listed {
                name,
                host,
                with: With::Run,
                every_ns,
                throughput_every_ns,
                time_ns,
                measure,
                margins,
            };
            let paths = vec![listed];
            Logged::Watching(Watching { at_unix_ns: DAY_NS, budget_bytes: None, paths })
        };
        let (path, measure) = ("lab-b".to_owned(), None);
        let wanted = Wanted { path, measure, since_unix_ns: 0, to_unix_ns: 9 * DAY_NS };
        for (next, silences, visits) in [("192.0.2.7", 1, 2), ("192.0.2.9", 0, 1)] {
            let mut reading = Reading::of(&wanted);
            reading.take(&listed("192.0.2.7"));
            reading.take(&ended("lab-b", 1, [1.0, 2.0], "first"));
            reading.take(&down("lab-b", 1, Family::V6));
            reading.take(&listed(next));
            let found = {
                let Logged::Ended(ended) = ended("lab-b", 2, [1.0, 1.0], "") else {
                    unreachable!()
                };
                let outcome = Outcome::Failed { why: String::new() };
                reading.take(&Logged::Ended(Box::new(Ended { outcome, ..*ended })));
                reading.history()
            };
            assert_eq!(
                (found.silences.len(), found.visits.len()),
                (silences, 2 * visits),
                "{next}"
            );
        }
    }

    #[test]
    fn a_family_is_silent_until_it_answers() {
        let [v6, v4] = history(None, 0).silences[..] else { panic!("two") };
        let began = 2 * DAY_NS + 1;
        assert_eq!((v6.family, v6.since_unix_ns), (Family::V6, began));
        assert_eq!(v6.until_unix_ns, Some(2 * DAY_NS + 2));
        assert_eq!((v4.family, v4.since_unix_ns, v4.until_unix_ns), (Family::V4, began, None));
    }

    #[test]
    fn what_is_asked_for_is_told() {
        let both = history(None, 2);
        assert_eq!((both.visits.len(), both.days.len()), (4, 2));
        assert_eq!(both.visits[1].effect, 0.5);
        assert_eq!(history(Some("rtt-tcp-64"), 2).visits.len(), 4);
        assert!(history(Some("throughput"), 0).visits.is_empty());
    }
}
