//! How much may wait to be sent to an end that does not take it, and for how long.

use super::SECOND_NS;

/// Bytes beyond which nothing more is put to what waits.
pub const BYTES_MAX: usize = 256 << 10;

/// Longest time in which none of it is taken, in ns.
pub const STALLED_NS: u64 = 10 * SECOND_NS;

/// What waits to be sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backlog {
    bytes: usize,
    /// When it was last empty or shrank, in ns.
    moved_ns: u64,
}

impl Backlog {
    /// So many bytes wait now.
    pub fn holds(&mut self, bytes: usize, now_ns: u64) {
        if self.bytes == 0 || bytes < self.bytes {
            self.moved_ns = now_ns;
        }
        self.bytes = bytes;
    }

    /// Whether one more message may be put to it.
    pub fn has_room(&self) -> bool {
        self.bytes <= BYTES_MAX
    }

    /// When the other end is given up if it takes nothing until then.
    pub fn deadline(&self) -> Option<u64> {
        (self.bytes > 0).then(|| self.moved_ns.saturating_add(STALLED_NS))
    }

    /// Whether that time has come.
    pub fn is_stalled(&self, now_ns: u64) -> bool {
        self.deadline().is_some_and(|deadline| now_ns >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shrinks_lives_and_what_stands_still_does_not() {
        let mut backlog = Backlog::default();
        assert_eq!((backlog.deadline(), backlog.has_room()), (None, true));
        backlog.holds(10, 5);
        backlog.holds(20, 5 + STALLED_NS - 1);
        assert!(!backlog.is_stalled(5 + STALLED_NS - 1));
        assert!(backlog.is_stalled(5 + STALLED_NS));
        backlog.holds(19, 7 + STALLED_NS);
        assert!(!backlog.is_stalled(5 + 2 * STALLED_NS));
        backlog.holds(BYTES_MAX + 1, 8 + STALLED_NS);
        assert!(!backlog.has_room());
        backlog.holds(0, 9 + STALLED_NS);
        assert_eq!(backlog.deadline(), None);
    }
}
