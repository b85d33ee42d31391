//! Linux: `sendmmsg`, `recvmmsg`, `UDP_SEGMENT`, `UDP_GRO` and `SO_MEMINFO`.
//!
//! The kernel's structures point at one another. They are filled at each call from memory that is
//! taken beforehand, so that no pointer outlives the borrow that it was made from.

use super::Message;
use crate::Unavailable;
use crate::placed::Bytes;
use crate::socket::{Datagram, call, wait};
use std::io;
use std::mem::{size_of, zeroed};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr::{from_mut, from_ref, null_mut};

/// Room for one control message with a number, aligned as the kernel wants it.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy)]
struct Control([u8; 32]);

/// The kernel's structures for one call; they hold pointers only while a call lasts.
struct Raw {
    headers: Vec<libc::mmsghdr>,
    parts: Vec<libc::iovec>,
}

// SAFETY: the pointers in it are written at the start of a call, from borrows that last through it,
// and are never read after it.
unsafe impl Send for Raw {}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw").field("messages", &self.headers.len()).finish()
    }
}

impl Raw {
    fn new(messages: usize) -> Self {
        // SAFETY: both structures are integers and raw pointers, for which all zeros is a value.
        let (header, part) = unsafe { (zeroed::<libc::mmsghdr>(), zeroed::<libc::iovec>()) };
        Raw { headers: vec![header; messages], parts: vec![part; messages] }
    }
}

#[derive(Debug)]
pub(super) struct Outgoing {
    raw: Raw,
    segments: usize,
    control: Control,
}

impl Outgoing {
    pub(super) fn new(messages: usize, segments: usize, slot_bytes: usize) -> Self {
        let mut control = Control([0; 32]);
        // A piece is at most 65 507 B, so that with offload the size of a slot fits.
        let size = u16::try_from(slot_bytes).unwrap_or(u16::MAX);
        // SAFETY: the length is that of a u16, and the buffer has room for a header and more.
        let length = unsafe { libc::CMSG_LEN(size_of::<u16>() as u32) } as usize;
        // SAFETY: the structure is integers, for which all zeros is a value.
        let mut header = unsafe { zeroed::<libc::cmsghdr>() };
        header.cmsg_len = length as _;
        header.cmsg_level = libc::SOL_UDP;
        header.cmsg_type = libc::UDP_SEGMENT;
        // SAFETY: the buffer is aligned for the header and longer than header and number.
        unsafe {
            let start = control.0.as_mut_ptr();
            start.cast::<libc::cmsghdr>().write(header);
            libc::CMSG_DATA(start.cast()).cast::<u16>().write_unaligned(size);
        }
        Outgoing { raw: Raw::new(messages), segments, control }
    }

    pub(super) fn stop_offload(&mut self) {
        self.segments = 1;
        for header in &mut self.raw.headers {
            header.msg_hdr.msg_control = null_mut();
            header.msg_hdr.msg_controllen = 0;
        }
    }

    #[inline]
    pub(super) fn send(
        &mut self,
        socket: &Datagram,
        bytes: &[u8],
        slot_bytes: usize,
        lengths: &[usize],
        slots: Range<usize>,
    ) -> io::Result<usize> {
        let Range { start, end } = slots;
        let pieces = (end - start).div_ceil(self.segments).min(self.raw.headers.len());
        // SAFETY: the length is that of a u16.
        let control_bytes = unsafe { libc::CMSG_SPACE(size_of::<u16>() as u32) } as usize;
        for piece in 0..pieces {
            let first = start + piece * self.segments;
            let last = (first + self.segments).min(end) - 1;
            let length = (last - first) * slot_bytes + lengths[last];
            let part = &bytes[first * slot_bytes..][..length];
            let part = libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: length };
            self.raw.parts[piece] = part;
            let header = &mut self.raw.headers[piece].msg_hdr;
            header.msg_iov = from_mut(&mut self.raw.parts[piece]);
            header.msg_iovlen = 1;
            if self.segments > 1 {
                header.msg_control = self.control.0.as_mut_ptr().cast();
                header.msg_controllen = control_bytes as _;
            }
        }
        let headers = self.raw.headers.as_mut_ptr();
        let descriptor = socket.inner.as_raw_fd();
        let mut call = || {
            // SAFETY: the first `pieces` headers are filled above, and what they point to (the
            // caller's bytes, our parts and the control message) lives through the call; the kernel
            // only reads it.
            let taken = unsafe { libc::sendmmsg(descriptor, headers, pieces as u32, 0) };
            if taken < 0 { Err(io::Error::last_os_error()) } else { Ok(taken as usize) }
        };
        let taken = call::apart_from_news(|| wait::uninterrupted(&mut call))?;
        Ok((taken * self.segments).min(end - start))
    }
}

#[derive(Debug)]
pub(super) struct Incoming {
    raw: Raw,
    bytes: Bytes,
    message_bytes: usize,
    controls: Vec<Control>,
}

impl Incoming {
    pub(super) fn new(messages: usize, message_bytes: usize) -> Self {
        Incoming {
            raw: Raw::new(messages),
            bytes: Bytes::zeroed(messages * message_bytes),
            message_bytes,
            controls: vec![Control([0; 32]); messages],
        }
    }

    pub(super) fn messages(&self) -> usize {
        self.controls.len()
    }

    #[inline]
    pub(super) fn receive(&mut self, socket: &Datagram) -> io::Result<usize> {
        let slots = self.bytes.chunks_exact_mut(self.message_bytes);
        let rooms = slots.zip(&mut self.controls);
        let raws = self.raw.headers.iter_mut().zip(&mut self.raw.parts);
        for ((header, part), (bytes, control)) in raws.zip(rooms) {
            *part =
                libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: self.message_bytes };
            let header = &mut header.msg_hdr;
            header.msg_iov = from_mut(part);
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = control.0.len() as _;
            header.msg_flags = 0;
        }
        let count = self.raw.headers.len() as u32;
        let headers = self.raw.headers.as_mut_ptr();
        let descriptor = socket.inner.as_raw_fd();
        let mut call = || {
            // SAFETY: all `count` headers are filled above, and what they point to is ours, is
            // borrowed for writing and lives through the call.
            let came = unsafe {
                libc::recvmmsg(
                    descriptor,
                    headers,
                    count,
                    libc::MSG_WAITFORONE as _,
                    null_mut::<libc::timespec>(),
                )
            };
            if came < 0 { Err(io::Error::last_os_error()) } else { Ok(came as usize) }
        };
        call::apart_from_news(|| wait::uninterrupted(&mut call))
    }

    #[inline]
    pub(super) fn message(&self, index: usize) -> Message<'_> {
        let header = &self.raw.headers[index];
        let length = (header.msg_len as usize).min(self.message_bytes);
        let bytes = &self.bytes[index * self.message_bytes..][..length];
        let whole = length.max(1);
        let segment_bytes = self.segment_bytes(index).unwrap_or(whole).clamp(1, whole);
        Message { bytes, segment_bytes }
    }

    /// The number in the control message `UDP_GRO`, which comes only with several datagrams.
    fn segment_bytes(&self, index: usize) -> Option<usize> {
        let header = &self.raw.headers[index].msg_hdr;
        // SAFETY: the lengths are those of a number.
        let (whole, data) = unsafe {
            (libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as usize, libc::CMSG_LEN(0) as usize)
        };
        if header.msg_controllen < whole as _ {
            return None;
        }
        let control = &self.controls[index].0;
        // SAFETY: the buffer is aligned for and longer than the header; any bits are integers.
        let first = unsafe { control.as_ptr().cast::<libc::cmsghdr>().read() };
        if (first.cmsg_level, first.cmsg_type) != (libc::SOL_UDP, libc::UDP_GRO) {
            return None;
        }
        let number = control[data..].first_chunk::<{ size_of::<libc::c_int>() }>()?;
        usize::try_from(libc::c_int::from_ne_bytes(*number)).ok()
    }
}

pub(super) fn segments(socket: &Datagram) -> Result<(), Unavailable> {
    // 0 leaves it off; a kernel without it refuses the option itself.
    set(socket, libc::UDP_SEGMENT, 0)
        .map_err(|error| Unavailable::new("UDP segmentation offload", error))
}

pub(super) fn set_coalescing(socket: &Datagram, on: bool) -> Result<(), Unavailable> {
    set(socket, libc::UDP_GRO, libc::c_int::from(on))
        .map_err(|error| Unavailable::new("UDP receive offload", error))
}

fn set(socket: &Datagram, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the pointer is to an integer that lives through the call, and the length is its size.
    let outcome = unsafe {
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        let descriptor = socket.inner.as_raw_fd();
        libc::setsockopt(descriptor, libc::SOL_UDP, name, from_ref(&value).cast(), length)
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Place of the drop counter in what `SO_MEMINFO` gives (`SK_MEMINFO_DROPS`, linux/sock_diag.h).
const DROPS: usize = 8;

pub(super) fn drops(socket: &Datagram) -> Result<u32, Unavailable> {
    const WHAT: &str = "the drop counter of a socket";
    let mut values = [0_u32; DROPS + 1];
    let mut length = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the array is valid for writing `length` bytes, and the kernel writes no more.
    let outcome = unsafe {
        let descriptor = socket.inner.as_raw_fd();
        let place = values.as_mut_ptr().cast();
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_MEMINFO, place, &mut length)
    };
    if outcome != 0 {
        return Err(Unavailable::new(WHAT, io::Error::last_os_error()));
    }
    if (length as usize) < size_of_val(&values) {
        return Err(Unavailable::new(WHAT, "this kernel is too old to tell"));
    }
    Ok(values[DROPS])
}
