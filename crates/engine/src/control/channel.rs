//! A sealed control connection for a caller that may wait: the client's.

use super::seal::Sealed;
use super::{ALIVE, ChannelError, acknowledge};
use v6gap_core::wire::control::Message;
use v6gap_sys::clock;
use v6gap_sys::socket::{Interest, Stream};

const READ_BYTES: usize = 64 << 10;

/// Longest time that the system may take to accept what is sent, in ns.
const SEND_NS: u64 = 10_000_000_000;

/// Sends and receives messages.
pub struct Channel {
    stream: Stream,
    sealed: Sealed,
    buffer: Vec<u8>,
}

impl Channel {
    /// A channel over a connection whose handshake is complete.
    pub(super) fn new(stream: Stream, sealed: Sealed) -> Result<Self, ChannelError> {
        stream.set_write_timeout(Some(SEND_NS))?;
        // Where the system cannot, a server that vanishes is noticed later.
        let _ = stream.keep_alive(&ALIVE);
        Ok(Channel { stream, sealed, buffer: vec![0; READ_BYTES] })
    }

    /// What both ends of this connection know and no other connection has.
    pub(super) fn handshake(&self) -> &[u8] {
        self.sealed.handshake()
    }

    /// Whether the other end has said anything.
    pub(super) fn has_heard(&self) -> bool {
        self.sealed.has_heard()
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If it is too long, or the connection is lost.
    pub fn send(&mut self, message: &Message) -> Result<(), ChannelError> {
        let bytes = self.sealed.seal(message)?;
        Ok(self.stream.write_all(&bytes)?)
    }

    /// Waits for the next message until the monotonic clock shows `deadline_ns`, or for ever. Bytes
    /// that make no message do not put that off.
    ///
    /// # Errors
    /// [`ChannelError::TimedOut`] after that, or why the connection is lost.
    pub fn receive(&mut self, deadline_ns: Option<u64>) -> Result<Message, ChannelError> {
        let mut late = false;
        loop {
            if let Some(message) = self.sealed.next()? {
                return Ok(message);
            }
            let left = deadline_ns.map_or(u64::MAX, |d| d.saturating_sub(clock::now_ns()));
            // What had come in time is still taken where this host was the one that was late.
            if late || !self.stream.wait_readable(left)? {
                return Err(ChannelError::TimedOut);
            }
            late = left == 0;
            self.read()?;
        }
    }

    /// What to wait for until something comes.
    pub(super) fn interest(&self) -> Interest<'_> {
        Interest::Read(&self.stream)
    }

    /// The next message that has come already.
    pub(super) fn next(&mut self) -> Result<Option<Message>, ChannelError> {
        self.sealed.next()
    }

    /// Reads what is there once, and waits if nothing is.
    pub(super) fn read(&mut self) -> Result<(), ChannelError> {
        let read = self.stream.read(&mut self.buffer)?;
        if read == 0 {
            return Err(ChannelError::Closed);
        }
        acknowledge(&self.stream);
        self.sealed.take(&self.buffer[..read])
    }
}
