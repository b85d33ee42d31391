//! Accounts of days.

use alloc::collections::BTreeMap;

/// How many days have an account.
const DAYS: usize = 4;

/// Accounts by the day of UTC since the Unix epoch, of few days: a clock that was wrong for a
/// while, or goes back over midnight, shows a day again that has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Days<T>(BTreeMap<u64, T>);

impl<T> Days<T> {
    /// The account of a day, if it has one.
    pub(crate) fn get(&self, day: u64) -> Option<&T> {
        self.0.get(&day)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, day: u64) -> Option<&mut T> {
        self.0.get_mut(&day)
    }

    /// Gives a day an account if it has none. Where that is one too many, that of the day farthest
    /// from `today` goes, be it this one: a clock that was wrong showed it.
    pub(crate) fn open(&mut self, day: u64, today: u64, new: impl FnOnce() -> T) {
        self.0.entry(day).or_insert_with(new);
        let farthest = self.0.keys().copied().max_by_key(|of| of.abs_diff(today));
        if let Some(farthest) = farthest.filter(|_| self.0.len() > DAYS) {
            self.0.remove(&farthest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_days_are_known_and_those_far_away_are_forgotten_first() {
        let mut days = Days::default();
        for day in [100, 130, 0, 101, 102, 103] {
            days.open(day, day, || day);
        }
        assert_eq!(days.0.len(), DAYS);
        assert!((100..=103).all(|day| days.get(day) == Some(&day)), "{days:?}");
        days.open(100, 100, || 7);
        assert_eq!(days.get_mut(100), Some(&mut 100));
        days.open(9, 103, || 9);
        assert_eq!((days.get(9), days.0.len()), (None, DAYS));
    }
}
