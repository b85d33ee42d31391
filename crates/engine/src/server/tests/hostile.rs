//! What clients that are up to no good, or gone, can do to a server and to the clients beside them.

use super::*;
use crate::control::handshake::{Initiator, Preambles};
use crate::control::seal::Sealed;
use std::time::Instant;
use v6gap_core::wire::control::{Hello, Message, RefusalCode};
use v6gap_core::wire::preamble::{Control, Nonce};
use v6gap_core::wire::version::SPOKEN;

/// A client that does as it is told by a test.
pub(super) struct Puppet {
    pub(super) stream: Stream,
    sealed: Sealed,
    /// What it said until the handshake was complete.
    pub(super) said: Vec<u8>,
}

impl Puppet {
    /// Completes the handshake and says nothing more.
    pub(super) fn greet(served: &Served, family: Family, key: &Key) -> Puppet {
        let stream = served.connect(family);
        let control = Control { versions: SPOKEN };
        stream.write_all(&control.encode()).unwrap();
        let mut answer = [0; Control::BYTES + Nonce::BYTES];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..Control::BYTES], control.encode());
        let nonce = Nonce(answer[Control::BYTES..].try_into().unwrap());
        let preambles = Preambles { client: control, server: control, nonce };
        let (initiator, message) = Initiator::begin(key, &preambles).unwrap();
        stream.write_all(&message).unwrap();
        let mut answer = vec![0; initiator.awaits()];
        stream.read_exact(&mut answer).unwrap();
        let (sealed, last) = initiator.complete(&answer).unwrap();
        stream.write_all(&last).unwrap();
        Puppet { stream, sealed, said: [&control.encode()[..], &message, &last].concat() }
    }

    pub(super) fn say(&mut self, message: &Message) {
        let bytes = self.sealed.seal(message).unwrap();
        self.stream.write_all(&bytes).unwrap();
    }

    /// The next message; `None` if the server has closed the connection.
    pub(super) fn hear(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.sealed.next().unwrap() {
                return Some(message);
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(read) if read > 0 => self.sealed.take(&bytes[..read]).unwrap(),
                Err(error) if ErrorClass::of(&error).is_timeout() => panic!("the server is silent"),
                _ => return None,
            }
        }
    }
}

/// The greeting of a host of that name.
pub(super) fn hello(name: &str, wait: bool) -> Message {
    Message::Hello(Hello { tool: "test 1".to_string(), host: host(name), want: Vec::new(), wait })
}

/// All that comes until the other end closes.
pub(super) fn until_closed(stream: &Stream) -> Vec<u8> {
    let mut all = Vec::new();
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut bytes) {
        all.extend_from_slice(&bytes[..read]);
    }
    all
}

#[test]
fn a_recorded_greeting_gets_nothing_beyond_the_preamble() {
    let key = word("garden");
    let served = Served::new(|options| options.key = Some(key.clone()));
    let recorded = Puppet::greet(&served, Family::V6, &key).said;
    for family in Family::BOTH {
        let stream = served.connect(family);
        stream.write_all(&recorded).unwrap();
        let heard = until_closed(&stream);
        assert_eq!(heard.len(), Control::BYTES + Nonce::BYTES, "{heard:?}");
    }
    // Nobody has joined until somebody says hello.
    let keyed = ClientOptions { key, ..options("client") };
    open(served.addresses, &keyed).unwrap().close();
    let first = served.events.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(first, ServerEvent::Joined { session: 0, .. }), "{first:?}");
}

#[test]
fn ends_of_the_first_version_are_told_from_both_sides() {
    let served = Served::new(|_| {});
    let old = served.connect(Family::V4);
    old.write_all(b"v6gC\x01\x01\0\0").unwrap();
    // It reads as many bytes as it knows of, and finds that the server is newer.
    let ours = [b"v6gC" as &[u8], &[SPOKEN.lowest(), SPOKEN.highest(), 0, 0]].concat();
    assert_eq!(until_closed(&old)[..8], ours);

    let listener = Listener::bind(SocketAddr::new(Family::V4.loopback(), 0), 8).unwrap();
    let addresses = PerFamily { v4: Some(listener.local().unwrap()), v6: None };
    let server = thread::spawn(move || {
        let stream = listener.accept().unwrap();
        stream.read_exact(&mut [0; 8]).unwrap();
        stream.write_all(b"v6gC\x01\x01\0\0").unwrap();
    });
    let problem = open(addresses, &options("client")).err().unwrap().problems.v4.unwrap();
    let too_old = matches!(problem.trouble, Trouble::Version(VersionMismatch::PeerTooOld { .. }));
    assert!(too_old, "{problem}");
    server.join().unwrap();
}

#[test]
fn greeted_but_silent_connections_are_no_sessions_and_block_nobody() {
    let served = Served::new(|_| {});
    let key = Key::none();
    let silent: Vec<Puppet> =
        (0..60).map(|i| Puppet::greet(&served, Family::BOTH[i % 2], &key)).collect();
    let started = Instant::now();
    let mut connection = open(served.addresses, &options("client")).unwrap();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    run(&mut connection, served.addresses, 0);
    connection.close();
    let first = served.events.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(first, ServerEvent::Joined { session: 0, .. }), "{first:?}");
    drop(silent);
}

#[test]
fn a_greeted_connection_that_is_crowded_out_is_told_so() {
    let served = Served::new(|_| {});
    let mut silent = Puppet::greet(&served, Family::V6, &Key::none());
    let flood: Vec<Stream> = (0..300).map(|_| served.connect(Family::V6)).collect();
    let Some(Message::Refused(refused)) = silent.hear() else { panic!("no word") };
    assert_eq!(refused.code, RefusalCode::Crowded);
    assert!(refused.why.contains("your network"), "{}", refused.why);
    drop(flood);
}

#[test]
fn what_is_no_hello_or_too_long_a_one_ends_a_greeting() {
    let served = Served::new(|_| {});
    for message in [Message::Bye, hello(&"x".repeat(17 << 10), false)] {
        let mut puppet = Puppet::greet(&served, Family::V6, &Key::none());
        puppet.say(&message);
        assert_eq!(puppet.hear(), None);
    }
}

#[test]
fn data_connections_that_no_task_collects_are_closed() {
    let served = Served::new(|_| {});
    let mut connection = open(served.addresses, &options("client")).unwrap();
    let echo = Echo { transport: Transport::Udp, connections: 2, ..Echo::default() };
    let arms = [(Arm::A, Family::V4), (Arm::B, Family::V6)];
    let arms = arms.map(|(arm, family)| TaskArm { arm, family }).to_vec();
    let task = Task { workload: Workload::Echo(echo), arms, ..task(1, 1) };
    let mut closed = 0;
    let _ = connection.run_task(&task, |task| {
        let preamble = |i| Data { token: task.token, arm: Arm::A, connection: i }.encode();
        let flood: Vec<Stream> = (0..40).map(|_| served.connect(Family::V6)).collect();
        for (i, stream) in (0..).zip(&flood) {
            stream.write_all(&preamble(i)).unwrap();
        }
        // All but as many as the task is for.
        for stream in &flood {
            closed += u32::from(stream.wait_readable(500_000_000).unwrap());
        }
        Err::<(), _>("nothing was measured")
    });
    assert_eq!(closed, 40 - 4);
}

/// Whom it does not know a public server tells what a comparison needs, and no more.
#[test]
fn a_public_server_tells_strangers_little() {
    let mut told = host("server");
    for name in ["kernel", "hypervisor", "architecture"] {
        told.facts.insert(name.to_string(), "x".to_string());
    }
    let facts = |public, key: Option<Key>| {
        let mut told = Some(told.clone());
        let served = Served::new(|options| {
            (options.public, options.key) = (public, key.clone());
            options.host = told.take().unwrap();
        });
        let client =
            ClientOptions { key: key.clone().unwrap_or_else(Key::none), ..options("client") };
        let connection = open(served.addresses, &client).unwrap();
        let welcome = &connection.opened().welcome;
        let names: Vec<String> = welcome.host.facts.keys().cloned().collect();
        let ahead_ns = connection.opened().offset.unwrap().ns;
        connection.close();
        (names, ahead_ns > 1_000_000_000)
    };
    let all = ["architecture", "hypervisor", "kernel"].map(str::to_string);
    assert_eq!(facts(false, None), (all.to_vec(), false));
    assert_eq!(facts(true, Some(word("garden"))), (all.to_vec(), false));
    assert_eq!(facts(true, None), (all[..1].to_vec(), true));
}
