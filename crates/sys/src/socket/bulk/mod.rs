//! What a bulk transfer may ask of a connection beyond reading and writing: a pace kept by the
//! kernel, sending without copying, and receiving without looking.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(test)]
mod tests;

use super::Stream;
use crate::Unavailable;
use socket2::SockRef;
use std::io;

/// Bytes in a file that exists in memory only, from which the kernel can send without copying.
#[derive(Debug)]
pub struct MemoryFile {
    inner: platform::MemoryFile,
}

impl MemoryFile {
    /// A file with these bytes.
    ///
    /// # Errors
    /// Off Linux, or if memory is short.
    pub fn new(bytes: &[u8]) -> Result<Self, Unavailable> {
        Ok(MemoryFile { inner: platform::MemoryFile::new(bytes)? })
    }
}

/// Writes without copying that the kernel is done with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reaped {
    /// How many.
    pub writes: u64,
    /// Writes whose bytes the kernel copied all the same.
    pub copied: u64,
}

impl Stream {
    /// Has the kernel send no faster than `bytes_per_s` (`SO_MAX_PACING_RATE`), without bursts.
    ///
    /// # Errors
    /// Off Linux.
    pub fn set_pace(&self, bytes_per_s: u64) -> Result<(), Unavailable> {
        platform::set_pace(&SockRef::from(&self.inner), bytes_per_s)
    }

    /// The pace that the kernel keeps, in bytes per second; `None` without one.
    ///
    /// # Errors
    /// Off Linux.
    pub fn pace(&self) -> Result<Option<u64>, Unavailable> {
        platform::pace(&SockRef::from(&self.inner))
    }

    /// Sends up to `count` bytes from the start of `file` without copying them (`sendfile`).
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn send_file(&self, file: &MemoryFile, count: usize) -> io::Result<usize> {
        super::wait::uninterrupted(|| platform::send_file(&self.inner, &file.inner, count))
    }

    /// Allows [`Stream::write_in_place`] (`SO_ZEROCOPY`).
    ///
    /// # Errors
    /// Off Linux, and on kernels without it.
    pub fn allow_in_place(&self) -> Result<(), Unavailable> {
        platform::allow_in_place(&SockRef::from(&self.inner))
    }

    /// As [`Stream::write`], but the kernel sends from these very bytes (`MSG_ZEROCOPY`). They must
    /// keep their values until [`Stream::reap`] has returned the write; a change before would go
    /// out instead.
    ///
    /// # Errors
    /// The system's answer; [`is_out_of_room`] tells when too much is under way.
    #[inline]
    pub fn write_in_place(&self, bytes: &[u8]) -> io::Result<usize> {
        super::wait::uninterrupted(|| platform::write_in_place(&self.inner, bytes))
    }

    /// Writes in place that the kernel has finished since it was asked last; waits for none.
    ///
    /// # Errors
    /// The system's answer.
    #[inline]
    pub fn reap(&self) -> io::Result<Reaped> {
        platform::reap(&self.inner)
    }

    /// Takes up to `count` received bytes off the connection without copying them anywhere
    /// (`MSG_TRUNC`); otherwise as [`Stream::read`].
    ///
    /// # Errors
    /// The system's answer; always off Linux.
    #[inline]
    pub fn discard(&self, count: usize) -> io::Result<usize> {
        super::wait::uninterrupted(|| platform::discard(&self.inner, count))
    }

    /// Whether this system has [`Stream::discard`].
    ///
    /// # Errors
    /// Off Linux.
    pub fn can_discard() -> Result<(), Unavailable> {
        platform::can_discard()
    }
}

/// Whether a write in place was refused because too many are under way.
pub fn is_out_of_room(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error())
}
