//! Which runs are old enough to be removed by a rule instead of by name.

use crate::Row;
use std::collections::BTreeMap;

/// What a rule keeps. Where there is an archive, whoever follows it removes what that has alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Runs that began less than so long ago stay, in ns.
    pub age_ns: u64,
    /// The newest so many of each path and plan stay, however old they are.
    pub newest: usize,
}

impl Retention {
    /// Those of `rows`, the latest first, that may go at `now_unix_ns`. What a person wrote a title
    /// or a note on stays, and so does what began in the future: one of the clocks was wrong.
    pub fn past<'a>(&self, rows: &'a [Row], now_unix_ns: u64) -> Vec<&'a Row> {
        let mut newer: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
        let mut past = Vec::new();
        for row in rows {
            let head = &row.head;
            let path = (head.target.as_str(), head.plan.as_str(), head.world.as_deref());
            let before = newer.entry(path).or_default();
            let is_old = now_unix_ns.saturating_sub(head.started_unix_ns) > self.age_ns;
            let is_plain = head.title.is_empty() && head.note.is_empty();
            if is_old && is_plain && *before >= self.newest {
                past.push(row);
            }
            *before += 1;
        }
        past
    }
}
