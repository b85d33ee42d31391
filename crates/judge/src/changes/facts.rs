//! What else was known at the visits of a path, and what of it changed when the figures did.

use super::{Fact, Moment, Who};
use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::Family;
use v6gap_stats::change::REMEMBERED_MAX;

/// Visits by which a fact may be seen to change before or after the figures do: it is looked at
/// once in a visit, before or behind the trials.
pub(super) const APART_MAX: u64 = 1;

/// Something else that changed when the figures did.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// Name of the fact.
    pub name: String,
    /// The family that it is of; `None` if of both.
    pub family: Option<Family>,
    /// What it was until then.
    pub before: String,
    /// What it has been since.
    pub after: String,
    /// The last visit that saw it as it was.
    pub last_before: Moment,
    /// The first visit that saw it as it is.
    pub first_after: Moment,
    /// Whether it is so still.
    pub lasting: bool,
    /// How often it has changed in all that is remembered of it.
    pub times: usize,
    /// Chance that one of so many changes falls into the time in question if they come at any time:
    /// 1 for what changes all the time. Of figures the error rate of their ranges.
    pub chance: f64,
}

/// Values of all facts, as far back as series are remembered: that of a question which is not asked
/// at each visit reaches further.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts(Vec<Track>);

/// One fact over time.
#[derive(Debug, Clone)]
struct Track {
    name: String,
    family: Option<Family>,
    /// In order; neighbours differ, and there is at least one.
    spells: Vec<Spell>,
}

/// Visits in a row that saw one value; visits between them may have seen none.
#[derive(Debug, Clone)]
struct Spell {
    value: String,
    first: Moment,
    last: Moment,
    visits: u64,
}

impl Facts {
    /// Takes what a visit knew. All is kept that was seen since visit `since`, but of a fact that
    /// changes all the time.
    pub(super) fn take(&mut self, at: Moment, facts: &[Fact], since: u64) {
        for fact in facts {
            let is_it = |track: &&mut Track| track.name == fact.name && track.family == fact.family;
            match self.0.iter_mut().find(is_it) {
                Some(track) => track.take(at, &fact.value),
                None => self.0.push(Track::new(at, fact)),
            }
        }
        let oldest = (at.visit + 1).saturating_sub(REMEMBERED_MAX as u64).min(since);
        for track in &mut self.0 {
            let beyond = track.spells.len().saturating_sub(REMEMBERED_MAX);
            track.spells.drain(..beyond);
            track.spells.retain(|spell| spell.last.visit >= oldest);
        }
        self.0.retain(|track| !track.spells.is_empty());
    }

    /// What changed after visit `after` and up to visit `by`, or [`APART_MAX`] beside.
    pub(super) fn suspects(&self, after: u64, by: u64, who: Who) -> Vec<Suspect> {
        let mut found: Vec<Suspect> =
            self.0.iter().filter_map(|track| track.suspect(after, by)).collect();
        let of_another = |suspect: &Suspect| match who {
            Who::One(family) => suspect.family.is_some_and(|of| of != family),
            Who::Both | Who::Effect => false,
        };
        found.sort_by(|a, b| {
            let by_chance = || a.chance.total_cmp(&b.chance);
            let by_name = || (&a.name, a.family).cmp(&(&b.name, b.family));
            of_another(a).cmp(&of_another(b)).then_with(by_chance).then_with(by_name)
        });
        found
    }
}

impl Track {
    fn new(at: Moment, fact: &Fact) -> Self {
        let mut track = Track { name: fact.name.clone(), family: fact.family, spells: Vec::new() };
        track.take(at, &fact.value);
        track
    }

    fn take(&mut self, at: Moment, value: &str) {
        match self.spells.last_mut() {
            Some(spell) if spell.value == value => {
                spell.last = at;
                spell.visits += 1;
            }
            _ => self.spells.push(Spell { value: value.into(), first: at, last: at, visits: 1 }),
        }
    }

    fn suspect(&self, after: u64, by: u64) -> Option<Suspect> {
        // It changed after the last visit of a spell, and by the first one of the next.
        let then = |pair: &&[Spell]| {
            pair[0].last.visit < by + APART_MAX && pair[1].first.visit + APART_MAX > after
        };
        let mut changed = self.spells.windows(2).filter(then);
        let first = changed.next()?;
        let last = changed.next_back().unwrap_or(first);
        let (before, since) = (&first[0], &last[1]);
        if before.value == since.value {
            return None;
        }
        let times = self.spells.len() - 1;
        let visits: u64 = self.spells.iter().map(|spell| spell.visits).sum();
        Some(Suspect {
            name: self.name.clone(),
            family: self.family,
            before: before.value.clone(),
            after: since.value.clone(),
            last_before: before.last,
            first_after: since.first,
            lasting: self.spells.last().is_some_and(|newest| newest.first == since.first),
            times,
            chance: chance(visits - 1, by - after + 2 * APART_MAX, times),
        })
    }
}

/// Chance that one at least of so many changes falls into `within` of the `all` places between
/// visits where one may: one less that of drawing all of them from the rest, without return.
fn chance(all: u64, within: u64, times: usize) -> f64 {
    let rest = all.saturating_sub(within);
    let missed = (0..times as u64).map(|drawn| {
        let (left, places) = (rest.saturating_sub(drawn), all.saturating_sub(drawn));
        if places == 0 { 0.0 } else { left as f64 / places as f64 }
    });
    1.0 - missed.product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_chance_by_hand() {
        assert!((chance(99, 3, 1) - 3.0 / 99.0).abs() < 1e-12);
        assert!((chance(10, 3, 2) - (1.0 - 0.7 * 6.0 / 9.0)).abs() < 1e-12);
        assert_eq!((chance(99, 3, 99), chance(1, 3, 1), chance(0, 3, 0)), (1.0, 1.0, 0.0));
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut facts = Facts::default();
        let fact =
            |name: &str, value: &str| Fact { name: name.into(), family: None, value: value.into() };
        let at = |visit| Moment { visit, unix_ns: visit };
        let last = REMEMBERED_MAX as u64;
        facts.take(at(0), &[fact("server", "1"), fact("hops", "9")], 0);
        for visit in 1..=last {
            facts.take(at(visit), &[fact("hops", "9")], 0);
        }
        assert_eq!(facts.0.len(), 2, "a question remembers that visit");
        facts.take(at(last + 1), &[fact("hops", "9")], 2);
        assert_eq!((facts.0.len(), facts.0[0].spells.len()), (1, 1));
        assert_eq!(facts.0[0].spells[0].visits, last + 2);
    }

    /// What changes at every visit is remembered no further than visits are.
    #[test]
    fn what_is_remembered_is_bounded() {
        let mut facts = Facts::default();
        for visit in 0..3 * REMEMBERED_MAX as u64 {
            let route = Fact { name: "route".into(), family: None, value: visit.to_string() };
            facts.take(Moment { visit, unix_ns: visit }, &[route], 0);
        }
        assert_eq!(facts.0[0].spells.len(), REMEMBERED_MAX);
    }
}
