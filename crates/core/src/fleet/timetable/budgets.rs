//! What links may carry on a day of UTC.

use alloc::vec::Vec;

/// The budgets of all links.
#[derive(Debug, Clone, Default)]
pub(super) struct Budgets {
    day: u64,
    links: Vec<Account>,
}

/// Of one link, in bytes.
#[derive(Debug, Clone, Copy)]
struct Account {
    most: Option<u64>,
    spent: u64,
}

impl Budgets {
    /// Of links that may carry so much on a day; nothing is spent.
    pub(super) fn new(most: impl Iterator<Item = Option<u64>>, day: u64) -> Self {
        Budgets { day, links: most.map(|most| Account { most, spent: 0 }).collect() }
    }

    /// Makes it that day; returns whether it is another one.
    pub(super) fn turn_to(&mut self, day: u64) -> bool {
        let is_other = day != self.day;
        if is_other {
            self.day = day;
            self.links.iter_mut().for_each(|of| of.spent = 0);
        }
        is_other
    }

    /// Whether a link may carry so much more today.
    pub(super) fn bears(&self, link: usize, bytes: u64) -> bool {
        let left = |of: &Account| of.most.map_or(u64::MAX, |most| most.saturating_sub(of.spent));
        self.links.get(link).is_none_or(|of| bytes <= left(of))
    }

    /// Takes note that a link carries so much.
    pub(super) fn spend(&mut self, link: usize, bytes: u64) {
        if let Some(of) = self.links.get_mut(link) {
            of.spent = of.spent.saturating_add(bytes);
        }
    }

    /// Takes note that a link did not carry what was taken note of today.
    pub(super) fn give_back(&mut self, link: usize, bytes: u64) {
        if let Some(of) = self.links.get_mut(link) {
            of.spent = of.spent.saturating_sub(bytes);
        }
    }

    /// The day, counted from the Unix epoch.
    pub(super) fn day(&self) -> u64 {
        self.day
    }
}
