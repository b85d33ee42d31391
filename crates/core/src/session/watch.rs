//! Time as a machine sees it: it never goes backwards, and one deadline stands at any time.

/// The time and the deadline of the present phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    now: u64,
    deadline: Option<u64>,
}

impl Watch {
    /// A watch that shows `now`, with the first deadline.
    pub(super) fn new(now: u64, after_ns: u64) -> Self {
        Watch { now, deadline: Some(now.saturating_add(after_ns)) }
    }

    /// Moves on to `now`; earlier times leave it where it is.
    pub(super) fn tick(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// The time.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Replaces the deadline.
    pub(super) fn set(&mut self, after_ns: u64) {
        self.deadline = Some(self.now.saturating_add(after_ns));
    }

    /// No deadline any more.
    pub(super) fn clear(&mut self) {
        self.deadline = None;
    }

    /// When the deadline is.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.deadline
    }

    /// True once the deadline has been reached.
    pub(super) fn expired(&self) -> bool {
        self.deadline.is_some_and(|deadline| self.now >= deadline)
    }
}
