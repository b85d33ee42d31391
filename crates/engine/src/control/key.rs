//! What an end of a control connection proves itself with: a word that both share, or keys of its
//! own and of the others.

use super::pinned::{KEY_BYTES, NoPinnedKeys, Pinned};
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use std::fmt;
use std::sync::Arc;

/// Binds the key to this use, so that the same word elsewhere gives another key.
const LABEL: &[u8] = b"v6gap control key 1\0";

/// What an end proves itself with.
///
/// The key of a word is one hash of it, so who records a handshake can try words at leisure: the
/// word should be long and random.
#[derive(Clone)]
pub struct Key(pub(super) Kind);

/// The kinds of keys.
#[derive(Clone)]
pub(super) enum Kind {
    /// The key of a word that all who may measure share.
    Shared([u8; KEY_BYTES]),
    /// A private key of this end's own, and whom it measures with.
    Pinned(Arc<Pinned>),
}

/// A word that is no secret: nothing, or white space alone. Its key would be known to everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an empty word is no key")]
pub struct EmptyWord;

impl Key {
    /// The key of ends that share no word. Everybody knows it, so that it proves nothing; it only
    /// keeps accidents out.
    pub fn none() -> Self {
        Key(Kind::Shared(word_key("")))
    }

    /// The key of a shared word.
    ///
    /// # Errors
    /// If the word is empty or white space alone: a variable that is not set must not open a
    /// server to everybody.
    pub fn of_word(word: &str) -> Result<Self, EmptyWord> {
        if word.trim().is_empty() { Err(EmptyWord) } else { Ok(Key(Kind::Shared(word_key(word)))) }
    }

    /// The pinned keys in a text.
    ///
    /// # Errors
    /// If the text is something else.
    pub fn of_pinned(text: &str) -> Result<Self, NoPinnedKeys> {
        Ok(Key(Kind::Pinned(Arc::new(Pinned::of_text(text)?))))
    }

    /// The same towards the host called `name`, which has to prove the key of the peers of that
    /// name where there are any.
    #[must_use]
    pub fn towards(&self, name: &str) -> Self {
        match &self.0 {
            Kind::Shared(_) => self.clone(),
            Kind::Pinned(pinned) => Key(Kind::Pinned(Arc::new(pinned.towards(name)))),
        }
    }

    /// The pinned keys, if it is made of such.
    pub fn pinned(&self) -> Option<&Pinned> {
        match &self.0 {
            Kind::Shared(_) => None,
            Kind::Pinned(pinned) => Some(pinned),
        }
    }

    /// Whether it takes more to have it, or to be let in by it, than to ask.
    pub fn is_secret(&self) -> bool {
        match &self.0 {
            Kind::Shared(key) => *key != word_key(""),
            Kind::Pinned(_) => true,
        }
    }
}

/// The pre-shared key that a word makes.
pub(super) fn word_key(word: &str) -> [u8; KEY_BYTES] {
    let mut hash = DefaultResolver
        .resolve_hash(&HashChoice::Blake2s)
        .expect("the default resolver has BLAKE2s, which the Noise patterns need too");
    hash.input(LABEL);
    hash.input(word.as_bytes());
    let mut key = [0; KEY_BYTES];
    hash.result(&mut key);
    key
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_different_keys_that_do_not_show() {
        assert_eq!(word_key("a"), word_key("a"));
        assert_ne!(word_key("a"), word_key("b"));
        assert!(Key::of_word("a").unwrap().is_secret() && !Key::none().is_secret());
        assert_eq!(format!("{:?}", Key::none()), "Key(…)");
    }

    #[test]
    fn an_empty_word_makes_no_key() {
        for word in ["", " ", "\t", "\n", "\u{a0}"] {
            assert_eq!(Key::of_word(word).err(), Some(EmptyWord), "{word:?}");
        }
    }
}
