//! The handshake of a control connection, without input or output: Noise (revision 34) in the
//! pattern `NNpsk0` where both ends share a word, and in `XXpsk3` where each has pinned the other's
//! public key.
//!
//! By a word both prove with their first message that they know it. By pinned keys the server does
//! so with its answer, and the client with its last message, which it makes for a peer alone: who
//! poses as the server is not told who asked. Whatever is said afterwards is secret and cannot be
//! changed, cut short or repeated unseen. The preambles of both ends are bound in, so nobody in
//! between can talk them into another version, and so is the server's nonce: a recorded handshake
//! fits no second connection.

use super::key::Kind;
use super::pinned::{KEY_BYTES, PublicKey};
use super::seal::{Sealed, TAG_BYTES};
use super::{ChannelError, Key, Trouble};
use snow::{Builder, HandshakeState};
use v6gap_core::wire::preamble::{Control, Nonce};

const SHARED: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
const PINNED: &str = "Noise_XXpsk3_25519_ChaChaPoly_BLAKE2s";

/// Length of the client's first message, in either pattern: a public key for this connection alone
/// and the tag of an empty payload.
pub(crate) const FIRST_BYTES: usize = KEY_BYTES + TAG_BYTES;

/// By how much a message is longer that also tells, sealed, the key by which its end is known.
const STATIC_BYTES: usize = KEY_BYTES + TAG_BYTES;

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

/// The client's side, its first message made.
pub(crate) struct Initiator {
    state: HandshakeState,
    key: Key,
}

impl Initiator {
    /// The handshake and the message to send.
    pub(crate) fn begin(
        key: &Key,
        preambles: &Preambles,
    ) -> Result<(Self, [u8; FIRST_BYTES]), ChannelError> {
        let mut state = begun(key, preambles, |builder| builder.build_initiator())?;
        let mut message = [0; FIRST_BYTES];
        state.write_message(&[], &mut message)?;
        Ok((Initiator { state, key: key.clone() }, message))
    }

    /// Length of the answer that it waits for.
    pub(crate) fn awaits(&self) -> usize {
        match &self.key.0 {
            Kind::Shared(_) => FIRST_BYTES,
            Kind::Pinned(_) => FIRST_BYTES + STATIC_BYTES,
        }
    }

    /// Reads the server's answer; what is left to send, nothing for a word. Fails if the server has
    /// another key, or is none of the peers.
    pub(crate) fn complete(mut self, answer: &[u8]) -> Result<(Sealed, Vec<u8>), Trouble> {
        self.state.read_message(answer, &mut []).map_err(|_| Trouble::Key)?;
        let mut last = Vec::new();
        if let Kind::Pinned(pinned) = &self.key.0 {
            let public = remote(&self.state).ok_or(Trouble::Key)?;
            pinned.peer(&public).ok_or(Trouble::Unpinned { public })?;
            last.resize(STATIC_BYTES + TAG_BYTES, 0);
            self.state.write_message(&[], &mut last).map_err(broken)?;
        }
        Ok((Sealed::new(self.state).map_err(broken)?, last))
    }
}

/// The server's side, the client's first message read.
pub(crate) struct Responder {
    state: HandshakeState,
    key: Key,
}

/// A client whose handshake is complete.
pub(crate) struct Proved {
    pub(crate) sealed: Sealed,
    pub(crate) who: Who,
}

/// Who a client proved to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    /// One of those that know the word.
    Knowing,
    /// The peer of that name.
    Peer(String),
    /// None of the peers.
    Stranger(PublicKey),
}

impl Who {
    /// How the server's own file names it.
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Who::Peer(name) => Some(name),
            Who::Knowing | Who::Stranger(_) => None,
        }
    }
}

impl Responder {
    /// Reads the client's message and makes the answer. Fails if the client proves by a word, and
    /// does not know it, or with another kind of key.
    pub(crate) fn begin(
        key: &Key,
        preambles: &Preambles,
        message: &[u8; FIRST_BYTES],
    ) -> Result<(Self, Vec<u8>), ChannelError> {
        let mut state = begun(key, preambles, |builder| builder.build_responder())?;
        state.read_message(message, &mut [])?;
        let mut answer = vec![0; FIRST_BYTES + STATIC_BYTES];
        let length = state.write_message(&[], &mut answer)?;
        answer.truncate(length);
        Ok((Responder { state, key: key.clone() }, answer))
    }

    /// Length of the client's last message; 0 if there is none.
    pub(crate) fn awaits(&self) -> usize {
        match &self.key.0 {
            Kind::Shared(_) => 0,
            Kind::Pinned(_) => STATIC_BYTES + TAG_BYTES,
        }
    }

    /// Reads the last message, where there is one. Fails if the client does not have the private
    /// key that belongs to the public one which it tells.
    pub(crate) fn complete(mut self, last: &[u8]) -> Result<Proved, ChannelError> {
        let who = match &self.key.0 {
            Kind::Shared(_) => Who::Knowing,
            Kind::Pinned(pinned) => {
                self.state.read_message(last, &mut [])?;
                let public = remote(&self.state).ok_or(snow::Error::Dh)?;
                let name = pinned.peer(&public).map(str::to_owned);
                name.map_or(Who::Stranger(public), Who::Peer)
            }
        };
        Ok(Proved { sealed: Sealed::wary(self.state)?, who })
    }
}

fn begun(
    key: &Key,
    preambles: &Preambles,
    build: impl FnOnce(Builder<'_>) -> Result<HandshakeState, snow::Error>,
) -> Result<HandshakeState, snow::Error> {
    let prologue = preambles.bytes();
    let builder = match &key.0 {
        Kind::Shared(word) => Builder::new(SHARED.parse()?).psk(0, word)?,
        Kind::Pinned(pinned) => {
            let builder = Builder::new(PINNED.parse()?).local_private_key(pinned.private())?;
            builder.psk(3, pinned.word())?
        }
    };
    build(builder.prologue(&prologue)?)
}

/// The key by which the other end is known.
fn remote(state: &HandshakeState) -> Option<PublicKey> {
    state.get_remote_static().and_then(PublicKey::of)
}

fn broken(error: impl Into<ChannelError>) -> Trouble {
    Trouble::System(error.into().to_string())
}

#[cfg(test)]
pub(crate) mod tests;
