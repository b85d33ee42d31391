//! When a frame would have come to the next line if this program were never late.
//!
//! A node that forwards does so within the call that delivers the frame to it. A delivery that is
//! late makes the frame late on the next line too, and a train of frames is then as late as the
//! latest of them: a cost that no copper has, and that grows with the train. So what a node
//! forwards while a frame is delivered to it counts as come at that frame's own time.

use std::collections::VecDeque;

/// Deliveries kept until frames that came later are seen: more than the ring of a port holds.
const KEPT_MAX: usize = 4096;

/// A call that delivered a frame, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delivery {
    /// When the frame was due.
    pub due_ns: u64,
    /// When the call began.
    pub from_ns: u64,
    /// When it returned.
    pub to_ns: u64,
}

/// Deliveries to one node, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Deliveries(VecDeque<Delivery>);

impl Deliveries {
    pub fn push(&mut self, delivery: Delivery) {
        if self.0.len() == KEPT_MAX {
            self.0.pop_front();
        }
        self.0.push_back(delivery);
    }

    /// The time at which a frame that came at `at_ns` would have come. Frames must be given in
    /// order.
    pub fn undelayed_ns(&mut self, at_ns: u64) -> u64 {
        while self.0.front().is_some_and(|delivery| delivery.to_ns < at_ns) {
            self.0.pop_front();
        }
        let cause = self.0.front().filter(|delivery| delivery.from_ns <= at_ns);
        cause.map_or(at_ns, |cause| at_ns - cause.from_ns.saturating_sub(cause.due_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_forwarded_in_a_late_call_was_not_late() {
        let mut deliveries = Deliveries::default();
        deliveries.push(Delivery { due_ns: 1000, from_ns: 1000, to_ns: 1005 });
        deliveries.push(Delivery { due_ns: 1100, from_ns: 1140, to_ns: 1150 });
        assert_eq!(deliveries.undelayed_ns(999), 999, "before all");
        assert_eq!(deliveries.undelayed_ns(1003), 1003, "from a call in time");
        assert_eq!(deliveries.undelayed_ns(1120), 1120, "between the calls: the node's own");
        assert_eq!(deliveries.undelayed_ns(1143), 1103, "from the call that was 40 ns late");
        assert_eq!(deliveries.undelayed_ns(1144), 1104, "a second one of the same call");
        assert_eq!(deliveries.undelayed_ns(1151), 1151);
        assert_eq!(deliveries.0.len(), 0);
    }

    #[test]
    fn what_nobody_asks_for_is_forgotten() {
        let mut deliveries = Deliveries::default();
        for at in 0..2 * KEPT_MAX as u64 {
            deliveries.push(Delivery { due_ns: at, from_ns: at, to_ns: at });
        }
        assert_eq!(deliveries.0.len(), KEPT_MAX);
    }
}
