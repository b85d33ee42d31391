//! What sockets have alike, whatever they carry.

use super::error::{Operation, SocketError};
use super::options::Incoming;
use super::{Datagram, Domain, Listener, Stream, platform, wait, without_label};
use rustix::event::PollFlags;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;

/// Where a socket is, and of which family.
macro_rules! located {
    ($($socket:ty),*) => {$(impl $socket {
        /// This end's address and port.
        ///
        /// # Errors
        /// The system's answer.
        pub fn local(&self) -> Result<SocketAddr, SocketError> {
            self.inner.local_addr().map_err(SocketError::during(Operation::ReadAddress))
        }

        /// The socket's family as the system tells it (Linux), otherwise that of its address.
        ///
        /// # Errors
        /// The system's answer.
        pub fn domain(&self) -> Result<Domain, SocketError> {
            platform::domain(&SockRef::from(&self.inner))
                .map_err(SocketError::during(Operation::ReadOption("SO_DOMAIN")))
        }
    })*};
}

/// Waiting for the other end, and who it is.
macro_rules! with_peer {
    ($($socket:ty),*) => {$(impl $socket {
        /// Waits until receiving would not block; `false` if `timeout_ns` passed before. Finer than
        /// a read timeout, which Linux rounds up to its timer tick of 1 to 10 ms.
        ///
        /// # Errors
        /// The system's answer.
        pub fn wait_readable(&self, timeout_ns: u64) -> io::Result<bool> {
            wait::ready(&self.inner, PollFlags::IN, Some(timeout_ns))
        }

        /// Waits until sending would not block; `false` if `timeout_ns` passed before.
        ///
        /// # Errors
        /// The system's answer.
        pub fn wait_writable(&self, timeout_ns: u64) -> io::Result<bool> {
            wait::ready(&self.inner, PollFlags::OUT, Some(timeout_ns))
        }

        /// Waits until receiving or sending would not block; `false` if `timeout_ns` passed before.
        ///
        /// # Errors
        /// The system's answer.
        pub fn wait_either(&self, timeout_ns: u64) -> io::Result<bool> {
            wait::ready(&self.inner, PollFlags::IN | PollFlags::OUT, Some(timeout_ns))
        }

        /// Longest time that receiving waits, in ns; `None` for ever.
        ///
        /// # Errors
        /// The system's answer.
        pub fn set_read_timeout(&self, timeout_ns: Option<u64>) -> Result<(), SocketError> {
            self.inner
                .set_read_timeout(wait::timeout(timeout_ns))
                .map_err(SocketError::during(Operation::SetOption("SO_RCVTIMEO")))
        }

        /// Whether calls return at once instead of waiting; shared by all handles of this socket.
        ///
        /// # Errors
        /// The system's answer.
        pub fn set_nonblocking(&self, on: bool) -> Result<(), SocketError> {
            self.inner
                .set_nonblocking(on)
                .map_err(SocketError::during(Operation::SetOption("non-blocking mode")))
        }

        /// The other end's address and port.
        ///
        /// # Errors
        /// The system's answer, for example that no peer was fixed or the connection is gone.
        pub fn peer(&self) -> Result<SocketAddr, SocketError> {
            let peer = self.inner.peer_addr().map(without_label);
            peer.map_err(SocketError::during(Operation::ReadAddress))
        }

        /// Where its packets came in last. A UDP socket must have a peer for the system to keep
        /// this.
        pub fn incoming(&self) -> Incoming {
            platform::incoming(&SockRef::from(&self.inner))
        }
    })*};
}

located!(Datagram, Listener, Stream);
with_peer!(Datagram, Stream);
