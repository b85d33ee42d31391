//! Servers and clients that have pinned each other's public keys.

use super::hostile::{Puppet, until_closed};
use super::silent::answer;
use super::*;
use crate::control::handshake::tests::{pinned, public};
use crate::control::handshake::{Initiator, Preambles};
use crate::server::TurnedAway;
use v6gap_core::wire::preamble::{Control, Nonce};

const SERVER: u8 = 9;

/// What a server says of itself in the clear.
const PREAMBLE: usize = Control::BYTES + Nonce::BYTES;

fn served() -> Served {
    Served::new(|options| options.key = Some(pinned(SERVER, &[1, 2])))
}

/// What a client with that key is told.
fn trouble(served: &Served, key: Key) -> Trouble {
    let client = ClientOptions { key, ..options("client") };
    open(served.addresses, &client).err().unwrap().problems.v4.unwrap().trouble
}

#[test]
fn a_peer_measures_and_is_told_by_its_name() {
    let served = served();
    let client = ClientOptions { key: pinned(2, &[SERVER]), ..options("client") };
    let mut connection = open(served.addresses, &client).unwrap();
    run(&mut connection, served.addresses, 0);
    connection.close();
    let joined = served.await_event(|event| matches!(event, ServerEvent::Joined { .. }));
    assert!(matches!(joined, ServerEvent::Joined { name: Some(name), .. } if name == "end-2"));
    // It calls itself otherwise.
    let admitted = served.await_event(|event| matches!(event, ServerEvent::Admitted { .. }));
    assert!(matches!(admitted, ServerEvent::Admitted { by, .. } if by == "end-2"));
}

#[test]
fn a_stranger_is_told_which_key_is_missing_and_joins_nothing() {
    let served = served();
    let public = public(3);
    let trouble = trouble(&served, pinned(3, &[SERVER]));
    assert!(matches!(&trouble, Trouble::Stranger { why } if why.contains(&public.to_string())));
    let first = served.events.recv_timeout(PATIENCE).unwrap();
    let why = TurnedAway::Stranger(public);
    assert!(matches!(first, ServerEvent::TurnedAway { why: told, .. } if told == why), "{first:?}");
}

/// Bytes that a server answers a client with that key and stops before its last message.
fn answered(served: &Served, key: &Key) -> usize {
    let stream = served.connect(Family::V4);
    let control = Control { versions: SPOKEN };
    stream.write_all(&control.encode()).unwrap();
    let mut told = [0; PREAMBLE];
    stream.read_exact(&mut told).unwrap();
    let nonce = Nonce(told[Control::BYTES..].try_into().unwrap());
    let preambles = Preambles { client: control, server: control, nonce };
    stream.write_all(&Initiator::begin(key, &preambles).unwrap().1).unwrap();
    // Its end is looked at once the answer, if there is one, has been sent.
    stream.shutdown_write().unwrap();
    until_closed(&stream).len()
}

#[test]
fn another_kind_of_key_gets_no_answer_to_its_handshake() {
    let keyed = Served::new(|options| options.key = Some(word("garden")));
    let served = served();
    for (server, key) in
        [(&served, Key::none()), (&served, word("garden")), (&keyed, pinned(1, &[SERVER]))]
    {
        assert_eq!(answered(server, &key), 0);
        let trouble = trouble(server, key);
        assert!(matches!(trouble, Trouble::Key), "{trouble}");
    }
    assert_eq!(answered(&served, &pinned(1, &[SERVER])), 96);
}

/// Greets as a server with pinned keys does; what the client says after the answer.
fn heard_by(server: Key) -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = Listener::bind(SocketAddr::new(Family::V4.loopback(), 0), 8).unwrap();
    let address = listener.local().unwrap();
    let heard = thread::spawn(move || {
        let (stream, _) = answer(&listener, &server);
        let mut first = [0; 64];
        let read = stream.read(&mut first).unwrap_or(0);
        first[..read].to_vec()
    });
    (address, heard)
}

#[test]
fn a_server_that_is_not_pinned_is_not_told_who_asked() {
    for (peers, told) in [(vec![SERVER], true), (vec![8], false)] {
        let (address, heard) = heard_by(pinned(SERVER, &[1]));
        let client = ClientOptions { key: pinned(1, &peers), ..options("client") };
        let addresses = PerFamily { v4: Some(address), v6: None };
        let problem = open(addresses, &client).err().unwrap().problems.v4.unwrap();
        assert_eq!(!heard.join().unwrap().is_empty(), told);
        // One that hears it out and closes has turned the client away.
        match problem.trouble {
            Trouble::TurnedAway => assert!(told),
            Trouble::Unpinned { public: proved } => assert!(!told && proved == public(SERVER)),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_recorded_handshake_of_a_peer_gets_nothing_beyond_the_preamble() {
    let served = served();
    let recorded = Puppet::greet(&served, Family::V6, &pinned(1, &[SERVER])).said;
    let stream = served.connect(Family::V6);
    stream.write_all(&recorded).unwrap();
    assert_eq!(until_closed(&stream).len(), PREAMBLE);
}
