//! Other platforms: the standard library's monotonic clock, counted from its first use.

use std::sync::OnceLock;
use std::time::Instant;

static ZERO: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds since the first call in this process.
pub(super) fn now_ns() -> u64 {
    let zero = *ZERO.get_or_init(Instant::now);
    u64::try_from(zero.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
