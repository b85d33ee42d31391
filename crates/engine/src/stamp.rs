//! What authenticates test packets of STAMP: HMAC-SHA-256 under a key that both ends were given,
//! cut to half its length (RFC 8762 section 4.4, RFC 2104).

use crate::hex::octets_of;
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::Hash;
use std::cell::RefCell;
use std::fmt;
use v6gap_core::wire::stamp::SEAL_BYTES;

/// Octets of a hash.
const HASH_BYTES: usize = 32;

/// Octets that the hash takes at a time; a longer key is hashed first (RFC 2104 section 2).
const BLOCK_BYTES: usize = 64;

/// The key of a sender and a reflector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StampKey {
    /// Filled up with zeros, which is what the hash does with a shorter one.
    octets: [u8; BLOCK_BYTES],
}

/// Why a text says no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoStampKey {
    /// There is nothing in it: everybody would know that key.
    #[error("there is no key in it")]
    Empty,
    /// Something else than pairs of hexadecimal digits.
    #[error("behind 0x there are no pairs of hexadecimal digits")]
    NotHexadecimal,
}

impl StampKey {
    /// The key that a text says: its octets, or behind `0x` those of pairs of hexadecimal digits,
    /// as others' senders and reflectors take them. White space around it is no part of it.
    ///
    /// # Errors
    /// If there is none, or something else behind `0x`.
    pub fn of_text(text: &str) -> Result<Self, NoStampKey> {
        let text = text.trim();
        let said = match text.strip_prefix("0x") {
            Some(digits) => octets_of(digits).ok_or(NoStampKey::NotHexadecimal)?,
            None => text.as_bytes().to_vec(),
        };
        if said.is_empty() {
            return Err(NoStampKey::Empty);
        }
        let mut octets = [0; BLOCK_BYTES];
        if said.len() <= BLOCK_BYTES {
            octets[..said.len()].copy_from_slice(&said);
        } else {
            let mut hash = sha_256();
            hash.input(&said);
            hash.result(&mut octets[..HASH_BYTES]);
        }
        Ok(StampKey { octets })
    }
}

impl fmt::Debug for StampKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StampKey(…)")
    }
}

/// Authenticates packets with a key; for one thread, and without taking memory.
pub struct Sealer {
    key: StampKey,
    hash: RefCell<Box<dyn Hash>>,
}

impl Sealer {
    /// With this key.
    pub fn new(key: &StampKey) -> Self {
        Sealer { key: *key, hash: RefCell::new(sha_256()) }
    }

    /// What authenticates these octets.
    pub fn seal(&self, octets: &[u8]) -> [u8; SEAL_BYTES] {
        let mut whole = [0; HASH_BYTES];
        self.hash.borrow_mut().hmac(&self.key.octets, octets, &mut whole);
        let mut seal = [0; SEAL_BYTES];
        seal.copy_from_slice(&whole[..SEAL_BYTES]);
        seal
    }
}

fn sha_256() -> Box<dyn Hash> {
    DefaultResolver
        .resolve_hash(&HashChoice::SHA256)
        .expect("the default resolver has SHA-256, for which this crate asks in its Cargo.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(key: &str, octets: &[u8]) -> String {
        let seal = Sealer::new(&StampKey::of_text(key).unwrap()).seal(octets);
        seal.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    /// Cases 2 and 6 of RFC 4231, cut to half.
    #[test]
    fn seals_are_those_of_the_rfc() {
        let asked = b"what do ya want for nothing?";
        assert_eq!(seal("Jefe", asked), "5bdcc146bf60754e6a042426089575c7");
        assert_eq!(seal(" 0x4a656665\n", asked), seal("Jefe", asked));
        let long = format!("0x{}", "aa".repeat(131));
        let asked = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(seal(&long, asked), "60e431591ee0b67f0d8a26aacbf5b77f");
        // The same sealer goes on.
        let sealer = Sealer::new(&StampKey::of_text("Jefe").unwrap());
        assert_eq!(sealer.seal(b"1"), sealer.seal(b"1"));
        assert_ne!(sealer.seal(b"1"), sealer.seal(b"2"));
    }

    #[test]
    fn what_is_no_key_is_refused_and_keys_do_not_show() {
        for empty in ["", " \n", "0x"] {
            assert_eq!(StampKey::of_text(empty), Err(NoStampKey::Empty), "{empty:?}");
        }
        for odd in ["0x1", "0xgg", "0x12 34"] {
            assert_eq!(StampKey::of_text(odd), Err(NoStampKey::NotHexadecimal), "{odd:?}");
        }
        assert_eq!(format!("{:?}", StampKey::of_text("a").unwrap()), "StampKey(…)");
    }
}
