//! Everything that differs between operating systems: clocks, sockets, processor placement, usage,
//! counters, and on Linux network namespaces and packet sockets.
//!
//! The only crate with `unsafe` code and with `cfg(target_os)`. Each topic is a module with one
//! API, and a file per platform where these differ by more than a few lines; what a platform cannot
//! do is [`Unavailable`], with the reason, and never silently replaced.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![cfg_attr(unix, expect(unsafe_code, reason = "system calls; each block says why it is sound"))]

pub mod apart;
pub mod capture;
#[cfg(target_os = "linux")]
pub mod child;
pub mod clock;
pub mod counters;
pub mod cpu;
pub mod disk;
pub mod entropy;
pub mod files;
pub mod host;
pub mod interface;
mod interrupter;
pub mod lock;
#[cfg(target_os = "linux")]
pub mod netns;
pub mod network;
#[cfg(target_os = "linux")]
pub mod packet;
pub mod perf;
pub mod placed;
pub mod secrets;
pub mod socket;
pub mod stop;
pub mod term;
pub mod thread;
#[cfg(target_os = "linux")]
pub mod tun;
pub mod usage;
pub mod worker;

pub use interrupter::Interrupter;

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

    /// Fails everywhere but on Linux, the only system whose files and calls for `what` are known.
    fn off_linux(what: &'static str) -> Result<(), Self> {
        if cfg!(target_os = "linux") { Ok(()) } else { Err(Self::here(what)) }
    }

    /// States that `what` cannot be had on this platform.
    fn here(what: &'static str) -> Self {
        Self::new(what, "this program has it on Linux only")
    }

    /// The text of the file at `path`, in which Linux tells `what`.
    fn or_read(what: &'static str, path: &str) -> Result<String, Self> {
        Self::off_linux(what)?;
        std::fs::read_to_string(path)
            .map_err(|error| Self::new(what, format_args!("{path} cannot be read: {error}")))
    }
}
