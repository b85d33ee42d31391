//! What waits, and for what. A visit that could not be made waits at what is in its way alone, and
//! is looked at again when that is free, so that what a moment costs does not grow with all that
//! wait.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// The order of what waits at one place for one measurement: the smallest is the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// Which part of a period it was measured in the last time, counted in such parts: within one
    /// they are equals.
    pub(super) since: u64,
    /// Most work that waits at any of what it takes, in ns; may have become less since.
    pub(super) load_ns: Reverse<u64>,
    /// Its round in a tournament of all hosts.
    pub(super) turn: u32,
    /// The visit.
    pub(super) task: u32,
}

/// What waits at each place, by measurement.
#[derive(Debug, Clone, Default)]
pub(super) struct Queues {
    measures: usize,
    sets: Vec<BTreeSet<Key>>,
    open: Vec<bool>,
    /// The first at each open place, by measurement.
    heads: Vec<BTreeSet<(Key, usize)>>,
}

impl Queues {
    /// So many places, all of them closed.
    pub(super) fn new(places: usize, measures: usize) -> Self {
        Queues {
            measures,
            sets: vec![BTreeSet::new(); places * measures],
            open: vec![false; places],
            heads: vec![BTreeSet::new(); measures],
        }
    }

    /// What is first at any open place for a measurement, and where.
    pub(super) fn first(&self, measure: usize) -> Option<(Key, usize)> {
        self.heads.get(measure)?.first().copied()
    }

    /// What is first at a place for a measurement.
    pub(super) fn first_at(&self, place: usize, measure: usize) -> Option<Key> {
        self.sets.get(place * self.measures + measure)?.first().copied()
    }

    /// Whether anything waits for a measurement at an open place.
    pub(super) fn waits(&self, measure: usize) -> bool {
        self.heads.get(measure).is_some_and(|heads| !heads.is_empty())
    }

    /// Whether anything waits at a place.
    pub(super) fn waits_at(&self, place: usize) -> bool {
        let from = place * self.measures;
        let sets = self.sets.get(from..from + self.measures).unwrap_or_default();
        sets.iter().any(|set| !set.is_empty())
    }

    pub(super) fn insert(&mut self, place: usize, measure: usize, key: Key) {
        self.change(place, measure, |set| set.insert(key));
    }

    pub(super) fn remove(&mut self, place: usize, measure: usize, key: Key) {
        self.change(place, measure, |set| set.remove(&key));
    }

    /// What waits at the place is looked at from now on.
    pub(super) fn open(&mut self, place: usize) {
        self.set_open(place, true);
    }

    /// What waits at the place waits until it is opened.
    pub(super) fn close(&mut self, place: usize) {
        self.set_open(place, false);
    }

    fn set_open(&mut self, place: usize, open: bool) {
        match self.open.get_mut(place) {
            Some(now) if *now != open => *now = open,
            Some(_) | None => return,
        }
        for (measure, heads) in self.heads.iter_mut().enumerate() {
            let set = self.sets.get(place * self.measures + measure);
            let Some(first) = set.and_then(BTreeSet::first) else { continue };
            match open {
                true => heads.insert((*first, place)),
                false => heads.remove(&(*first, place)),
            };
        }
    }

    fn change(
        &mut self,
        place: usize,
        measure: usize,
        change: impl FnOnce(&mut BTreeSet<Key>) -> bool,
    ) {
        let Some(set) = self.sets.get_mut(place * self.measures + measure) else { return };
        let before = set.first().copied();
        change(set);
        let after = set.first().copied();
        if before == after || !self.open.get(place).is_some_and(|open| *open) {
            return;
        }
        let Some(heads) = self.heads.get_mut(measure) else { return };
        if let Some(key) = before {
            heads.remove(&(key, place));
        }
        if let Some(key) = after {
            heads.insert((key, place));
        }
    }
}
