//! Connections that have not yet shown what they are for. They cost a socket and a few bytes, never
//! a thread, and have little time.

use crate::control::Key;
use crate::control::seal::{self, HANDSHAKE_BYTES, Preambles, Sealed};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use v6gap_core::wire::preamble::{self, Control, Data, Preamble, Progress};
use v6gap_core::wire::version::VersionRange;
use v6gap_sys::socket::{ErrorClass, SocketError, Stream};

/// Longest time from accepting a connection to the end of its handshake, in ns.
const PENDING_NS: u64 = 5_000_000_000;

/// Most connections that may be pending: twice what one task may open at a time by default.
const PENDING_MAX: usize = 256;

/// A connection just accepted.
pub(super) struct Pending {
    pub(super) stream: Stream,
    pub(super) peer: SocketAddr,
    deadline_ns: u64,
    bytes: Vec<u8>,
    /// What both ends said, once they have; then the handshake is due.
    preambles: Option<Preambles>,
}

/// What became of a connection.
pub(super) enum Became {
    /// Nothing yet.
    Pending,
    /// It was of no use.
    Nothing,
    /// A data connection.
    Data(Data),
    /// A control connection of a client that knows the key.
    Control(Box<Sealed>),
}

impl Pending {
    /// A connection accepted now.
    pub(super) fn new(stream: Stream, peer: SocketAddr, now_ns: u64) -> Result<Self, SocketError> {
        stream.set_nonblocking(true)?;
        let deadline_ns = now_ns.saturating_add(PENDING_NS);
        Ok(Pending { stream, peer, deadline_ns, bytes: Vec::new(), preambles: None })
    }

    /// When it has to be ready.
    pub(super) fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Reads what is there, never beyond what belongs to preamble and handshake, and answers.
    pub(super) fn advance(&mut self, key: &Key, versions: VersionRange) -> Became {
        loop {
            let wanted = match self.preambles {
                Some(_) => HANDSHAKE_BYTES,
                None => match preamble::decode(&self.bytes) {
                    Ok(Progress::Needs(bytes)) => bytes,
                    Ok(Progress::Complete(Preamble::Data(data))) => return Became::Data(data),
                    Ok(Progress::Complete(Preamble::Control(client))) => {
                        if !self.greet(client, versions) {
                            return Became::Nothing;
                        }
                        HANDSHAKE_BYTES
                    }
                    Err(_) => return Became::Nothing,
                },
            };
            match self.read(wanted) {
                Some(true) => {}
                Some(false) => return Became::Pending,
                None => return Became::Nothing,
            }
            if let (Some(preambles), Ok(message)) = (&self.preambles, self.bytes[..].try_into()) {
                return self.answer(key, preambles, message);
            }
        }
    }

    /// Answers the client's preamble; `false` if there is no common version or the client is gone.
    /// The answer goes out in any case, for it tells the client why.
    fn greet(&mut self, client: Control, versions: VersionRange) -> bool {
        let server = Control { versions };
        self.bytes.clear();
        self.preambles = Some(Preambles { client, server });
        self.write(&server.encode()) && versions.agree(client.versions).is_ok()
    }

    fn answer(&self, key: &Key, preambles: &Preambles, message: &[u8; HANDSHAKE_BYTES]) -> Became {
        match seal::respond(key, preambles, message) {
            Ok((sealed, answer)) if self.write(&answer) => Became::Control(Box::new(sealed)),
            _ => Became::Nothing,
        }
    }

    /// Reads towards `wanted` bytes: `true` if something came, `false` if not yet, `None` at the
    /// end.
    fn read(&mut self, wanted: usize) -> Option<bool> {
        let had = self.bytes.len();
        self.bytes.resize(wanted, 0);
        let read = self.stream.read(&mut self.bytes[had..]);
        self.bytes.truncate(had + read.as_ref().map_or(0, |bytes| *bytes));
        match read {
            Ok(0) => None,
            Ok(_) => Some(true),
            Err(error) if ErrorClass::of(&error) == ErrorClass::WouldBlock => Some(false),
            Err(_) => None,
        }
    }

    /// Writes a few bytes, for which a fresh socket always has room.
    fn write(&self, bytes: &[u8]) -> bool {
        self.stream.write(bytes).is_ok_and(|written| written == bytes.len())
    }
}

/// The pending connections, the oldest first.
#[derive(Default)]
pub(super) struct Lobby {
    all: VecDeque<Pending>,
}

impl Lobby {
    /// Lets one in. If that is one too many, the source with the most of them loses its oldest, so
    /// that a flood pushes out itself before others.
    pub(super) fn enter(&mut self, pending: Pending) {
        self.all.push_back(pending);
        if self.all.len() > PENDING_MAX {
            let crowd = |p: &Pending| self.all.iter().filter(|q| near(p, q)).count();
            // Of equals, `max_by_key` takes the last: reversed, the oldest.
            let most = (0..self.all.len()).rev().max_by_key(|&i| crowd(&self.all[i]));
            if let Some(most) = most {
                self.all.remove(most);
            }
        }
    }

    /// Drops those whose time is over.
    pub(super) fn expire(&mut self, now_ns: u64) {
        self.all.retain(|pending| pending.deadline_ns > now_ns);
    }

    /// Those inside.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.all.iter()
    }

    /// Advances those for which `ready` holds and returns the ones that became something.
    pub(super) fn advance(
        &mut self,
        ready: &[bool],
        key: &Key,
        versions: VersionRange,
    ) -> Vec<(Pending, Became)> {
        let mut done = Vec::new();
        let mut waiting = VecDeque::with_capacity(self.all.len());
        for (mut pending, &ready) in self.all.drain(..).zip(ready) {
            let became = if ready { pending.advance(key, versions) } else { Became::Pending };
            match became {
                Became::Pending => waiting.push_back(pending),
                became => done.push((pending, became)),
            }
        }
        self.all = waiting;
        done
    }
}

/// Whether two connections come from the same place: one IPv4 address, or one IPv6 /64.
fn near(one: &Pending, other: &Pending) -> bool {
    place(one.peer.ip()) == place(other.peer.ip())
}

fn place(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        four => four,
    }
}
