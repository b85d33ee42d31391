//! Linux: socket options beyond those that all platforms share.

use super::{Domain, Incoming, KeepAlive, TcpInfo, wait};
use crate::Unavailable;
use rustix::net::{SocketFlags, acceptfrom_with};
use socket2::{SockFilter, SockRef, Socket, Type};
use std::io;
use std::mem::{offset_of, size_of};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Bit of `tcpi_options` that stands for TCP timestamps (`TCPI_OPT_TIMESTAMPS`, linux/tcp.h).
const TIMESTAMPS: u8 = 1;

/// The options that bear on path MTU, by family; both families have the same two values for
/// "always" and "never" set "don't fragment".
struct PathOptions {
    level: libc::c_int,
    mtu: libc::c_int,
    discover: libc::c_int,
}

const DISCOVER_ALWAYS: libc::c_int = libc::IP_PMTUDISC_DO;
const DISCOVER_NEVER: libc::c_int = libc::IP_PMTUDISC_DONT;
const DISCOVER_USUALLY: libc::c_int = libc::IP_PMTUDISC_WANT;

impl PathOptions {
    fn of(socket: &Socket) -> io::Result<Self> {
        Ok(match domain(socket)? {
            Domain::V4 => {
                Self { level: libc::IPPROTO_IP, mtu: libc::IP_MTU, discover: libc::IP_MTU_DISCOVER }
            }
            Domain::V6 => Self {
                level: libc::IPPROTO_IPV6,
                mtu: libc::IPV6_MTU,
                discover: libc::IPV6_MTU_DISCOVER,
            },
        })
    }
}

pub(super) fn domain(socket: &Socket) -> io::Result<Domain> {
    match socket.domain()? {
        socket2::Domain::IPV4 => Ok(Domain::V4),
        socket2::Domain::IPV6 => Ok(Domain::V6),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

pub(super) fn set_congestion(socket: &Socket, name: &str) -> io::Result<()> {
    socket.set_tcp_congestion(name.as_bytes())
}

pub(super) fn congestion(socket: &Socket) -> Option<String> {
    let padded = socket.tcp_congestion().ok()?;
    let name = padded.split(|&byte| byte == 0).next()?;
    String::from_utf8(name.to_vec()).ok()
}

pub(super) fn set_mss(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_tcp_mss(bytes)
}

pub(super) fn mss(socket: &Socket) -> Option<u32> {
    socket.tcp_mss().ok()
}

/// A stream that does not wait, in one call.
pub(super) const NOT_WAITING: Type = Type::STREAM.nonblocking();

/// For a socket of type [`NOT_WAITING`].
pub(super) fn not_waiting(_socket: &Socket) -> io::Result<()> {
    Ok(())
}

/// Accepts a connection that does not wait, in one call.
pub(super) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (socket, peer) = acceptfrom_with(listener, flags)?;
    let peer = peer.and_then(|address| address.try_into().ok());
    Ok((socket.into(), peer.ok_or(io::ErrorKind::InvalidData)?))
}

/// Lets `accept` itself wait.
pub(super) fn wait_in_accept(listener: &TcpListener, timeout_ns: u64) -> io::Result<()> {
    SockRef::from(listener).set_read_timeout(wait::timeout(Some(timeout_ns)))?;
    listener.set_nonblocking(false)
}

/// Takes [`wait_in_accept`] back.
pub(super) fn wait_no_longer(listener: &TcpListener) {
    // What is open can be switched.
    let _ = listener.set_nonblocking(true);
}

/// Nothing to do: `accept` waits.
pub(super) fn await_connection(_listener: &TcpListener, _timeout_ns: u64) -> io::Result<()> {
    Ok(())
}

/// Leaves the choice of a free port from `bind` to `connect`, which knows the peer and so may share
/// ports between peers; without this, many short connections from one address run out of ports.
pub(super) fn choose_port_late(socket: &Socket, local: SocketAddr) -> io::Result<()> {
    if local.port() == 0 {
        set_int(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
    }
    Ok(())
}

pub(super) fn keep_alive(socket: &Socket, times: &KeepAlive) -> io::Result<()> {
    socket.set_tcp_keepalive(&times.common().with_retries(times.probes.into()))?;
    socket.set_tcp_user_timeout(Some(Duration::from_millis(times.unanswered_ms.into())))
}

/// UDP sockets that both allow it share an address, and one with a peer gets all of that peer's.
pub(super) fn can_share_ports() -> Result<(), Unavailable> {
    Ok(())
}

/// Whether a socket may have an address that no interface has and a route alone makes this host's
/// (`ip route add local`). For IPv4 the kernel looks at routes, so it always may; for IPv6 it looks
/// at interfaces, for a bind as for the source of a datagram, and with this (`IPV6_FREEBIND`) at
/// nothing. So it is for addresses that the kernel told of a datagram, and for no others.
pub(super) fn allow_routed(socket: &Socket, on: bool) {
    if let Ok(Domain::V6) = domain(socket) {
        // A kernel before 4.15 does not know it, and goes on refusing such addresses.
        let on = libc::c_int::from(on);
        let _ = set_int(socket, libc::IPPROTO_IPV6, libc::IPV6_FREEBIND, on);
    }
}

/// A filter that takes no byte of any datagram: those are input errors of UDP, and none of them is
/// a full buffer's.
pub(super) fn keep_nothing(socket: &Socket, on: bool) -> Result<(), Unavailable> {
    let take = SockFilter::new((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, 0);
    let done = if on { socket.attach_filter(&[take]) } else { socket.detach_filter() };
    done.map_err(|error| Unavailable::new("a filter on a socket", error))
}

pub(super) fn set_receive_low_water(socket: &Socket, bytes: u32) -> Result<(), Unavailable> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set_int(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
        .map_err(|error| Unavailable::new("the receive low-water mark", error))
}

pub(super) fn acknowledge(socket: &Socket) -> Result<(), Unavailable> {
    let now = socket.set_tcp_quickack(true);
    now.map_err(|error| Unavailable::new("acknowledging at once", error))
}

/// Linux doubles what is asked for, to have room for its bookkeeping (socket(7)).
pub(super) fn buffer_as_asked(asked: u32, got: u32) -> bool {
    u64::from(got) == 2 * u64::from(asked)
}

/// Sets the receive buffer, and says what undoes that: its size as reported, and which sizes were
/// fixed.
pub(super) fn lend_receive_buffer(
    socket: &Socket,
    bytes: u32,
) -> Result<(u32, libc::c_int), Unavailable> {
    // Asked first: a kernel that does not know it could not take the size back.
    let before = receive_buffer(socket)?;
    socket.set_recv_buffer_size(bytes as usize).map_err(no_lending)?;
    Ok(before)
}

/// Size of the receive buffer, and who may choose it.
pub(super) fn receive_buffer(socket: &Socket) -> Result<(u32, libc::c_int), Unavailable> {
    let locks = get_int(socket, libc::SOL_SOCKET, libc::SO_BUF_LOCK).map_err(no_lending)?;
    let bytes = socket.recv_buffer_size().map_err(no_lending)?;
    Ok((u32::try_from(bytes).unwrap_or(u32::MAX), locks))
}

fn no_lending(error: io::Error) -> Unavailable {
    Unavailable::new("a receive buffer before the connection stands", error)
}

/// Undoes [`lend_receive_buffer`] as far as the system lets it.
pub(super) fn restore_receive_buffer(socket: &Socket, (before, locks): (u32, libc::c_int)) {
    let _ = socket.set_recv_buffer_size(before as usize / 2);
    let _ = set_int(socket, libc::SOL_SOCKET, libc::SO_BUF_LOCK, locks);
}

pub(super) fn path_mtu(socket: &Socket) -> Result<u32, Unavailable> {
    let mtu = PathOptions::of(socket).and_then(|names| get_int(socket, names.level, names.mtu));
    mtu.map(libc::c_int::cast_unsigned).map_err(|error| Unavailable::new("the path MTU", error))
}

pub(super) fn set_dont_fragment(socket: &Socket, on: bool) -> Result<(), Unavailable> {
    let value = if on { DISCOVER_ALWAYS } else { DISCOVER_NEVER };
    PathOptions::of(socket)
        .and_then(|names| set_int(socket, names.level, names.discover, value))
        .map_err(|error| Unavailable::new("control of fragmentation", error))
}

/// IPv6 has a switch of its own for what the interface does not take in one piece.
pub(super) fn probe_path_mtu(socket: &Socket) -> Result<(), Unavailable> {
    let set = || {
        let names = PathOptions::of(socket)?;
        set_int(socket, names.level, names.discover, libc::IP_PMTUDISC_PROBE)?;
        match domain(socket)? {
            Domain::V4 => Ok(()),
            Domain::V6 => set_int(socket, names.level, libc::IPV6_DONTFRAG, 1),
        }
    };
    set().map_err(|error: io::Error| Unavailable::new("looking for the path MTU", error))
}

/// Refuses what does not fit the path MTU, or goes back to the usual way: whole packets carry
/// "don't fragment", and what does not fit is fragmented here.
pub(super) fn forbid_fragments(socket: &Socket, on: bool) -> io::Result<()> {
    let value = if on { DISCOVER_ALWAYS } else { DISCOVER_USUALLY };
    let names = PathOptions::of(socket)?;
    set_int(socket, names.level, names.discover, value)
}

pub(super) fn dont_fragment(socket: &Socket) -> Result<bool, Unavailable> {
    PathOptions::of(socket)
        .and_then(|names| get_int(socket, names.level, names.discover))
        .map(|value| value == DISCOVER_ALWAYS)
        .map_err(|error| Unavailable::new("control of fragmentation", error))
}

/// The kernel has -1 and 0 for what it does not know.
pub(super) fn incoming(socket: &Socket) -> Incoming {
    let known = |name| get_int(socket, libc::SOL_SOCKET, name).ok();
    let queue = known(libc::SO_INCOMING_NAPI_ID).map(libc::c_int::cast_unsigned);
    Incoming {
        processor: known(libc::SO_INCOMING_CPU).and_then(|cpu| u32::try_from(cpu).ok()),
        queue: queue.filter(|&queue| queue > 0),
    }
}

/// In the account of a listening socket this field is the room of its queue (linux/tcp.h).
pub(super) fn queue_max(socket: &Socket) -> Result<u32, Unavailable> {
    let (raw, _) =
        raw_info(socket).map_err(|error| Unavailable::new("the listener's queue", error))?;
    Ok(raw.tcpi_sacked)
}

/// Fields of SO_MEMINFO (`SK_MEMINFO_*`, linux/sock_diag.h); older kernels have fewer.
const MEMINFO_FIELDS: usize = 9;

/// Fields that are memory in use: received, to be sent, reserved, options, backlog.
const MEMINFO_USED: [usize; 5] = [0, 2, 4, 6, 7];

pub(super) fn memory_bytes(socket: &Socket) -> Result<u64, Unavailable> {
    let mut fields = [0_u32; MEMINFO_FIELDS];
    get(socket, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut fields)
        .map_err(|error| Unavailable::new("SO_MEMINFO", error))?;
    Ok(MEMINFO_USED.iter().map(|&field| u64::from(fields[field])).sum())
}

pub(super) fn info(socket: &Socket) -> Result<TcpInfo, Unavailable> {
    let (raw, length) = raw_info(socket).map_err(|error| Unavailable::new("TCP_INFO", error))?;
    /// The field's value if this kernel filled the structure that far.
    macro_rules! later {
        ($field:ident) => {
            (offset_of!(libc::tcp_info, $field) + size_of_val(&raw.$field) <= length)
                .then_some(raw.$field)
        };
    }
    Ok(TcpInfo {
        snd_mss: raw.tcpi_snd_mss,
        rcv_mss: raw.tcpi_rcv_mss,
        pmtu: raw.tcpi_pmtu,
        rtt_us: raw.tcpi_rtt,
        rtt_var_us: raw.tcpi_rttvar,
        snd_cwnd: raw.tcpi_snd_cwnd,
        total_retrans: raw.tcpi_total_retrans,
        timestamps: raw.tcpi_options & TIMESTAMPS != 0,
        // The kernel's minimum starts at the largest number.
        min_rtt_us: later!(tcpi_min_rtt).filter(|&us| us != u32::MAX),
        bytes_sent: later!(tcpi_bytes_sent),
        bytes_retrans: later!(tcpi_bytes_retrans),
        bytes_acked: later!(tcpi_bytes_acked),
        bytes_received: later!(tcpi_bytes_received),
        segs_out: later!(tcpi_segs_out),
        segs_in: later!(tcpi_segs_in),
        data_segs_out: later!(tcpi_data_segs_out),
        snd_wnd: later!(tcpi_snd_wnd),
        busy_us: later!(tcpi_busy_time),
        rwnd_limited_us: later!(tcpi_rwnd_limited),
        sndbuf_limited_us: later!(tcpi_sndbuf_limited),
        delivered_ce: later!(tcpi_delivered_ce),
    })
}

/// The kernel's structure and how many of its bytes this kernel filled; the rest is 0.
fn raw_info(socket: &Socket) -> io::Result<(libc::tcp_info, usize)> {
    // SAFETY: the structure has integer fields only, for which all zeros is a value.
    let mut raw: libc::tcp_info = unsafe { std::mem::zeroed() };
    let length = get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw)?;
    Ok((raw, length))
}

pub(super) fn get_int(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    get(socket, level, name, &mut value)?;
    Ok(value)
}

/// Reads an option into `value`, for which every bit pattern must be valid, and returns how many
/// bytes of it the kernel wrote.
pub(super) fn get<T: Copy>(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut T,
) -> io::Result<usize> {
    // Options are small; the structures here are far below 4 GiB.
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is valid for writing `length` bytes, the kernel writes no more than that, and
    // all callers pass integers or structures of integers.
    let outcome = unsafe {
        let value = std::ptr::from_mut(value).cast();
        libc::getsockopt(socket.as_raw_fd(), level, name, value, &mut length)
    };
    if outcome == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

pub(super) fn set_int(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    set(socket, level, name, &value)
}

/// Sets an option that is a plain number or structure of numbers.
pub(super) fn set<T: Copy>(
    socket: &Socket,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the pointer is to a value that lives through the call, and the length is its size.
    let outcome = unsafe {
        let length = size_of::<T>() as libc::socklen_t;
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(socket.as_raw_fd(), level, name, value, length)
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
