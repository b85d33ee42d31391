//! Address validation of sources of datagrams (the word of RFC 9000 section 8), without input or
//! output.
//!
//! The source address of a datagram is whatever its sender wrote there. A source that is to get
//! more than a few bytes therefore shows first that it gets what is sent to its address: it sends
//! an *introduction*, is answered with a *challenge* that is a function of its own address and
//! port, repeats that as its *proof*, and is answered once more. Each of the four messages is a
//! header and nothing else, so no source gets more than it sent. Until then nothing of it is
//! counted, and nothing else sent to it; the server keeps no note of it either, because it can work
//! the challenge out again.
//!
//! [`Validation`] is the server's side, [`Proving`] the client's.

mod proving;
#[cfg(test)]
mod tests;

pub use proving::{PATIENCE_NS_MAX, Proving, Silent};

use super::access::Access;
use crate::arm::{Arm, PerArm};
use crate::family::{Family, PerFamily, wide};
use crate::wire::datagram::{End, Flags, HEADER_BYTES, Header};
use alloc::vec;
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use siphasher::sip::SipHasher24;

/// What a source proves itself with.
pub const PROOF: Flags = Flags::INTRODUCTION.with(Flags::PROOF);

/// Where the server itself is: what comes from there is its own, or pretends to be, and would go
/// round for ever.
#[derive(Debug, Clone, Copy)]
pub struct Own<'a> {
    /// All its addresses; `None` if they are not known, and then the port alone decides. Loopback
    /// addresses are always its own.
    pub addresses: Option<&'a [IpAddr]>,
    /// The port of the service in each family; 0 where there is none.
    pub ports: PerFamily<u16>,
}

impl Own<'_> {
    fn holds(&self, source: SocketAddr) -> bool {
        // An IPv4 address in IPv6 form is nobody's: no socket gets anything from one.
        let Some(family) = Family::of(&source.ip()) else { return true };
        let is_ours = |addresses: &[IpAddr]| addresses.contains(&source.ip());
        source.port() == *self.ports.get(family)
            && (source.ip().is_loopback() || self.addresses.is_none_or(is_ours))
    }
}

/// What is to be done about a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handling {
    /// Nothing: it is not of the task, or its source has not proved itself.
    Ignore,
    /// To be answered with these bytes, as many as it has; that is all.
    Answer([u8; HEADER_BYTES]),
    /// The source has proved itself by it, and is to be answered with these bytes, as many as it
    /// has.
    Proved {
        /// The arm that the source belongs to.
        arm: Arm,
        /// Number of the source among those of the arm, from 0 on.
        place: u16,
        /// The answer.
        answer: [u8; HEADER_BYTES],
    },
    /// It is a message of the task, from a source of its arm that has proved itself.
    Valid {
        /// Header of the message.
        header: Header,
        /// Number of the source among those of the arm, from 0 on.
        place: u16,
    },
}

/// The server's side, for one task.
#[derive(Debug)]
pub struct Validation<'a> {
    tag: [u8; 8],
    hash: SipHasher24,
    access: &'a Access,
    own: Own<'a>,
    room: PerArm<u16>,
    count: PerArm<u16>,
    /// Sources that have proved themselves, each at its port's place or the next ones behind it
    /// that was free. Longer than there will be sources, and its length is a power of two.
    places: Vec<Option<Entry>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    source: Source,
    arm: Arm,
    place: u16,
}

/// A source address with its port, in one form for both families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Source {
    address: u128,
    /// An IPv6 address may look like an IPv4 one in that form.
    v4: bool,
    /// The interface of an address that holds on one link only.
    scope: u32,
    port: u16,
}

impl Source {
    #[inline]
    fn of(source: SocketAddr) -> Self {
        let scope = match source {
            SocketAddr::V4(_) => 0,
            SocketAddr::V6(source) => source.scope_id(),
        };
        let address = u128::from_be_bytes(wide(source.ip()));
        Source { address, v4: source.is_ipv4(), scope, port: source.port() }
    }
}

impl<'a> Validation<'a> {
    /// For the task of `tag`, which has so many sources in each arm. `secret` is unpredictable and
    /// new for each task. Takes all the memory that it will need.
    pub fn new(
        tag: [u8; 8],
        secret: &[u8; 16],
        access: &'a Access,
        own: Own<'a>,
        sources: PerArm<u16>,
    ) -> Self {
        let all = usize::from(sources.a) + usize::from(sources.b);
        Validation {
            tag,
            hash: SipHasher24::new_with_key(secret),
            access,
            own,
            room: sources,
            count: PerArm::default(),
            // At most half full, so that a free place is near.
            places: vec![None; (2 * all).max(1).next_power_of_two()],
        }
    }

    /// What to do about a datagram of `bytes` from `source`.
    #[inline]
    pub fn judge(&mut self, source: SocketAddr, bytes: &[u8]) -> Handling {
        let Some(header) = End::Server.heard(bytes, self.tag) else { return Handling::Ignore };
        let source_of = Source::of(source);
        if header.flags.contains(Flags::INTRODUCTION) {
            return self.introduce(source, header, bytes.len());
        }
        match self.entry(source_of) {
            Ok(Entry { arm, place, .. }) if arm == header.arm => Handling::Valid { header, place },
            _ => Handling::Ignore,
        }
    }

    /// The tag of the task's datagrams.
    pub fn tag(&self) -> [u8; 8] {
        self.tag
    }

    /// How many sources of `arm` have proved themselves.
    pub fn proved(&self, arm: Arm) -> u16 {
        *self.count.get(arm)
    }

    /// Whether all sources of the task have proved themselves.
    pub fn is_complete(&self) -> bool {
        self.count == self.room
    }

    #[cold]
    fn introduce(&mut self, source: SocketAddr, header: Header, bytes: usize) -> Handling {
        if bytes != HEADER_BYTES || self.own.holds(source) || !self.access.admits(source.ip()) {
            return Handling::Ignore;
        }
        let place = self.entry(Source::of(source));
        let (room, count) = (*self.room.get(header.arm), *self.count.get(header.arm));
        match place {
            Ok(entry) if entry.arm != header.arm => return Handling::Ignore,
            Err(_) if count >= room => return Handling::Ignore,
            _ => {}
        }
        let challenge = self.challenge(Source::of(source), header.arm);
        let flags = End::Server.says(header.flags);
        match (header.flags, place) {
            (Flags::INTRODUCTION, _) => {
                Handling::Answer(Header { flags, ..header }.with_challenge(challenge).alone())
            }
            (PROOF, _) if header.challenge() != challenge => Handling::Ignore,
            (PROOF, Ok(_)) => Handling::Answer(Header { flags, ..header }.alone()),
            (PROOF, Err(free)) => {
                let arm = header.arm;
                // Places are twice as many as there is room for, so this one exists.
                if let Some(place) = self.places.get_mut(free) {
                    *place = Some(Entry { source: Source::of(source), arm, place: count });
                }
                *self.count.get_mut(arm) += 1;
                let answer = Header { flags, ..header }.alone();
                Handling::Proved { arm, place: count, answer }
            }
            _ => Handling::Ignore,
        }
    }

    /// What a source is challenged with; never 0.
    fn challenge(&self, source: Source, arm: Arm) -> u64 {
        let mut bytes = [0; 16 + 4 + 2 + 8 + 1];
        bytes[..16].copy_from_slice(&source.address.to_be_bytes());
        bytes[16..20].copy_from_slice(&source.scope.to_be_bytes());
        bytes[20..22].copy_from_slice(&source.port.to_be_bytes());
        bytes[22..30].copy_from_slice(&self.tag);
        bytes[30] = match arm {
            Arm::A => 0,
            Arm::B => 1,
        };
        self.hash.hash(&bytes).max(1)
    }

    /// The source's entry, or the free place where it would be.
    #[inline]
    fn entry(&self, source: Source) -> Result<Entry, usize> {
        let mask = self.places.len() - 1;
        let mut place = usize::from(source.port) & mask;
        loop {
            match self.places.get(place) {
                Some(Some(entry)) if entry.source == source => return Ok(*entry),
                Some(Some(_)) => place = (place + 1) & mask,
                Some(None) | None => return Err(place),
            }
        }
    }
}
