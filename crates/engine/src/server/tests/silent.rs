//! Ends that vanish, stop or talk too much: whose turn it is stays bounded, and a client that is
//! well is neither lost nor held.

use super::hostile::{Puppet, hello};
use super::*;
use crate::control::handshake::{FIRST_BYTES, Preambles, Responder};
use crate::control::seal::Sealed;
use std::time::Instant;
use v6gap_core::session::timeout::{PING_NS, PONG_NS};
use v6gap_core::wire::control::{Message, RefusalCode, TaskFailure, Welcome};
use v6gap_core::wire::preamble::{Control, Nonce};
use v6gap_core::wire::version::SPOKEN;

/// In how many seconds a client that is gone has to be, on a machine that is busy too.
const FREED: Duration = Duration::from_secs(15);

/// A puppet that has said hello, as far as it hears of its welcome.
fn welcomed(served: &Served, name: &str) -> Puppet {
    let mut puppet = Puppet::greet(served, Family::V6, &Key::none());
    puppet.say(&hello(name, true));
    assert!(matches!(puppet.hear(), Some(Message::Welcome(_))));
    puppet
}

/// How long a client that is well waits for its turn.
fn wait_of(served: &Served) -> Duration {
    let started = Instant::now();
    let connection = open(served.addresses, &options("client")).unwrap();
    let waited = started.elapsed();
    connection.close();
    waited
}

#[test]
fn who_says_hello_and_nothing_more_holds_up_nobody() {
    let served = Served::new(|_| {});
    let first = welcomed(&served, "silent");
    let others = (0..40).map(|_| {
        let mut puppet = Puppet::greet(&served, Family::V6, &Key::none());
        puppet.say(&hello("silent too", true));
        puppet
    });
    let others: Vec<Puppet> = others.collect();
    let waited = wait_of(&served);
    assert!(waited < Duration::from_secs(3), "{waited:?}");
    drop((first, others));
}

#[test]
fn a_client_that_stops_between_tasks_frees_its_turn() {
    let served = Served::new(|_| {});
    let mut stopped = welcomed(&served, "stopped");
    stopped.say(&Message::Clock { asked_ns: 0 });
    assert!(matches!(stopped.hear(), Some(Message::ClockReply { .. })));
    let waited = wait_of(&served);
    assert!(
        waited < Duration::from_nanos(PING_NS + PONG_NS) + Duration::from_secs(2),
        "{waited:?}"
    );
    assert_eq!(stopped.hear(), Some(Message::Ping));
}

#[test]
fn a_client_that_stops_in_a_task_frees_its_turn() {
    let served = Served::new(|_| {});
    let mut stopped = welcomed(&served, "stopped");
    stopped.say(&Message::Prepare(task(1, 3)));
    assert_eq!(stopped.hear(), Some(Message::Ready { number: 1 }));
    let waited = wait_of(&served);
    assert!(waited < FREED, "{waited:?}");
    let Some(Message::Failed { number: 1, .. }) = stopped.hear() else { panic!() };
    assert_eq!(stopped.hear(), Some(Message::Ping));
}

#[test]
fn a_network_that_has_its_share_is_told_so() {
    let served = Served::new(|options| options.per_source = 2);
    let mut first = welcomed(&served, "first");
    first.say(&Message::Pong);
    let waits = || {
        let mut puppet = Puppet::greet(&served, Family::V6, &Key::none());
        puppet.say(&hello("another", true));
        assert_eq!(puppet.hear(), Some(Message::Ping));
        puppet.say(&Message::Pong);
        puppet
    };
    let mut second = waits();
    assert!(matches!(second.hear(), Some(Message::Queued(_))));
    let Some(Message::Refused(refused)) = waits().hear() else { panic!() };
    assert_eq!(refused.code, RefusalCode::Crowded);
    let six = PerFamily { v4: None, ..served.addresses };
    let problem = open(six, &options("third")).err().unwrap().problems.v6.unwrap();
    assert!(matches!(problem.trouble, Trouble::Crowded { .. }), "{problem}");
    // Another network has its own share.
    let four = PerFamily { v6: None, ..served.addresses };
    let break_off = |_: &_| ControlFlow::Break(());
    let gave_up = Connection::open(four, &options("far"), &mut { break_off });
    let problem = gave_up.err().unwrap().problems.v4.unwrap();
    assert!(matches!(problem.trouble, Trouble::GaveUp), "{problem}");
    served.await_event(|event| matches!(event, ServerEvent::TurnedAway { .. }));
}

/// Greets as a server does, and then does as the test says.
fn pretend<T: Send + 'static>(
    server: impl FnOnce(&Stream, &mut Sealed) -> T + Send + 'static,
) -> (PerFamily<Option<SocketAddr>>, JoinHandle<T>) {
    let listener = Listener::bind(SocketAddr::new(Family::V4.loopback(), 0), 8).unwrap();
    let addresses = PerFamily { v4: Some(listener.local().unwrap()), v6: None };
    (addresses, pretend_at(listener, server))
}

/// The same where it is known where.
pub(super) fn pretend_at<T: Send + 'static>(
    listener: Listener,
    server: impl FnOnce(&Stream, &mut Sealed) -> T + Send + 'static,
) -> JoinHandle<T> {
    thread::spawn(move || {
        let (stream, responder) = answer(&listener, &Key::none());
        let mut sealed = responder.complete(&[]).unwrap().sealed;
        sealed.trust();
        server(&stream, &mut sealed)
    })
}

/// Greets the next client as a server with that key does, and answers its first message.
pub(super) fn answer(listener: &Listener, key: &Key) -> (Stream, Responder) {
    let stream = listener.accept().unwrap();
    stream.read_exact(&mut [0; Control::BYTES]).unwrap();
    let (control, nonce) = (Control { versions: SPOKEN }, Nonce([5; Nonce::BYTES]));
    stream.write_all(&[&control.encode()[..], &nonce.0].concat()).unwrap();
    let mut message = [0; FIRST_BYTES];
    stream.read_exact(&mut message).unwrap();
    let preambles = Preambles { client: control, server: control, nonce };
    let (responder, answer) = Responder::begin(key, &preambles, &message).unwrap();
    stream.write_all(&answer).unwrap();
    (stream, responder)
}

pub(super) fn say(stream: &Stream, sealed: &mut Sealed, message: &Message) {
    stream.write_all(&sealed.seal(message).unwrap()).unwrap();
}

pub(super) fn hear(stream: &Stream, sealed: &mut Sealed) -> Option<Message> {
    loop {
        if let Some(message) = sealed.next().unwrap() {
            return Some(message);
        }
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(read @ 1..) => sealed.take(&bytes[..read]).unwrap(),
            _ => return None,
        }
    }
}

/// Opens a session from the server's side.
pub(super) fn let_in(stream: &Stream, sealed: &mut Sealed) {
    assert!(matches!(hear(stream, sealed), Some(Message::Hello(_))));
    let welcome = Welcome {
        tool: "test 1".to_string(),
        features: v6gap_core::workload::Feature::ALL.iter().map(|f| f.name().to_string()).collect(),
        limits: Limits::default(),
        host: host("server"),
    };
    say(stream, sealed, &Message::Welcome(Box::new(welcome)));
    for _ in 0..v6gap_core::session::clock::QUESTIONS {
        let Some(Message::Clock { asked_ns }) = hear(stream, sealed) else { panic!() };
        say(stream, sealed, &Message::ClockReply { asked_ns, server_ns: 7 });
    }
}

/// Whatever the caller does between two tasks, and while it is still at one that has failed.
#[test]
fn a_client_that_is_busy_answers_all_the_same() {
    let (asked, answered) = mpsc::channel();
    let (addresses, server) = pretend(move |stream, sealed| {
        let_in(stream, sealed);
        say(stream, sealed, &Message::Ping);
        assert_eq!(hear(stream, sealed), Some(Message::Pong));
        asked.send(()).unwrap();
        let Some(Message::Prepare(_)) = hear(stream, sealed) else { panic!() };
        say(stream, sealed, &Message::Ready { number: 1 });
        let failure = TaskFailure::passing("a test");
        say(stream, sealed, &Message::Failed { number: 1, failure });
        say(stream, sealed, &Message::Ping);
        assert_eq!(hear(stream, sealed), Some(Message::Pong));
        asked.send(()).unwrap();
        hear(stream, sealed)
    });
    let mut connection = open(addresses, &options("busy")).unwrap();
    answered.recv_timeout(PATIENCE).unwrap();
    let outcome = connection.run_task(&task(1, 3), |_| {
        answered.recv_timeout(PATIENCE).unwrap();
        Ok::<_, Infallible>(())
    });
    assert!(matches!(outcome, Err(TaskError::Server { number: 1, .. })), "{outcome:?}");
    connection.close();
    assert_eq!(server.join().unwrap(), Some(Message::Bye));
}

#[test]
fn a_server_that_never_stops_talking_keeps_nobody() {
    let (addresses, server) = pretend(|stream, sealed| {
        // A frame of a kind that only a later program knows, and then one that never ends.
        let body = br#"{"message":"dance"}"#;
        let frame = [&(body.len() as u32).to_be_bytes()[..], body].concat();
        let until = Instant::now() + PATIENCE;
        let mut sent = true;
        while sent && Instant::now() < until {
            let record = sealed.seal_bytes(&frame).unwrap();
            sent = stream.write_all(&record).is_ok();
        }
        Instant::now() < until
    });
    let started = Instant::now();
    let problem = open(addresses, &options("client")).err().unwrap().problems.v4.unwrap();
    let late = matches!(problem.trouble, Trouble::Ended { ending: Ending::TimedOut { .. }, .. });
    assert!(late, "{problem}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(server.join().unwrap(), "the client did not leave");
}
