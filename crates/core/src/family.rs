//! The two address families and values held for both.
//!
//! Code is written once over [`PerFamily`]; what differs between the families is data, and that
//! data stands in this file.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// The well-known prefix behind which IPv4 hosts stand, of 96 bits (RFC 6052 section 2.1).
const TRANSLATED_GLOBAL: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// The prefix for translation inside of one network, of 48 bits (RFC 8215).
const TRANSLATED_LOCAL: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0);

/// The prefix of labs, of 96 bits, out of addresses that networks choose for themselves (RFC 4193):
/// the well-known one is not for private IPv4 addresses (RFC 6052 section 3.1), and translators
/// refuse the other.
pub(crate) const TRANSLATED_LAB: Ipv6Addr = Ipv6Addr::new(0xfd46, 0x64, 0, 0, 0, 0, 0, 0);

/// An IP address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// IPv4 (RFC 791).
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl Family {
    /// Both families, IPv4 first.
    pub const BOTH: [Family; 2] = [Family::V4, Family::V6];

    /// The other family.
    pub const fn other(self) -> Family {
        match self {
            Family::V4 => Family::V6,
            Family::V6 => Family::V4,
        }
    }

    /// Length of the IP header without options or extension headers, in bytes
    /// (RFC 791 section 3.1, RFC 8200 section 3).
    pub const fn header_bytes(self) -> u32 {
        match self {
            Family::V4 => 20,
            Family::V6 => 40,
        }
    }

    /// Length of the extra header that every fragment carries, in bytes: none for IPv4, whose
    /// fields stand in the fixed header; 8 for IPv6 (RFC 8200 section 4.5).
    pub const fn fragment_header_bytes(self) -> u32 {
        match self {
            Family::V4 => 0,
            Family::V6 => 8,
        }
    }

    /// Largest UDP payload, in bytes: IPv4 counts its own header in the 16-bit length, IPv6 does
    /// not.
    pub const fn udp_payload_bytes_max(self) -> u32 {
        match self {
            Family::V4 => 65_507,
            Family::V6 => 65_527,
        }
    }

    /// EtherType of its packets (RFC 894, RFC 2464 section 3).
    pub const fn ethertype(self) -> u16 {
        match self {
            Family::V4 => 0x0800,
            Family::V6 => 0x86dd,
        }
    }

    /// Where in its header the number of the protocol inside stands (RFC 791 section 3.1, RFC 8200
    /// section 3).
    pub const fn protocol_at(self) -> usize {
        match self {
            Family::V4 => 9,
            Family::V6 => 6,
        }
    }

    /// The number of its control protocol (RFC 792, RFC 4443 section 1).
    pub const fn icmp(self) -> u8 {
        match self {
            Family::V4 => 1,
            Family::V6 => 58,
        }
    }

    /// The record of DNS that holds its addresses (RFC 1035 section 3.4.1, RFC 3596 section 2.1).
    pub const fn record(self) -> &'static str {
        match self {
            Family::V4 => "A",
            Family::V6 => "AAAA",
        }
    }

    /// The loopback address of the family.
    pub const fn loopback(self) -> IpAddr {
        match self {
            Family::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Family::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
        }
    }

    /// The wildcard address of the family, to listen on every interface.
    pub const fn unspecified(self) -> IpAddr {
        match self {
            Family::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Family::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        }
    }

    /// The family of a true address of that family; `None` for an IPv4-mapped IPv6 address
    /// (`::ffff:0:0/96`), which belongs to neither in a comparison.
    pub fn of(address: &IpAddr) -> Option<Family> {
        match address {
            IpAddr::V4(_) => Some(Family::V4),
            IpAddr::V6(a) if a.to_ipv4_mapped().is_some() => None,
            IpAddr::V6(_) => Some(Family::V6),
        }
    }

    /// The family in which packets to this address arrive: IPv4 for an IPv6 address of a prefix
    /// that is for translation alone (RFC 6052 section 2.1, RFC 8215, that of labs), else its own.
    /// A translator with a prefix of its network is not known by its addresses. `None` as
    /// [`of`](Self::of).
    pub fn arriving(address: &IpAddr) -> Option<Family> {
        match address {
            IpAddr::V6(a) if is_translated(a) => Some(Family::V4),
            other => Family::of(other),
        }
    }
}

fn is_translated(address: &Ipv6Addr) -> bool {
    let starts = |prefix: Ipv6Addr, bits: u32| {
        (address.to_bits() ^ prefix.to_bits()) >> (Ipv6Addr::BITS - bits) == 0
    };
    starts(TRANSLATED_GLOBAL, 96) || starts(TRANSLATED_LOCAL, 48) || starts(TRANSLATED_LAB, 96)
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        })
    }
}

/// An address as 16 bytes, different ones for different addresses of either family, so that what
/// compares or hashes them goes one way for both.
pub const fn wide(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// One value for each family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerFamily<T> {
    /// The value for IPv4.
    pub v4: T,
    /// The value for IPv6.
    pub v6: T,
}

impl<T> PerFamily<T> {
    /// Calls `f` once for each family.
    pub fn from_fn(mut f: impl FnMut(Family) -> T) -> Self {
        PerFamily { v4: f(Family::V4), v6: f(Family::V6) }
    }

    /// The value of one family.
    pub fn get(&self, family: Family) -> &T {
        match family {
            Family::V4 => &self.v4,
            Family::V6 => &self.v6,
        }
    }

    /// The value of one family, to change it.
    pub fn get_mut(&mut self, family: Family) -> &mut T {
        match family {
            Family::V4 => &mut self.v4,
            Family::V6 => &mut self.v6,
        }
    }

    /// Applies `f` to both values.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> PerFamily<U> {
        PerFamily { v4: f(self.v4), v6: f(self.v6) }
    }

    /// References to both values.
    pub fn as_ref(&self) -> PerFamily<&T> {
        PerFamily { v4: &self.v4, v6: &self.v6 }
    }

    /// IPv6's value over IPv4's.
    pub fn ratio(&self) -> T
    where
        T: Copy + core::ops::Div<Output = T>,
    {
        self.v6 / self.v4
    }

    /// The two values with their labels exchanged.
    pub fn swapped(self) -> PerFamily<T> {
        PerFamily { v4: self.v6, v6: self.v4 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_address_has_no_family() {
        let mapped = IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
        assert_eq!(Family::of(&mapped), None);
        for family in Family::BOTH {
            assert_eq!(Family::of(&family.loopback()), Some(family));
            assert_eq!(Family::of(&family.unspecified()), Some(family));
        }
    }

    #[test]
    fn what_is_sent_to_a_translator_arrives_as_ipv4() {
        let arriving = |text: &str| Family::arriving(&text.parse().unwrap());
        for translated in ["64:ff9b::192.0.2.1", "64:ff9b:1:2::1", "fd46:64::10.46.2.2"] {
            assert_eq!(arriving(translated), Some(Family::V4), "{translated}");
        }
        for native in ["64:ff9b:0:1::1", "64:ff9b:2::1", "2001:db8::1", "fd46:40::2"] {
            assert_eq!(arriving(native), Some(Family::V6), "{native}");
        }
        assert_eq!(arriving("192.0.2.1"), Some(Family::V4));
        assert_eq!(arriving("::ffff:192.0.2.1"), None);
    }

    #[test]
    fn swapping_twice_changes_nothing() {
        let pair = PerFamily { v4: 4, v6: 6 };
        assert_eq!(pair.swapped(), PerFamily { v4: 6, v6: 4 });
        assert_eq!(pair.swapped().swapped(), pair);
    }
}
