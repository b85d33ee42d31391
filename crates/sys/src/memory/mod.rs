//! Memory that the kernel spends on TCP sockets, and how that of this process grows.

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

/// Lets the memory of this process grow in large steps from now on: for reading hundreds of
/// megabytes, for which threads would otherwise ask the kernel a page at a time, each of them
/// waiting for the others. What is not used takes no memory. Elsewhere than with glibc nothing
/// changes.
pub fn expect_much() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Nearly what glibc sets aside for each thread at once, in bytes.
        const STEP_BYTES: libc::c_int = 60 << 20;
        // SAFETY: mallopt changes a setting of the allocator and may be called at any time.
        let set = unsafe { libc::mallopt(libc::M_TOP_PAD, STEP_BYTES) };
        debug_assert_eq!(set, 1, "glibc knows this setting");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_may_grow_in_large_steps() {
        expect_much();
    }

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
