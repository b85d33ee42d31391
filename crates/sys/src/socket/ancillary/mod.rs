//! What the kernel says of a datagram besides its bytes: how it was marked when it arrived, when
//! the kernel had it and let it go, and what routers told of one that they did not pass on.
//!
//! All of it must be asked for. Kernel times are those of the wall clock, which no choice of the
//! program can change; they are compared with the program's clock by the caller. All calls here
//! allocate nothing.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

use super::wait::LONGEST;
use super::{Datagram, Stream};
use crate::Unavailable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::time::Duration;

/// A datagram that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Length of the datagram as far as it fitted, in bytes.
    pub bytes: usize,
    /// Who sent it.
    pub source: SocketAddr,
    /// To which address it was sent, if that was asked for.
    pub local: Option<IpAddr>,
    /// Time to live or hop limit that was left, if that was asked for.
    pub hop_limit: Option<u8>,
    /// Differentiated services field of the datagram with ECN, if that was asked for.
    pub traffic_class: Option<u8>,
    /// When the kernel had it, in ns since the Unix epoch, if that was asked for.
    pub wall_ns: Option<u64>,
}

impl Arrived {
    /// The address that it was sent to, if that was told, with the zone that its source names where
    /// it is link-local; none where the source names none. The port is 0.
    pub fn place(&self) -> Option<SocketAddr> {
        match (self.local?, self.source) {
            (IpAddr::V6(ip), SocketAddr::V6(source)) if ip.is_unicast_link_local() => {
                let zone = source.scope_id();
                (zone != 0).then(|| SocketAddrV6::new(ip, 0, 0, zone).into())
            }
            (ip, _) => Some(SocketAddr::new(ip, 0)),
        }
    }
}

/// A datagram that the kernel has handed to the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departed {
    /// Number of the datagram among those sent since these times were asked for, from 0.
    pub number: u32,
    /// When, in ns since the Unix epoch.
    pub wall_ns: u64,
}

/// What a router or a host told of a packet that it did not take (ICMP, RFC 792; ICMPv6, RFC 4443).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// Who told.
    pub by: IpAddr,
    /// Type of its message; the families have numbers of their own.
    pub kind: u8,
    /// Code of its message.
    pub code: u8,
    /// More of it: the MTU of the next link where the packet was too big, in bytes.
    pub info: u32,
}

/// What the kernel's control messages say of one datagram; what they do not say is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Notes {
    /// To which address it was sent.
    pub local: Option<IpAddr>,
    /// Time to live or hop limit that was left.
    pub hop_limit: Option<u8>,
    /// Differentiated services field with ECN.
    pub traffic_class: Option<u8>,
    /// When the kernel had it, in ns since the Unix epoch.
    pub wall_ns: Option<u64>,
    /// Number of the datagram among those sent, if it is a departure.
    pub departure: Option<u32>,
    /// What a router or host told, if it is that.
    pub heard: Option<Heard>,
}

/// What control messages say that stand in `bytes` as the kernel writes them (cmsg(3)). Bytes that
/// are none, or are cut off, say nothing; off Linux all do.
pub fn notes(bytes: &[u8]) -> Notes {
    platform::notes(bytes)
}

/// Which times the kernel is to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelTimes {
    /// None.
    Off,
    /// Times of arrival.
    Arrivals,
    /// Times of arrivals and departures. The latter wait in a queue until [`Datagram::departed`] is
    /// called, and the socket counts as ready as long as one is there.
    Both,
}

pub(super) use platform::hear_routers;

/// What routers tell, of packets of either kind of socket.
macro_rules! hearing {
    ($($socket:ty),*) => {$(impl $socket {
        /// Lets the kernel keep what routers and hosts tell of this socket's packets. The socket
        /// then fails at once where it would go on trying, so it is none to be timed.
        ///
        /// # Errors
        /// Off Linux.
        pub fn hear_routers(&self) -> Result<(), Unavailable> {
            platform::hear_routers(&self.inner, self.domain())
        }

        /// What was told next; `None` if nothing was. Never waits.
        ///
        /// # Errors
        /// The system's answer.
        pub fn heard(&self) -> io::Result<Option<Heard>> {
            platform::heard(&self.inner)
        }
    })*};
}

hearing!(Datagram, Stream);

impl Datagram {
    /// Whether [`receive`](Self::receive) tells hop limit and traffic class.
    ///
    /// # Errors
    /// Off Linux.
    pub fn report_marks(&self, on: bool) -> Result<(), Unavailable> {
        platform::report_marks(self, on)
    }

    /// Whether [`receive`](Self::receive) tells to which address a datagram was sent, so that it
    /// can be answered from there by a socket that is bound to none, also where no interface has
    /// the address and a route alone makes it this host's.
    ///
    /// # Errors
    /// Off Linux.
    pub fn report_local(&self, on: bool) -> Result<(), Unavailable> {
        platform::report_local(self, on)
    }

    /// Which times the kernel tells. Asking for departures anew begins to count at 0; the first
    /// arrivals after asking may still come without a time, if nobody on the host asked before.
    ///
    /// # Errors
    /// Off Linux.
    pub fn report_times(&self, which: KernelTimes) -> Result<(), Unavailable> {
        platform::report_times(self, which)
    }

    /// Receives one datagram with its sender and what was asked for. A longer one is cut to the
    /// size of `bytes`.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    #[inline]
    pub fn receive(&self, bytes: &mut [u8]) -> io::Result<Arrived> {
        platform::receive(self, bytes)
    }

    /// Sends a datagram to the source of `arrived`, from the address to which that was sent. Where
    /// that is not known, the system chooses one. `arrived` must be what a socket received: for
    /// IPv6 the system does not look whether the address is this host's.
    ///
    /// # Errors
    /// The system's answer; and that no single host has the address, as for what was sent to many.
    #[inline]
    pub fn answer(&self, bytes: &[u8], arrived: &Arrived) -> io::Result<usize> {
        platform::answer(self, bytes, arrived)
    }

    /// The next departure that the kernel has told; `None` if there is none. Never waits.
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn departed(&self) -> io::Result<Option<Departed>> {
        platform::departed(self)
    }
}

/// Waits until a datagram is at one of two sockets, or something else happened to it, and says at
/// which; no longer than `timeout_ns`, and a signal may end the wait.
///
/// # Errors
/// The system's answer.
pub fn wait_either(
    first: &Datagram,
    second: Option<&Datagram>,
    timeout_ns: u64,
) -> io::Result<[bool; 2]> {
    let fd = |socket| PollFd::from_borrowed_fd(AsFd::as_fd(socket), PollFlags::IN);
    let mut both = [fd(&first.inner), fd(&second.unwrap_or(first).inner)];
    let sockets = if second.is_some() { &mut both[..] } else { &mut both[..1] };
    let timeout = Timespec::try_from(Duration::from_nanos(timeout_ns).min(LONGEST))
        .map_err(io::Error::other)?;
    match poll(sockets, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok([&both[0], &both[1]].map(|socket| !socket.revents().is_empty()))
}
