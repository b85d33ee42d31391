//! The name servers that this host asks.

use crate::Unavailable;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Where Unix keeps them (resolv.conf(5)).
const FILE: &str = "/etc/resolv.conf";

/// Where they listen (RFC 1035 section 4.2).
const PORT: u16 = 53;

/// Their addresses with the port of DNS, in the order in which they are asked. One of a link alone
/// names its interface, as in `fe80::53%eth0`.
///
/// # Errors
/// Where no file tells.
pub fn servers() -> Result<Vec<SocketAddr>, Unavailable> {
    const WHAT: &str = "the name servers of this host";
    let text = Unavailable::or_read(WHAT, FILE)?;
    let servers = parsed(&text, index_of);
    if servers.is_empty() { Err(Unavailable::new(WHAT, "none is listed")) } else { Ok(servers) }
}

fn parsed(text: &str, index_of: impl Fn(&str) -> Option<u32>) -> Vec<SocketAddr> {
    let server = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        words.next().filter(|word| *word == "nameserver")?;
        let word = words.next()?;
        let Some((address, zone)) = word.split_once('%') else {
            return Some(SocketAddr::new(word.parse::<IpAddr>().ok()?, PORT));
        };
        let scope = zone.parse().ok().or_else(|| index_of(zone))?;
        Some(SocketAddrV6::new(address.parse::<Ipv6Addr>().ok()?, PORT, 0, scope).into())
    };
    text.lines().filter_map(server).collect()
}

/// The number of the interface of that name.
#[cfg(unix)]
fn index_of(name: &str) -> Option<u32> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: the name ends with a zero and outlives the call, which only reads it.
    Some(unsafe { libc::if_nametoindex(name.as_ptr()) }).filter(|&index| index > 0)
}

#[cfg(not(unix))]
fn index_of(_name: &str) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_stand_behind_their_word() {
        let text = "# nameserver 192.0.2.1\nsearch example.org\nnameserver 192.0.2.53\n\
                    nameserver\t2001:db8::53 \noptions edns0\nnameserver here\n\
                    nameserver fe80::53%eth0\nnameserver fe80::54%3\nnameserver fe80::55%gone\n";
        let index_of = |name: &str| (name == "eth0").then_some(2);
        let found: Vec<String> = parsed(text, index_of).iter().map(ToString::to_string).collect();
        let expected = ["192.0.2.53:53", "[2001:db8::53]:53", "[fe80::53%2]:53", "[fe80::54%3]:53"];
        assert_eq!(found, expected);
    }

    #[cfg(unix)]
    #[test]
    fn an_interface_that_there_is_not_has_no_number() {
        assert_eq!([index_of("no such interface"), index_of("a\0b")], [None, None]);
    }
}
