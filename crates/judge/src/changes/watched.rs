//! A path of a watch, followed by what its log tells: each visit that learnt something of the path
//! becomes one of the series in which changes are looked for.

use super::spells::{Asked, Spells};
use super::{Change, Moment, Outage, Path, Series, Visit, margin_default, signs};
use crate::analysis::effect;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::watch::log::{Ended, Listed, Seen};
use v6gap_stats::change::Point;

/// Something that a visit showed, for whoever wants to hear of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The path.
    pub path: String,
    /// When the visit ended that showed it, in ns since the beginning of 1970 (UTC).
    pub at_unix_ns: u64,
    /// What it is.
    pub what: What,
}

/// What a visit showed.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A question changed.
    Changed {
        /// The question.
        asked: Asked,
        /// How.
        change: Box<Change>,
    },
    /// A family does not answer, or does so again.
    Outage {
        /// The family.
        family: Family,
        /// Since when, and whether it is over.
        outage: Outage,
    },
}

impl Event {
    /// The question that changed, if one did.
    pub fn changed(&self) -> Option<&Asked> {
        match &self.what {
            What::Changed { asked, .. } => Some(asked),
            What::Outage { .. } => None,
        }
    }
}

/// A path of a watch.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    path: Path,
    asked: Vec<Asked>,
    margins: BTreeMap<Metric, f64>,
    /// The host that its name is of, as far as its log told.
    host: Option<String>,
    /// Values and changes of each question from some time on, where its history is wanted.
    kept: Option<Kept>,
}

/// What is kept of a path for its history.
#[derive(Debug, Clone, Default)]
struct Kept {
    since_unix_ns: u64,
    points: Vec<Vec<(Moment, Series<Point>)>>,
    changes: Vec<Change>,
}

impl Watched {
    /// One of which the history from `since_unix_ns` on is kept.
    pub fn keeping(since_unix_ns: u64) -> Self {
        let kept = Kept { since_unix_ns, ..Kept::default() };
        Watched { kept: Some(kept), ..Watched::default() }
    }

    /// It is watched with these margins from now on. What has another one begins anew, and all of
    /// it does where the name is that of another host, which is what it returns.
    pub fn listed(&mut self, listed: &Listed) -> bool {
        let before = self.host.replace(listed.host.clone());
        let is_another = before.is_some_and(|host| host != listed.host);
        if is_another {
            let kept = self
                .kept
                .take()
                .map(|kept| Kept { since_unix_ns: kept.since_unix_ns, ..Kept::default() });
            *self = Watched { host: self.host.take(), kept, ..Watched::default() };
        }
        self.margins.clone_from(&listed.margins);
        for asked in &mut self.asked {
            asked.margin = margin(&self.margins, asked.metric);
        }
        self.ask();
        is_another
    }

    /// Takes the next visit of its log, and says what it showed. An outage is told when it begins
    /// and when it is over.
    pub fn take(&mut self, ended: &Ended) -> Vec<Event> {
        let Some(answered) = ended.outcome.answered() else { return Vec::new() };
        self.meet(ended);
        let at = Moment { visit: self.path.visits, unix_ns: ended.began_unix_ns };
        let of = |asked: &Asked| {
            let is_it = |seen: &&Seen| seen.cell == asked.cell && seen.metric == asked.metric;
            ended.seen.iter().find(is_it).map(series)
        };
        let questions: Vec<Option<Series<Point>>> = self.asked.iter().map(of).collect();
        let facts = ended.facts.clone();
        let visit = Visit { started_unix_ns: at.unix_ns, answered, questions, facts };
        let mut told = self.path.visit(&visit);
        for (change, beside) in told.changes.iter_mut().zip(&told.beside) {
            let signs = signs::suspects(&self.asked, beside, change);
            change.suspects.extend(signs);
        }
        if let Some(kept) = &mut self.kept {
            kept.take(at, &visit.questions, &told.changes);
        }
        let event = |what| Event { path: ended.path.clone(), at_unix_ns: ended.at_unix_ns, what };
        let changes = told.changes.into_iter().filter_map(|change| {
            let asked = self.asked.get(change.question)?.clone();
            Some(event(What::Changed { asked, change: Box::new(change) }))
        });
        let outages = Family::BOTH.into_iter().filter_map(|family| {
            let outage = (*told.outages.get(family))?;
            let is_new = outage.over || outage.visits == 1;
            is_new.then(|| event(What::Outage { family, outage }))
        });
        changes.chain(outages).collect()
    }

    /// The history of its questions, if it is kept; of those without a visit there is none.
    pub fn spells(&self) -> Vec<Spells> {
        let Some(kept) = &self.kept else { return Vec::new() };
        let of = |(number, asked): (usize, &Asked)| {
            let points = kept.points.get(number).filter(|points| !points.is_empty())?;
            let own = kept.changes.iter().filter(|change| change.question == number);
            let changes: Vec<Change> = own.cloned().collect();
            Some(Spells::of(asked.clone(), points, &changes))
        };
        self.asked.iter().enumerate().filter_map(of).collect()
    }

    /// Asks for what is measured for the first time: all questions of the run at once, also those
    /// that had no valid block yet.
    fn meet(&mut self, ended: &Ended) {
        let of_run = ended.answers.iter().map(|a| (&a.cell, a.metric, Some(&a.label)));
        let of_visit = ended.seen.iter().map(|seen| (&seen.cell, seen.metric, None));
        for (cell, metric, label) in of_run.chain(of_visit) {
            if self.asked.iter().any(|asked| asked.cell == *cell && asked.metric == metric) {
                continue;
            }
            self.asked.push(Asked {
                cell: cell.clone(),
                metric,
                label: label.cloned().unwrap_or_else(|| format!("{cell} {metric}")),
                margin: margin(&self.margins, metric),
            });
        }
        self.ask();
    }

    fn ask(&mut self) {
        let margins: Vec<f64> = self.asked.iter().map(|asked| asked.margin).collect();
        self.path.ask(&margins);
    }
}

impl Kept {
    fn take(&mut self, at: Moment, questions: &[Option<Series<Point>>], changes: &[Change]) {
        self.points.resize_with(questions.len().max(self.points.len()), Vec::new);
        let is_finite =
            |seen: &&Series<Point>| seen.all().iter().all(|point| point.value.is_finite());
        for (points, seen) in self.points.iter_mut().zip(questions) {
            if at.unix_ns >= self.since_unix_ns {
                points.extend(seen.as_ref().filter(is_finite).map(|seen| (at, *seen)));
            }
        }
        self.changes.extend_from_slice(changes);
    }
}

/// What a visit measured of a question, on the scale of the effect.
fn series(seen: &Seen) -> Series<Point> {
    let scale = seen.metric.scale();
    let PerFamily { v4, v6 } = seen.values;
    Series {
        effect: Point {
            value: effect::of_block(seen.metric, v4, v6),
            standard_error: seen.errors.map(|errors| errors.effect),
        },
        families: PerFamily::from_fn(|family| Point {
            value: scale.of_value(*seen.values.get(family)),
            standard_error: seen.errors.map(|errors| *errors.families.get(family)),
        }),
    }
}

fn margin(own: &BTreeMap<Metric, f64>, metric: Metric) -> f64 {
    own.get(&metric).map_or_else(|| margin_default(metric), |share| effect::margin(metric, *share))
}

#[cfg(test)]
mod tests;
