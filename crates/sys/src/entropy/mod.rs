//! Unpredictable bytes from the operating system, for tokens, ids and seeds.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "bsd.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;
#[cfg(test)]
mod tests;

use crate::Unavailable;

/// Fills `bytes` from the system's cryptographic random source, whole or not at all.
///
/// # Errors
/// If the system has no such source or refuses it.
pub fn random(bytes: &mut [u8]) -> Result<(), Unavailable> {
    platform::fill(bytes)
        .map_err(|error| Unavailable::new("the system's source of random bytes", error))
}
