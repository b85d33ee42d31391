//! Whom a server serves, by source address: asked for each connection and for each source of
//! datagrams.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

/// A range of addresses, as in `192.0.2.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

/// Why a text is no prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address range like 192.0.2.0/24 or 2001:db8::/32")]
pub struct NotAPrefix(String);

/// The rule of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Everybody: who comes has to know the key, or the server was told to be public.
    Anyone,
    /// Without a key: only sources that are near by the kind of their address.
    Near,
    /// Only these.
    Listed(Vec<Prefix>),
}

/// Ranges that do not come from the open internet: private use (RFC 1918, RFC 4193), link-local
/// (RFC 3927, RFC 4291), benchmarking (RFC 2544, RFC 5180) and documentation (RFC 5737, RFC 3849,
/// RFC 9637), which labs use.
const NEAR: [Prefix; 14] = [
    four([10, 0, 0, 0], 8),
    four([172, 16, 0, 0], 12),
    four([192, 168, 0, 0], 16),
    four([169, 254, 0, 0], 16),
    four([198, 18, 0, 0], 15),
    four([192, 0, 2, 0], 24),
    four([198, 51, 100, 0], 24),
    four([203, 0, 113, 0], 24),
    six([0xfc00, 0, 0], 7),
    six([0xfe80, 0, 0], 10),
    six([0x2001, 2, 0], 48),
    six([0x2001, 0xdb8, 0], 32),
    six([0x3fff, 0, 0], 20),
    // Site-local addresses, deprecated (RFC 3879) but still private where they are used.
    six([0xfec0, 0, 0], 10),
];

/// This host itself (RFC 1122, RFC 4291).
const LOOPBACK: [Prefix; 2] =
    [four([127, 0, 0, 0], 8), Prefix { address: IpAddr::V6(Ipv6Addr::LOCALHOST), bits: 128 }];

const fn four([a, b, c, d]: [u8; 4], bits: u8) -> Prefix {
    Prefix { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits }
}

const fn six([a, b, c]: [u16; 3], bits: u8) -> Prefix {
    Prefix { address: IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)), bits }
}

impl Access {
    /// True if the server serves `source`.
    pub fn admits(&self, source: IpAddr) -> bool {
        match self {
            Access::Anyone => true,
            Access::Near => {
                source.is_loopback() || NEAR.iter().any(|prefix| prefix.contains(source))
            }
            Access::Listed(prefixes) => prefixes.iter().any(|prefix| prefix.contains(source)),
        }
    }
}

impl Prefix {
    /// The range of all addresses that share their first `bits` bits with `address`; `None` if the
    /// address has fewer bits.
    pub fn new(address: IpAddr, bits: u8) -> Option<Prefix> {
        (u32::from(bits) <= width(address)).then_some(Prefix { address, bits })
    }

    /// The address and how many bits of it all addresses of the range share, as [`Prefix::new`]
    /// takes them.
    pub fn parts(&self) -> (IpAddr, u8) {
        (self.address, self.bits)
    }

    /// True if the whole range is near by the kind of its addresses, as those are that a server
    /// without a key serves.
    pub fn is_near(&self) -> bool {
        let within = |near: &Prefix| self.bits >= near.bits && near.contains(self.address);
        NEAR.iter().chain(&LOOPBACK).any(within)
    }

    /// True if `address` is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        if self.address.is_ipv4() != address.is_ipv4() {
            return false;
        }
        let other = width(address) - u32::from(self.bits);
        let differing = number(self.address) ^ number(address);
        differing.checked_shr(other).unwrap_or(0) == 0
    }
}

impl FromStr for Prefix {
    type Err = NotAPrefix;

    /// Reads `address/bits`, or an address alone.
    fn from_str(text: &str) -> Result<Self, NotAPrefix> {
        let bad = || NotAPrefix(text.to_string());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().map_err(|_| bad())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| bad())?;
        // A width of 32 or 128 fits a byte.
        let bits = bits.unwrap_or(width(address) as u8);
        Prefix::new(address, bits).ok_or_else(bad)
    }
}

const fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => Ipv4Addr::BITS,
        IpAddr::V6(_) => Ipv6Addr::BITS,
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn near_is_loopback_private_link_local_and_lab() {
        for near in [
            "127.0.0.1",
            "10.255.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.9.9",
            "198.19.255.1",
            "203.0.113.7",
            "::1",
            "fd12::1",
            "fe80::1",
            "2001:db8:9::7",
        ] {
            assert!(Access::Near.admits(ip(near)), "{near}");
        }
        for far in ["8.8.8.8", "172.32.0.1", "198.20.0.1", "2606:4700::1", "2001:db9::1", "::2"] {
            assert!(!Access::Near.admits(ip(far)), "{far}");
            assert!(Access::Anyone.admits(ip(far)), "{far}");
        }
    }

    #[test]
    fn a_list_admits_what_it_lists_and_nothing_else() {
        let listed = ["192.0.2.128/25", "2001:db8::/32", "10.1.1.1"];
        let access = Access::Listed(listed.map(|text| text.parse().unwrap()).to_vec());
        for (source, admitted) in [
            ("192.0.2.129", true),
            ("192.0.2.1", false),
            ("2001:db8:ffff::", true),
            ("10.1.1.1", true),
            ("10.1.1.2", false),
            ("::1", false),
            ("127.0.0.1", false),
        ] {
            assert_eq!(access.admits(ip(source)), admitted, "{source}");
        }
        assert!(Access::Listed(vec!["::/0".parse().unwrap()]).admits(ip("::1")));
        assert!(!Access::Listed(vec!["::/0".parse().unwrap()]).admits(ip("127.0.0.1")));
    }

    #[test]
    fn a_range_is_near_if_all_of_it_is() {
        let is_near = |text: &str| text.parse::<Prefix>().unwrap().is_near();
        for near in ["10.0.0.0/8", "192.168.7.1", "fd00::/8", "fe80::1", "127.0.0.0/8", "::1"] {
            assert!(is_near(near), "{near}");
        }
        for far in ["10.0.0.0/7", "0.0.0.0/0", "::/0", "2000::/3", "8.8.8.8", "::/127"] {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn what_is_no_prefix_is_refused() {
        for bad in ["", "/", "10.0.0.0/33", "::/129", "10.0.0/8", "host/8", "::/x", "::/-1"] {
            assert_eq!(bad.parse::<Prefix>(), Err(NotAPrefix(bad.to_string())));
        }
    }
}
