//! What is known of a watch: its log, folded. The machine that makes visits has this and nothing
//! else of what was before, so that it goes on from its log whenever it is begun again.

use super::log::{Answer, Cause, Ended, Listed, Logged, Notified, Outcome, Watching};
use super::{Kind, day_of};
use crate::days::Days;
use crate::family::{Family, PerFamily};
use crate::record::RunId;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// What is known of a watch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Known {
    /// When the first entry was made, in ns since the Unix epoch.
    pub since_unix_ns: Option<u64>,
    /// What is watched, as it was begun last.
    pub watching: Option<Watching>,
    /// Each path as it was watched last, by name, by whichever watch.
    pub listed: BTreeMap<String, Listed>,
    /// What the visits of the last days took.
    pub spent: Spent,
    /// What is known of each path, by name.
    pub paths: BTreeMap<String, BTreeMap<Kind, Past>>,
    /// What became of telling others of changes.
    pub notices: Notices,
}

/// How often others were told of changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notices {
    /// What they were told.
    pub told: u64,
    /// What they could not be told.
    pub lost: u64,
    /// Why not, the last time, in words.
    pub why: String,
}

impl Notices {
    fn take(&mut self, notified: &Notified) {
        match &notified.why {
            None => self.told = self.told.saturating_add(1),
            Some(why) => {
                self.lost = self.lost.saturating_add(1);
                self.why.clone_from(why);
            }
        }
    }
}

/// What the visits of the last days moved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spent(Days<u64>);

impl Spent {
    /// Payload bytes that those of a day moved, of UTC since the Unix epoch.
    pub fn on(&self, day: u64) -> u64 {
        self.0.get(day).copied().unwrap_or(0)
    }

    /// Takes note on `today` of so many more of a day.
    fn add(&mut self, day: u64, today: u64, bytes: u64) {
        self.0.open(day, today, || 0);
        if let Some(spent) = self.0.get_mut(day) {
            *spent = spent.saturating_add(bytes);
        }
    }
}

/// What is known of the visits of one kind to a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Past {
    /// How often visits ended how.
    pub ended: BTreeMap<&'static str, u64>,
    /// How often visits were not made, by the cause.
    pub missed: BTreeMap<Cause, u64>,
    /// When the last one was due, in ns since the Unix epoch.
    pub due_unix_ns: Option<u64>,
    /// When the last one that measured ended.
    pub measured_unix_ns: Option<u64>,
    /// When the last one ended, however it did.
    pub ended_unix_ns: Option<u64>,
    /// One that began and has not ended: when it began.
    pub open_unix_ns: Option<u64>,
    /// The run of the day, with its day.
    pub run: Option<(u64, RunId)>,
    /// Visits in a row that measured nothing for reasons of the path or of this host.
    pub failures: u64,
    /// The last of these reasons, in words.
    pub why: String,
    /// Visits that the far end did not want, since one that measured or found it down.
    pub refusals: u32,
    /// When the last of them ended.
    pub refused_unix_ns: Option<u64>,
    /// The families that do not get there now.
    pub silent: PerFamily<Option<Silent>>,
    /// Most bytes that a visit moved.
    pub bytes_most: u64,
    /// What the last run says.
    pub answers: Vec<Answer>,
}

/// Since when a family does not get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silent {
    /// When the first visit that found it so began, in ns since the Unix epoch.
    pub since_unix_ns: u64,
    /// Visits of the kind that found it so.
    pub visits: u64,
    /// Why, as the last of them says, in words.
    pub why: String,
}

impl Past {
    /// Visits that were begun.
    pub fn begun(&self) -> u64 {
        self.ended.values().sum()
    }

    /// Visits that ended so.
    pub fn count(&self, outcome: &Outcome) -> u64 {
        self.ended.get(outcome.name()).copied().unwrap_or(0)
    }

    /// Visits that were due and found the host taken or were not begun at all.
    pub fn given_up(&self) -> u64 {
        self.missed.values().sum::<u64>() + self.count(&Outcome::Taken)
    }

    /// What does not get there now: a family, or none of both: since the second of them did not.
    pub fn down(&self) -> Option<(Option<Family>, &Silent)> {
        match (&self.silent.v4, &self.silent.v6) {
            (Some(v4), Some(v6)) => {
                let later = if v4.since_unix_ns > v6.since_unix_ns { v4 } else { v6 };
                Some((None, later))
            }
            (Some(v4), None) => Some((Some(Family::V4), v4)),
            (None, Some(v6)) => Some((Some(Family::V6), v6)),
            (None, None) => None,
        }
    }
}

impl Known {
    /// What is known of the visits of a kind to a path.
    pub fn past(&self, path: &str, kind: Kind) -> Option<&Past> {
        self.paths.get(path)?.get(&kind)
    }

    /// Takes note of an entry of the log; they come in their order.
    pub fn take(&mut self, entry: &Logged) {
        self.since_unix_ns.get_or_insert(entry.at_unix_ns());
        match entry {
            Logged::Watching(watching) => self.watching(watching),
            Logged::Began(began) => {
                let past = self.past_mut(&began.path, began.kind);
                past.due_unix_ns = Some(began.due_unix_ns);
                past.open_unix_ns = Some(began.at_unix_ns);
            }
            Logged::Measures(entry) => {
                let past = self.past_mut(&entry.path, entry.kind);
                // A visit that goes past midnight is one of the day on which it began.
                let day = day_of(past.open_unix_ns.unwrap_or(entry.at_unix_ns));
                past.run = Some((day, entry.run.clone()));
            }
            Logged::Ended(ended) => self.ended(ended),
            Logged::Missed(missed) => {
                let past = self.past_mut(&missed.path, missed.kind);
                let count = past.missed.entry(missed.why).or_default();
                *count = count.saturating_add(missed.visits);
            }
            Logged::Notified(notified) => self.notices.take(notified),
        }
    }

    /// Takes note of what is watched.
    pub fn watching(&mut self, watching: &Watching) {
        for is in &watching.paths {
            let Some(was) = self.listed.insert(is.name.clone(), is.clone()) else { continue };
            let kinds = self.paths.get_mut(&is.name).into_iter().flatten();
            for (_, past) in kinds {
                if is.host != was.host {
                    past.begin_anew();
                    continue;
                }
                let continues = is.continues(&was);
                if !continues {
                    past.run = None;
                }
                if !continues || is.lasts_otherwise(&was) {
                    // What is asked for now may take less than any visit before did.
                    past.bytes_most = 0;
                }
            }
        }
        self.watching = Some(watching.clone());
    }

    fn ended(&mut self, ended: &Ended) {
        let (day, bytes) = self.moved(ended);
        self.spent.add(day, day_of(ended.at_unix_ns), bytes);
        // What got there in a visit is down for no other kind of visit, either.
        let answered = ended.outcome.answered().unwrap_or_default();
        let kinds = self.paths.get_mut(&ended.path).into_iter().flatten();
        kinds.for_each(|(_, past)| past.heard(answered));
        let past = self.past_mut(&ended.path, ended.kind);
        past.open_unix_ns = None;
        past.ended_unix_ns = Some(ended.at_unix_ns);
        *past.ended.entry(ended.outcome.name()).or_default() += 1;
        // What was only expected of one that was broken off was never moved.
        if ended.outcome != Outcome::BrokenOff {
            past.bytes_most = past.bytes_most.max(ended.bytes);
        }
        if !ended.answers.is_empty() {
            past.answers.clone_from(&ended.answers);
        }
        match &ended.outcome {
            Outcome::Measured => {
                past.measured_unix_ns = Some(ended.at_unix_ns);
                (past.failures, past.refusals) = (0, 0);
                past.why.clear();
            }
            Outcome::Down { family, why } => {
                past.failed(why);
                past.refusals = 0;
                for down in Family::BOTH.into_iter().filter(|of| family.is_none_or(|it| it == *of))
                {
                    past.lost(down, ended.began_unix_ns, why);
                }
            }
            Outcome::Refused { why } => {
                past.failed(why);
                past.refusals = past.refusals.saturating_add(1);
                past.refused_unix_ns = Some(ended.at_unix_ns);
            }
            Outcome::Failed { why } => past.failed(why),
            // Nothing was learnt of the path.
            Outcome::Stopped | Outcome::Taken | Outcome::BrokenOff => {}
        }
    }

    /// The day of which a visit is, and what it moved.
    fn moved(&self, ended: &Ended) -> (u64, u64) {
        match &ended.outcome {
            // Nobody counted what it moved: a watch that is killed again and again must not move
            // more than its budget for that. It ended long before that was noted.
            Outcome::BrokenOff => {
                let most = self.past(&ended.path, ended.kind).map_or(0, |past| past.bytes_most);
                (day_of(ended.began_unix_ns), most.max(ended.bytes))
            }
            Outcome::Measured
            | Outcome::Stopped
            | Outcome::Taken
            | Outcome::Refused { .. }
            | Outcome::Down { .. }
            | Outcome::Failed { .. } => (day_of(ended.at_unix_ns), ended.bytes),
        }
    }

    fn past_mut(&mut self, path: &str, kind: Kind) -> &mut Past {
        self.paths.entry(path.into()).or_default().entry(kind).or_default()
    }
}

impl Past {
    /// The name is that of another host now: how many visits there were stays, and nothing of what
    /// they said.
    fn begin_anew(&mut self) {
        let Past { ended, missed, due_unix_ns, open_unix_ns, .. } = core::mem::take(self);
        *self = Past { ended, missed, due_unix_ns, open_unix_ns, ..Past::default() };
    }

    /// A visit found these families to get there.
    fn heard(&mut self, answered: PerFamily<bool>) {
        for family in Family::BOTH.into_iter().filter(|family| *answered.get(*family)) {
            *self.silent.get_mut(family) = None;
        }
    }

    /// A visit that began then found this family not to.
    fn lost(&mut self, family: Family, began_unix_ns: u64, why: &str) {
        let silent = self.silent.get_mut(family).get_or_insert(Silent {
            since_unix_ns: began_unix_ns,
            visits: 0,
            why: String::new(),
        });
        silent.visits = silent.visits.saturating_add(1);
        silent.why = why.into();
    }

    fn failed(&mut self, why: &str) {
        self.failures = self.failures.saturating_add(1);
        self.why.clear();
        self.why.push_str(why);
    }
}
