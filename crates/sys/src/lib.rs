//! Everything that differs between operating systems: clocks, sockets, processor placement, usage,
//! counters, and on Linux network namespaces and packet sockets.
//!
//! The only crate with `unsafe` code and with `cfg(target_os)`. Each topic is a folder with one API
//! and a file per platform; what a platform cannot do is [`Unavailable`], with the reason, and
//! never silently replaced.
#![expect(unsafe_code, reason = "system calls; each block says why it is sound")]

pub mod capture;
#[cfg(target_os = "linux")]
pub mod child;
pub mod clock;
pub mod counters;
pub mod cpu;
pub mod disk;
pub mod entropy;
pub mod files;
pub mod filter;
pub mod frequency;
pub mod host;
pub mod interface;
pub mod interrupts;
pub mod memory;
#[cfg(target_os = "linux")]
pub mod netns;
#[cfg(target_os = "linux")]
pub mod packet;
pub mod perf;
pub mod secrets;
pub mod sleep;
pub mod socket;
pub mod term;
pub mod thread;
#[cfg(target_os = "linux")]
pub mod tun;
pub mod usage;

pub use entropy::random;

/// What this platform or this host cannot give, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// What was asked for, as in "processor pinning".
    pub what: &'static str,
    /// Why it cannot be had, in words for a person.
    pub because: String,
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} unavailable, because {}", self.what, self.because)
    }
}

impl std::error::Error for Unavailable {}

impl Unavailable {
    /// States that `what` cannot be had, and the reason.
    pub fn new(what: &'static str, because: impl std::fmt::Display) -> Self {
        Self { what, because: because.to_string() }
    }
}
