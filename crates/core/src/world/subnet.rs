//! A subnet: its first address and the length of its prefix.

use crate::family::Family;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// A subnet of one family, written as `192.0.2.0/24` or `2001:db8::/64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subnet {
    first: IpAddr,
    prefix_bits: u8,
}

/// Length of an address in bits.
const fn address_bits(address: &IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// An address as a number.
const fn number(address: &IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits() as u128,
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl Subnet {
    /// The subnet whose first address is `first`.
    ///
    /// # Errors
    /// In words, if the prefix is longer than an address, the address has bits behind the prefix,
    /// or hosts may not have such addresses.
    pub fn new(first: IpAddr, prefix_bits: u8) -> Result<Self, String> {
        let length = address_bits(&first);
        if prefix_bits > length {
            return Err(format!("a prefix of {first} has at most {length} bits"));
        }
        let subnet = Subnet { first, prefix_bits };
        if number(&first) & subnet.host_mask() != 0 {
            return Err(format!("{first} has bits behind the first {prefix_bits}"));
        }
        if Family::of(&first).is_none() || !usable(&first) || prefix_bits < 4 {
            return Err(format!("{first}/{prefix_bits} holds addresses that hosts cannot have"));
        }
        Ok(subnet)
    }

    /// The lab's own subnet number `number`, from 1: 10.46.n.0/24 (RFC 1918) or fd46:n::/64
    /// (RFC 4193).
    pub(super) const fn numbered(family: Family, number: usize) -> Self {
        match family {
            Family::V4 => Subnet {
                first: IpAddr::V4(Ipv4Addr::new(10, 46, number as u8, 0)),
                prefix_bits: 24,
            },
            Family::V6 => {
                let first = Ipv6Addr::new(0xfd46, number as u16, 0, 0, 0, 0, 0, 0);
                Subnet { first: IpAddr::V6(first), prefix_bits: 64 }
            }
        }
    }

    /// Length of the prefix.
    pub const fn prefix_bits(&self) -> u8 {
        self.prefix_bits
    }

    /// The first address.
    pub const fn first(&self) -> IpAddr {
        self.first
    }

    /// Family of the subnet.
    pub const fn family(&self) -> Family {
        match self.first {
            IpAddr::V4(_) => Family::V4,
            IpAddr::V6(_) => Family::V6,
        }
    }

    fn host_mask(&self) -> u128 {
        let host_bits = u32::from(address_bits(&self.first) - self.prefix_bits);
        if host_bits == 128 { u128::MAX } else { (1_u128 << host_bits) - 1 }
    }

    /// How many hosts it has room for: its first address is that of the subnet (RFC 950) or of its
    /// routers (RFC 4291 section 2.6.1), and the last one of IPv4 is for all.
    pub fn hosts(&self) -> u128 {
        self.host_mask().saturating_sub(match self.family() {
            Family::V4 => 1,
            Family::V6 => 0,
        })
    }

    /// The address of host number `host`, from 1; must be at most [`hosts`](Self::hosts).
    pub fn host(&self, host: u32) -> IpAddr {
        let bits = number(&self.first) | (u128::from(host) & self.host_mask());
        match self.first {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(bits as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(bits)),
        }
    }

    /// Whether the two have an address in common.
    pub fn overlaps(&self, other: &Subnet) -> bool {
        let mask = self.host_mask() | other.host_mask();
        self.family() == other.family() && number(&self.first) | mask == number(&other.first) | mask
    }
}

/// Whether hosts can have such addresses and reach each other by them through routers.
const fn usable(first: &IpAddr) -> bool {
    match first {
        IpAddr::V4(a) => {
            let [high, ..] = a.octets();
            high != 0 && high < 224 && !a.is_loopback() && !a.is_link_local()
        }
        IpAddr::V6(a) => {
            let [high, ..] = a.segments();
            high != 0 && high < 0xfe80
        }
    }
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix_bits)
    }
}

impl From<Subnet> for String {
    fn from(subnet: Subnet) -> String {
        subnet.to_string()
    }
}

impl FromStr for Subnet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = || format!("\"{text}\" is no subnet as 192.0.2.0/24 or 2001:db8::/64");
        let (address, bits) = text.split_once('/').ok_or_else(shape)?;
        let address = address.trim().parse().map_err(|_| shape())?;
        Subnet::new(address, bits.trim().parse().map_err(|_| shape())?)
    }
}

impl TryFrom<String> for Subnet {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(text: &str) -> Subnet {
        text.parse().unwrap()
    }

    #[test]
    fn hosts_are_counted_from_one() {
        assert_eq!(subnet("192.0.2.64/26").host(62).to_string(), "192.0.2.126");
        assert_eq!(subnet("192.0.2.64/26").hosts(), 62);
        assert_eq!(subnet("2001:db8:1::/64").host(2).to_string(), "2001:db8:1::2");
        assert_eq!(subnet("2001:db8:1::/127").hosts(), 1);
        assert_eq!(subnet("192.0.2.2/32").hosts(), 0);
    }

    #[test]
    fn what_hosts_cannot_use_is_refused() {
        for text in ["192.0.2.1/24", "192.0.2.0/33", "127.0.0.0/8", "224.0.0.0/4", "fe80::/64"] {
            assert!(text.parse::<Subnet>().is_err(), "{text}");
        }
        for text in ["::ffff:1.2.3.0/120", "::/0", "0.0.0.0/0", "192.0.2.0", "x/1", "ff00::/8"] {
            assert!(text.parse::<Subnet>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_subnet_overlaps_what_holds_it_and_what_it_holds() {
        assert!(subnet("10.0.0.0/8").overlaps(&subnet("10.46.1.0/24")));
        assert!(subnet("10.46.1.0/24").overlaps(&subnet("10.0.0.0/8")));
        assert!(!subnet("10.46.1.0/24").overlaps(&subnet("10.46.2.0/24")));
        assert!(!subnet("10.46.1.0/24").overlaps(&subnet("fd46:1::/64")));
        assert!(subnet("fd46::/16").overlaps(&subnet("fd46:1::/64")));
    }

    #[test]
    fn it_is_stored_as_it_is_written() {
        let text = serde_json::to_string(&subnet("fd46:1::/64")).unwrap();
        assert_eq!(text, "\"fd46:1::/64\"");
        assert_eq!(serde_json::from_str::<Subnet>(&text).unwrap(), subnet("fd46:1::/64"));
        assert!(serde_json::from_str::<Subnet>("\"fd46::1/64\"").is_err());
    }
}
