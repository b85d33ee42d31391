//! What is said over a control connection once its handshake is complete, without input or output:
//! messages in frames in Noise records of at most 65 535 bytes.

use super::ChannelError;
use snow::{HandshakeState, TransportState};
use v6gap_core::wire::control::Message;
use v6gap_core::wire::frame::{self, BODY_BYTES_MAX, FrameError, FrameReader, HELLO_BYTES_MAX};

/// Octets by which a Noise message is longer than what it seals.
pub(super) const TAG_BYTES: usize = 16;

const LENGTH_BYTES: usize = 2;
const RECORD_BYTES_MAX: usize = u16::MAX as usize;

/// Messages to sealed bytes and back.
pub(crate) struct Sealed {
    noise: TransportState,
    handshake: Vec<u8>,
    /// Sealed bytes that are not a whole record yet.
    incoming: Vec<u8>,
    frames: FrameReader,
    record_bytes_max: usize,
}

impl Sealed {
    /// The client's end.
    pub(super) fn new(state: HandshakeState) -> Result<Self, ChannelError> {
        let handshake = state.get_handshake_hash().to_vec();
        let noise = state.into_transport_mode()?;
        let (incoming, frames) = (Vec::new(), FrameReader::new());
        Ok(Sealed { noise, handshake, incoming, frames, record_bytes_max: RECORD_BYTES_MAX })
    }

    /// The server's end, which takes nothing longer than a hello until it trusts.
    pub(super) fn wary(state: HandshakeState) -> Result<Self, ChannelError> {
        let mut sealed = Sealed::new(state)?;
        sealed.take_bodies_of(HELLO_BYTES_MAX);
        Ok(sealed)
    }

    /// The hash of the handshake: both ends have the same, and no other connection has it.
    pub(crate) fn handshake(&self) -> &[u8] {
        &self.handshake
    }

    /// Whether the other end has said anything since the handshake.
    pub(crate) fn has_heard(&self) -> bool {
        self.noise.receiving_nonce() > 0
    }

    /// Takes messages of any length from now on; a server's end, until then, none longer than a
    /// hello may be.
    pub(crate) fn trust(&mut self) {
        self.take_bodies_of(BODY_BYTES_MAX);
    }

    /// What is not whole yet is kept, so a record may be no longer than one frame either.
    fn take_bodies_of(&mut self, bytes: usize) {
        self.frames.set_limit(bytes);
        self.record_bytes_max = (bytes + frame::LENGTH_BYTES + TAG_BYTES).min(RECORD_BYTES_MAX);
    }

    /// The bytes to send for `message`.
    pub(crate) fn seal(&mut self, message: &Message) -> Result<Vec<u8>, ChannelError> {
        self.seal_bytes(&frame::encode(message)?)
    }

    /// Seals bytes that need be no message.
    pub(crate) fn seal_bytes(&mut self, frame: &[u8]) -> Result<Vec<u8>, ChannelError> {
        let mut sealed = Vec::with_capacity(frame.len() + 64);
        for piece in frame.chunks(RECORD_BYTES_MAX - TAG_BYTES) {
            let length = piece.len() + TAG_BYTES;
            // A piece and its tag fit a record, so the length fits two bytes.
            sealed.extend_from_slice(&(length as u16).to_be_bytes());
            let start = sealed.len();
            sealed.resize(start + length, 0);
            self.noise.write_message(piece, &mut sealed[start..])?;
        }
        Ok(sealed)
    }

    /// Takes bytes that came; [`Sealed::next`] has the messages in them.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.incoming.extend_from_slice(bytes);
        let mut used = 0;
        while let Some((length, rest)) = self.incoming[used..].split_first_chunk::<LENGTH_BYTES>() {
            let length = usize::from(u16::from_be_bytes(*length));
            if length > self.record_bytes_max {
                return Err(FrameError::TooLong { bytes: length, most: self.record_bytes_max })?;
            }
            let Some(record) = rest.get(..length) else {
                break;
            };
            let mut plain = vec![0; length];
            let plain_bytes = self.noise.read_message(record, &mut plain)?;
            self.frames.push(&plain[..plain_bytes]);
            used += LENGTH_BYTES + length;
        }
        self.incoming.drain(..used);
        Ok(())
    }

    /// The next whole message.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, ChannelError> {
        Ok(self.frames.next()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Key;
    use crate::control::handshake::tests::pair_of;
    use v6gap_core::wire::control::TaskFailure;

    fn pair() -> (Sealed, Sealed) {
        let key = Key::of_word("word").unwrap();
        pair_of(&key, &key)
    }

    #[test]
    fn a_message_longer_than_a_record_arrives_in_any_pieces() {
        let (mut client, mut server) = pair();
        server.trust();
        let failure = TaskFailure::passing("x".repeat(200_000));
        let message = Message::Failed { number: 3, failure };
        let bytes = client.seal(&message).unwrap();
        for piece in bytes.chunks(1009) {
            assert_eq!(server.next().unwrap(), None);
            server.take(piece).unwrap();
        }
        assert_eq!(server.next().unwrap(), Some(message));
    }

    #[test]
    fn a_server_takes_no_long_message_before_it_trusts() {
        let failure = TaskFailure::passing("x".repeat(200_000));
        let message = Message::Failed { number: 3, failure };
        let (mut client, mut server) = pair();
        assert!(server.take(&client.seal(&message).unwrap()).is_err());
        let (mut client, mut server) = pair();
        server.trust();
        server.take(&client.seal(&message).unwrap()).unwrap();
        assert_eq!(server.next().unwrap(), Some(message));
    }

    #[test]
    fn changed_repeated_and_empty_records_are_noticed() {
        let (mut client, mut server) = pair();
        let bytes = client.seal(&Message::Bye).unwrap();
        let mut changed = bytes.clone();
        changed[5] ^= 1;
        assert!(server.take(&changed).is_err());
        let (mut client, mut server) = pair();
        let bytes = client.seal(&Message::Bye).unwrap();
        server.take(&bytes).unwrap();
        assert!(server.take(&bytes).is_err());
        let (_, mut server) = pair();
        assert!(server.take(&[0, 0]).is_err());
    }
}
