//! One question of a path: its three series, which change together.

use super::facts::{APART_MAX, Facts};
use super::{Amount, Change, Moment, Moved, Series, Who};
use alloc::vec::Vec;
use v6gap_core::family::{Family, PerFamily};
use v6gap_stats::change::{Detector, Point, Rule, SIDE_MIN, Step, When, step};

/// A question as it is followed.
#[derive(Debug, Clone)]
pub(super) struct Question {
    margin: f64,
    series: Series<Detector>,
    /// The visits whose values the detectors remember.
    moments: Vec<Moment>,
    /// Its last change: the first visit after it, and what it was in each series.
    last: Option<(Moment, Series<Amount>)>,
}

impl Question {
    pub(super) fn new(rule: Rule) -> Self {
        let detector = Detector::new(rule);
        let families = PerFamily::from_fn(|_| detector.clone());
        Question {
            margin: rule.margin,
            series: Series { effect: detector, families },
            moments: Vec::new(),
            last: None,
        }
    }

    /// How far it may move without having changed.
    pub(super) fn margin(&self) -> f64 {
        self.margin
    }

    /// The first visit that it remembers.
    pub(super) fn since(&self) -> Option<u64> {
        self.moments.first().map(|moment| moment.visit)
    }

    /// Takes what a visit found of question `number`, and says what changed.
    pub(super) fn take(
        &mut self,
        number: usize,
        at: Moment,
        seen: &Series<Point>,
        facts: &Facts,
    ) -> Option<Change> {
        if !seen.all().iter().all(|point| point.value.is_finite()) {
            return None;
        }
        let whens = self.series.with(seen, |detector, point| detector.push(*point));
        self.moments.push(at);
        let forgotten = self.moments.len() - self.series.effect.points().len();
        self.moments.drain(..forgotten);
        // The series that tells best when it was; the effect, of equals.
        let spread = |when: &&When| when.since_max - when.since_min;
        let when = *whens.all().into_iter().flatten().min_by_key(spread)?;
        let shown = Series {
            effect: whens.effect.is_some(),
            families: whens.families.map(|when| when.is_some()),
        };
        let margin = self.margin;
        let amounts = self.series.with(&shown, |detector, shown| {
            let step = step(detector.points(), when.since);
            let found = amount(step, *shown, margin);
            detector.restart(when.since);
            found
        });
        let place = |since: usize| self.moments[self.moments.len() - since];
        // A split leaves values on either side, so there is a visit before the earliest.
        let (after, by) = (place(when.since_max + 1), place(when.since_min));
        let first = place(when.since);
        self.moments.drain(..self.moments.len() - when.since);
        let who = who(&amounts.families);
        let suspects = facts.suspects(after.visit, by.visit, who);
        self.last = Some((first, amounts));
        let (question, found) = (number, at);
        Some(Change { question, found, first, after, by, shown, amounts, who, suspects })
    }

    /// What each series did when this or another question changed; `None` where fewer visits than
    /// a mean needs lie on either side.
    pub(super) fn beside(&self, change: &Change) -> Option<Series<Amount>> {
        let then = change.after.visit..=change.by.visit + APART_MAX;
        if let Some((first, amounts)) = &self.last
            && then.contains(&first.visit)
        {
            return Some(*amounts);
        }
        let since = self.moments.iter().filter(|at| at.visit >= change.first.visit).count();
        if since < SIDE_MIN || self.moments.len() < since + SIDE_MIN {
            return None;
        }
        let of = |detector: &Detector| amount(step(detector.points(), since), false, self.margin);
        let effect = of(&self.series.effect);
        let families = PerFamily::from_fn(|family| of(self.series.families.get(family)));
        Some(Series { effect, families })
    }
}

fn who(amounts: &PerFamily<Amount>) -> Who {
    let moved = |family: &Family| amounts.get(*family).moved == Moved::Yes;
    let moved: Vec<Family> = Family::BOTH.into_iter().filter(moved).collect();
    match moved[..] {
        [] => Who::Effect,
        [family] => Who::One(family),
        _ => Who::Both,
    }
}

/// By the rules of a verdict: within the margin first, then whether none is excluded.
fn amount(step: Step, shown: bool, margin: f64) -> Amount {
    let moved = if shown {
        Moved::Yes
    } else if step.range.within(-margin, margin) {
        Moved::No
    } else if step.range.excludes(0.0) {
        Moved::Yes
    } else {
        Moved::Unknown
    };
    Amount { moved, step }
}
