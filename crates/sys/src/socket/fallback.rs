//! Other platforms: what the socket library offers; the rest is refused or unavailable.

use super::{Domain, Incoming, KeepAlive, TcpInfo, wait};
use crate::Unavailable;
use rustix::event::PollFlags;
use socket2::{Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

const BECAUSE: &str = "this program has it on Linux only";

/// Functions that say what this platform has not.
macro_rules! unavailable {
    ($($name:ident($($argument:ty),*) -> $given:ty: $what:literal;)*) => {$(
        pub(super) fn $name($(_: $argument),*) -> Result<$given, Unavailable> {
            Err(Unavailable::here($what))
        }
    )*};
}

unavailable! {
    can_share_ports() -> (): "a second UDP socket on one port";
    keep_nothing(&Socket, bool) -> (): "a filter on a socket";
    set_receive_low_water(&Socket, u32) -> (): "the receive low-water mark";
    acknowledge(&Socket) -> (): "acknowledging at once";
    lend_receive_buffer(&Socket, u32) -> (u32, i32):
        "a receive buffer before the connection stands";
    receive_buffer(&Socket) -> (u32, i32): "a receive buffer before the connection stands";
    path_mtu(&Socket) -> u32: "the path MTU";
    set_dont_fragment(&Socket, bool) -> (): "control of fragmentation";
    dont_fragment(&Socket) -> bool: "control of fragmentation";
    probe_path_mtu(&Socket) -> (): "looking for the path MTU";
    queue_max(&Socket) -> u32: "the listener's queue";
    memory_bytes(&Socket) -> u64: "SO_MEMINFO";
    info(&Socket) -> TcpInfo: "TCP_INFO";
}

/// The family of the socket's own address.
pub(super) fn domain(socket: &Socket) -> io::Result<Domain> {
    let address = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
    Ok(Domain::of(&address))
}

pub(super) fn set_congestion(_socket: &Socket, _name: &str) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, BECAUSE))
}

pub(super) fn congestion(_socket: &Socket) -> Option<String> {
    None
}

#[cfg(unix)]
pub(super) fn set_mss(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_tcp_mss(bytes)
}

#[cfg(not(unix))]
pub(super) fn set_mss(_socket: &Socket, _bytes: u32) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this platform has no TCP_MAXSEG"))
}

#[cfg(unix)]
pub(super) fn mss(socket: &Socket) -> Option<u32> {
    socket.tcp_mss().ok()
}

#[cfg(not(unix))]
pub(super) fn mss(_socket: &Socket) -> Option<u32> {
    None
}

/// A stream, which [`not_waiting`] keeps from waiting.
pub(super) const NOT_WAITING: Type = Type::STREAM;

pub(super) fn not_waiting(socket: &Socket) -> io::Result<()> {
    socket.set_nonblocking(true)
}

/// Accepts a connection that does not wait.
pub(super) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, peer) = listener.accept()?;
    stream.set_nonblocking(true)?;
    Ok((stream, peer))
}

/// Nothing to do: not every system has a time limit for `accept`.
pub(super) fn wait_in_accept(_listener: &TcpListener, _timeout_ns: u64) -> io::Result<()> {
    Ok(())
}

/// Nothing to take back.
pub(super) fn wait_no_longer(_listener: &TcpListener) {}

/// Waits until there is something to accept.
pub(super) fn await_connection(listener: &TcpListener, timeout_ns: u64) -> io::Result<()> {
    wait::ready(listener, PollFlags::IN, Some(timeout_ns)).map(drop)
}

/// Nothing to do: nothing is bound or sent from where a datagram came to.
pub(super) fn allow_routed(_socket: &Socket, _on: bool) {}

/// Nothing to do: the port is chosen by `bind`.
pub(super) fn choose_port_late(_socket: &Socket, _local: SocketAddr) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn keep_alive(socket: &Socket, times: &KeepAlive) -> io::Result<()> {
    socket.set_tcp_keepalive(&times.common().with_retries(times.probes.into()))
}

#[cfg(not(unix))]
pub(super) fn keep_alive(socket: &Socket, times: &KeepAlive) -> io::Result<()> {
    socket.set_tcp_keepalive(&times.common())
}

pub(super) fn buffer_as_asked(asked: u32, got: u32) -> bool {
    asked == got
}

pub(super) fn restore_receive_buffer(_socket: &Socket, _before: (u32, i32)) {}

pub(super) fn forbid_fragments(_socket: &Socket, _on: bool) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, BECAUSE))
}

pub(super) fn incoming(_socket: &Socket) -> Incoming {
    Incoming::default()
}
