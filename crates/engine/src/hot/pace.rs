//! When the next datagram is due: an absolute schedule from the start, so that errors of single
//! waits do not add up to a drift of the rate.
//!
//! A sender that was held up may send only so many datagrams without pause afterwards; what is due
//! beyond that is left out and counted, because a longer burst would measure queues and not the
//! path.

use v6gap_core::workload::law::{Due, Schedule};

/// Datagrams that may follow each other without pause after the sender was held up.
pub const CATCH_UP_MAX: u64 = 32;

/// Datagrams left out in one step, so that the caller gets to look at other things.
const SKIPS_MAX: u32 = 1 << 14;

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing before this time.
    WaitUntil(u64),
    /// Send this datagram; its time is by the clock.
    Send(Due),
    /// All is sent.
    Done,
}

/// A schedule against the clock.
#[derive(Debug, Clone)]
pub struct Pace {
    start_ns: u64,
    duration_ns: u64,
    due: Due,
    schedule: Schedule,
    /// This schedule some datagrams later: when one of these is due, the ones before it that are
    /// still to be sent are too many.
    later_due: Due,
    later: Schedule,
    /// Datagrams left out because the sender was held up for too long.
    pub skipped: u64,
}

impl Pace {
    /// The datagrams of `schedule` that are due before `duration_ns` is over, from `start_ns` on by
    /// the clock. At most `catch_up` (at least 1) follow each other without pause after a delay.
    pub fn new(start_ns: u64, mut schedule: Schedule, duration_ns: u64, catch_up: u64) -> Self {
        const NEVER: Due = Due { at_ns: u64::MAX, bytes: 0 };
        let mut later = schedule.clone();
        let next = |schedule: &mut Schedule| schedule.next().unwrap_or(NEVER);
        let due = next(&mut schedule);
        let mut later_due = NEVER;
        for _ in 0..=catch_up.max(1) {
            later_due = next(&mut later);
        }
        Pace { start_ns, duration_ns, due, schedule, later_due, later, skipped: 0 }
    }

    /// When the next datagram is due, by the clock in ns.
    pub fn due_ns(&self) -> u64 {
        self.by_clock().at_ns
    }

    /// What to do at time `now_ns`; after `Send` the datagram counts as sent.
    #[inline]
    pub fn step(&mut self, now_ns: u64) -> Step {
        let passed_ns = now_ns.saturating_sub(self.start_ns).min(self.duration_ns);
        let mut left = SKIPS_MAX;
        while self.later_due.at_ns <= passed_ns && self.later_due.at_ns < self.duration_ns {
            if left == 0 {
                return Step::WaitUntil(now_ns);
            }
            left -= 1;
            self.skipped += 1;
            self.advance();
        }
        if self.due.at_ns >= self.duration_ns {
            return Step::Done;
        }
        let due = self.by_clock();
        if now_ns < due.at_ns {
            return Step::WaitUntil(due.at_ns);
        }
        self.advance();
        Step::Send(due)
    }

    /// The next datagram if it is due by `until_ns`; it then counts as sent.
    #[inline]
    pub fn also(&mut self, until_ns: u64) -> Option<Due> {
        let due = self.by_clock();
        if self.due.at_ns >= self.duration_ns || due.at_ns > until_ns {
            return None;
        }
        self.advance();
        Some(due)
    }

    fn by_clock(&self) -> Due {
        Due { at_ns: self.start_ns.saturating_add(self.due.at_ns), ..self.due }
    }

    #[inline]
    fn advance(&mut self) {
        // Schedules have no end.
        if let (Some(due), Some(later)) = (self.schedule.next(), self.later.next()) {
            self.due = due;
            self.later_due = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::workload::law::{self, Law, Sizes};

    fn pace(start_ns: u64, payload: u32, rate_bps: u64, duration_ns: u64) -> Pace {
        let rate = law::Pace::BitsPerSecond(rate_bps);
        let schedule = Schedule::new(Law::Constant, Sizes::Fixed, payload, rate, 1);
        Pace::new(start_ns, schedule, duration_ns, CATCH_UP_MAX)
    }

    /// Sends for a simulated clock that goes from due time to due time.
    fn send_times(pace: &mut Pace, mut now: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        loop {
            match pace.step(now) {
                Step::WaitUntil(due) => now = due,
                Step::Send(_) => sent.push(now),
                Step::Done => return sent,
            }
        }
    }

    #[test]
    fn a_million_datagrams_do_not_drift() {
        // 1000 B at 24 Mbit/s is one datagram in 333.3 µs: 3 000 000 of them take 1000 s.
        let mut pace = pace(7, 1000, 24_000_000, 1_000_000_000_000);
        let sent = send_times(&mut pace, 7);
        assert_eq!(sent.len(), 3_000_000);
        assert_eq!(sent[3], 7 + 1_000_000);
        assert_eq!(sent[2_999_997], 7 + 999_999_000_000);
        assert_eq!(pace.skipped, 0);
    }

    #[test]
    fn a_held_up_sender_catches_up_by_a_bounded_burst() {
        // One datagram per ms; the sender is away for 100 ms after the first one.
        let mut pace = pace(0, 125, 1_000_000, 200_000_000);
        assert!(matches!(pace.step(0), Step::Send(_)));
        let late = 100_000_000;
        let send = |pace: &mut Pace| matches!(pace.step(late), Step::Send(_));
        let burst = (0..).take_while(|_| send(&mut pace)).count() as u64;
        assert_eq!(burst, CATCH_UP_MAX);
        let rest = send_times(&mut pace, late).len() as u64;
        assert_eq!(1 + burst + rest + pace.skipped, 200);
        assert_eq!(pace.skipped, 100 - CATCH_UP_MAX);
    }

    #[test]
    fn what_is_due_soon_may_go_along() {
        // One datagram per 10 µs.
        let mut pace = pace(1000, 1250, 1_000_000_000, 1_000_000);
        assert!(matches!(pace.step(1000), Step::Send(Due { at_ns: 1000, bytes: 1250 })));
        let along = std::iter::from_fn(|| pace.also(1000 + 95_000));
        assert_eq!(along.map(|due| due.at_ns).last(), Some(91_000));
        assert_eq!(pace.step(1000), Step::WaitUntil(101_000));
        assert_eq!(std::iter::from_fn(|| pace.also(u64::MAX)).count(), 90);
        assert_eq!(pace.step(u64::MAX), Step::Done);
    }

    #[test]
    fn extreme_parameters_neither_panic_nor_loop() {
        let mut far = pace(u64::MAX, u32::MAX, u64::MAX, 1);
        assert!(matches!(far.step(u64::MAX), Step::Send(_) | Step::Done));
        assert_eq!(pace(0, 0, 0, 0).step(0), Step::Done);
    }
}
