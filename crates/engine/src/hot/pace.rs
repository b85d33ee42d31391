//! When the next datagram is due: an absolute schedule from the start, so that errors of single
//! waits do not add up to a drift of the rate.
//!
//! A sender that was held up may send at most [`CATCH_UP_MAX`] datagrams without pause afterwards;
//! what is due beyond that is left out and counted, because a longer burst would measure queues and
//! not the path.

/// Datagrams that may follow each other without pause after the sender was held up.
pub const CATCH_UP_MAX: u64 = 32;

const NS_PER_S: u128 = 1_000_000_000;

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing before this time.
    WaitUntil(u64),
    /// Send a datagram.
    Send,
    /// All is sent.
    Done,
}

/// A schedule of equal datagrams at a constant rate.
#[derive(Debug, Clone)]
pub struct Pace {
    start_ns: u64,
    payload_bits: u64,
    rate_bps: u64,
    slot: u64,
    slots: u64,
    /// Datagrams left out because the sender was held up for too long.
    pub skipped: u64,
}

impl Pace {
    /// Datagrams of `payload_bytes` at `rate_bps` payload bits per second for `duration_ns`; sizes
    /// and rates of 0 count as 1.
    pub fn new(start_ns: u64, payload_bytes: u32, rate_bps: u64, duration_ns: u64) -> Self {
        let payload_bits = u64::from(payload_bytes.max(1)) * 8;
        let rate_bps = rate_bps.max(1);
        let bits_ns = u128::from(payload_bits) * NS_PER_S;
        let slots = (u128::from(duration_ns) * u128::from(rate_bps)).div_ceil(bits_ns);
        let slots = u64::try_from(slots).unwrap_or(u64::MAX);
        Pace { start_ns, payload_bits, rate_bps, slot: 0, slots, skipped: 0 }
    }

    /// Datagrams that are due in all.
    pub fn planned(&self) -> u64 {
        self.slots
    }

    /// What to do at time `now_ns`; after `Send` the datagram counts as sent.
    #[inline]
    pub fn step(&mut self, now_ns: u64) -> Step {
        if self.slot < self.slots {
            let due_ns = self.due_ns(self.slot);
            if now_ns < due_ns {
                return Step::WaitUntil(due_ns);
            }
            let overdue = self.slots_until(now_ns).saturating_sub(self.slot);
            let skip = overdue.saturating_sub(CATCH_UP_MAX);
            self.skipped += skip;
            self.slot += skip;
        }
        if self.slot >= self.slots {
            return Step::Done;
        }
        self.slot += 1;
        Step::Send
    }

    fn due_ns(&self, slot: u64) -> u64 {
        let bits = u128::from(slot) * u128::from(self.payload_bits);
        let offset_ns = (bits * NS_PER_S).div_ceil(u128::from(self.rate_bps));
        self.start_ns.saturating_add(u64::try_from(offset_ns).unwrap_or(u64::MAX))
    }

    /// Slots that are due by `now_ns`, at most all.
    fn slots_until(&self, now_ns: u64) -> u64 {
        let elapsed = u128::from(now_ns.saturating_sub(self.start_ns));
        let bits_ns = u128::from(self.payload_bits) * NS_PER_S;
        let slots = elapsed * u128::from(self.rate_bps) / bits_ns + 1;
        u64::try_from(slots).unwrap_or(u64::MAX).min(self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends for a simulated clock that goes from due time to due time.
    fn send_times(pace: &mut Pace, mut now: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        loop {
            match pace.step(now) {
                Step::WaitUntil(due) => now = due,
                Step::Send => sent.push(now),
                Step::Done => return sent,
            }
        }
    }

    #[test]
    fn a_million_datagrams_do_not_drift() {
        // 1000 B at 24 Mbit/s is one datagram in 333.3 µs: 3 000 000 of them take 1000 s.
        let mut pace = Pace::new(7, 1000, 24_000_000, 1_000_000_000_000);
        assert_eq!(pace.planned(), 3_000_000);
        let sent = send_times(&mut pace, 7);
        assert_eq!(sent.len(), 3_000_000);
        assert_eq!(sent[3], 7 + 1_000_000);
        assert_eq!(sent[2_999_997], 7 + 999_999_000_000);
        assert_eq!(pace.skipped, 0);
    }

    #[test]
    fn a_held_up_sender_catches_up_by_a_bounded_burst() {
        // One datagram per ms; the sender is away for 100 ms after the first one.
        let mut pace = Pace::new(0, 125, 1_000_000, 200_000_000);
        assert_eq!(pace.planned(), 200);
        assert_eq!(pace.step(0), Step::Send);
        let late = 100_000_000;
        let burst = (0..).take_while(|_| pace.step(late) == Step::Send).count() as u64;
        assert_eq!(burst, CATCH_UP_MAX);
        let rest = send_times(&mut pace, late).len() as u64;
        assert_eq!(1 + burst + rest + pace.skipped, pace.planned());
        assert_eq!(pace.skipped, 100 - CATCH_UP_MAX);
    }

    #[test]
    fn extreme_parameters_neither_panic_nor_loop() {
        let mut pace = Pace::new(u64::MAX, u32::MAX, u64::MAX, 1);
        assert!(matches!(pace.step(u64::MAX), Step::Send | Step::Done));
        assert_eq!(Pace::new(0, 0, 0, 0).step(0), Step::Done);
    }
}
