//! What changed on a path that is measured again and again (docs/method.md section C.15): when, of
//! which family, by how much, and what else was another from then on.
//!
//! Each question has three series of one value a visit, the effect and each family by itself. The
//! one of them that shows a change first dates it for all three, so that one event is told once. A
//! family that does not answer is no change of figures: that is told by the next visit, and visits
//! without both families are left out of the series.

mod facts;
mod question;
mod signs;
mod spells;
mod watched;

use crate::analysis::effect;
use alloc::vec::Vec;
use facts::Facts;
use question::Question;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_stats::change::Rule;

pub use facts::Suspect;
pub use spells::{Asked, Spell, Spells};
pub use v6gap_core::watch::log::Fact;
pub use v6gap_stats::change::{Point, Side, Step};
pub use watched::{Event, Watched, What};

/// Rate of false alarms of a path, all its questions together: one in so many visits at most, on
/// average, as long as nothing moves by more than the margins.
pub const ALPHA: f64 = 1e-4;

/// Series of a question.
const SERIES: usize = 3;

/// How far a metric may move without being said to have changed unless it is told otherwise, on the
/// scale of its effects: the margin of the verdict, below which a difference does not matter.
pub fn margin_default(metric: Metric) -> f64 {
    effect::margin(metric, metric.margin_default())
}

/// One value for each series of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Series<T> {
    /// For IPv6 against IPv4.
    pub effect: T,
    /// For each family by itself.
    pub families: PerFamily<T>,
}

/// What one visit found.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    /// When it began, in ns since the beginning of 1970 (UTC).
    pub started_unix_ns: u64,
    /// Whether each family reached the far end at all.
    pub answered: PerFamily<bool>,
    /// Of each question of the path, in their order: the mean effect of the visit's blocks and the
    /// mean of each family, on the scale of the effect (logarithms, or plain values). `None` where
    /// one of them is missing.
    pub questions: Vec<Option<Series<Point>>>,
    /// What else was known then.
    pub facts: Vec<Fact>,
}

/// One of the visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Its number, counted from 0.
    pub visit: u64,
    /// When it began, in ns since the beginning of 1970 (UTC).
    pub unix_ns: u64,
}

/// A change of one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Number of the question, counted from 0.
    pub question: usize,
    /// The visit that showed it.
    pub found: Moment,
    /// The first visit after it: the likeliest.
    pub first: Moment,
    /// It came after this visit (95 %).
    pub after: Moment,
    /// It had come by this one (95 %).
    pub by: Moment,
    /// Which of the series showed it.
    pub shown: Series<bool>,
    /// What it is in each of them.
    pub amounts: Series<Amount>,
    /// Of which family it is.
    pub who: Who,
    /// What else changed then: first what is of the families that changed, and the least likely to
    /// have fallen into that time by chance; figures of other questions behind facts.
    pub suspects: Vec<Suspect>,
}

/// A change in one series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount {
    /// Whether it is one.
    pub moved: Moved,
    /// Means before and after and their difference with 95 % ranges, on the scale of the effect.
    pub step: Step,
}

/// Whether a series has moved, as a verdict has it (docs/method.md section D.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// It showed the change, or its range excludes none.
    Yes,
    /// Its range lies within the margin.
    No,
    /// Neither.
    Unknown,
}

/// Of which family a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Of this one; the other is not known to have moved.
    One(Family),
    /// Of both, alike or not: what the effect did tells.
    Both,
    /// Of the effect only: neither family is known to have moved by itself.
    Effect,
}

/// A family that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// The first visit that it did not answer.
    pub since: Moment,
    /// Visits that it did not answer: 1 when it is told first.
    pub visits: u64,
    /// Whether it answers again: told once.
    pub over: bool,
}

/// What there is to tell after a visit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// Changes that this visit showed, by question.
    pub changes: Vec<Change>,
    /// Of each of them, what every question did then, in their order; `None` where that is not
    /// known.
    pub beside: Vec<Vec<Option<Series<Amount>>>>,
    /// Families that do not answer, or do so again.
    pub outages: PerFamily<Option<Outage>>,
}

/// A path as it is followed from visit to visit. What it remembers is bounded, so a stored history
/// may be passed through it as often as is wanted.
#[derive(Debug, Clone, Default)]
pub struct Path {
    visits: u64,
    questions: Vec<Question>,
    facts: Facts,
    down: PerFamily<Option<Outage>>,
}

impl Path {
    /// A path without a visit, by the margin of each of its questions on the scale of the effect.
    pub fn new(margins: &[f64]) -> Self {
        let mut path = Path::default();
        path.ask(margins);
        path
    }

    /// Follows questions with these margins from now on. Those that it follows already go on,
    /// unless their margin is another: they begin anew. One that comes later has the share of the
    /// false alarms that all would have which there are then.
    pub fn ask(&mut self, margins: &[f64]) {
        // One share for each series that could show a change.
        let alpha = ALPHA / (SERIES * margins.len().max(1)) as f64;
        for (number, &margin) in margins.iter().enumerate() {
            let anew = || Question::new(Rule { alpha, margin });
            match self.questions.get_mut(number) {
                Some(known) if known.margin() == margin => {}
                Some(known) => *known = anew(),
                None => self.questions.push(anew()),
            }
        }
    }

    /// Takes the next visit and says what there is to tell. Questions beyond those that it was made
    /// for are left out.
    pub fn visit(&mut self, visit: &Visit) -> Told {
        let at = Moment { visit: self.visits, unix_ns: visit.started_unix_ns };
        self.visits += 1;
        let since = self.questions.iter().filter_map(Question::since).min();
        self.facts.take(at, &visit.facts, since.unwrap_or(at.visit));
        let facts = &self.facts;
        let asked = self.questions.iter_mut().zip(&visit.questions).enumerate();
        let changes = asked.filter_map(|(number, (question, seen))| {
            question.take(number, at, seen.as_ref()?, facts)
        });
        let changes: Vec<Change> = changes.collect();
        let asked = &self.questions;
        let beside =
            |change: &Change| asked.iter().map(|asked| asked.beside(change)).collect::<Vec<_>>();
        let beside = changes.iter().map(beside).collect();
        let outages = PerFamily::from_fn(|family| {
            answer(self.down.get_mut(family), at, *visit.answered.get(family))
        });
        Told { changes, beside, outages }
    }
}

/// What there is to tell of a family that answered or did not.
fn answer(down: &mut Option<Outage>, at: Moment, answered: bool) -> Option<Outage> {
    if answered {
        return down.take().map(|outage| Outage { over: true, ..outage });
    }
    let (since, visits) = down.map_or((at, 0), |outage| (outage.since, outage.visits));
    *down = Some(Outage { since, visits: visits + 1, over: false });
    *down
}

impl<T> Series<T> {
    /// All of them, the effect first.
    pub fn all(&self) -> [&T; SERIES] {
        [&self.effect, &self.families.v4, &self.families.v6]
    }

    /// Calls `f` for each, with what another set has in its place.
    fn with<U, V>(&mut self, other: &Series<U>, mut f: impl FnMut(&mut T, &U) -> V) -> Series<V> {
        Series {
            effect: f(&mut self.effect, &other.effect),
            families: PerFamily::from_fn(|family| {
                f(self.families.get_mut(family), other.families.get(family))
            }),
        }
    }
}

#[cfg(test)]
mod tests;
