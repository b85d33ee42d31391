//! Encryption of the control connection, without input or output: Noise (revision 34) in the
//! pattern `NNpsk0`, then messages in frames in records of at most 65 535 bytes.
//!
//! Both ends prove to know the key with their first message; whatever is said after it is secret
//! and cannot be changed, cut short or repeated unseen. The preambles of both ends are bound in, so
//! nobody in between can talk them into another version, and so is the server's nonce: a recorded
//! handshake fits no second connection.

use super::{ChannelError, Key};
use snow::{Builder, HandshakeState, TransportState};
use v6gap_core::wire::control::Message;
use v6gap_core::wire::frame::{self, BODY_BYTES_MAX, FrameError, FrameReader, HELLO_BYTES_MAX};
use v6gap_core::wire::preamble::{Control, Nonce};

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";

/// Length of each of the two handshake messages: a public key and the tag of an empty payload.
pub(crate) const HANDSHAKE_BYTES: usize = 32 + TAG_BYTES;

const TAG_BYTES: usize = 16;
const LENGTH_BYTES: usize = 2;
const RECORD_BYTES_MAX: usize = u16::MAX as usize;

/// What both ends said in the clear, the client first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preambles {
    pub(crate) client: Control,
    pub(crate) server: Control,
    pub(crate) nonce: Nonce,
}

impl Preambles {
    fn bytes(&self) -> Vec<u8> {
        [&self.client.encode()[..], &self.server.encode(), &self.nonce.0].concat()
    }
}

/// The client's side of the handshake, its first message made.
pub(crate) struct Initiator(HandshakeState);

impl Initiator {
    /// The handshake and the message to send.
    pub(crate) fn begin(
        key: &Key,
        preambles: &Preambles,
    ) -> Result<(Self, [u8; HANDSHAKE_BYTES]), ChannelError> {
        let prologue = preambles.bytes();
        let mut state = builder(key, &prologue)?.build_initiator()?;
        let mut message = [0; HANDSHAKE_BYTES];
        state.write_message(&[], &mut message)?;
        Ok((Initiator(state), message))
    }

    /// Reads the server's answer.
    pub(crate) fn complete(
        mut self,
        answer: &[u8; HANDSHAKE_BYTES],
    ) -> Result<Sealed, ChannelError> {
        self.0.read_message(answer, &mut [])?;
        Sealed::new(self.0)
    }
}

/// The server's side of the handshake: reads the client's message and makes the answer. Fails if
/// the client does not know the key.
pub(crate) fn respond(
    key: &Key,
    preambles: &Preambles,
    message: &[u8; HANDSHAKE_BYTES],
) -> Result<(Sealed, [u8; HANDSHAKE_BYTES]), ChannelError> {
    let prologue = preambles.bytes();
    let mut state = builder(key, &prologue)?.build_responder()?;
    state.read_message(message, &mut [])?;
    let mut answer = [0; HANDSHAKE_BYTES];
    state.write_message(&[], &mut answer)?;
    let mut sealed = Sealed::new(state)?;
    sealed.take_bodies_of(HELLO_BYTES_MAX);
    Ok((sealed, answer))
}

fn builder<'a>(key: &'a Key, prologue: &'a [u8]) -> Result<Builder<'a>, ChannelError> {
    Ok(Builder::new(PATTERN.parse()?).psk(0, key.bytes())?.prologue(prologue)?)
}

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
    fn new(state: HandshakeState) -> Result<Self, ChannelError> {
        let handshake = state.get_handshake_hash().to_vec();
        let noise = state.into_transport_mode()?;
        let (incoming, frames) = (Vec::new(), FrameReader::new());
        Ok(Sealed { noise, handshake, incoming, frames, record_bytes_max: RECORD_BYTES_MAX })
    }

    /// The hash of the handshake: both ends have the same, and no other connection has it.
    pub(crate) fn handshake(&self) -> &[u8] {
        &self.handshake
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
    use v6gap_core::wire::control::TaskFailure;
    use v6gap_core::wire::version::{SPOKEN, VersionRange};

    fn preambles() -> Preambles {
        let control = Control { versions: SPOKEN };
        Preambles { client: control, server: control, nonce: Nonce([7; Nonce::BYTES]) }
    }

    fn pair() -> (Sealed, Sealed) {
        let key = Key::of_word("word").unwrap();
        let (initiator, first) = Initiator::begin(&key, &preambles()).unwrap();
        let (server, second) = respond(&key, &preambles(), &first).unwrap();
        (initiator.complete(&second).unwrap(), server)
    }

    #[test]
    fn both_ends_know_their_connection_from_others() {
        let ((client, server), (other, _)) = (pair(), pair());
        assert_eq!(client.handshake(), server.handshake());
        assert_ne!(client.handshake(), other.handshake());
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

    #[test]
    fn another_key_or_preamble_ends_the_handshake() {
        let key = Key::of_word("word").unwrap();
        let (_, first) = Initiator::begin(&key, &preambles()).unwrap();
        assert!(respond(&Key::of_word("sword").unwrap(), &preambles(), &first).is_err());
        let versions = VersionRange::new(1, 9).unwrap();
        let forged = Preambles { client: Control { versions }, ..preambles() };
        assert!(respond(&key, &forged, &first).is_err());
        let later = Preambles { nonce: Nonce([8; Nonce::BYTES]), ..preambles() };
        assert!(respond(&key, &later, &first).is_err());
    }
}
