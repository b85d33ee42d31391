//! Processor placement: which processors a thread may use, and holding it on one.
//!
//! Placement moves round-trip times far more than the address family does, so it is chosen and
//! recorded instead of left to the scheduler. Processors have the system's own numbers, from 0.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

use crate::Unavailable;

/// Numbers of the processors that the calling thread may run on, ascending and never empty.
///
/// # Errors
/// On platforms without thread affinity, and on Linux hosts with more than 1024 processors.
pub fn allowed() -> Result<Vec<usize>, Unavailable> {
    platform::allowed()
}

/// Holds the calling thread on processor `cpu` from now on; threads it starts later inherit this.
///
/// # Errors
/// If the platform cannot, or if no such processor is open to this process.
pub fn pin_thread(cpu: usize) -> Result<(), Unavailable> {
    platform::pin_thread(cpu)
}

/// The processor the calling thread is on at this moment, where the platform tells.
pub fn current() -> Option<usize> {
    platform::current()
}

/// Offers the rest of the calling thread's turn to other threads.
pub fn yield_now() {
    std::thread::yield_now();
}
