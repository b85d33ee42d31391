//! Waiting for several sockets at once, and a way for another thread to end the wait.

use super::wait::LONGEST;
use super::{Datagram, Listener, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::io::{self, Read, Write};
use std::time::Duration;

#[cfg(unix)]
type End = std::os::unix::net::UnixStream;
#[cfg(not(unix))]
type End = std::net::TcpStream;

/// So many sockets are few.
const FEW: usize = 2;

/// What to wait for at one socket. A failed socket counts as ready for all of it.
#[derive(Debug, Clone, Copy)]
pub enum Interest<'a> {
    /// A connection to accept.
    Accept(&'a Listener),
    /// A datagram to receive.
    Receive(&'a Datagram),
    /// Bytes to read, or the end of the stream.
    Read(&'a Stream),
    /// Room to write.
    Write(&'a Stream),
    /// A call of [`Waker::wake`].
    Wake(&'a Waker),
}

/// Waits until one of `interests` is ready or `timeout_ns` has passed; a signal may end the wait
/// too. Returns for each of them, in their order, whether it is ready.
///
/// # Errors
/// The system's answer.
pub fn wait_any(interests: &[Interest<'_>], timeout_ns: u64) -> io::Result<Vec<bool>> {
    let mut sockets: Vec<PollFd<'_>> = interests.iter().map(poll_fd).collect();
    let timeout = Timespec::try_from(Duration::from_nanos(timeout_ns).min(LONGEST))
        .map_err(io::Error::other)?;
    match poll(&mut sockets, Some(&timeout)) {
        Ok(_) => Ok(sockets.iter().map(|socket| !socket.revents().is_empty()).collect()),
        Err(rustix::io::Errno::INTR) => Ok(vec![false; interests.len()]),
        Err(error) => Err(error.into()),
    }
}

/// As [`wait_any`] for `count` of at most `N` interests, without allocating: `interest` gives each
/// by its number.
///
/// # Errors
/// The system's answer.
pub fn wait_some<'a, const N: usize>(
    count: usize,
    interest: impl Fn(usize) -> Interest<'a>,
    timeout_ns: u64,
) -> io::Result<[bool; N]> {
    // To fill many places for one or two sockets would take as long as asking the system.
    if (1..=FEW).contains(&count) && FEW < N {
        let few = wait_some::<FEW>(count, interest, timeout_ns)?;
        return Ok(std::array::from_fn(|number| number < FEW && few[number]));
    }
    let count = count.min(N);
    if count == 0 {
        return Ok([false; N]);
    }
    // Places beyond the count are not passed to the system.
    let mut sockets: [PollFd<'_>; N] =
        std::array::from_fn(|number| poll_fd(&interest(number.min(count - 1))));
    let timeout = Timespec::try_from(Duration::from_nanos(timeout_ns).min(LONGEST))
        .map_err(io::Error::other)?;
    match poll(&mut sockets[..count], Some(&timeout)) {
        Ok(_) => Ok(std::array::from_fn(|number| {
            number < count && !sockets[number].revents().is_empty()
        })),
        Err(rustix::io::Errno::INTR) => Ok([false; N]),
        Err(error) => Err(error.into()),
    }
}

fn poll_fd<'a>(interest: &Interest<'a>) -> PollFd<'a> {
    match interest {
        Interest::Accept(listener) => {
            PollFd::from_borrowed_fd(listener.inner.as_fd(), PollFlags::IN)
        }
        Interest::Receive(socket) => PollFd::from_borrowed_fd(socket.inner.as_fd(), PollFlags::IN),
        Interest::Read(stream) => PollFd::from_borrowed_fd(stream.inner.as_fd(), PollFlags::IN),
        Interest::Write(stream) => PollFd::from_borrowed_fd(stream.inner.as_fd(), PollFlags::OUT),
        Interest::Wake(waker) => PollFd::from_borrowed_fd(waker.awaited.as_fd(), PollFlags::IN),
    }
}

/// Ends a [`wait_any`] of one thread from another. Outside the network where the system allows it,
/// so that it moves no counter of a family.
#[derive(Debug)]
pub struct Waker {
    awaited: End,
    waking: End,
}

impl Waker {
    /// A waker that has not been called.
    ///
    /// # Errors
    /// The system's answer.
    pub fn new() -> io::Result<Self> {
        let (awaited, waking) = pair()?;
        awaited.set_nonblocking(true)?;
        waking.set_nonblocking(true)?;
        Ok(Self { awaited, waking })
    }

    /// Ends the present or else the next wait.
    pub fn wake(&self) {
        // A full pipe holds a call already, and the other end lives as long as this one.
        let _ = (&self.waking).write(&[1]);
    }

    /// Forgets the calls so far; do so after each wait that it ended, before looking at what it was
    /// for.
    pub fn clear(&self) {
        let mut bytes = [0; 64];
        while (&self.awaited).read(&mut bytes).is_ok_and(|n| n == bytes.len()) {}
    }
}

#[cfg(unix)]
fn pair() -> io::Result<(End, End)> {
    End::pair()
}

/// Windows waits for sockets only, so this is a connection to itself.
#[cfg(not(unix))]
fn pair() -> io::Result<(End, End)> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let waking = End::connect(listener.local_addr()?)?;
    loop {
        let (awaited, peer) = listener.accept()?;
        if peer == waking.local_addr()? {
            return Ok((awaited, waking));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::StreamOptions;
    use std::net::Ipv6Addr;
    use std::sync::Arc;

    #[test]
    fn each_interest_is_answered_for_itself() {
        let listener = Listener::bind((Ipv6Addr::LOCALHOST, 0).into(), 8).unwrap();
        let waker = Waker::new().unwrap();
        let idle = [Interest::Wake(&waker), Interest::Accept(&listener)];
        assert_eq!(wait_any(&idle, 0).unwrap(), [false, false]);

        let remote = listener.local().unwrap();
        let options = StreamOptions::default();
        let stream = Stream::connect(None, remote, &options, 5_000_000_000).unwrap();
        let all = [
            Interest::Wake(&waker),
            Interest::Accept(&listener),
            Interest::Read(&stream),
            Interest::Write(&stream),
        ];
        assert_eq!(wait_any(&all, 5_000_000_000).unwrap(), [false, true, false, true]);
    }

    #[test]
    fn a_wake_from_another_thread_ends_the_wait_until_cleared() {
        let waker = Arc::new(Waker::new().unwrap());
        let other = Arc::clone(&waker);
        let waking = std::thread::spawn(move || (0..100_000).for_each(|_| other.wake()));
        assert_eq!(wait_any(&[Interest::Wake(&waker)], 60_000_000_000).unwrap(), [true]);
        waking.join().unwrap();
        waker.clear();
        assert_eq!(wait_any(&[Interest::Wake(&waker)], 0).unwrap(), [false]);
    }
}
