//! Waiting with a deadline, repeating what a signal interrupted, and the conversion of times.

use crate::clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use std::io;
use std::time::Duration;

/// Longest single wait; some platforms refuse more than 24 days.
pub(super) const LONGEST: Duration = Duration::from_secs(1_000_000);

/// Waits until `socket` is ready for `flags` (or has failed, which counts as ready); `false` if
/// `timeout_ns` passed before, `None` waits for ever.
pub(crate) fn ready(
    socket: &impl AsFd,
    flags: PollFlags,
    timeout_ns: Option<u64>,
) -> io::Result<bool> {
    let start = clock::now_ns();
    loop {
        let left = match timeout_ns {
            Some(timeout_ns) => {
                Duration::from_nanos(timeout_ns.saturating_sub(clock::now_ns() - start))
            }
            None => LONGEST,
        };
        let turn = Timespec::try_from(left.min(LONGEST)).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(socket, flags)], Some(&turn)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Repeats `call` as long as signals interrupt it.
#[inline]
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// A socket timeout: 0 becomes the shortest one instead of "for ever".
pub(super) fn timeout(timeout_ns: Option<u64>) -> Option<Duration> {
    timeout_ns.map(|ns| Duration::from_nanos(ns.max(1)))
}
