//! Processor use: of a thread, of this process and of the whole machine.

mod machine;
#[cfg(test)]
mod tests;

pub use machine::{MachineTicks, machine, machine_number};

use crate::Unavailable;

/// Processor time and context switches since a thread or process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode, ns (resolution 1 µs). Where the kernel accounts by ticks, only the sum
    /// of user and system time is exact and the split between them is an estimate.
    pub user_ns: u64,
    /// Time in the kernel on behalf of the thread or process, ns (resolution 1 µs).
    pub system_ns: u64,
    /// Times it gave the processor up, mostly to wait.
    pub switches_voluntary: u64,
    /// Times the scheduler took the processor from it.
    pub switches_involuntary: u64,
}

impl Usage {
    /// What was used between `earlier` and this.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            switches_voluntary: self.switches_voluntary.saturating_sub(earlier.switches_voluntary),
            switches_involuntary: self
                .switches_involuntary
                .saturating_sub(earlier.switches_involuntary),
        }
    }
}

/// What the calling thread has used.
///
/// # Errors
/// On platforms that do not account per thread.
pub fn thread() -> Result<Usage, Unavailable> {
    const WHAT: &str = "processor use of a thread";
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    {
        usage_of(libc::RUSAGE_THREAD, WHAT)
    }
    #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
    {
        Err(Unavailable::new(WHAT, "this platform has no getrusage for one"))
    }
}

/// What all threads of this process have used.
///
/// # Errors
/// On platforms without `getrusage`.
pub fn process() -> Result<Usage, Unavailable> {
    const WHAT: &str = "processor use of the process";
    #[cfg(unix)]
    {
        usage_of(libc::RUSAGE_SELF, WHAT)
    }
    #[cfg(not(unix))]
    {
        Err(Unavailable::new(WHAT, "this platform has no getrusage"))
    }
}

/// The usage of `who` by `getrusage`; the type of the constants differs between C libraries.
#[cfg(unix)]
fn usage_of(who: impl TryInto<libc::c_int>, what: &'static str) -> Result<Usage, Unavailable> {
    let who = who.try_into().map_err(|_| Unavailable::new(what, "its selector is no integer"))?;
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for writing one `rusage` for the whole call.
    if unsafe { libc::getrusage(who, raw.as_mut_ptr()) } != 0 {
        return Err(Unavailable::new(what, std::io::Error::last_os_error()));
    }
    // SAFETY: the call succeeded, hence it filled the whole structure.
    let raw = unsafe { raw.assume_init() };
    Ok(Usage {
        user_ns: nanoseconds(raw.ru_utime),
        system_ns: nanoseconds(raw.ru_stime),
        switches_voluntary: unsigned(raw.ru_nvcsw),
        switches_involuntary: unsigned(raw.ru_nivcsw),
    })
}

/// A `timeval` in ns.
#[cfg(unix)]
fn nanoseconds(time: libc::timeval) -> u64 {
    unsigned(time.tv_sec) * 1_000_000_000 + unsigned(time.tv_usec) * 1_000
}

/// A count or a time of either width; the kernel's are never negative.
#[cfg(unix)]
fn unsigned(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or(0)
}
