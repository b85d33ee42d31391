//! What the hypervisor took from this machine while a scenario was tried, and what follows from it:
//! what a scenario does is judged always, its figures only where the machine let them be right.

use std::time::Duration;
use v6gap_sys::usage::MachineTicks;

/// Share of the time worked that the hypervisor may take before figures are not judged.
const SHARE_MAX: f64 = 0.01;

/// Share that the hypervisor took between two readings of the time in which processors had work, 0
/// to 1: nothing can be taken from those that sleep, and most of a scenario is sleep.
pub fn share(before: &MachineTicks, after: &MachineTicks) -> f64 {
    stolen(before, after, |ticks| ticks.busy() + ticks.steal)
}

/// Share that it took of all time, sleep included: by so much a scenario may last longer.
pub fn share_of_all(before: &MachineTicks, after: &MachineTicks) -> f64 {
    stolen(before, after, |ticks| ticks.busy() + ticks.idle + ticks.iowait + ticks.steal)
}

fn stolen(before: &MachineTicks, after: &MachineTicks, of: fn(&MachineTicks) -> u64) -> f64 {
    let passed = of(after).saturating_sub(of(before));
    after.steal.saturating_sub(before.steal) as f64 / passed.max(1) as f64
}

/// How long a thread looks for time that it loses.
const LOOK: Duration = Duration::from_secs(2);

/// Between two readings of the clock more than this has passed only if other work came in between,
/// interrupts of this system left aside.
const GAP: Duration = Duration::from_micros(50);

/// Share of its time that a thread loses which does nothing but read `clock`, 0 to 1, but for what
/// it has `waited` for other threads of this machine. Not every hypervisor counts as stolen all
/// that it takes.
pub fn lost(mut clock: impl FnMut() -> Duration, mut waited: impl FnMut() -> Duration) -> f64 {
    let (waited_before, begin) = (waited(), clock());
    let (mut last, mut lost) = (begin, Duration::ZERO);
    while last.saturating_sub(begin) < LOOK {
        let now = clock();
        let gap = now.saturating_sub(last);
        lost += if gap > GAP { gap } else { Duration::ZERO };
        last = now;
    }
    let taken = lost.saturating_sub(waited().saturating_sub(waited_before));
    taken.as_secs_f64() / last.saturating_sub(begin).as_secs_f64()
}

/// How long a thread sleeps at a time that looks how late it wakes.
const NAP: Duration = Duration::from_millis(1);

/// The timers of a machine of one's own wake a thread sooner than this after its time.
const LATE: Duration = Duration::from_micros(500);

/// Share of its time by which a thread wakes late that does nothing but `sleep`, 0 to 1, but for
/// what it has `waited` for other threads: some hypervisors leave a processor alone that is awake,
/// and are late to wake one, on which links and ends wait for their next frame.
pub fn overslept(
    mut clock: impl FnMut() -> Duration,
    mut waited: impl FnMut() -> Duration,
    mut sleep: impl FnMut(Duration),
) -> f64 {
    let (waited_before, begin) = (waited(), clock());
    let (mut last, mut late) = (begin, Duration::ZERO);
    while last.saturating_sub(begin) < LOOK {
        sleep(NAP);
        let now = clock();
        let by = now.saturating_sub(last).saturating_sub(NAP);
        late += if by > LATE { by } else { Duration::ZERO };
        last = now;
    }
    let taken = late.saturating_sub(waited().saturating_sub(waited_before));
    taken.as_secs_f64() / last.saturating_sub(begin).as_secs_f64()
}

/// The least share in tries that all failed, if the machine disturbed every one: then they do not
/// tell whether the figures are right.
pub fn in_each(shares: &[f64]) -> Option<f64> {
    let least = shares.iter().copied().reduce(f64::min)?;
    (least > SHARE_MAX).then_some(least)
}
