//! Memory that the kernel spends on TCP sockets.

#[cfg(any(target_os = "linux", test))]
mod parse;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;

use crate::Unavailable;
use crate::socket::Domain;

/// Bytes of kernel objects for TCP sockets of a family on this host: sockets in use times the size
/// of one, from the kernel's slab allocator. All network namespaces together.
///
/// # Errors
/// Off Linux; without the right to read `/proc/slabinfo`, which root has; or where the kernel keeps
/// these objects together with others.
pub fn tcp_slab_bytes(domain: Domain) -> Result<u64, Unavailable> {
    platform::tcp_slab_bytes(domain)
}

/// Bytes of pages for data of all TCP sockets, both families together (`/proc/net/sockstat`).
///
/// # Errors
/// Off Linux.
pub fn tcp_page_bytes() -> Result<u64, Unavailable> {
    platform::tcp_page_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_plausible() {
        for told in [tcp_slab_bytes(Domain::V4), tcp_slab_bytes(Domain::V6), tcp_page_bytes()] {
            match told {
                Ok(bytes) => assert!(bytes < 1 << 45, "{bytes}"),
                Err(missing) => assert!(!missing.because.is_empty()),
            }
        }
    }
}
