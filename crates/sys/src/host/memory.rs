//! Memory that the kernel spends on TCP sockets, and how that of this process grows.

use crate::Unavailable;
use crate::socket::Domain;

/// Bytes of kernel objects for TCP sockets of a family on this host: sockets in use times the size
/// of one, from the kernel's slab allocator. All network namespaces together.
///
/// # Errors
/// Off Linux; without the right to read `/proc/slabinfo`, which root has; or where the kernel keeps
/// these objects together with others.
pub fn tcp_slab_bytes(domain: Domain) -> Result<u64, Unavailable> {
    const WHAT: &str = "memory of kernel objects";
    let name = match domain {
        Domain::V4 => "TCP",
        Domain::V6 => "TCPv6",
    };
    let table = Unavailable::or_read(WHAT, "/proc/slabinfo")?;
    let missing = || Unavailable::new(WHAT, format_args!("/proc/slabinfo has no line {name}"));
    slab_bytes(&table, name).ok_or_else(missing)
}

/// Bytes of pages for data of all TCP sockets, both families together (`/proc/net/sockstat`), in
/// the calling thread's network namespace.
///
/// # Errors
/// Off Linux.
pub fn tcp_page_bytes() -> Result<u64, Unavailable> {
    const WHAT: &str = "memory of socket data";
    let table = Unavailable::or_read(WHAT, "/proc/thread-self/net/sockstat")?;
    let missing = || Unavailable::new(WHAT, "sockstat has no pages of TCP");
    let pages = tcp_pages(&table).ok_or_else(missing)?;
    Ok(pages.saturating_mul(super::page_size().ok_or_else(missing)? as u64))
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

/// Bytes of all objects in use of the cache `name` of `/proc/slabinfo`: the second column times the
/// fourth.
fn slab_bytes(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    let mut columns = line.split_whitespace().skip(1);
    let active: u64 = columns.next()?.parse().ok()?;
    let size: u64 = columns.nth(1)?.parse().ok()?;
    active.checked_mul(size)
}

/// Pages of the line `TCP:` of `/proc/net/sockstat`.
fn tcp_pages(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|&word| word == "mem")?;
    words.next()?.parse().ok()
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

    #[test]
    fn known_answers() {
        let table = "slabinfo - version: 2.1\n\
            # name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables\n\
            tw_sock_TCPv6 0 0 256 16 1 : tunables 0 0 0 : slabdata 0 0 0\n\
            TCPv6 13 26 2496 13 8 : tunables 0 0 0 : slabdata 2 2 0\n\
            TCP 7 13 2368 13 8 : tunables 0 0 0 : slabdata 1 1 0\n";
        assert_eq!(slab_bytes(table, "TCPv6"), Some(13 * 2496));
        assert_eq!(slab_bytes(table, "TCP"), Some(7 * 2368));
        assert_eq!(slab_bytes(table, "UDP"), None);
        assert_eq!(slab_bytes("TCP 7", "TCP"), None);
        let table =
            "sockets: used 181\nTCP: inuse 4 orphan 0 tw 0 alloc 8 mem 3\nUDP: inuse 1 mem 9\n";
        assert_eq!(tcp_pages(table), Some(3));
        assert_eq!(tcp_pages("UDP: inuse 1 mem 9\n"), None);
    }
}
