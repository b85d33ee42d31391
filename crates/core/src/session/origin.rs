//! Where a connection comes from, as far as it matters for fairness: who has one address has as
//! many as its network gives, so connections are counted by networks and not by addresses alone.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Leading bits that the addresses of a near network share: all of IPv4's, a host's of IPv6.
const NEAR_BITS: (u32, u32) = (32, 64);

/// Leading bits that the addresses of a wide network share: what one site is usually given.
const WIDE_BITS: (u32, u32) = (24, 48);

/// The two networks of a source, each named by its first address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// One IPv4 address or one IPv6 /64: hardly more than one host.
    pub near: IpAddr,
    /// An IPv4 /24 or an IPv6 /48: hardly more than one site.
    pub wide: IpAddr,
}

impl Origin {
    /// The networks of `address`.
    pub fn of(address: IpAddr) -> Self {
        Origin { near: first(address, NEAR_BITS), wide: first(address, WIDE_BITS) }
    }
}

/// The first address of the network of so many leading bits.
fn first(address: IpAddr, (four, six): (u32, u32)) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let rest = u32::MAX.checked_shr(four).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & !rest))
        }
        IpAddr::V6(address) => {
            let rest = u128::MAX.checked_shr(six).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_fall_into_their_networks() {
        for (address, near, wide) in [
            ("192.0.2.77", "192.0.2.77", "192.0.2.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1::"),
            ("::1", "::", "::"),
        ] {
            let [address, near, wide] = [address, near, wide].map(|text| text.parse().unwrap());
            assert_eq!(Origin::of(address), Origin { near, wide });
        }
    }
}
