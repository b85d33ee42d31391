//! Linux, as socket(7), sendfile(2), tcp(7) and the kernel's `networking/msg_zerocopy.rst` describe
//! it.

use super::Reaped;
use crate::Unavailable;
use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use socket2::Socket;
use std::fs::File;
use std::io::{self, Write};
use std::mem::{MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// Room for the control message of a completion: a header, the error and the address behind it.
const CONTROL_BYTES: usize = 128;

/// Set in `ee_code` of a completion whose bytes were copied (`SO_EE_CODE_ZEROCOPY_COPIED`).
const COPIED: u8 = 1;

/// `ee_origin` of a completion (`SO_EE_ORIGIN_ZEROCOPY`).
const ORIGIN: u8 = 5;

#[derive(Debug)]
pub(super) struct MemoryFile(File);

impl MemoryFile {
    pub(super) fn new(bytes: &[u8]) -> Result<Self, Unavailable> {
        let failed = |error: io::Error| Unavailable::new("a file in memory", error);
        let file = memfd_create("v6gap", MemfdFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
        let mut file = File::from(file);
        file.write_all(bytes).map_err(failed)?;
        Ok(MemoryFile(file))
    }
}

pub(super) fn set_pace(socket: &Socket, bytes_per_s: u64) -> Result<(), Unavailable> {
    set(socket, libc::SO_MAX_PACING_RATE, &bytes_per_s)
        .map_err(|error| Unavailable::new("pacing by the kernel", error))
}

pub(super) fn pace(socket: &Socket) -> Result<Option<u64>, Unavailable> {
    let mut rate = u64::MAX;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the integer lives through the call and the length is its size.
    let outcome = unsafe {
        let value = (&raw mut rate).cast();
        let name = libc::SO_MAX_PACING_RATE;
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, value, &raw mut length)
    };
    if outcome != 0 {
        return Err(Unavailable::new("pacing by the kernel", io::Error::last_os_error()));
    }
    Ok((rate != u64::MAX).then_some(rate))
}

#[inline]
pub(super) fn send_file(stream: &TcpStream, file: &MemoryFile, n: usize) -> io::Result<usize> {
    Ok(sendfile(stream, &file.0, Some(&mut 0), n)?)
}

pub(super) fn allow_in_place(socket: &Socket) -> Result<(), Unavailable> {
    set(socket, libc::SO_ZEROCOPY, &1_i32)
        .map_err(|error| Unavailable::new("sending memory without copying", error))
}

#[inline]
pub(super) fn write_in_place(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_ZEROCOPY | libc::MSG_NOSIGNAL;
    // SAFETY: the slice is live and its length is passed; the kernel holds its pages by itself as
    // long as it needs them, and only reads them.
    let sent = unsafe { libc::send(stream.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

#[inline]
pub(super) fn reap(stream: &TcpStream) -> io::Result<Reaped> {
    let mut reaped = Reaped::default();
    while let Some(completion) = next_completion(stream)? {
        // A range of writes, numbered from 0 in 32 bits that wrap.
        let writes = u64::from(completion.ee_data.wrapping_sub(completion.ee_info)) + 1;
        reaped.writes += writes;
        if completion.ee_code & COPIED != 0 {
            reaped.copied += writes;
        }
    }
    Ok(reaped)
}

/// The next completion on the error queue; `None` if there is none.
fn next_completion(stream: &TcpStream) -> io::Result<Option<libc::sock_extended_err>> {
    // Aligned as control messages have to be.
    let mut control = [0_u64; CONTROL_BYTES / size_of::<u64>()];
    // SAFETY: plain data, for which all zeros is a value (no address, no data).
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the message names one live buffer with its length.
    if unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, flags) } < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
    }
    // SAFETY: the kernel filled the control buffer as the header now says.
    let first = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if first.is_null() {
        return Ok(None);
    }
    let mut found = MaybeUninit::<libc::sock_extended_err>::uninit();
    // SAFETY: a control message that is not null lies within the buffer with all of its length,
    // and the errors of both families are at least as long as what is copied.
    let found = unsafe {
        let length = libc::CMSG_LEN(size_of::<libc::sock_extended_err>() as u32) as usize;
        if ((*first).cmsg_len as usize) < length {
            return Ok(None);
        }
        let data = libc::CMSG_DATA(first);
        std::ptr::copy_nonoverlapping(
            data,
            found.as_mut_ptr().cast::<u8>(),
            size_of::<libc::sock_extended_err>(),
        );
        found.assume_init()
    };
    Ok((found.ee_origin == ORIGIN && found.ee_errno == 0).then_some(found))
}

#[inline]
pub(super) fn discard(stream: &TcpStream, count: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP writes nothing to the buffer, which may be null (tcp(7)).
    let taken =
        unsafe { libc::recv(stream.as_raw_fd(), std::ptr::null_mut(), count, libc::MSG_TRUNC) };
    usize::try_from(taken).map_err(|_| io::Error::last_os_error())
}

pub(super) fn can_discard() -> Result<(), Unavailable> {
    Ok(())
}

fn set<T>(socket: &Socket, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: the value lives through the call, which only reads it, and the length is its size.
    let outcome = unsafe {
        let length = size_of::<T>() as libc::socklen_t;
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, value, length)
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
