//! Sending and receiving by the kernel's calls themselves. Those of the C library are points at
//! which a thread may be cancelled, which costs a process of several threads two locked
//! instructions for each call: an end that spins makes dozens of calls in each round trip.

use rustix::fd::AsFd;
use rustix::io::{Result, retry_on_intr};
use rustix::net::{self, RecvFlags, SendFlags};
use std::io;
use std::net::SocketAddr;

/// A peer that is gone is an error, not a signal; Apple's systems are told so for the whole socket
/// when it is made, and Windows has no signals.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
const SEND: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
const SEND: SendFlags = SendFlags::empty();

#[inline]
pub(super) fn send(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(retry_on_intr(|| net::send(socket.as_fd(), bytes, SEND))?)
}

#[inline]
pub(super) fn receive(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    let received = retry_on_intr(|| net::recv(socket.as_fd(), &mut *bytes, RecvFlags::empty()));
    received.map(|(count, _)| count).map_err(io::Error::from)
}

#[inline]
pub(super) fn send_to(socket: &impl AsFd, bytes: &[u8], remote: &SocketAddr) -> io::Result<usize> {
    Ok(retry_on_intr(|| net::sendto(socket.as_fd(), bytes, SEND, remote))?)
}

#[inline]
pub(super) fn receive_from(
    socket: &impl AsFd,
    bytes: &mut [u8],
) -> io::Result<(usize, SocketAddr)> {
    let received: Result<_> =
        retry_on_intr(|| net::recvfrom(socket.as_fd(), &mut *bytes, RecvFlags::empty()));
    let (count, _, source) = received?;
    let source = source.and_then(|address| address.try_into().ok());
    source.map(|source| (count, source)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
