//! The secret that both ends of a control connection know, made from a shared word.

use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use std::fmt;

/// Binds the key to this use, so that the same word elsewhere gives another key.
const LABEL: &[u8] = b"v6gap control key 1\0";

/// The pre-shared key of the Noise handshake.
///
/// It is one hash of the word, so who records a handshake can try words at leisure: the word should
/// be long and random.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// A word that is no secret: nothing, or white space alone. Its key would be known to everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an empty word is no key")]
pub struct EmptyWord;

impl Key {
    /// The key of ends that share no word. Everybody knows it, so that it proves nothing; it only
    /// keeps accidents out.
    pub fn none() -> Self {
        Key::hash("")
    }

    /// The key of a shared word.
    ///
    /// # Errors
    /// If the word is empty or white space alone: a variable that is not set must not open a
    /// server to everybody.
    pub fn of_word(word: &str) -> Result<Self, EmptyWord> {
        if word.trim().is_empty() { Err(EmptyWord) } else { Ok(Key::hash(word)) }
    }

    /// Whether it was made of a word, so that who has it was told.
    pub fn is_secret(&self) -> bool {
        *self != Key::none()
    }

    fn hash(word: &str) -> Self {
        let mut hash = DefaultResolver
            .resolve_hash(&HashChoice::Blake2s)
            .expect("the default resolver has BLAKE2s, which the Noise pattern needs too");
        hash.input(LABEL);
        hash.input(word.as_bytes());
        let mut key = [0; 32];
        hash.result(&mut key);
        Key(key)
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
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
        let of = |word| Key::of_word(word).unwrap();
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert!(of("a").is_secret() && !Key::none().is_secret());
        assert_eq!(format!("{:?}", Key::none()), "Key(…)");
    }

    #[test]
    fn an_empty_word_makes_no_key() {
        for word in ["", " ", "\t", "\n", "\u{a0}"] {
            assert_eq!(Key::of_word(word), Err(EmptyWord), "{word:?}");
        }
    }
}
