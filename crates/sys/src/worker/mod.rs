//! This program started again as a process of its own, a worker, and the conversation with it, in
//! which sockets go along, and the way into the network of another host of a lab.
//!
//! What is started is the file that this process was started from, by a descriptor that stays open:
//! an upgrade on the disk cannot mix versions, and no path has to lead there any more.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "fallback.rs")]
mod platform;
#[cfg(all(test, target_os = "linux"))]
mod tests;

pub use platform::{Came, Conduit, Process, Program};

use crate::network::Network;
use crate::socket::{Datagram, Listener, Stream};

/// Most sockets that go along with one frame.
pub const SOCKETS_MAX: usize = 4;

/// Longest frame, in bytes: that of a line of a journal.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

/// A socket, or what leads to some, that goes along with a frame: the other end has it as well from
/// then on.
#[derive(Debug, Clone, Copy)]
pub enum Passed<'a> {
    /// A connection.
    Stream(&'a Stream),
    /// A UDP socket.
    Datagram(&'a Datagram),
    /// What accepts connections.
    Listener(&'a Listener),
    /// The network of another host.
    Network(&'a Network),
}
