//! Clocks: a monotonic one for every duration and the wall clock for dates only.
//!
//! Durations are never taken from the wall clock, which may step. The two are compared only to
//! notice such a step ([`wall_minus_mono_ns`]). All times are nanoseconds.

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Clock reads that [`quality`] takes.
const QUALITY_READS: u64 = 10_000;

/// What the monotonic clock can resolve and what reading it costs, as measured on this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// Smallest non-zero difference between two reads in a row, in ns.
    pub step_ns: u64,
    /// Mean cost of one read in ns, rounded up.
    pub read_cost_ns: u64,
}

/// A gap between two reads of the clock from which on a thread counts as held up, in ns: more than
/// a timer interrupt usually takes.
pub const HELD_NS: u64 = 20_000;

/// How a thread that does nothing but read the clock was held up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Watch {
    /// How long it was watched, in ns.
    pub span_ns: u64,
    /// Longest time between two reads in a row, in ns.
    pub longest_ns: u64,
    /// Gaps of at least [`HELD_NS`].
    pub held: u64,
    /// Sum of these gaps, in ns.
    pub held_ns: u64,
}

/// Nanoseconds since an arbitrary zero, the same for all threads of this process; never goes back.
///
/// On Linux this is `CLOCK_MONOTONIC_RAW`, which no time daemon slews or steps, with the same zero
/// for all processes of the host; elsewhere it is the standard library's monotonic clock.
#[inline]
pub fn now_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        // Read in user space through the vDSO.
        let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicRaw);
        now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
    }
    #[cfg(not(target_os = "linux"))]
    {
        static ZERO: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let zero = ZERO.get_or_init(std::time::Instant::now);
        u64::try_from(zero.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Nanoseconds by a clock that nobody sets and that goes on while this host sleeps: deadlines of
/// what other hosts wait for. On Linux this is `CLOCK_BOOTTIME`; elsewhere it is [`now_ns`], which
/// stands still in a sleep on some systems.
pub fn boot_ns() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
    }
    #[cfg(not(target_os = "linux"))]
    {
        now_ns()
    }
}

/// Nanoseconds since the Unix epoch by the wall clock, or 0 if that clock stands before 1970.
pub fn wall_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// What the system says of its wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Whether something, as a daemon of NTP, keeps it right.
    pub synchronised: bool,
    /// How far it may be off by the system's own bound, in ns; says little of one that is not kept.
    pub error_ns: u64,
}

/// Whether something keeps the wall clock right; `None` where the system does not tell.
pub fn kept() -> Option<Kept> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: all of the structure's fields may be zero, and with no mode set the call only
        // writes the structure, which lives here.
        let (state, told) = unsafe {
            let mut told: libc::timex = std::mem::zeroed();
            (libc::adjtimex(&raw mut told), told)
        };
        // It is -1 where a sandbox forbids the call. `TIME_ERROR` of a clock that is not kept is
        // told in the status, too.
        (state >= 0).then(|| Kept {
            synchronised: told.status & libc::STA_UNSYNC == 0,
            error_ns: u64::try_from(told.maxerror).unwrap_or(0).saturating_mul(1_000),
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}

/// How far local time is ahead of UTC at `unix_ns` since the Unix epoch, in s; 0 where the system
/// does not tell. A zone that is set while this program runs is seen when it is started again.
#[cfg_attr(not(unix), expect(unused_variables, reason = "the standard library knows no zones"))]
pub fn local_offset_s(unix_ns: u64) -> i32 {
    #[cfg(unix)]
    {
        let seconds = (unix_ns / 1_000_000_000) as libc::time_t;
        // SAFETY: all of the structure's fields may be zero; the call reads the number and writes
        // the structure, both of which live here.
        let told = unsafe {
            let mut told: libc::tm = std::mem::zeroed();
            (!libc::localtime_r(&raw const seconds, &raw mut told).is_null()).then_some(told)
        };
        told.map_or(0, |told| told.tm_gmtoff as i32)
    }
    #[cfg(not(unix))]
    {
        0
    }
}

/// As [`wall_ns`], but negative before 1970: a clock that stands there goes on all the same.
fn signed_wall_ns() -> i64 {
    let ns = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or_else(|before| -ns(before.duration()), ns)
}

/// Wall clock minus monotonic clock in ns: a change between two calls is a step or slew of the wall
/// clock.
///
/// The wall clock is read between two monotonic reads, and the closest of three such triples is
/// kept, so that being scheduled away does not look like a step. A time daemon may slew by 500
/// parts per million and more, hence a step is a change well beyond 0.001 of the time between the
/// calls.
pub fn wall_minus_mono_ns() -> i64 {
    let triple = |_| {
        let before = now_ns();
        let wall = signed_wall_ns();
        let gap = now_ns() - before;
        (gap, wall.wrapping_sub_unsigned(before + gap / 2))
    };
    (0..3).map(triple).min_by_key(|&(gap, _)| gap).map_or(0, |(_, difference)| difference)
}

/// Lets the calling thread rest for at least `time`: between trials, or between datagrams far
/// apart.
pub fn rest(time: Duration) {
    std::thread::sleep(time);
}

/// Measures step and cost of the monotonic clock; takes well under 10 ms on ordinary hosts.
pub fn quality() -> Quality {
    let start = now_ns();
    let mut last = start;
    let mut step_ns = u64::MAX;
    for _ in 0..QUALITY_READS {
        let now = now_ns();
        if now > last {
            step_ns = step_ns.min(now - last);
        }
        last = now;
    }
    // A clock too coarse to have moved meanwhile has at least this step.
    while step_ns == u64::MAX {
        let now = now_ns();
        if now > last {
            step_ns = now - last;
        }
    }
    Quality { step_ns, read_cost_ns: (last - start).div_ceil(QUALITY_READS) }
}

/// Reads the monotonic clock without a pause for `span_ns`: the gaps are what interrupts, other
/// threads and other machines on the same processor take from a measurement.
pub fn watch(span_ns: u64) -> Watch {
    let start = now_ns();
    let mut last = start;
    let mut seen = Watch::default();
    while last - start < span_ns {
        let now = now_ns();
        let gap = now - last;
        seen.longest_ns = seen.longest_ns.max(gap);
        if gap >= HELD_NS {
            seen.held += 1;
            seen.held_ns += gap;
        }
        last = now;
    }
    Watch { span_ns: last - start, ..seen }
}
