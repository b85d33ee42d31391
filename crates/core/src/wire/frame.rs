//! Messages in a stream of bytes: a length in four bytes, big-endian, then that many bytes of JSON.

use super::control::Message;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Largest body of a frame, in bytes. Histograms in a report may be long; nothing else comes near.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Largest body of a frame from a client that has not been welcomed, in bytes.
pub const HELLO_BYTES_MAX: usize = 16 << 10;

/// Length of what stands before the body, in bytes.
pub const LENGTH_BYTES: usize = 4;

/// Why bytes are no message, or a message no bytes. The connection is of no use after it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The body is too long.
    #[error("message of {bytes} bytes, at most {most} are allowed")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest that is allowed at that point.
        most: usize,
    },
    /// The body is not a message.
    #[error("not a control message: {0}")]
    Malformed(String),
}

/// A message as a frame.
pub fn encode(message: &Message) -> Result<Vec<u8>, FrameError> {
    let malformed = |e: serde_json::Error| FrameError::Malformed(e.to_string());
    let body = serde_json::to_vec(message).map_err(malformed)?;
    if body.len() > BODY_BYTES_MAX {
        return Err(too_long(body.len()));
    }
    let length = u32::try_from(body.len()).map_err(|_| too_long(body.len()))?;
    let mut frame = Vec::with_capacity(LENGTH_BYTES + body.len());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&body);
    Ok(frame)
}

fn too_long(bytes: usize) -> FrameError {
    FrameError::TooLong { bytes, most: BODY_BYTES_MAX }
}

/// Takes bytes as they come and returns messages as they become complete.
///
/// Holds at most one frame and what its last push brought, so a peer cannot make it grow.
#[derive(Debug)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// Bytes of it that were read, which go with the next push: not with each of many messages.
    read: usize,
    body_bytes_max: usize,
}

impl Default for FrameReader {
    fn default() -> Self {
        FrameReader { buffer: Vec::new(), read: 0, body_bytes_max: BODY_BYTES_MAX }
    }
}

impl FrameReader {
    /// A reader at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the longest body that is taken from now on, in bytes; without a call, or beyond it,
    /// [`BODY_BYTES_MAX`].
    pub fn set_limit(&mut self, bytes: usize) {
        self.body_bytes_max = bytes.min(BODY_BYTES_MAX);
    }

    /// Takes bytes that came. Call [`FrameReader::next`] until it has nothing before pushing more.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.read);
        self.read = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete message, if there is one. After an error the stream cannot be read on.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: more may come after None")]
    pub fn next(&mut self) -> Result<Option<Message>, FrameError> {
        let unread = &self.buffer[self.read..];
        let Some((length, rest)) = unread.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let bytes = u32::from_be_bytes(*length) as usize;
        if bytes > self.body_bytes_max {
            return Err(FrameError::TooLong { bytes, most: self.body_bytes_max });
        }
        let Some(body) = rest.get(..bytes) else {
            return Ok(None);
        };
        let message =
            serde_json::from_slice(body).map_err(|e| FrameError::Malformed(e.to_string()))?;
        self.read += LENGTH_BYTES + bytes;
        Ok(Some(message))
    }
}
