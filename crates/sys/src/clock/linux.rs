//! Linux: `CLOCK_MONOTONIC_RAW`, read in user space through the vDSO.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since boot, without the time spent asleep.
#[inline]
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}
