//! Unix: `getrusage`.

use super::Usage;
use crate::Unavailable;

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
pub(super) fn thread() -> Result<Usage, Unavailable> {
    usage_of(libc::RUSAGE_THREAD, "processor use of a thread")
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
pub(super) fn thread() -> Result<Usage, Unavailable> {
    Err(Unavailable::new("processor use of a thread", "getrusage has no per-thread form here"))
}

pub(super) fn process() -> Result<Usage, Unavailable> {
    usage_of(libc::RUSAGE_SELF, "processor use of the process")
}

/// The usage of `who`; the type of the constants differs between C libraries.
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
fn nanoseconds(time: libc::timeval) -> u64 {
    unsigned(time.tv_sec) * 1_000_000_000 + unsigned(time.tv_usec) * 1_000
}

/// A count or a time of either width; the kernel's are never negative.
fn unsigned(value: impl TryInto<u64>) -> u64 {
    value.try_into().unwrap_or(0)
}
