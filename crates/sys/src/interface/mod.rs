//! Network interfaces of this host and what their hardware takes over from the kernel.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub(crate) use platform::kind;

use crate::Unavailable;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Names of the interfaces of the calling thread's network namespace that are up, loopback left
/// out, in alphabetical order.
///
/// # Errors
/// Off Linux, or if the system does not list them.
pub fn up() -> Result<Vec<String>, Unavailable> {
    platform::up().map_err(|because| Unavailable::new("the list of interfaces", because))
}

/// Features of an interface by the kernel's names, as in `tx-tcp6-segmentation`, and whether they
/// are on. Those of the two families are separate bits, and may differ.
///
/// # Errors
/// Off Linux, or if there is no such interface.
pub fn features(name: &str) -> Result<BTreeMap<String, bool>, Unavailable> {
    platform::features(name)
        .map_err(|because| Unavailable::new("the features of an interface", because))
}

/// Name of the interface that has an address.
///
/// # Errors
/// Off Linux, or if none has it.
pub fn with_address(address: IpAddr) -> Result<String, Unavailable> {
    platform::with_address(address)
        .map_err(|because| Unavailable::new("the interface of an address", because))
}

/// All addresses of this host, as they are at this moment.
///
/// # Errors
/// Off Linux, or if the system does not list them.
pub fn addresses() -> Result<Vec<IpAddr>, Unavailable> {
    platform::addresses().map_err(|because| Unavailable::new("the addresses of this host", because))
}

/// Rate of an interface's line as its driver tells it, in bit/s.
///
/// # Errors
/// Off Linux, or if the driver does not tell, as those of virtual interfaces often do not.
pub fn speed_bps(name: &str) -> Result<u64, Unavailable> {
    platform::speed_bps(name).map_err(|because| Unavailable::new("the rate of a line", because))
}
