//! Addresses of IPv6 that a translator makes of addresses of IPv4 (NAT64): where the IPv4 address
//! stands (RFC 6052), and how a network tells its own prefix (RFC 7050).

use core::net::{Ipv4Addr, Ipv6Addr};

/// A name that has addresses of IPv4 alone: whoever gets one of IPv6 for it is behind a name server
/// that makes them (RFC 7050 section 3).
pub const KNOWN_NAME: &str = "ipv4only.arpa";

/// The addresses that it has (RFC 7050 section 8.2).
const KNOWN: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 0, 0, 170), Ipv4Addr::new(192, 0, 0, 171)];

/// Lengths that a prefix may have, in bits (RFC 6052 section 2.2), the longest first: of an address
/// that fits several, the most specific is meant.
const LENGTHS: [u8; 6] = [96, 64, 56, 48, 40, 32];

/// The octet between two parts of an address that must be 0 (RFC 6052 section 2.2).
const ZERO_OCTET: usize = 8;

/// A prefix of a translator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    octets: [u8; 16],
    bits: u8,
}

impl Prefix {
    /// What the addresses tell that a name server gives for [`KNOWN_NAME`].
    pub fn told(addresses: impl IntoIterator<Item = Ipv6Addr>) -> Option<Self> {
        let prefix = |address: Ipv6Addr| {
            let octets = address.octets();
            let fits = |bits: &u8| embedded(&octets, *bits).is_some_and(|v4| KNOWN.contains(&v4));
            LENGTHS.into_iter().find(fits).map(|bits| Prefix { octets, bits })
        };
        addresses.into_iter().find_map(prefix)
    }

    /// The address of IPv4 that `address` is made of, if this prefix made it.
    pub fn of(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let octets = address.octets();
        let length = usize::from(self.bits / 8);
        (octets[..length] == self.octets[..length]).then(|| embedded(&octets, self.bits)).flatten()
    }
}

/// The address of IPv4 behind a prefix of `bits`.
fn embedded(octets: &[u8; 16], bits: u8) -> Option<Ipv4Addr> {
    if bits < 96 && octets[ZERO_OCTET] != 0 {
        return None;
    }
    let behind = (usize::from(bits / 8)..).filter(|at| bits == 96 || *at != ZERO_OCTET);
    let mut v4 = [0; 4];
    for (octet, at) in v4.iter_mut().zip(behind) {
        *octet = *octets.get(at)?;
    }
    Some(Ipv4Addr::from(v4))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of RFC 6052 section 2.4, and RFC 7050's name behind each of its prefixes.
    #[test]
    fn known_answers_of_every_length() {
        let table = [
            ("2001:db8:c000:221::", "2001:db8:c000:aa::"),
            ("2001:db8:1c0:2:21::", "2001:db8:1c0:0:aa::"),
            ("2001:db8:122:c000:2:2100::", "2001:db8:122:c000:0:aa00::"),
            ("2001:db8:122:3c0:0:221::", "2001:db8:122:3c0:0:aa::"),
            ("2001:db8:122:344:c0:2:2100::", "2001:db8:122:344:c0:0:aa00::"),
            ("2001:db8:122:344::192.0.2.33", "2001:db8:122:344::192.0.0.170"),
        ];
        for (made, known) in table {
            let prefix = Prefix::told([known.parse().unwrap()]).expect(known);
            let v4 = prefix.of(made.parse().unwrap());
            assert_eq!(v4, Some(Ipv4Addr::new(192, 0, 2, 33)), "{made} {prefix:?}");
        }
    }

    #[test]
    fn other_addresses_tell_nothing() {
        assert_eq!(Prefix::told(["2001:db8::1".parse().unwrap()]), None);
        let known = Prefix::told(["64:ff9b::192.0.0.171".parse().unwrap()]).unwrap();
        assert_eq!(known.of("64:ff9c::192.0.2.33".parse().unwrap()), None);
    }
}
