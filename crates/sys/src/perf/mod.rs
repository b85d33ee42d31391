//! Hardware counters of a thread: cycles and instructions, in user mode and in the kernel.
//!
//! They tell what a packet costs where time alone does not: a frequency that changes moves time,
//! not cycles. Many virtual machines have none, and unprivileged programs may be refused the
//! kernel's part (`perf_event_paranoid`); then they are unavailable as a whole, since half of the
//! cost of a packet would be a wrong figure.

// The library has the kernel's definitions for a few processors only.
#[cfg_attr(
    all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")),
    path = "linux.rs"
)]
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "fallback.rs"
)]
mod platform;
#[cfg(test)]
mod tests;

use crate::Unavailable;

/// What a thread's processor did, the kernel's work for it included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Cycles of the processor.
    pub cycles: u64,
    /// Instructions that were retired.
    pub instructions: u64,
}

/// Counts for the calling thread until it is dropped.
#[derive(Debug)]
pub struct Counting(platform::Counting);

impl Counting {
    /// Starts counting for the calling thread, on whatever processor it runs.
    ///
    /// # Errors
    /// Without such counters, or if this program may not read them for the kernel.
    pub fn start() -> Result<Self, Unavailable> {
        platform::start()
            .map(Counting)
            .map_err(|because| Unavailable::new("counters of cycles and instructions", because))
    }

    /// What was counted so far; to be called on the same thread. `None` if the system stopped
    /// counting in between, as when more counters were asked for than the processor has.
    pub fn read(&mut self) -> Option<Counted> {
        self.0.read()
    }
}
