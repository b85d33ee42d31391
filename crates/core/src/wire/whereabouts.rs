//! Where else a server is reached: what it tells a client that knows its address of one family, and
//! how an address shows that it leads to the same server.
//!
//! The client exchanges control preambles with an address that it was told, and with that gets a
//! [`Nonce`], which whoever is there draws anew for each connection. Then it asks again over the
//! session that it has: the server answers with a [`proof`] for every nonce that it gave to a
//! connection which has said no more than its preamble. A server cannot prove a nonce of another
//! one, because it does not know it.
//!
//! The client names no nonce: who is asked whether one is his need only say yes. And the server
//! names none: a proof is bound to the session in which it is given, so that a hostile server
//! cannot have another server prove its own nonces to it and pass that on.

use super::preamble::Nonce;
use crate::family::Family;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

/// Most addresses that are told, and that are taken.
pub const ADDRESSES_MAX: usize = 8;

/// Most proofs that are given, and that are taken: one for each connection that a server keeps
/// before it has said hello.
pub const PROOFS_MAX: usize = 256;

/// Most times that a client may ask in a session; it needs two. Each has the server look at its
/// interfaces and at every connection of its lobby.
pub const QUESTIONS_MAX: u32 = 16;

/// The answer of a server that is asked where else it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// Its addresses in the family over which the session does not go, the likeliest first; they
    /// have the port of the one that is known.
    pub addresses: Vec<IpAddr>,
    /// The [`proof`] of each nonce that it gave to a connection which has said no more than its
    /// preamble.
    pub proofs: Vec<u64>,
}

impl Addresses {
    /// With no more than may be told, and without what can be no address of a server.
    #[must_use]
    pub fn bounded(self) -> Self {
        let Addresses { addresses, mut proofs } = self;
        let addresses = addresses.into_iter().filter(can_be_told).take(ADDRESSES_MAX).collect();
        proofs.truncate(PROOFS_MAX);
        Addresses { addresses, proofs }
    }
}

/// Whether an address can be told to another host and be measured there: a true address of one
/// host that holds beyond one link. One of loopback is told to clients on loopback alone, which is
/// for who tells and who takes it to see to.
pub fn can_be_told(address: &IpAddr) -> bool {
    let holds_beyond_a_link = match address {
        IpAddr::V4(address) => !address.is_link_local() && !address.is_broadcast(),
        IpAddr::V6(address) => !address.is_unicast_link_local(),
    };
    let is_of_a_host = !address.is_unspecified() && !address.is_multicast();
    Family::of(address).is_some() && holds_beyond_a_link && is_of_a_host
}

/// What shows, in the session of that handshake, that the server of the session gave `nonce` to
/// another connection: nobody makes it who does not know the nonce, and it is of no use in another
/// session. `handshake` is the hash of the session's handshake, which both of its ends know and no
/// two sessions share.
pub fn proof(nonce: &Nonce, handshake: &[u8]) -> u64 {
    SipHasher24::new_with_key(&nonce.0).hash(handshake)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_hold_elsewhere_are_told() {
        let is_told = |text: &str| can_be_told(&text.parse().unwrap());
        for good in ["192.0.2.7", "10.0.0.1", "2001:db8::7", "fd12::20", "127.0.0.1", "::1"] {
            assert!(is_told(good), "{good}");
        }
        for bad in [
            "0.0.0.0",
            "::",
            "::ffff:192.0.2.7",
            "fe80::1",
            "169.254.0.1",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
        ] {
            assert!(!is_told(bad), "{bad}");
        }
    }

    #[test]
    fn what_is_told_is_bounded() {
        let addresses = (0..100).map(|n| IpAddr::V4((0xc000_0200_u32 + n).into())).collect();
        let told = Addresses { addresses, proofs: (0..1000).collect() }.bounded();
        assert_eq!((told.addresses.len(), told.proofs.len()), (ADDRESSES_MAX, PROOFS_MAX));
        assert_eq!(told.clone().bounded(), told);
    }

    #[test]
    fn a_proof_is_of_one_nonce_in_one_session() {
        let [one, other] = [Nonce([1; Nonce::BYTES]), Nonce([2; Nonce::BYTES])];
        assert_eq!(proof(&one, &[7; 32]), proof(&one, &[7; 32]));
        assert_ne!(proof(&one, &[7; 32]), proof(&other, &[7; 32]));
        assert_ne!(proof(&one, &[7; 32]), proof(&one, &[8; 32]));
    }
}
