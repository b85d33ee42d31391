//! Linux: the slab allocator's table and the sockets' statistics.

use super::parse;
use crate::Unavailable;
use crate::socket::Domain;

const SLAB: &str = "memory of kernel objects";
const PAGES: &str = "memory of socket data";

pub(super) fn tcp_slab_bytes(domain: Domain) -> Result<u64, Unavailable> {
    let name = match domain {
        Domain::V4 => "TCP",
        Domain::V6 => "TCPv6",
    };
    let table = read("/proc/slabinfo", SLAB)?;
    let missing = || Unavailable::new(SLAB, format_args!("/proc/slabinfo has no line {name}"));
    parse::slab_bytes(&table, name).ok_or_else(missing)
}

pub(super) fn tcp_page_bytes() -> Result<u64, Unavailable> {
    // That of the calling thread's namespace.
    let table = read("/proc/thread-self/net/sockstat", PAGES)?;
    let missing = || Unavailable::new(PAGES, "sockstat has no pages of TCP");
    let pages = parse::tcp_pages(&table).ok_or_else(missing)?;
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}

fn read(path: &str, what: &'static str) -> Result<String, Unavailable> {
    std::fs::read_to_string(path)
        .map_err(|error| Unavailable::new(what, format_args!("{path}: {error}")))
}
