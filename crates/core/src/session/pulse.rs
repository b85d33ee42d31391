//! Whether the other end is still there: it is asked when nothing was heard of it for a while, and
//! given up if it does not answer. No packet is needed while it talks.

use super::timeout::{PING_NS, PONG_NS};

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beat {
    /// Nothing.
    Rest,
    /// Ask it; that counts as done.
    Ask,
    /// It has not answered in time.
    Gone,
}

/// When something is due, in ns, and whether that is an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pulse {
    due_ns: u64,
    asked: bool,
}

impl Pulse {
    /// The other end was heard of now.
    pub(super) fn new(now: u64) -> Self {
        Pulse { due_ns: now.saturating_add(PING_NS), asked: false }
    }

    /// The other end said something, or began to be listened to.
    pub(super) fn heard(&mut self, now: u64) {
        *self = Pulse::new(now);
    }

    /// Does not wait until nothing was heard for a while; the next beat is to ask.
    pub(super) fn doubt(&mut self) {
        if !self.asked {
            self.due_ns = 0;
        }
    }

    /// The other end takes what it was sent, and may not have come to the question yet.
    pub(super) fn taking(&mut self, now: u64) {
        let span_ns = if self.asked { PONG_NS } else { PING_NS };
        self.due_ns = self.due_ns.max(now.saturating_add(span_ns));
    }

    /// What is due now.
    pub(super) fn beat(&mut self, now: u64) -> Beat {
        if now < self.due_ns {
            return Beat::Rest;
        }
        if core::mem::replace(&mut self.asked, true) {
            return Beat::Gone;
        }
        self.due_ns = now.saturating_add(PONG_NS);
        Beat::Ask
    }

    /// When something is due.
    pub(super) fn deadline(&self) -> u64 {
        self.due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn silence_is_asked_about_once_and_then_ends() {
        let mut pulse = Pulse::new(100);
        assert_eq!(pulse.deadline(), 100 + PING_NS);
        assert_eq!(pulse.beat(99 + PING_NS), Beat::Rest);
        assert_eq!(pulse.beat(100 + PING_NS), Beat::Ask);
        assert_eq!(pulse.beat(101 + PING_NS), Beat::Rest);
        assert_eq!(pulse.beat(100 + PING_NS + PONG_NS), Beat::Gone);
        pulse.heard(7);
        assert_eq!(pulse.beat(8), Beat::Rest);
        pulse.doubt();
        assert_eq!((pulse.beat(8), pulse.beat(9)), (Beat::Ask, Beat::Rest));
    }

    proptest! {
        /// Whoever answers within the bound is never given up; whoever does not, is in time.
        #[test]
        fn only_the_silent_are_given_up(
            looks in prop::collection::vec(1_u64..PONG_NS, 1..200),
            answers_ns in 0_u64..2 * PONG_NS,
        ) {
            let mut pulse = Pulse::new(1);
            let (mut now, mut heard, mut answer_at) = (1, 1, None);
            for step in looks {
                let next = now + step;
                if let Some(at) = answer_at.filter(|at| *at <= next) {
                    pulse.heard(at);
                    (heard, answer_at) = (at, None);
                }
                now = next;
                match pulse.beat(now) {
                    Beat::Rest => prop_assert!(now < heard + PING_NS + 2 * PONG_NS),
                    Beat::Ask => answer_at = Some(now + answers_ns),
                    Beat::Gone => {
                        prop_assert!(answers_ns > PONG_NS);
                        return Ok(());
                    }
                }
            }
        }
    }
}
