//! Network interfaces of this host and what their hardware takes over from the kernel.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub(crate) use linux::kind;

use crate::Unavailable;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What a function of `linux` answers, which says why it cannot; elsewhere nothing does.
macro_rules! on_linux {
    ($what:literal, $function:ident($($argument:ident)?)) => {{
        #[cfg(target_os = "linux")]
        let answer = linux::$function($($argument)?).map_err(|why| Unavailable::new($what, why));
        #[cfg(not(target_os = "linux"))]
        let answer = { $(let _ = $argument;)? Err(Unavailable::here($what)) };
        answer
    }};
}

/// Names of the interfaces of the calling thread's network namespace that are up, loopback left
/// out, in alphabetical order.
///
/// # Errors
/// Off Linux, or if the system does not list them.
pub fn up() -> Result<Vec<String>, Unavailable> {
    on_linux!("the list of interfaces", up())
}

/// Features of an interface by the kernel's names, as in `tx-tcp6-segmentation`, and whether they
/// are on. Those of the two families are separate bits, and may differ.
///
/// # Errors
/// Off Linux, or if there is no such interface.
pub fn features(name: &str) -> Result<BTreeMap<String, bool>, Unavailable> {
    on_linux!("the features of an interface", features(name))
}

/// Name of the interface that has an address.
///
/// # Errors
/// Off Linux, or if none has it.
pub fn with_address(address: IpAddr) -> Result<String, Unavailable> {
    on_linux!("the interface of an address", with_address(address))
}

/// Name of the interface of that number, as in the zone of a link-local address.
///
/// # Errors
/// Off Linux, or if there is none.
pub fn of_index(index: u32) -> Result<String, Unavailable> {
    on_linux!("the interface of a number", of_index(index))
}

/// All addresses of this host, as they are at this moment.
///
/// # Errors
/// Off Linux, or if the system does not list them.
pub fn addresses() -> Result<Vec<IpAddr>, Unavailable> {
    on_linux!("the addresses of this host", addresses())
}

/// As [`addresses`], those of the interface that has `known` first.
///
/// # Errors
/// As [`addresses`].
pub fn addresses_beside(known: IpAddr) -> Result<Vec<IpAddr>, Unavailable> {
    on_linux!("the addresses of this host", addresses_beside(known))
}

/// Rate of an interface's line as its driver tells it, in bit/s.
///
/// # Errors
/// Off Linux, or if the driver does not tell, as those of virtual interfaces often do not.
pub fn speed_bps(name: &str) -> Result<u64, Unavailable> {
    on_linux!("the rate of a line", speed_bps(name))
}
