//! Orders as they travel: signed by the coordinator, the word in them sealed for the host that they
//! go to. So a broker that was broken into can hold orders back, and can neither give any nor read
//! what lets a client in.

use crate::error::FleetError;
use crate::letter::Letter;
use data_encoding::BASE64URL_NOPAD;
use nkeys::{KeyPair, XKey};
use v6gap_core::fleet::id::Word;
use v6gap_core::fleet::message::{Command, Order, Signed};

/// Writes orders: what the coordinator has.
#[derive(Debug)]
pub struct Writer {
    /// Signs.
    pub jobs: KeyPair,
    /// Seals.
    pub seals: XKey,
}

/// Reads orders: what an agent has.
#[derive(Debug)]
pub struct Reader {
    jobs: KeyPair,
    seals: XKey,
    own: XKey,
}

/// Why an order is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOrder {
    /// It is no message of this kind.
    Unreadable,
    /// The coordinator did not sign it.
    Unsigned,
    /// Its word was not sealed for this host.
    Unsealed,
}

impl Writer {
    /// An order as it is sent to the host whose public key is `to`.
    ///
    /// # Errors
    /// If the key is none.
    pub fn write(&self, command: &Command, to: &str) -> Result<Vec<u8>, FleetError> {
        let mut command = command.clone();
        if let Order::Prepare(prepare) = &mut command.order {
            let sealed =
                self.seals.seal(prepare.word.as_str().as_bytes(), &XKey::from_public_key(to)?)?;
            prepare.word = Word::new(BASE64URL_NOPAD.encode(&sealed));
        }
        let unwritten = |error| FleetError::refused("an order", error);
        let body = serde_json::to_string(&command).map_err(unwritten)?;
        let signature = BASE64URL_NOPAD.encode(&self.jobs.sign(body.as_bytes())?);
        serde_json::to_vec(&Signed { body, signature }).map_err(unwritten)
    }
}

impl Reader {
    /// With the keys of an agent's credentials.
    ///
    /// # Errors
    /// If one is none.
    pub fn of(letter: &Letter) -> Result<Self, FleetError> {
        Ok(Reader {
            jobs: KeyPair::from_public_key(&letter.jobs)?,
            seals: XKey::from_public_key(&letter.seals)?,
            own: XKey::from_seed(&letter.seal)?,
        })
    }

    /// The order in a message, its word in plain text.
    ///
    /// # Errors
    /// Why it is none. Nothing of a message that is not signed is read.
    pub fn read(&self, message: &[u8]) -> Result<Command, NoOrder> {
        let signed: Signed = serde_json::from_slice(message).map_err(|_| NoOrder::Unreadable)?;
        let signature = BASE64URL_NOPAD.decode(signed.signature.as_bytes());
        let signature = signature.map_err(|_| NoOrder::Unsigned)?;
        let good = self.jobs.verify(signed.body.as_bytes(), &signature);
        good.map_err(|_| NoOrder::Unsigned)?;
        let mut command: Command =
            serde_json::from_str(&signed.body).map_err(|_| NoOrder::Unreadable)?;
        if let Order::Prepare(prepare) = &mut command.order {
            let word = self.open(&prepare.word).ok_or(NoOrder::Unsealed)?;
            prepare.word = Word::new(word);
        }
        Ok(command)
    }

    fn open(&self, word: &Word) -> Option<String> {
        let sealed = BASE64URL_NOPAD.decode(word.as_str().as_bytes()).ok()?;
        String::from_utf8(self.own.open(&sealed, &self.seals).ok()?).ok()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use v6gap_core::fleet::id::{JobId, Nonce, Token};
    use v6gap_core::fleet::message::{Peer, Prepare, Role, Start};

    struct Both {
        writer: Writer,
        reader: Reader,
        /// Public key of the reader.
        own: String,
    }

    fn both() -> Both {
        let writer = Writer { jobs: KeyPair::new_user(), seals: XKey::new() };
        let own = XKey::new();
        let public = own.public_key();
        let jobs = KeyPair::from_public_key(&writer.jobs.public_key()).unwrap();
        let seals = XKey::from_public_key(&writer.seals.public_key()).unwrap();
        Both { writer, reader: Reader { jobs, seals, own }, own: public }
    }

    /// An order to rome/a.
    pub(crate) fn prepare() -> Command {
        let prepare = Prepare {
            job: JobId::from_bits(1),
            token: Token(7),
            attempt: 0,
            role: Role::Client,
            peer: Peer { name: "oslo/b".parse().unwrap(), addresses: Vec::new() },
            port: None,
            word: Word::from_bits([1, 2, 3]),
            longest_ns: 1,
            plan: String::new(),
            needs: Vec::new(),
            continued: None,
        };
        let order = Order::Prepare(Box::new(prepare));
        Command { version: 1, to: "rome/a".parse().unwrap(), number: 1, order }
    }

    #[test]
    fn an_order_comes_as_it_was_given_and_its_word_is_in_no_message() {
        let both = both();
        let command = prepare();
        let message = both.writer.write(&command, &both.own).unwrap();
        assert_eq!(both.reader.read(&message), Ok(command));
        let word = Word::from_bits([1, 2, 3]);
        let text = String::from_utf8(message).unwrap();
        assert!(!text.contains(word.as_str()));
        let mut without = prepare();
        if let Order::Prepare(prepare) = &mut without.order {
            prepare.word = Word::none();
        }
        let message = both.writer.write(&without, &both.own).unwrap();
        assert_eq!(both.reader.read(&message), Ok(without));
    }

    #[test]
    fn what_another_signed_or_somebody_changed_is_no_order() {
        let (both, other) = (both(), both());
        let start = Start { token: Token(7), nonce: Nonce(1), unix_ns: None };
        let command = Command { order: Order::Start(start), ..prepare() };
        let forged = other.writer.write(&command, &both.own).unwrap();
        assert_eq!(both.reader.read(&forged), Err(NoOrder::Unsigned));
        let message = both.writer.write(&command, &both.own).unwrap();
        let changed = String::from_utf8(message.clone()).unwrap().replace(":7", ":8");
        assert_eq!(both.reader.read(changed.as_bytes()), Err(NoOrder::Unsigned));
        assert!(both.reader.read(&message).is_ok());
        assert_eq!(both.reader.read(b"{}"), Err(NoOrder::Unreadable));
    }

    #[test]
    fn a_word_that_is_sealed_for_another_is_not_read() {
        let both = both();
        let other = XKey::new().public_key();
        let message = both.writer.write(&prepare(), &other).unwrap();
        assert_eq!(both.reader.read(&message), Err(NoOrder::Unsealed));
    }
}
