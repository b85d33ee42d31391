//! What can go wrong with a socket, by operation, and a coarse class to choose words by.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// What was being done to a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Creating it.
    Open,
    /// Giving it a local address.
    Bind,
    /// Making it accept connections.
    Listen,
    /// Taking a connection.
    Accept,
    /// Connecting, or fixing the peer of a UDP socket.
    Connect,
    /// Asking for its own or its peer's address.
    ReadAddress,
    /// Setting the option or mode of this name.
    SetOption(&'static str),
    /// Reading the option of this name.
    ReadOption(&'static str),
    /// Ending one direction of it.
    Shutdown,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => write!(f, "open a socket"),
            Self::Bind => write!(f, "bind a socket"),
            Self::Listen => write!(f, "listen"),
            Self::Accept => write!(f, "accept a connection"),
            Self::Connect => write!(f, "connect"),
            Self::ReadAddress => write!(f, "read a socket's address"),
            Self::SetOption(name) => write!(f, "set {name}"),
            Self::ReadOption(name) => write!(f, "read {name}"),
            Self::Shutdown => write!(f, "shut down a socket"),
        }
    }
}

/// A socket operation that failed or was refused.
#[derive(Debug)]
pub enum SocketError {
    /// The address is IPv4 in IPv6 form, which would measure IPv4 under the name of IPv6.
    Mapped {
        /// What was asked for.
        operation: Operation,
        /// The refused address.
        address: SocketAddr,
    },
    /// The two ends are of different families.
    Mixed {
        /// What was asked for.
        operation: Operation,
        /// The socket's own address.
        local: SocketAddr,
        /// The address that does not fit it.
        address: SocketAddr,
    },
    /// The system said no.
    System {
        /// What was asked for.
        operation: Operation,
        /// The address concerned, where there is one.
        address: Option<SocketAddr>,
        /// The system's answer.
        source: io::Error,
    },
}

impl SocketError {
    /// The class of the system's answer; a refused address is [`ErrorClass::AddressUnavailable`].
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Mapped { .. } | Self::Mixed { .. } => ErrorClass::AddressUnavailable,
            Self::System { source, .. } => ErrorClass::of(source),
        }
    }

    /// Wraps the system's answer to `operation` concerning `address`.
    pub(super) fn at(operation: Operation, address: SocketAddr) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { operation, address: Some(address), source }
    }

    /// Wraps the system's answer to `operation` on a socket in use.
    pub(super) fn during(operation: Operation) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { operation, address: None, source }
    }
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mapped { operation, address } => {
                write!(f, "cannot {operation} for {address}: this is IPv4 in IPv6 form")
            }
            Self::Mixed { operation, local, address } => {
                write!(f, "cannot {operation}: {local} and {address} are of different families")
            }
            Self::System { operation, address: Some(address), source } => {
                write!(f, "cannot {operation} for {address}: {source}")
            }
            Self::System { operation, address: None, source } => {
                write!(f, "cannot {operation}: {source}")
            }
        }
    }
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Mapped { .. } | Self::Mixed { .. } => None,
            Self::System { source, .. } => Some(source),
        }
    }
}

/// What kind of trouble an I/O error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// Nobody listens there, or a firewall answers so.
    Refused,
    /// No answer in time.
    TimedOut,
    /// No way to the network or host.
    NoRoute,
    /// Nothing yet: of a non-blocking socket, and on Unix also the end of a read timeout.
    WouldBlock,
    /// The address, or its whole family, is not on this host.
    AddressUnavailable,
    /// Another socket has the address and port.
    AddressInUse,
    /// Not allowed.
    Permission,
    /// The datagram exceeds the path MTU or the protocol's limit.
    TooBig,
    /// A signal came in between.
    Interrupted,
    /// The peer or this side ended the connection, in order or not.
    Closed,
    /// Anything else.
    Other,
}

impl ErrorClass {
    /// The class of `error`.
    pub fn of(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::ConnectionRefused => Self::Refused,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
                Self::NoRoute
            }
            ErrorKind::WouldBlock => Self::WouldBlock,
            ErrorKind::AddrNotAvailable => Self::AddressUnavailable,
            ErrorKind::AddrInUse => Self::AddressInUse,
            ErrorKind::PermissionDenied => Self::Permission,
            ErrorKind::Interrupted => Self::Interrupted,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof => Self::Closed,
            _ => Self::of_code(error.raw_os_error()),
        }
    }

    /// Whether the call only found nothing in the time it had, which platforms report as either of
    /// two classes.
    pub fn is_timeout(self) -> bool {
        matches!(self, Self::TimedOut | Self::WouldBlock)
    }

    /// The class of a system code for which the standard library has no kind.
    fn of_code(code: Option<i32>) -> Self {
        use rustix::io::Errno;
        match code {
            Some(code) if code == Errno::MSGSIZE.raw_os_error() => Self::TooBig,
            Some(code) if code == Errno::AFNOSUPPORT.raw_os_error() => Self::AddressUnavailable,
            _ => Self::Other,
        }
    }
}
