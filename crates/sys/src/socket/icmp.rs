//! ICMP and ICMPv6 echo: a request that the far kernel answers (RFC 792, RFC 4443 section 4).
//!
//! A datagram socket for echoes ("ping socket") needs no privilege where the system has them; a raw
//! socket does. Both are tried in this order, alike for both families.

use super::error::{Operation, SocketError};
use super::{Datagram, Domain, ErrorClass, create, refuse_mapped, refuse_mixed};
use crate::Unavailable;
use socket2::{Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// Length of the header of an echo, in bytes, in both families.
pub const ECHO_HEADER_BYTES: usize = 8;

/// Room that a receive buffer needs besides the payload, in bytes: the echo's header, and that of
/// IPv4 with options where the system passes it on.
pub const ECHO_ROOM_BYTES: usize = 60 + ECHO_HEADER_BYTES;

/// Length of the shortest IPv4 header, in bytes.
const IPV4_HEADER_BYTES: usize = 20;

/// What one family calls its messages.
#[derive(Debug, Clone, Copy)]
struct Names {
    protocol: Protocol,
    request: u8,
    reply: u8,
}

impl Names {
    fn of(domain: Domain) -> Self {
        match domain {
            Domain::V4 => Names { protocol: Protocol::ICMPV4, request: 8, reply: 0 },
            Domain::V6 => Names { protocol: Protocol::ICMPV6, request: 128, reply: 129 },
        }
    }
}

/// A socket for echoes with one peer, in blocking mode unless told otherwise.
#[derive(Debug)]
pub struct Ping {
    inner: Datagram,
    names: Names,
    /// The identifier that a raw socket's answers must have; a ping socket gets no others.
    identifier: Option<u16>,
}

impl Ping {
    /// A socket at `local` (the unspecified address lets the system choose) whose peer is `remote`;
    /// ports do not matter. `identifier` is used where the system does not choose one itself.
    ///
    /// # Errors
    /// `Ok(Err(..))` if this host lets nobody, or not this process, send echoes; otherwise a mapped
    /// address, ends of two families, or what the system says.
    pub fn open(
        mut local: SocketAddr,
        remote: SocketAddr,
        identifier: u16,
    ) -> Result<Result<Self, Unavailable>, SocketError> {
        refuse_mapped(Operation::Open, remote)?;
        refuse_mixed(Operation::Bind, local, remote)?;
        let names = Names::of(Domain::of(&remote));
        let (socket, raw) = match socket(remote, names.protocol)? {
            Ok(found) => found,
            Err(missing) => return Ok(Err(missing)),
        };
        // With the zone of a link-local address, without which the kernel does not know the link.
        let mut target = remote;
        target.set_port(0);
        if !local.ip().is_unspecified() {
            local.set_port(0);
            socket.bind(&local.into()).map_err(SocketError::at(Operation::Bind, local))?;
        }
        socket.connect(&target.into()).map_err(SocketError::at(Operation::Connect, remote))?;
        let inner = Datagram::of(socket.into());
        Ok(Ok(Ping { inner, names, identifier: raw.then_some(identifier) }))
    }

    /// Sends an echo request: `message` has its payload behind [`ECHO_HEADER_BYTES`], over which
    /// the header is written.
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn send(&self, sequence: u16, message: &mut [u8]) -> io::Result<usize> {
        let identifier = self.identifier.unwrap_or(0);
        write_header(self.names.request, identifier, sequence, message);
        // Ping sockets and all of ICMPv6 have it from the kernel.
        if self.identifier.is_some() {
            let sum = checksum(message);
            message[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        self.inner.send(message)
    }

    /// Receives one message: sequence number and payload if it is an answer to this socket, `None`
    /// if it is something else. Give [`ECHO_ROOM_BYTES`] more than the payload.
    ///
    /// # Errors
    /// The system's answer; nothing in time is [`is_timeout`](super::ErrorClass::is_timeout).
    #[inline]
    pub fn recv<'a>(&self, bytes: &'a mut [u8]) -> io::Result<Option<(u16, &'a [u8])>> {
        let count = self.inner.recv(bytes)?;
        Ok(self.answer(&bytes[..count]))
    }

    fn answer<'a>(&self, message: &'a [u8]) -> Option<(u16, &'a [u8])> {
        let (identifier, sequence, payload) = parse(self.names.reply, message)?;
        self.identifier.is_none_or(|ours| ours == identifier).then_some((sequence, payload))
    }

    /// Longest time a receive waits, in ns; `None` for ever.
    ///
    /// # Errors
    /// The system's answer.
    pub fn set_read_timeout(&self, timeout_ns: Option<u64>) -> Result<(), SocketError> {
        self.inner.set_read_timeout(timeout_ns)
    }

    /// Whether calls return at once instead of waiting.
    ///
    /// # Errors
    /// The system's answer.
    pub fn set_nonblocking(&self, on: bool) -> Result<(), SocketError> {
        self.inner.set_nonblocking(on)
    }

    /// Waits until a send would not block; `false` if `timeout_ns` passed before.
    ///
    /// # Errors
    /// The system's answer.
    pub fn wait_writable(&self, timeout_ns: u64) -> io::Result<bool> {
        self.inner.wait_writable(timeout_ns)
    }

    /// The socket as one of datagrams, for what both have: addresses, buffers, path MTU.
    pub fn as_datagram(&self) -> &Datagram {
        &self.inner
    }
}

/// A ping socket, or else a raw one (`true`). Neither carries another family, so there is nothing
/// to confine.
fn socket(
    remote: SocketAddr,
    protocol: Protocol,
) -> Result<Result<(Socket, bool), Unavailable>, SocketError> {
    let unprivileged = create(remote, Type::DGRAM, protocol);
    let first = match unprivileged {
        Ok(socket) => return Ok(Ok((socket, false))),
        Err(error) => error,
    };
    match create(remote, Type::RAW, protocol) {
        Ok(socket) => Ok(Ok((socket, true))),
        Err(error) if is_refusal(&error) => Ok(Err(unavailable(&first))),
        Err(error) => Err(error),
    }
}

fn is_refusal(error: &SocketError) -> bool {
    error.class() == ErrorClass::Permission
}

fn unavailable(error: &SocketError) -> Unavailable {
    let because = if cfg!(target_os = "linux") {
        "raw sockets need CAP_NET_RAW, and the sysctl net.ipv4.ping_group_range, which holds for \
         both families, does not name this user's group"
            .to_string()
    } else {
        format!("this program may not open raw sockets, and without them: {error}")
    };
    Unavailable::new("ICMP echo", because)
}

fn write_header(kind: u8, identifier: u16, sequence: u16, message: &mut [u8]) {
    let header = &mut message[..ECHO_HEADER_BYTES];
    header[..4].copy_from_slice(&[kind, 0, 0, 0]);
    header[4..6].copy_from_slice(&identifier.to_be_bytes());
    header[6..8].copy_from_slice(&sequence.to_be_bytes());
}

/// Identifier, sequence number and payload of an echo reply, with or without the header of IPv4.
fn parse(reply: u8, message: &[u8]) -> Option<(u16, u16, &[u8])> {
    // No type of ICMP that is awaited here has the version of IPv4 in its upper half.
    let message = match message.first()? {
        first if first >> 4 == 4 && reply == 0 => {
            let length = usize::from(first & 0xf) * 4;
            message.get(length.max(IPV4_HEADER_BYTES)..)?
        }
        _ => message,
    };
    let (header, payload) = message.split_first_chunk::<ECHO_HEADER_BYTES>()?;
    let [kind, code, _, _, i0, i1, s0, s1] = *header;
    let fits = kind == reply && code == 0;
    fits.then_some((u16::from_be_bytes([i0, i1]), u16::from_be_bytes([s0, s1]), payload))
}

/// The Internet checksum of a message whose checksum field is 0 (RFC 1071).
fn checksum(message: &[u8]) -> u16 {
    let word = |pair: &[u8]| match *pair {
        [high, low] => u32::from(u16::from_be_bytes([high, low])),
        [high] => u32::from(high) << 8,
        _ => 0,
    };
    // At most 32,768 words of 16 bits: the sum fits.
    let mut sum: u32 = message.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    // Folded above.
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071 section 3: the example sums to ddf2.
    #[test]
    fn known_answer_of_the_checksum() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff]), !0xff00);
    }

    #[test]
    fn answers_are_told_from_other_messages() {
        let mut message = [7; 12];
        write_header(0, 0x1234, 9, &mut message);
        assert_eq!(parse(0, &message), Some((0x1234, 9, &[7; 4][..])));
        assert_eq!(parse(129, &message), None);
        let mut whole = vec![0x46; 1];
        whole.extend([0; 23]);
        whole.extend(message);
        assert_eq!(parse(0, &whole), Some((0x1234, 9, &[7; 4][..])));
        for cut in 0..32 {
            assert_eq!(parse(0, &whole[..cut]), None, "{cut}");
        }
        message[1] = 1;
        assert_eq!(parse(0, &message), None, "a code that no echo has");
    }
}
