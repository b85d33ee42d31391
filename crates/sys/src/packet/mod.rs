//! Raw Ethernet ports on Linux: a packet socket with a receive ring shared with the kernel.
//!
//! The kernel stamps each frame on arrival, so a reader that is late still knows when the frame
//! came.

mod ring;

pub(crate) use ring::slot_bytes;
pub use ring::{Frame, Port};

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Waits until one of `descriptors` is readable or hung up, or the time is over (`None`: for ever).
/// Returns at once with `false` when a signal came.
///
/// # Errors
/// If the kernel refuses, as for too many descriptors.
pub fn wait(descriptors: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<bool> {
    let mut polled: Vec<libc::pollfd> = descriptors
        .iter()
        .map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    let limit = timeout.map(|time| libc::timespec {
        // Whatever width the seconds have here, a longer wait is cut to the longest.
        tv_sec: time.as_secs().try_into().unwrap_or(i32::MAX.into()),
        tv_nsec: time.subsec_nanos() as libc::c_long,
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = polled.len() as libc::nfds_t;
    // SAFETY: the array holds `count` live entries; the timeout is null or a live timespec.
    let ready = unsafe { libc::ppoll(polled.as_mut_ptr(), count, limit, std::ptr::null()) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
    }
    Ok(ready > 0)
}
