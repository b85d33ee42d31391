//! Whether the broker answers.

use v6gap_core::fleet::coordinator::Event;
use v6gap_core::fleet::grant::NotCommitted;

/// How long it says nothing before that is told, in ns: longer than it takes for one of three nodes
/// that fails.
const SILENT_NS: u64 = 10_000_000_000;

/// What is known of that.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// Since when it has not answered, in ns.
    since_ns: Option<u64>,
    told: bool,
}

impl Silence {
    /// What is to be told once this was heard: that the broker does not answer, or that it does
    /// again.
    pub(super) fn heard(&mut self, event: &Event, now_ns: u64) -> Option<bool> {
        let answers = match event {
            Event::Looked(entry) => entry.is_some(),
            Event::Listed { entries, .. } => entries.is_some(),
            Event::Committed { came, .. } => *came != Err(NotCommitted::Unknown),
            Event::Time | Event::Reply(_) | Event::Heartbeat(_) | Event::Retire => return None,
        };
        if answers {
            self.since_ns = None;
            return std::mem::take(&mut self.told).then_some(false);
        }
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        let is_new = !self.told && now_ns.saturating_sub(since_ns) >= SILENT_NS;
        self.told |= is_new;
        is_new.then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_that_lasts_is_told_once_and_so_is_its_end() {
        let mut silence = Silence::default();
        let silent = || Event::Looked(None);
        let refused = || Event::Committed { number: 1, came: Err(NotCommitted::Refused) };
        let unknown = || Event::Committed { number: 1, came: Err(NotCommitted::Unknown) };
        for (event, s, told) in [
            (silent(), 0, None),
            (refused(), 9, None),
            (unknown(), 10, None),
            (Event::Time, 19, None),
            (silent(), 19, None),
            (silent(), 20, Some(true)),
            (Event::Listed { number: 1, entries: None }, 40, None),
            (Event::Listed { number: 1, entries: Some(Vec::new()) }, 41, Some(false)),
            (refused(), 42, None),
        ] {
            assert_eq!(silence.heard(&event, s * 1_000_000_000), told, "{s}: {event:?}");
        }
    }
}
