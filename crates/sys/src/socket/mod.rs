//! TCP, UDP and ICMP echo sockets of exactly one address family each.
//!
//! A socket is `AF_INET`, or `AF_INET6` with `IPV6_V6ONLY`; IPv4 addresses in IPv6 form
//! (`::ffff:192.0.2.1`) are refused, because such a socket says IPv6 and sends IPv4. The family
//! follows from the address, so callers have one path for both.
//!
//! All times are nanoseconds. Calls interrupted by a signal are repeated inside. Reading, writing,
//! sending and receiving allocate nothing and return plain [`std::io::Error`]s, which
//! [`ErrorClass::of`] sorts; everything else returns a [`SocketError`] that names the operation.

mod ancillary;
mod batch;
mod bulk;
mod call;
mod common;
mod datagram;
mod error;
mod icmp;
mod listener;
mod marks;
mod options;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
mod poll;
mod stream;
#[cfg(test)]
mod tests;
pub(crate) mod wait;

pub use ancillary::{Arrived, Departed, Heard, KernelTimes, Notes, notes, wait_either};
pub use batch::{BATCH_MAX, Message, ReceiveBatch, SendBatch};
pub use bulk::{MemoryFile, Reaped, is_out_of_room};
pub use datagram::Datagram;
pub use error::{ErrorClass, Operation, SocketError};
pub use icmp::{ECHO_HEADER_BYTES, ECHO_ROOM_BYTES, Ping};
pub use listener::{Listener, ListenerSettings, Loan, Patient};
pub use marks::{FLOW_LABEL_MAX, Marks};
pub use options::{Granted, Incoming, KeepAlive, StreamOptions, TcpInfo};
pub use poll::{Interest, Waker, wait_any, wait_some};
pub use stream::{Begun, ConnectTimes, Stream};

use socket2::{Protocol, Socket, Type};
use std::net::SocketAddr;

/// The address family of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// `AF_INET`.
    V4,
    /// `AF_INET6`.
    V6,
}

impl Domain {
    /// The family of `address` as written; an IPv4 address in IPv6 form is `V6` here.
    pub fn of(address: &SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    fn raw(self) -> socket2::Domain {
        match self {
            Self::V4 => socket2::Domain::IPV4,
            Self::V6 => socket2::Domain::IPV6,
        }
    }
}

/// Opens a socket of the family of `address`, v6-only if that is IPv6.
fn open(address: SocketAddr, kind: Type, protocol: Protocol) -> Result<Socket, SocketError> {
    refuse_mapped(Operation::Open, address)?;
    let socket = create(address, kind, protocol)?;
    confine(&socket, address)?;
    Ok(socket)
}

/// The bare socket, apart so that creating it can be timed alike for both families.
fn create(address: SocketAddr, kind: Type, protocol: Protocol) -> Result<Socket, SocketError> {
    Socket::new(Domain::of(&address).raw(), kind, Some(protocol))
        .map_err(SocketError::at(Operation::Open, address))
}

/// Keeps an IPv6 socket from carrying IPv4.
fn confine(socket: &Socket, address: SocketAddr) -> Result<(), SocketError> {
    match Domain::of(&address) {
        Domain::V4 => Ok(()),
        Domain::V6 => socket
            .set_only_v6(true)
            .map_err(SocketError::at(Operation::SetOption("IPV6_V6ONLY"), address)),
    }
}

/// Refuses an IPv4 address in IPv6 form.
fn refuse_mapped(operation: Operation, address: SocketAddr) -> Result<(), SocketError> {
    match address {
        SocketAddr::V6(v6) if v6.ip().to_ipv4_mapped().is_some() => {
            Err(SocketError::Mapped { operation, address })
        }
        _ => Ok(()),
    }
}

/// The address alone: a flow label belongs to packets, not to a host.
fn without_label(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(mut v6) => {
            v6.set_flowinfo(0);
            SocketAddr::V6(v6)
        }
        v4 => v4,
    }
}

/// Refuses two ends of different families.
fn refuse_mixed(
    operation: Operation,
    local: SocketAddr,
    address: SocketAddr,
) -> Result<(), SocketError> {
    if Domain::of(&local) == Domain::of(&address) {
        Ok(())
    } else {
        Err(SocketError::Mixed { operation, local, address })
    }
}
