//! Linux: control messages (cmsg(3)), `SO_TIMESTAMPING`, `IP_PKTINFO` and its like of IPv6, and the
//! error queue that tells departures.

use super::{Arrived, Departed, Heard, KernelTimes, Notes};
use crate::Unavailable;
use crate::socket::{Datagram, Domain, SocketError, call, platform, wait};
use socket2::SockRef;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, RawFd};

/// Words of memory for control messages: those asked for take about 190 bytes.
const CONTROL_WORDS: usize = 32;

/// Words of memory for the one control message of an answer: it takes 40 bytes at most.
const ANSWER_WORDS: usize = 8;

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
        set(socket.inner.as_raw_fd(), level, name, libc::c_int::from(on))
            .map_err(|error| Unavailable::new("the marks of packets that arrive", error))?;
    }
    Ok(())
}

pub(super) fn report_local(socket: &Datagram, on: bool) -> Result<(), Unavailable> {
    const WHAT: &str = "the address to which packets were sent";
    let (level, name) = match socket.domain() {
        Ok(Domain::V4) => (libc::IPPROTO_IP, libc::IP_PKTINFO),
        Ok(Domain::V6) => (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
        Err(error) => return Err(Unavailable::new(WHAT, error)),
    };
    // Whatever address is told was this host's when the datagram came, by a route or an interface,
    // and `answer` takes no other.
    platform::allow_routed(&SockRef::from(&socket.inner), on);
    set(socket.inner.as_raw_fd(), level, name, libc::c_int::from(on))
        .map_err(|error| Unavailable::new(WHAT, error))
}

pub(super) fn report_times(socket: &Datagram, which: KernelTimes) -> Result<(), Unavailable> {
    let flags = match which {
        KernelTimes::Off => 0,
        KernelTimes::Arrivals => ARRIVALS,
        KernelTimes::Both => ARRIVALS | DEPARTURES,
    };
    set(socket.inner.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags.cast_signed())
        .map_err(|error| Unavailable::new("the kernel's times of packets", error))
}

#[inline]
pub(super) fn receive(socket: &Datagram, bytes: &mut [u8]) -> io::Result<Arrived> {
    let mut notes = Notes::default();
    let (count, source) =
        call::apart_from_news(|| message(socket.inner.as_raw_fd(), bytes, 0, &mut notes))?;
    let source = source.ok_or(io::ErrorKind::InvalidData)?;
    let Notes { local, hop_limit, traffic_class, wall_ns, .. } = notes;
    Ok(Arrived { bytes: count, source, local, hop_limit, traffic_class, wall_ns })
}

#[inline]
pub(super) fn answer(socket: &Datagram, bytes: &[u8], arrived: &Arrived) -> io::Result<usize> {
    let Some(local) = arrived.local else { return socket.send_to(bytes, arrived.source) };
    // The kernel no longer asks whose it is, see `report_local`: an address of many is nobody's.
    if local.is_multicast() {
        return Err(io::ErrorKind::AddrNotAvailable.into());
    }
    let remote = socket2::SockAddr::from(arrived.source);
    // Words, because control messages are aligned like them.
    let mut control = [0_u64; ANSWER_WORDS];
    let control_bytes = put_local(local, &mut control);
    let mut data = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: the structure has integers and pointers only, for which all zeros is a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_name = remote.as_ptr().cast_mut().cast();
    header.msg_namelen = remote.len();
    header.msg_iov = &mut data;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    // The type of this length differs between C libraries.
    header.msg_controllen = control_bytes as _;
    let descriptor = socket.inner.as_raw_fd();
    let send = || {
        // SAFETY: every pointer in `header` is to memory that is readable for the length beside it
        // and lives through the call; the kernel only reads it.
        let sent = unsafe { libc::sendmsg(descriptor, &header, libc::MSG_NOSIGNAL) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    };
    call::apart_from_news(|| wait::uninterrupted(&send))
}

#[inline]
pub(super) fn departed(socket: &Datagram) -> io::Result<Option<Departed>> {
    loop {
        let mut notes = Notes::default();
        if !told(socket.inner.as_raw_fd(), &mut notes)? {
            return Ok(None);
        }
        // Anything else in that queue is an ICMP error, which sending and receiving also tell.
        if let (Some(number), Some(wall_ns)) = (notes.departure, notes.wall_ns) {
            return Ok(Some(Departed { number, wall_ns }));
        }
    }
}

pub(in crate::socket) fn hear_routers(
    socket: &impl AsRawFd,
    domain: Result<Domain, SocketError>,
) -> Result<(), Unavailable> {
    const WHAT: &str = "what routers tell";
    let (level, name) = match domain {
        Ok(Domain::V4) => (libc::IPPROTO_IP, libc::IP_RECVERR),
        Ok(Domain::V6) => (libc::IPPROTO_IPV6, libc::IPV6_RECVERR),
        Err(error) => return Err(Unavailable::new(WHAT, error)),
    };
    set(socket.as_raw_fd(), level, name, 1).map_err(|error| Unavailable::new(WHAT, error))
}

pub(super) fn heard(socket: &impl AsRawFd) -> io::Result<Option<Heard>> {
    loop {
        let mut notes = Notes::default();
        if !told(socket.as_raw_fd(), &mut notes)? {
            return Ok(None);
        }
        if notes.heard.is_some() {
            return Ok(notes.heard);
        }
    }
}

/// Takes the next message out of the error queue; false if there is none.
fn told(socket: RawFd, notes: &mut Notes) -> io::Result<bool> {
    match message(socket, &mut [], libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT, notes) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Receives one message into `bytes`, and its control messages into `notes`.
fn message(
    socket: RawFd,
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
        let count = unsafe { libc::recvmsg(socket, &mut header, flags) };
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

/// Writes from where a datagram is sent as a control message: the bytes of memory that it takes.
fn put_local(local: IpAddr, control: &mut [u64; ANSWER_WORDS]) -> usize {
    // No interface is named: which one it leaves by is the system's to choose.
    match local {
        IpAddr::V4(address) => {
            let ipi_spec_dst = libc::in_addr { s_addr: u32::from(address).to_be() };
            let ipi_addr = libc::in_addr { s_addr: 0 };
            let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst, ipi_addr };
            put(info, (libc::IPPROTO_IP, libc::IP_PKTINFO), control)
        }
        IpAddr::V6(address) => {
            let ipi6_addr = libc::in6_addr { s6_addr: address.octets() };
            let info = libc::in6_pktinfo { ipi6_addr, ipi6_ifindex: 0 };
            put(info, (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO), control)
        }
    }
}

/// Writes one control message: the bytes of memory that it takes.
fn put<T: Plain>(
    value: T,
    (level, kind): (libc::c_int, libc::c_int),
    control: &mut [u64; ANSWER_WORDS],
) -> usize {
    // A head takes at most 16 bytes, and with the padding behind each of both that is the rest.
    const { assert!(size_of::<T>() <= (ANSWER_WORDS - 4) * size_of::<u64>()) };
    let bytes = size_of::<T>() as libc::c_uint;
    // SAFETY: both reckon with a length alone.
    let (length, space) = unsafe { (libc::CMSG_LEN(bytes), libc::CMSG_SPACE(bytes)) };
    // SAFETY: the structure is integers, for which all zeros is a value.
    let mut head = unsafe { std::mem::zeroed::<libc::cmsghdr>() };
    // The type of this length differs between C libraries.
    head.cmsg_len = length as _;
    head.cmsg_level = level;
    head.cmsg_type = kind;
    // SAFETY: the memory is aligned for a head, and has room for it and the value, as is asserted.
    unsafe {
        let start = control.as_mut_ptr();
        start.cast::<libc::cmsghdr>().write(head);
        libc::CMSG_DATA(start.cast()).cast::<T>().write_unaligned(value);
    }
    space as usize
}

/// What control messages in memory of ours say.
pub(super) fn notes(bytes: &[u8]) -> Notes {
    // Words, because control messages are aligned like them.
    let mut control = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
    for (word, eight) in control.iter_mut().zip(bytes.chunks(size_of::<u64>())) {
        let mut whole = [0; size_of::<u64>()];
        whole[..eight.len()].copy_from_slice(eight);
        *word = u64::from_ne_bytes(whole);
    }
    // SAFETY: the structure has integers and pointers only, for which all zeros is a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = bytes.len() as _;
    let mut notes = Notes::default();
    read_control(&header, &mut notes);
    notes
}

/// Goes through control messages. One whose value is not all there, as the kernel leaves it where
/// memory was too short, says nothing.
fn read_control(header: &libc::msghdr, notes: &mut Notes) {
    // SAFETY: the control memory of `header` is readable and aligned for the length in it, and the
    // macros step from one message to the next within that.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    // The types of these lengths differ between C libraries.
    let length: usize = header.msg_controllen as _;
    let end = header.msg_control as usize + length;
    // SAFETY: the macros return null or a message whose head lies within the memory.
    while let Some(found) = unsafe { next.as_ref() } {
        // SAFETY: behind the head of a message begins its value.
        let data = unsafe { libc::CMSG_DATA(next) };
        let length: usize = found.cmsg_len as _;
        let told = (next as usize).saturating_add(length).min(end);
        let value = Value { data, bytes: told.saturating_sub(data as usize) };
        match (found.cmsg_level, found.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                notes.hop_limit = value.octet();
            }
            // The one octet of IPv4 stands alone, that of IPv6 in an integer.
            (libc::IPPROTO_IP, libc::IP_TOS) => notes.traffic_class = value.read(),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => notes.traffic_class = value.octet(),
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                let info = value.read::<libc::in_pktinfo>();
                let address = info.map(|info| u32::from_be(info.ipi_addr.s_addr));
                notes.local = address.map(|address| Ipv4Addr::from(address).into());
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                let info = value.read::<libc::in6_pktinfo>();
                notes.local = info.map(|info| Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
            }
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                // The first of three times is that of the software.
                notes.wall_ns = value.read().and_then(|time| nanoseconds(&time));
            }
            (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR) => {
                value.error(notes);
            }
            _ => {}
        }
        // One that says that it goes on beyond the memory is the last; the macro adds up lengths.
        if length > end - next as usize {
            break;
        }
        // SAFETY: as above, and `next` is a message of this memory.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
}

/// The value of a control message.
struct Value {
    data: *const u8,
    /// How many bytes of it there are.
    bytes: usize,
}

/// A value that any bytes are one of.
trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for libc::c_int {}
impl Plain for libc::timespec {}
impl Plain for libc::sock_extended_err {}
impl Plain for libc::in_pktinfo {}
impl Plain for libc::in6_pktinfo {}
impl Plain for libc::sockaddr_in {}
impl Plain for libc::sockaddr_in6 {}

impl Value {
    fn read<T: Plain>(&self) -> Option<T> {
        // SAFETY: so many bytes are there, and any of them are a value of a plain type.
        let read = || unsafe { self.data.cast::<T>().read_unaligned() };
        (self.bytes >= size_of::<T>()).then(read)
    }

    /// Notes what an error tells: a departure, or what a router or host did not take.
    fn error(&self, notes: &mut Notes) {
        let Some(cause) = self.read::<libc::sock_extended_err>() else { return };
        match cause.ee_origin {
            libc::SO_EE_ORIGIN_TIMESTAMPING => notes.departure = Some(cause.ee_data),
            libc::SO_EE_ORIGIN_ICMP | libc::SO_EE_ORIGIN_ICMP6 => {
                let libc::sock_extended_err { ee_type: kind, ee_code: code, ee_info: info, .. } =
                    cause;
                notes.heard = self.offender().map(|by| Heard { by, kind, code, info });
            }
            _ => {}
        }
    }

    /// Who told of an error: an address behind it (`SO_EE_OFFENDER`).
    fn offender(&self) -> Option<IpAddr> {
        let cause = size_of::<libc::sock_extended_err>();
        let bytes = self.bytes.checked_sub(cause)?;
        // SAFETY: so many bytes are there and more.
        let behind = Value { data: unsafe { self.data.add(cause) }, bytes };
        let family = behind.read::<libc::sockaddr_in>()?.sin_family;
        match libc::c_int::from(family) {
            libc::AF_INET => {
                let address = behind.read::<libc::sockaddr_in>()?.sin_addr;
                Some(Ipv4Addr::from(u32::from_be(address.s_addr)).into())
            }
            libc::AF_INET6 => {
                let address = behind.read::<libc::sockaddr_in6>()?.sin6_addr;
                Some(Ipv6Addr::from(address.s6_addr).into())
            }
            _ => None,
        }
    }

    /// An octet in an integer.
    fn octet(&self) -> Option<u8> {
        u8::try_from(self.read::<libc::c_int>()?).ok()
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

fn set(socket: RawFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the pointer is to an integer that lives through the call, and the length is its size.
    let outcome = unsafe {
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        let value = std::ptr::from_ref(&value).cast();
        libc::setsockopt(socket, level, name, value, length)
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
