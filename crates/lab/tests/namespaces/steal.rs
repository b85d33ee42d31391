//! What the hypervisor took from this machine while a scenario was tried, and what follows from it:
//! what a scenario does is judged always, its figures only where the machine let them be right.

use v6gap_sys::usage::MachineTicks;

/// Share of the processors' time that the hypervisor may take before figures are not judged; the
/// program discards a trial's at the same share.
const SHARE_MAX: f64 = 0.01;

/// Share that the hypervisor took between two readings of the time in which processors had work, 0
/// to 1: nothing can be taken from those that sleep, and most of a scenario is sleep.
pub fn share(before: &MachineTicks, after: &MachineTicks) -> f64 {
    let wanted = |ticks: &MachineTicks| ticks.busy() + ticks.steal;
    let passed = wanted(after).saturating_sub(wanted(before));
    after.steal.saturating_sub(before.steal) as f64 / passed.max(1) as f64
}

/// The least share in tries that all failed, if the machine disturbed every one: then they do not
/// tell whether the figures are right.
pub fn in_each(shares: &[f64]) -> Option<f64> {
    let least = shares.iter().copied().reduce(f64::min)?;
    (least > SHARE_MAX).then_some(least)
}
