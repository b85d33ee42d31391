//! The kernel's tables of memory, by names and never by the position of a line.

/// Bytes of all objects in use of the cache `name` of `/proc/slabinfo`: the second column times the
/// fourth.
pub(super) fn slab_bytes(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    let mut columns = line.split_whitespace().skip(1);
    let active: u64 = columns.next()?.parse().ok()?;
    let size: u64 = columns.nth(1)?.parse().ok()?;
    active.checked_mul(size)
}

/// Pages of the line `TCP:` of `/proc/net/sockstat`.
pub(super) fn tcp_pages(table: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|&word| word == "mem")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
