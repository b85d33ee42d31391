//! Handshakes between ends that know each other, and those that do not.

use super::*;
use crate::control::Pinned;
use crate::hex;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use v6gap_core::wire::version::{SPOKEN, VersionRange};

fn preambles() -> Preambles {
    let control = Control { versions: SPOKEN };
    Preambles { client: control, server: control, nonce: Nonce([7; Nonce::BYTES]) }
}

/// Both ends of a handshake that a client with one key makes with a server with another.
fn handshake(client: &Key, server: &Key) -> (Result<Sealed, Trouble>, Option<Proved>) {
    let (initiator, first) = Initiator::begin(client, &preambles()).unwrap();
    let Ok((responder, answer)) = Responder::begin(server, &preambles(), &first) else {
        return (Err(Trouble::Key), None);
    };
    assert_eq!(answer.len(), initiator.awaits());
    match initiator.complete(&answer) {
        Ok((sealed, last)) => {
            assert_eq!(last.len(), responder.awaits());
            (Ok(sealed), responder.complete(&last).ok())
        }
        Err(trouble) => (Err(trouble), None),
    }
}

/// Both ends of a connection, by keys that fit.
pub(crate) fn pair_of(client: &Key, server: &Key) -> (Sealed, Sealed) {
    let (client, server) = handshake(client, server);
    (client.unwrap(), server.unwrap().sealed)
}

/// The keys of the end with that number, whose peers are the others with theirs.
pub(crate) fn pinned(number: u8, peers: &[u8]) -> Key {
    let (file, _) = Pinned::new_file([number; KEY_BYTES]);
    let lines = peers.iter().map(|peer| format!("peer end-{peer} {}\n", public(*peer)));
    Key::of_pinned(&(file + &lines.collect::<String>())).unwrap()
}

/// By which others know it.
pub(crate) fn public(number: u8) -> PublicKey {
    Pinned::new_file([number; KEY_BYTES]).1
}

#[test]
fn both_ends_know_their_connection_from_others() {
    let word = Key::of_word("word").unwrap();
    for (client, server) in [(word.clone(), word), (pinned(1, &[2]), pinned(2, &[1]))] {
        let ((here, there), (other, _)) = (pair_of(&client, &server), pair_of(&client, &server));
        assert_eq!(here.handshake(), there.handshake());
        assert_ne!(here.handshake(), other.handshake());
    }
}

#[test]
fn another_key_or_preamble_ends_the_handshake() {
    for (client, server) in [
        (Key::of_word("word").unwrap(), Key::of_word("sword").unwrap()),
        (pinned(1, &[2]), pinned(2, &[1])),
    ] {
        let (_, first) = Initiator::begin(&client, &preambles()).unwrap();
        let versions = VersionRange::new(1, 9).unwrap();
        let forged = Preambles { client: Control { versions }, ..preambles() };
        assert!(Responder::begin(&server, &forged, &first).is_err());
        let later = Preambles { nonce: Nonce([8; Nonce::BYTES]), ..preambles() };
        assert!(Responder::begin(&server, &later, &first).is_err());
    }
    let [word, other] = ["word", "sword"].map(|word| Key::of_word(word).unwrap());
    for (client, server) in [
        (&word, &other),
        (&word, &pinned(2, &[1])),
        (&pinned(1, &[2]), &word),
        (&pinned(1, &[2]), &Key::none()),
    ] {
        assert!(matches!(handshake(client, server), (Err(Trouble::Key), None)));
    }
}

#[test]
fn peers_prove_who_they_are_and_strangers_that_they_are_none() {
    let who = |client: &Key| handshake(client, &pinned(9, &[1, 2])).1.unwrap().who;
    assert_eq!(who(&pinned(2, &[9])), Who::Peer("end-2".to_owned()));
    assert_eq!(who(&pinned(3, &[9])), Who::Stranger(public(3)));
}

#[test]
fn a_client_tells_nobody_but_a_peer_who_it_is() {
    let (client, server) = handshake(&pinned(1, &[2]), &pinned(3, &[1]));
    assert!(matches!(client, Err(Trouble::Unpinned { public: told }) if told == public(3)));
    assert!(server.is_none());
}

/// Says that its public key is another's.
struct Liar(Box<dyn Dh>, Option<Vec<u8>>);

impl Dh for Liar {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn pub_len(&self) -> usize {
        self.0.pub_len()
    }
    fn priv_len(&self) -> usize {
        self.0.priv_len()
    }
    fn set(&mut self, private: &[u8]) {
        // A key that is set is the lasting one; those of a connection are generated.
        self.1 = Some(hex::octets_of(&public(private[0] - 1).to_string()).unwrap());
        self.0.set(private);
    }
    fn generate(&mut self, random: &mut dyn Random) -> Result<(), snow::Error> {
        self.0.generate(random)
    }
    fn pubkey(&self) -> &[u8] {
        self.1.as_deref().unwrap_or(self.0.pubkey())
    }
    fn privkey(&self) -> &[u8] {
        self.0.privkey()
    }
    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        self.0.dh(public, out)
    }
}

struct Lies;

impl CryptoResolver for Lies {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        DefaultResolver.resolve_rng()
    }
    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        Some(Box::new(Liar(DefaultResolver.resolve_dh(choice)?, None)))
    }
    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }
    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// A side of the handshake that has the key of end 3 and says that it is end 2.
fn liar(build: impl FnOnce(Builder<'_>) -> HandshakeState) -> HandshakeState {
    let key = pinned(3, &[1]);
    let own = key.pinned().unwrap();
    let builder = Builder::with_resolver(PINNED.parse().unwrap(), Box::new(Lies));
    let prologue = preambles().bytes();
    let builder = builder.local_private_key(own.private()).unwrap();
    build(builder.psk(3, own.word()).unwrap().prologue(&prologue).unwrap())
}

/// Whoever knows the public keys of both, and the private one of neither.
#[test]
fn public_keys_alone_are_of_no_use() {
    let mut server = liar(|builder| builder.build_responder().unwrap());
    let (client, first) = Initiator::begin(&pinned(1, &[2]), &preambles()).unwrap();
    let mut answer = vec![0; client.awaits()];
    server.read_message(&first, &mut []).unwrap();
    server.write_message(&[], &mut answer).unwrap();
    assert!(matches!(client.complete(&answer), Err(Trouble::Key)));

    let mut client = liar(|builder| builder.build_initiator().unwrap());
    let mut first = [0; FIRST_BYTES];
    client.write_message(&[], &mut first).unwrap();
    let (server, answer) = Responder::begin(&pinned(1, &[2]), &preambles(), &first).unwrap();
    client.read_message(&answer, &mut []).unwrap();
    let mut last = vec![0; server.awaits()];
    client.write_message(&[], &mut last).unwrap();
    assert!(server.complete(&last).is_err());
}
