//! Sending and receiving by the kernel's calls themselves. Those of the C library are points at
//! which a thread may be cancelled, which costs a process of several threads two locked
//! instructions for each call: an end that spins makes dozens of calls in each round trip.

use super::ErrorClass;
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

/// How often a call is made at most that reports what became of earlier datagrams.
const CALLS_MAX: u32 = 8;

/// Repeats `call` on a socket of datagrams as long as it did nothing but tell that an earlier one
/// did not fit the path. A router said so (RFC 1191, RFC 8201), and the system hands that to
/// whatever is called next, once. It keeps the path MTU itself: the next datagram is cut to it, or
/// refused if it must not be cut, which every repetition says again. The one that did not fit is
/// lost like any other.
///
/// Windows tells nothing of earlier datagrams, and means by the same answer that the one received
/// now was longer than its room.
#[inline]
pub(super) fn apart_from_news<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let is_news = |error: &io::Error| cfg!(unix) && ErrorClass::of(error) == ErrorClass::TooBig;
    for _ in 1..CALLS_MAX {
        match call() {
            Err(error) if is_news(&error) => {}
            outcome => return outcome,
        }
    }
    call()
}

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
pub(super) fn receive_interruptible(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    let received = net::recv(socket.as_fd(), bytes, RecvFlags::empty());
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::io::Errno;

    /// What `apart_from_news` makes of these answers in turn, and how many calls it took.
    fn made(answers: &[io::Result<u32>]) -> (io::Result<u32>, usize) {
        let mut calls = 0;
        let outcome = apart_from_news(|| {
            calls += 1;
            match &answers[(calls - 1).min(answers.len() - 1)] {
                Ok(value) => Ok(*value),
                Err(error) => Err(io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(0))),
            }
        });
        (outcome, calls)
    }

    #[test]
    fn what_an_earlier_datagram_met_is_no_failure_of_the_next() {
        let too_big = || Err(Errno::MSGSIZE.into());
        let (outcome, calls) = made(&[too_big(), too_big(), Ok(7)]);
        assert_eq!((outcome.ok(), calls), (Some(7), 3));
        // What stays so is an answer.
        let (outcome, calls) = made(&[too_big()]);
        assert_eq!(outcome.map_err(|e| ErrorClass::of(&e)), Err(ErrorClass::TooBig));
        assert_eq!(calls, CALLS_MAX as usize);
        // Everything else is one at once.
        let (outcome, calls) = made(&[Err(Errno::CONNREFUSED.into()), Ok(7)]);
        assert_eq!(outcome.map_err(|e| ErrorClass::of(&e)), Err(ErrorClass::Refused));
        assert_eq!(calls, 1);
    }
}
