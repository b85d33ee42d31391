//! Both ends of a control connection without a network between them, for whoever tries what bytes
//! do to one: a fuzzer, a test.

use super::handshake::{Initiator, Preambles, Responder};
use super::seal::Sealed;
use super::{ChannelError, Key, Trouble};
use v6gap_core::wire::control::Message;
use v6gap_core::wire::preamble::{Control, Nonce};
use v6gap_core::wire::version::SPOKEN;

/// One end, its handshake behind it.
pub struct End(Sealed);

/// The client's and the server's end of a new connection between two that know `key`.
///
/// # Errors
/// If the system gives no random numbers, or pinned keys have no peer with the same.
pub fn ends(key: &Key) -> Result<(End, End), Trouble> {
    let broken = |e: ChannelError| Trouble::System(e.to_string());
    let control = Control { versions: SPOKEN };
    let nonce = Nonce([7; Nonce::BYTES]);
    let preambles = Preambles { client: control, server: control, nonce };
    let (initiator, first) = Initiator::begin(key, &preambles).map_err(broken)?;
    let (responder, answer) = Responder::begin(key, &preambles, &first).map_err(broken)?;
    let (client, last) = initiator.complete(&answer)?;
    let server = responder.complete(&last).map_err(broken)?.sealed;
    Ok((End(client), End(server)))
}

impl End {
    /// The bytes to send for `message`.
    ///
    /// # Errors
    /// If it is too long.
    pub fn seal(&mut self, message: &Message) -> Result<Vec<u8>, ChannelError> {
        self.0.seal(message)
    }

    /// Takes bytes that came; [`End::next`] has the messages in them.
    ///
    /// # Errors
    /// If they are not what the other end sealed, in order. The connection is of no use then.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.0.take(bytes)
    }

    /// The next whole message.
    ///
    /// # Errors
    /// If what came is none. The connection is of no use then.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: more may come after None")]
    pub fn next(&mut self) -> Result<Option<Message>, ChannelError> {
        self.0.next()
    }
}
