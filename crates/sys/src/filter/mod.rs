//! What of a firewall can be seen without its owner's rights: rules and states that each packet is
//! compared with cost time, and not the same for both families.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;

use crate::Unavailable;

/// Connections that the kernel keeps track of in the calling thread's network namespace; `None` if
/// it keeps track of none because that part of it is not loaded.
///
/// # Errors
/// Off Linux, or if the kernel does not tell.
pub fn tracked() -> Result<Option<u64>, Unavailable> {
    platform::tracked().map_err(|because| Unavailable::new("connection tracking", because))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_or_why_not() {
        match tracked() {
            Ok(count) => assert!(count.is_none_or(|count| count < 1 << 40)),
            Err(missing) => assert!(!missing.because.is_empty()),
        }
    }
}
