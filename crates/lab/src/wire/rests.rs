//! Rests of a thread that goes before all others of its processor.
//!
//! Linux gives ordinary threads their 50 ms of each second at once when they got none before (the
//! fair server from 6.12 on, the limit of real-time threads until then): the link would stand still
//! for many times a round trip. Who leaves them as much in small pieces is not stopped.

use std::time::Duration;

/// This part of the time that the thread is awake it owes to others: nearly three times what the
/// kernel takes, since a host that is late takes of the rests, too.
const AWAKE_PER_OWED: u64 = 7;
/// Nothing is under way for so long, in ns: a rest delays nothing then, if any is owed.
const IDLE_NS: u64 = 1_000_000;
/// More than this is owed, in ns, after 0.38 s without a rest: then frames wait for one. A second
/// of the kernel's leaves room for the 50 ms after that.
const URGENT_NS: u64 = 55_000_000;
/// How long frames wait then, in ns.
const REST_NS: u64 = 200_000;
/// A line must have that much to send, in ns: whatever is last in its queue is due when the rest
/// is over, and the mean rate stays what it is. Exchanges that are under way one by one would each
/// be late, so they are left to the kernel: whom it stops for 50 ms delays one of them.
const QUEUED_NS: u64 = 1_000_000;
/// And how long the thread is awake between two such rests, in ns.
const APART_NS: u64 = 1_200_000;

/// What the thread owes.
#[derive(Debug)]
pub(super) struct Rests {
    /// Whether it goes before others; who does not owes nothing.
    ahead: bool,
    /// Owed when it last woke, in ns.
    owed_ns: u64,
    woke_ns: u64,
}

impl Rests {
    /// Those of a thread that begins at `now_ns`.
    pub fn new(ahead: bool, now_ns: u64) -> Self {
        Rests { ahead, owed_ns: 0, woke_ns: now_ns }
    }

    fn owed_ns(&self, now_ns: u64) -> u64 {
        let awake_ns = now_ns.saturating_sub(self.woke_ns);
        if self.ahead { self.owed_ns + awake_ns / AWAKE_PER_OWED } else { 0 }
    }

    /// Whether the thread should sleep until the next frame, as it has had none for `idle_ns`.
    pub fn free(&self, now_ns: u64, idle_ns: u64) -> bool {
        idle_ns > IDLE_NS && self.owed_ns(now_ns) > 0
    }

    /// How long the thread must sleep now, though frames are under way of which a line will be busy
    /// for the time that `queued_ns` tells.
    pub fn urgent(&self, now_ns: u64, queued_ns: impl FnOnce() -> u64) -> Option<Duration> {
        let apart = now_ns.saturating_sub(self.woke_ns) >= APART_NS;
        let urgent = apart && self.owed_ns(now_ns) > URGENT_NS && queued_ns() >= QUEUED_NS;
        urgent.then_some(Duration::from_nanos(REST_NS))
    }

    /// The thread slept.
    pub fn slept(&mut self, from_ns: u64, to_ns: u64) {
        let slept_ns = to_ns.saturating_sub(from_ns);
        self.owed_ns = self.owed_ns(from_ns).saturating_sub(slept_ns);
        self.woke_ns = to_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    /// What the kernel leaves to ordinary threads in each period.
    const LEFT_NS: u64 = 50 * MS;
    const PERIOD_NS: u64 = 1_000 * MS;

    /// Beginnings and ends of the rests in `for_ns` of frames without a pause, looked at every
    /// 10 µs.
    fn rests(for_ns: u64) -> Vec<(u64, u64)> {
        let (mut rests, mut taken, mut now_ns) = (Rests::new(true, 0), Vec::new(), 0);
        while now_ns < for_ns {
            assert!(!rests.free(now_ns, 10_000));
            if let Some(rest) = rests.urgent(now_ns, || QUEUED_NS) {
                let end_ns = now_ns + rest.as_nanos() as u64;
                rests.slept(now_ns, end_ns);
                taken.push((now_ns, end_ns));
                now_ns = end_ns;
            }
            now_ns += 10_000;
        }
        taken
    }

    #[test]
    fn others_have_what_the_kernel_would_give_them_before_it_does() {
        let taken = rests(5_000 * MS);
        assert!(taken[0].0 >= 380 * MS, "{:?}", taken[0]);
        for begin_ns in (0..4_000).step_by(10).map(|ms| ms * MS) {
            // It waits until only as much of the period is left as they must have.
            let within = begin_ns..begin_ns + PERIOD_NS - LEFT_NS;
            let rested =
                taken.iter().filter(|(from, to)| within.contains(from) && *to < within.end);
            let rested_ns: u64 = rested.map(|(from, to)| to - from).sum();
            assert!(rested_ns >= LEFT_NS, "{rested_ns} ns from {begin_ns} ns on");
        }
        let shortest = taken.windows(2).map(|pair| pair[1].0 - pair[0].1).min();
        assert!(shortest >= Some(APART_NS), "{shortest:?}");
    }

    #[test]
    fn pauses_pay_what_is_owed() {
        let mut rests = Rests::new(true, 0);
        assert!(!rests.free(0, 2 * MS), "nothing is owed");
        assert!(!rests.free(200 * MS, MS / 2), "a frame may come at once");
        assert!(rests.free(200 * MS, 2 * MS));
        rests.slept(200 * MS, 230 * MS);
        assert!(!rests.free(230 * MS, 30 * MS));
        assert_eq!(rests.urgent(580 * MS, || QUEUED_NS), None);
        assert!(rests.urgent(621 * MS, || QUEUED_NS).is_some());
    }

    #[test]
    fn frames_without_a_queue_behind_them_are_not_held_up() {
        let rests = Rests::new(true, 0);
        assert_eq!(rests.urgent(900 * MS, || QUEUED_NS - 1), None);
        assert!(rests.urgent(900 * MS, || QUEUED_NS).is_some());
    }

    #[test]
    fn who_is_not_ahead_owes_nothing() {
        let rests = Rests::new(false, 0);
        assert!(!rests.free(9_000 * MS, 2 * MS));
        assert_eq!(rests.urgent(9_000 * MS, || QUEUED_NS), None);
    }
}
