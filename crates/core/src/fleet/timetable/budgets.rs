//! What links may carry on a day of UTC.

use crate::days::Days;
use alloc::vec;
use alloc::vec::Vec;

/// The budgets of all links.
#[derive(Debug, Clone, Default)]
pub(super) struct Budgets {
    day: u64,
    /// What each link may carry on a day, in bytes.
    most: Vec<Option<u64>>,
    /// What each has carried, in bytes, by the day.
    spent: Days<Vec<u64>>,
}

impl Budgets {
    /// Of links that may carry so much on a day; nothing is spent.
    pub(super) fn new(most: impl Iterator<Item = Option<u64>>, day: u64) -> Self {
        let most: Vec<Option<u64>> = most.collect();
        let mut spent = Days::default();
        spent.open(day, day, || vec![0; most.len()]);
        Budgets { day, most, spent }
    }

    /// Makes it that day; returns whether it is another one.
    pub(super) fn turn_to(&mut self, day: u64) -> bool {
        let is_other = day != self.day;
        if is_other {
            self.day = day;
            let links = self.most.len();
            self.spent.open(day, day, || vec![0; links]);
        }
        is_other
    }

    /// Whether a link may carry so much more today.
    pub(super) fn bears(&self, link: usize, bytes: u64) -> bool {
        let Some(Some(most)) = self.most.get(link) else { return true };
        let spent = self.spent.get(self.day).and_then(|of| of.get(link));
        bytes <= most.saturating_sub(spent.copied().unwrap_or(0))
    }

    /// Takes note that a link carries so much today.
    pub(super) fn spend(&mut self, link: usize, bytes: u64) {
        if let Some(spent) = self.account(self.day, link) {
            *spent = spent.saturating_add(bytes);
        }
    }

    /// Takes note that a link did not carry what was taken note of on that day.
    pub(super) fn give_back(&mut self, day: u64, link: usize, bytes: u64) {
        if let Some(spent) = self.account(day, link) {
            *spent = spent.saturating_sub(bytes);
        }
    }

    /// The day, counted from the Unix epoch.
    pub(super) fn day(&self) -> u64 {
        self.day
    }

    fn account(&mut self, day: u64, link: usize) -> Option<&mut u64> {
        self.spent.get_mut(day)?.get_mut(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_that_comes_again_has_spent_and_one_far_away_begins_anew() {
        let mut budgets = Budgets::new([Some(5)].into_iter(), 100);
        budgets.spend(0, 5);
        for day in [130, 101, 102, 103] {
            assert!(budgets.turn_to(day) && budgets.bears(0, 5), "{day}");
            budgets.spend(0, 5);
        }
        assert!(budgets.turn_to(100) && !budgets.bears(0, 1));
        assert!(budgets.turn_to(130) && budgets.bears(0, 5));
    }
}
