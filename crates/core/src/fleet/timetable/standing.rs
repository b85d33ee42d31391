//! How far behind a timetable is.

use super::{Of, Order};
use crate::watch::Moment;
use alloc::vec::Vec;

/// So many periods after a visit began a path is overdue: the next one was to begin after one of
/// them, and the whole of another was not enough for it.
const OVERDUE_PERIODS: u64 = 2;

/// How far behind a timetable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// Its paths, each once for each of its measurements.
    pub paths: usize,
    /// Those of them that should have been measured a whole period ago and were not. None of a
    /// measurement in its quiet hours.
    pub overdue: usize,
}

impl Order {
    /// How far behind it is at this moment.
    pub fn standing(&self, now: Moment) -> Standing {
        // The hours are looked at once for each measurement: there may be many paths.
        let longest_ns = |of: &Of| {
            let quiet = of.quiet.touches(now, of.slot.longest_ns);
            if quiet { u64::MAX } else { of.every_ns.saturating_mul(OVERDUE_PERIODS) }
        };
        let longest_ns: Vec<u64> = self.measures.iter().map(longest_ns).collect();
        let mut standing = Standing::default();
        for (visit, task) in &self.by_visit {
            let Some(task) = self.task(*task).filter(|task| task.wanted) else { continue };
            let longest_ns = longest_ns.get(visit.measure).copied().unwrap_or(u64::MAX);
            let age_ns = now.unix_ns.saturating_sub(task.last_ns);
            standing.paths += 1;
            standing.overdue += usize::from(age_ns >= longest_ns);
        }
        standing
    }
}
