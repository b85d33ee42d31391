//! Pinned keys: a private key that never leaves its host, and the public keys of the ends that it
//! measures with, as in a file that [`Pinned::new_file`] begins and its owner goes on with:
//!
//! ```text
//! v6gap pinned keys
//! private 0123…
//! peer lab-a 4567…
//! ```
//!
//! Keys are of X25519 (RFC 7748), 64 hexadecimal digits each; `#` begins a remark. A name may have
//! several keys, and a host that is asked for by that name has to prove one of them.

use super::key::word_key;
use crate::hex;
use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::Dh;
use std::fmt;

/// Octets of a key.
pub(super) const KEY_BYTES: usize = 32;

/// The first line of a file with pinned keys.
const HEADING: &str = "v6gap pinned keys";

/// Most peers of one end; looking for one must stay cheap, and a file with so many must be read.
const PEERS_MAX: usize = 500;

/// By which others know an end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; KEY_BYTES]);

/// A private key, and whom its end measures with.
#[derive(Clone)]
pub struct Pinned {
    private: [u8; KEY_BYTES],
    peers: Vec<Peer>,
    /// The pattern has a word mixed in; everybody knows this one.
    word: [u8; KEY_BYTES],
}

/// An end that may be spoken with.
#[derive(Clone)]
struct Peer {
    name: String,
    public: PublicKey,
}

/// Why a text holds no pinned keys. None of it shows what is in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPinnedKeys {
    /// A line is not what it should be.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1 on.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The private key is missing.
    #[error("no line `private KEY`")]
    Private,
    /// Nobody could be measured with.
    #[error("no line `peer NAME PUBLIC-KEY`: there is nobody to measure with")]
    Peer,
}

impl Pinned {
    /// Whether a text is meant to have pinned keys, right or wrong: what stands in the clear there
    /// must never be taken for a word that others do not know.
    pub fn is_in(text: &str) -> bool {
        let begins = lines(text).next().is_some_and(|(_, line)| line.starts_with(HEADING));
        let is_private = |line: &str| line.strip_prefix("private ").is_some_and(is_key);
        begins || lines(text).any(|(_, line)| is_private(line))
    }

    /// The keys in a text.
    ///
    /// # Errors
    /// If a line is something else, or a key is missing.
    pub fn of_text(text: &str) -> Result<Self, NoPinnedKeys> {
        let (mut private, mut peers) = (None, Vec::new());
        let mut lines = lines(text);
        let heading = lines.next();
        if heading.is_none_or(|(_, line)| line != HEADING) {
            let line = heading.map_or(1, |(number, _)| number);
            return Err(NoPinnedKeys::Line { line, what: "it has to be `v6gap pinned keys`" });
        }
        for (line, said) in lines {
            let wrong = |what| NoPinnedKeys::Line { line, what };
            match said.split_whitespace().collect::<Vec<_>>()[..] {
                ["private", key] if private.is_none() => {
                    private = Some(key_of(key).ok_or(wrong(DIGITS))?);
                }
                ["private", _] => return Err(wrong("a second private key")),
                ["peer", name, key] if peers.len() < PEERS_MAX => {
                    let public = PublicKey(key_of(key).ok_or(wrong(DIGITS))?);
                    if public.is_of_nobody() {
                        return Err(wrong("a public key that takes no private one"));
                    }
                    peers.push(Peer { name: name.to_owned(), public });
                }
                ["peer", _, _] => return Err(wrong("more than 500 peers")),
                _ => return Err(wrong("neither `private KEY` nor `peer NAME PUBLIC-KEY`")),
            }
        }
        let private = private.ok_or(NoPinnedKeys::Private)?;
        if peers.is_empty() {
            return Err(NoPinnedKeys::Peer);
        }
        Ok(Pinned { private, peers, word: word_key("") })
    }

    /// The text of a file with the private key that `random` makes, still without peers, and the
    /// public key that belongs to it.
    pub fn new_file(random: [u8; KEY_BYTES]) -> (String, PublicKey) {
        let public = public_of(&random);
        let text = format!(
            "{HEADING}\n\
             # The private key of this computer, which nobody else may have. Its public key is\n\
             # {public}\n\
             private {}\n\
             # Who measures with this computer, a line each: peer NAME PUBLIC-KEY\n",
            PublicKey(random)
        );
        (text, public)
    }

    /// By which others know this end.
    pub fn public(&self) -> PublicKey {
        public_of(&self.private)
    }

    /// The same towards the host called `name`: with the peers of that name alone, if there are
    /// any.
    pub(super) fn towards(&self, name: &str) -> Self {
        let named: Vec<Peer> =
            self.peers.iter().filter(|peer| peer.name == name).cloned().collect();
        let peers = if named.is_empty() { self.peers.clone() } else { named };
        Pinned { peers, ..self.clone() }
    }

    /// The name of the peer with that key, if it is one.
    pub(super) fn peer(&self, public: &PublicKey) -> Option<&str> {
        let mut peers = self.peers.iter();
        peers.find(|peer| peer.public == *public).map(|peer| peer.name.as_str())
    }

    pub(super) fn private(&self) -> &[u8; KEY_BYTES] {
        &self.private
    }

    pub(super) fn word(&self) -> &[u8; KEY_BYTES] {
        &self.word
    }
}

const DIGITS: &str = "a key has 64 hexadecimal digits";

/// What the lines of a text say, with their numbers: no remarks, no empty lines, and no mark by
/// which some editors begin a file.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let said = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let numbered = said.enumerate().map(|(place, line)| (place + 1, line));
    numbered.filter(|(_, line)| !line.is_empty())
}

fn is_key(digits: &str) -> bool {
    key_of(digits.trim()).is_some()
}

fn key_of(digits: &str) -> Option<[u8; KEY_BYTES]> {
    hex::octets_of(digits)?.try_into().ok()
}

/// A private key with its public one.
fn pair_of(private: &[u8; KEY_BYTES]) -> Box<dyn Dh> {
    let mut pair = DefaultResolver
        .resolve_dh(&DHChoice::Curve25519)
        .expect("the default resolver has X25519, which the Noise patterns need too");
    pair.set(private);
    pair
}

fn public_of(private: &[u8; KEY_BYTES]) -> PublicKey {
    PublicKey::of(pair_of(private).pubkey()).expect("a public key of X25519 has 32 octets")
}

impl PublicKey {
    /// The key of these octets, if they are as many as a key has.
    pub(super) fn of(octets: &[u8]) -> Option<Self> {
        octets.try_into().ok().map(PublicKey)
    }

    /// Whether all private keys share the same secret with it, zero, so that it is proved by
    /// nothing: a point of small order (RFC 7748 section 6.1).
    fn is_of_nobody(&self) -> bool {
        let mut shared = [0; KEY_BYTES];
        pair_of(&[1; KEY_BYTES]).dh(&self.0, &mut shared).is_err() || shared == [0; KEY_BYTES]
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

#[cfg(test)]
mod tests;
