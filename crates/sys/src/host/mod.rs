//! Facts about this host that belong beside every result. Each is optional: what cannot be read is
//! absent, never guessed.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "bsd.rs")]
#[cfg_attr(not(unix), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;

use crate::Unavailable;
use std::collections::BTreeMap;

/// What is known of this host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Name of the operating system or kernel, as in "Linux".
    pub os: Option<String>,
    /// Release of the kernel, as in "6.12.3".
    pub kernel: Option<String>,
    /// Name and version of the distribution or product, as in "Debian GNU/Linux 13 (trixie)".
    pub distribution: Option<String>,
    /// Instruction set, as in `"x86_64"`.
    pub architecture: Option<String>,
    /// The host's own name.
    pub hostname: Option<String>,
    /// Model of the processor.
    pub cpu_model: Option<String>,
    /// Number of processors this process may use.
    pub cpu_count: Option<usize>,
    /// Size of a memory page in bytes.
    pub page_size: Option<usize>,
    /// TCP congestion control that new connections get.
    pub congestion_default: Option<String>,
    /// All TCP congestion controls that may be chosen.
    pub congestion_available: Option<Vec<String>>,
    /// Kernel settings that bear on the results, by their `sysctl` name; those of the network are
    /// of the calling thread's network namespace.
    pub settings: BTreeMap<String, String>,
    /// Whether this process has the rights of the administrator.
    pub is_root: Option<bool>,
}

/// Collects the facts; takes well under 10 ms.
pub fn facts() -> Host {
    let common = Host {
        architecture: Some(std::env::consts::ARCH.to_owned()),
        cpu_count: std::thread::available_parallelism().ok().map(usize::from),
        ..Host::default()
    };
    platform::complete(common)
}

/// What this host runs in if it is a virtual machine, as in "KVM"; `None` on hardware of its own.
///
/// # Errors
/// If the system gives no sign of either.
pub fn hypervisor() -> Result<Option<String>, Unavailable> {
    platform::hypervisor().map_err(|because| Unavailable::new("what this host runs in", because))
}
