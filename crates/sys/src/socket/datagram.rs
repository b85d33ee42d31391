//! A UDP socket.

use super::error::{Operation, SocketError};
use super::{Domain, call, open, options, platform, refuse_mapped, refuse_mixed};
use crate::Unavailable;
use socket2::{Protocol, SockRef, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A UDP socket of one family, in blocking mode unless told otherwise.
///
/// Its methods take `&self`: one thread may receive while another sends.
#[derive(Debug)]
pub struct Datagram {
    pub(crate) inner: UdpSocket,
}

impl Datagram {
    /// A socket on `address` (port 0 lets the system choose).
    ///
    /// # Errors
    /// A mapped address, an address that is in use or not on this host, or what else the system
    /// says.
    pub fn bind(address: SocketAddr) -> Result<Self, SocketError> {
        let socket = open(address, Type::DGRAM, Protocol::UDP)?;
        socket.bind(&address.into()).map_err(SocketError::at(Operation::Bind, address))?;
        Ok(Self::of(socket.into()))
    }

    /// The socket itself, for a runtime.
    pub fn into_shared(self) -> UdpSocket {
        self.inner
    }

    /// Whether the system lets several sockets share a port, as [`apart_for`](Self::apart_for)
    /// needs.
    pub fn can_be_apart() -> bool {
        platform::can_share_ports().is_ok()
    }

    /// A second socket on the port of this one, at the address of `place` or else where this one
    /// is, which gets what `peer` sends there while this one gets the rest. Datagrams that come
    /// while it is being made may go to either. As `place` only what the system told of a datagram
    /// may be given, see [`at`](Self::at).
    ///
    /// # Errors
    /// A peer of the other family, or the system's answer; [`Unavailable`] off Linux, where a port
    /// cannot be shared so.
    pub fn apart_for(
        &self,
        peer: SocketAddr,
        place: Option<SocketAddr>,
    ) -> Result<Result<Self, Unavailable>, SocketError> {
        let own = self.local()?;
        let mut local = place.unwrap_or(own);
        local.set_port(own.port());
        refuse_mixed(Operation::Connect, local, peer)?;
        if let Err(missing) = platform::can_share_ports() {
            return Ok(Err(missing));
        }
        let second = self.beside(local, place.is_some())?;
        second.connect(peer)?;
        Ok(Ok(second))
    }

    /// A second socket on the port of this one, which is on all addresses: it gets what comes to
    /// the address of `place` and answers from there, where the system would choose among several,
    /// while this one gets the rest.
    ///
    /// As `place` only what the system told of a datagram may be given
    /// ([`Arrived::place`](super::Arrived::place)): for IPv6 it does not look whether this host has
    /// the address, since a route alone may make it this host's.
    ///
    /// # Errors
    /// An address that is not on this host, as far as the system looks, or what else it says;
    /// [`Unavailable`] off Linux.
    pub fn at(&self, place: SocketAddr) -> Result<Result<Self, Unavailable>, SocketError> {
        let own = self.local()?;
        let mut local = place;
        local.set_port(own.port());
        refuse_mixed(Operation::Bind, own, local)?;
        match platform::can_share_ports() {
            Ok(()) => self.beside(local, true).map(Ok),
            Err(missing) => Ok(Err(missing)),
        }
    }

    /// Another socket on the address and port of this one, with the settings of a new one, to take
    /// its place: the port is never free for another program. Which of the two gets what comes
    /// before this one is dropped is not said.
    ///
    /// # Errors
    /// The system's answer; [`Unavailable`] off Linux.
    pub fn anew(&self) -> Result<Result<Self, Unavailable>, SocketError> {
        if let Err(missing) = platform::can_share_ports() {
            return Ok(Err(missing));
        }
        let second = self.beside(self.local()?, false)?;
        SockRef::from(&second.inner)
            .set_reuse_address(false)
            .map_err(SocketError::during(Operation::SetOption("SO_REUSEADDR")))?;
        Ok(Ok(second))
    }

    /// A second socket on this one's port, at `local`; `is_told` if a datagram came to there.
    fn beside(&self, local: SocketAddr, is_told: bool) -> Result<Self, SocketError> {
        let socket = open(local, Type::DGRAM, Protocol::UDP)?;
        if is_told {
            platform::allow_routed(&socket, true);
        }
        let failed = SocketError::during(Operation::SetOption("SO_REUSEADDR"));
        socket.set_reuse_address(true).map_err(&failed)?;
        // All must allow it; this one only while the second takes the address, so that no other
        // program can.
        let this = SockRef::from(&self.inner);
        this.set_reuse_address(true).map_err(&failed)?;
        let bound = socket.bind(&local.into()).map_err(SocketError::at(Operation::Bind, local));
        this.set_reuse_address(false).map_err(&failed)?;
        bound.map(|()| Self::of(socket.into()))
    }

    /// Wraps a socket that was made elsewhere: of another protocol that sends and receives whole
    /// messages, or by another process.
    pub(crate) fn of(inner: UdpSocket) -> Self {
        Self { inner }
    }

    /// Fixes the peer: [`send`](Self::send) goes there, only its datagrams are received, and its
    /// ICMP errors are reported.
    ///
    /// # Errors
    /// A mapped address, one of the other family, or the system's answer.
    pub fn connect(&self, remote: SocketAddr) -> Result<(), SocketError> {
        refuse_mapped(Operation::Connect, remote)?;
        refuse_mixed(Operation::Connect, self.local()?, remote)?;
        self.inner.connect(remote).map_err(SocketError::at(Operation::Connect, remote))
    }

    /// Sends one datagram to the fixed peer.
    ///
    /// # Errors
    /// The system's answer, which may be an ICMP error to an earlier datagram, but not that it was
    /// too long for the path: then this one is cut, or refused if it must not be.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        call::apart_from_news(|| call::send(&self.inner, bytes))
    }

    /// Receives one datagram from the fixed peer. On Unix a longer one is cut to the size of
    /// `bytes`.
    ///
    /// # Errors
    /// The system's answer; nothing in time is [`is_timeout`](super::ErrorClass::is_timeout). That
    /// an earlier datagram was too long for the path is none.
    #[inline]
    pub fn recv(&self, bytes: &mut [u8]) -> io::Result<usize> {
        call::apart_from_news(|| call::receive(&self.inner, bytes))
    }

    /// Sends one datagram to `remote`. The kernel refuses an address of the other family; a mapped
    /// one is refused by a v6-only socket.
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn send_to(&self, bytes: &[u8], remote: SocketAddr) -> io::Result<usize> {
        call::apart_from_news(|| call::send_to(&self.inner, bytes, &remote))
    }

    /// Receives one datagram and its sender. On Unix a longer one is cut to the size of `bytes`.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    #[inline]
    pub fn recv_from(&self, bytes: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        call::apart_from_news(|| call::receive_from(&self.inner, bytes))
    }

    /// Asks for a send buffer of `bytes` and returns what was granted (twice as much on Linux, up
    /// to twice `net.core.wmem_max`).
    ///
    /// # Errors
    /// The system's answer.
    pub fn set_send_buffer(&self, bytes: u32) -> Result<u32, SocketError> {
        SockRef::from(&self.inner)
            .set_send_buffer_size(bytes as usize)
            .map_err(SocketError::during(Operation::SetOption("SO_SNDBUF")))?;
        self.send_buffer()
    }

    /// Asks for a receive buffer of `bytes` and returns what was granted (twice as much on Linux,
    /// up to twice `net.core.rmem_max`).
    ///
    /// # Errors
    /// The system's answer.
    pub fn set_receive_buffer(&self, bytes: u32) -> Result<u32, SocketError> {
        SockRef::from(&self.inner)
            .set_recv_buffer_size(bytes as usize)
            .map_err(SocketError::during(Operation::SetOption("SO_RCVBUF")))?;
        self.receive_buffer()
    }

    /// Size of the send buffer in bytes, as the system counts it.
    ///
    /// # Errors
    /// The system's answer.
    pub fn send_buffer(&self) -> Result<u32, SocketError> {
        options::buffer("SO_SNDBUF", SockRef::from(&self.inner).send_buffer_size())
    }

    /// Size of the receive buffer in bytes, as the system counts it.
    ///
    /// # Errors
    /// The system's answer.
    pub fn receive_buffer(&self) -> Result<u32, SocketError> {
        options::buffer("SO_RCVBUF", SockRef::from(&self.inner).recv_buffer_size())
    }

    /// The path MTU to the fixed peer that the kernel knows at this moment, in bytes of IP packet.
    ///
    /// # Errors
    /// Off Linux, or before [`connect`](Self::connect).
    pub fn path_mtu(&self) -> Result<u32, Unavailable> {
        platform::path_mtu(&SockRef::from(&self.inner))
    }

    /// On: what comes is thrown away by the kernel at once, as if nobody were there, and fills no
    /// buffer. Off: it is kept again.
    ///
    /// # Errors
    /// Off Linux; and off where it is not on.
    pub fn keep_nothing(&self, on: bool) -> Result<(), Unavailable> {
        platform::keep_nothing(&SockRef::from(&self.inner), on)
    }

    /// On: packets carry "don't fragment" (IPv4), the source does not fragment (both families), and
    /// a datagram beyond the known path MTU fails as [`TooBig`](super::ErrorClass::TooBig).
    /// Off: IPv4 packets may be fragmented anywhere, IPv6 ones by this host only.
    ///
    /// # Errors
    /// Off Linux.
    pub fn set_dont_fragment(&self, on: bool) -> Result<(), Unavailable> {
        platform::set_dont_fragment(&SockRef::from(&self.inner), on)
    }

    /// Packets carry "don't fragment" from now on and are sent whatever path MTU the kernel knows,
    /// as looking for it takes; those beyond the interface's own MTU are refused
    /// ([`TooBig`](super::ErrorClass::TooBig)).
    ///
    /// # Errors
    /// Off Linux.
    pub fn probe_path_mtu(&self) -> Result<(), Unavailable> {
        platform::probe_path_mtu(&SockRef::from(&self.inner))
    }

    /// Whether [`set_dont_fragment`](Self::set_dont_fragment) is on.
    ///
    /// # Errors
    /// Off Linux.
    pub fn dont_fragment(&self) -> Result<bool, Unavailable> {
        platform::dont_fragment(&SockRef::from(&self.inner))
    }

    /// Does something with the socket itself and its family.
    pub(super) fn with<T>(
        &self,
        what: impl FnOnce(&socket2::Socket, Domain) -> Result<T, SocketError>,
    ) -> Result<T, SocketError> {
        what(&SockRef::from(&self.inner), self.domain()?)
    }
}
