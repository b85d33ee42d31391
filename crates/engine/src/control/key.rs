//! The secret that both ends of a control connection know, made from a shared word.

use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use std::fmt;

/// Binds the key to this use, so that the same word elsewhere gives another key.
const LABEL: &[u8] = b"v6gap control key 1\0";

/// The pre-shared key of the Noise handshake.
///
/// It is one hash of the word, so who records a handshake can try words at leisure: the word should
/// be long and random. Without a word the key is a known one and proves nothing; it only keeps
/// accidents out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of a word; of none, the known one.
    pub fn new(word: Option<&str>) -> Self {
        let mut hash = DefaultResolver
            .resolve_hash(&HashChoice::Blake2s)
            .expect("the default resolver has BLAKE2s, which the Noise pattern needs too");
        hash.input(LABEL);
        hash.input(word.unwrap_or_default().as_bytes());
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
        assert_eq!(Key::new(Some("a")), Key::new(Some("a")));
        assert_ne!(Key::new(Some("a")), Key::new(Some("b")));
        assert_ne!(Key::new(None), Key::new(Some("a")));
        assert_eq!(format!("{:?}", Key::new(None)), "Key(…)");
    }
}
