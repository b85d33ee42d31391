//! Linux: control messages (cmsg(3)), `SO_TIMESTAMPING`, and the error queue that tells departures.

use super::{Arrived, Departed, KernelTimes};
use crate::Unavailable;
use crate::socket::{Datagram, Domain, call};
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;

/// Words of memory for control messages: those asked for take about 150 bytes.
const CONTROL_WORDS: usize = 32;

/// Flags of `SO_TIMESTAMPING` (Documentation/networking/timestamping.rst): software times, numbered
/// departures, and no copy of the packet with them.
const ARRIVALS: u32 = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
const DEPARTURES: u32 = libc::SOF_TIMESTAMPING_TX_SOFTWARE
    | libc::SOF_TIMESTAMPING_OPT_ID
    | libc::SOF_TIMESTAMPING_OPT_TSONLY;

pub(super) fn report_marks(socket: &Datagram, on: bool) -> Result<(), Unavailable> {
    let names = match socket.domain() {
        Ok(Domain::V4) => {
            [(libc::IPPROTO_IP, libc::IP_RECVTTL), (libc::IPPROTO_IP, libc::IP_RECVTOS)]
        }
        Ok(Domain::V6) => [
            (libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT),
            (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
        ],
        Err(error) => return Err(Unavailable::new("the marks of packets that arrive", error)),
    };
    for (level, name) in names {
        set(socket, level, name, libc::c_int::from(on))
            .map_err(|error| Unavailable::new("the marks of packets that arrive", error))?;
    }
    Ok(())
}

pub(super) fn report_times(socket: &Datagram, which: KernelTimes) -> Result<(), Unavailable> {
    let flags = match which {
        KernelTimes::Off => 0,
        KernelTimes::Arrivals => ARRIVALS,
        KernelTimes::Both => ARRIVALS | DEPARTURES,
    };
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags.cast_signed())
        .map_err(|error| Unavailable::new("the kernel's times of packets", error))
}

#[inline]
pub(super) fn receive(socket: &Datagram, bytes: &mut [u8]) -> io::Result<Arrived> {
    let mut notes = Notes::default();
    let (count, source) = call::apart_from_news(|| message(socket, bytes, 0, &mut notes))?;
    let source = source.ok_or(io::ErrorKind::InvalidData)?;
    let Notes { hop_limit, traffic_class, wall_ns, .. } = notes;
    Ok(Arrived { bytes: count, source, hop_limit, traffic_class, wall_ns })
}

#[inline]
pub(super) fn departed(socket: &Datagram) -> io::Result<Option<Departed>> {
    loop {
        let mut notes = Notes::default();
        match message(socket, &mut [], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT, &mut notes) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
        // Anything else in that queue is an ICMP error, which sending and receiving also tell.
        if let (Some(number), Some(wall_ns)) = (notes.departure, notes.wall_ns) {
            return Ok(Some(Departed { number, wall_ns }));
        }
    }
}

/// What the control messages of one datagram say.
#[derive(Default)]
struct Notes {
    hop_limit: Option<u8>,
    traffic_class: Option<u8>,
    wall_ns: Option<u64>,
    departure: Option<u32>,
}

/// Receives one message into `bytes`, and its control messages into `notes`.
fn message(
    socket: &Datagram,
    bytes: &mut [u8],
    flags: libc::c_int,
    notes: &mut Notes,
) -> io::Result<(usize, Option<SocketAddr>)> {
    let mut address = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    // Words, because control messages are aligned like them.
    let mut control = [0_u64; CONTROL_WORDS];
    let mut data = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the structure has integers and pointers only, for which all zeros is a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    loop {
        header.msg_name = address.as_mut_ptr().cast();
        header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        header.msg_iov = &mut data;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        // The type of this length differs between C libraries.
        header.msg_controllen = size_of_val(&control) as _;
        // SAFETY: every pointer in `header` is to memory that is writable for the length beside it
        // and lives through the call.
        let count = unsafe { libc::recvmsg(socket.inner.as_raw_fd(), &mut header, flags) };
        if let Ok(count) = usize::try_from(count) {
            read_control(&header, notes);
            // SAFETY: all bytes of it were set to zero, and the kernel wrote an address over them;
            // every bit pattern is a value of its fields.
            let address = unsafe { address.assume_init_ref() };
            return Ok((count, source(address)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Goes through the control messages that the kernel wrote.
fn read_control(header: &libc::msghdr, notes: &mut Notes) {
    // SAFETY: `header` is as the kernel left it: its control memory holds whole messages up to the
    // length in it, and the macros step from one to the next within that.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(header);
        while let Some(found) = next.as_ref() {
            let data = libc::CMSG_DATA(next);
            match (found.cmsg_level, found.cmsg_type) {
                (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                    notes.hop_limit =
                        u8::try_from(data.cast::<libc::c_int>().read_unaligned()).ok();
                }
                // The one octet of IPv4 stands alone, that of IPv6 in an integer.
                (libc::IPPROTO_IP, libc::IP_TOS) => notes.traffic_class = Some(data.read()),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    let class = data.cast::<libc::c_int>().read_unaligned();
                    notes.traffic_class = u8::try_from(class).ok();
                }
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                    // The first of three times is that of the software.
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    notes.wall_ns = nanoseconds(&time);
                }
                (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR) => {
                    let cause = data.cast::<libc::sock_extended_err>().read_unaligned();
                    if cause.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING {
                        notes.departure = Some(cause.ee_data);
                    }
                }
                _ => {}
            }
            next = libc::CMSG_NXTHDR(header, next);
        }
    }
}

/// A time since the epoch; all zeros mean that there is none.
fn nanoseconds(time: &libc::timespec) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let rest = u64::try_from(time.tv_nsec).ok()?;
    Some(seconds.checked_mul(1_000_000_000)?.checked_add(rest)?).filter(|&ns| ns > 0)
}

fn source(address: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let place = std::ptr::from_ref(address);
    match libc::c_int::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that this is what the storage holds, which is large and
            // aligned enough for it.
            let v4 = unsafe { place.cast::<libc::sockaddr_in>().read() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let v6 = unsafe { place.cast::<libc::sockaddr_in6>().read() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let port = u16::from_be(v6.sin6_port);
            Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

fn set(
    socket: &Datagram,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the pointer is to an integer that lives through the call, and the length is its size.
    let outcome = unsafe {
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        let value = std::ptr::from_ref(&value).cast();
        libc::setsockopt(socket.inner.as_raw_fd(), level, name, value, length)
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
