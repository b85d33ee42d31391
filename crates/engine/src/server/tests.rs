//! Real servers and clients over loopback in both families: the good case, every way of not being
//! served, and what strangers may do without disturbing anybody.

mod answering;
mod door;
mod hostile;
mod pinned;
mod silent;
mod stamp;
mod whereabouts;

use super::{Door, Prefix, Server, ServerEvent, ServerOptions};
use crate::control::{ClientOptions, ConnectError, Connection, Key, TaskError, Trouble};
use crate::trial;
use crate::trial::client::ClientContext;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use v6gap_core::arm::{Arm, TurnOrder};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::Measured;
use v6gap_core::record::Host;
use v6gap_core::session::Ending;
use v6gap_core::task::{Task, TaskArm, Token, native};
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::preamble::Data;
use v6gap_core::wire::version::{SPOKEN, VersionMismatch, VersionRange};
use v6gap_core::workload::{Connect, Echo, Purpose, Transport, Wait, Workload};
use v6gap_sys::socket::{Datagram, ErrorClass, Listener, Stream, StreamOptions};

/// Longest that any step of a test may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on ports of the system's choice, until it is dropped.
struct Served {
    addresses: PerFamily<Option<SocketAddr>>,
    stamp: PerFamily<Option<SocketAddr>>,
    events: Receiver<ServerEvent>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new(change: impl FnOnce(&mut ServerOptions)) -> Self {
        Served::bind(change).unwrap()
    }

    /// `None` if an address is taken.
    fn bind(change: impl FnOnce(&mut ServerOptions)) -> Option<Self> {
        Served::started(change, None)
    }

    fn behind(door: Box<dyn Door>) -> Self {
        Served::started(|_| {}, Some(door)).unwrap()
    }

    fn started(
        change: impl FnOnce(&mut ServerOptions),
        door: Option<Box<dyn Door>>,
    ) -> Option<Self> {
        let mut options = ServerOptions::new("test 1".to_string(), host("server"));
        let any_port = |family: Family| Some(SocketAddr::new(family.loopback(), 0));
        options.addresses = PerFamily::from_fn(any_port);
        change(&mut options);
        let server = Server::bind(&options).ok()?;
        let server = door.into_iter().fold(server, Server::behind);
        let (addresses, stamp) = (*server.addresses(), server.stamp_addresses());
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, events) = mpsc::channel();
        let stopping = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut tell = |event| drop(sender.send(event));
            server.run(&stopping, &mut tell).unwrap();
        });
        Some(Served { addresses, stamp, events, stop, thread: Some(thread) })
    }

    fn await_event(&self, wanted: impl Fn(&ServerEvent) -> bool) -> ServerEvent {
        loop {
            let event = self.events.recv_timeout(PATIENCE).unwrap();
            if wanted(&event) {
                return event;
            }
        }
    }

    fn connect(&self, family: Family) -> Stream {
        let address = self.addresses.get(family).unwrap();
        let patience_ns = PATIENCE.as_nanos() as u64;
        let stream =
            Stream::connect(None, address, &StreamOptions::default(), patience_ns).unwrap();
        stream.set_read_timeout(Some(patience_ns)).unwrap();
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))));
    }
}

fn host(name: &str) -> Host {
    Host { name: name.to_string(), ..Host::default() }
}

fn word(text: &str) -> Key {
    Key::of_word(text).unwrap()
}

fn options(name: &str) -> ClientOptions {
    ClientOptions::new(Key::none(), "test 1".to_string(), host(name))
}

fn open(
    addresses: PerFamily<Option<SocketAddr>>,
    options: &ClientOptions,
) -> Result<Connection, ConnectError> {
    Connection::open(addresses, options, &mut |_| ControlFlow::Continue(()))
}

fn task(number: u32, count: u32) -> Task {
    Task {
        number,
        workload: Workload::Connect(Connect { count, ..Connect::default() }),
        arms: vec![TaskArm { arm: Arm::A, family: Family::V6 }],
        order: TurnOrder::Ab,
        seed: 7,
        token: Token([number as u8; 16]),
        arrives: native(),
        draw: None,
    }
}

/// Runs a task with both real halves.
fn run(connection: &mut Connection, server: PerFamily<Option<SocketAddr>>, number: u32) {
    let timeout_ns = PATIENCE.as_nanos() as u64;
    let context = ClientContext::new(server, timeout_ns);
    let (own, ends) =
        connection.run_task(&task(number, 3), |task| trial::client::run(task, &context)).unwrap();
    for reports in [own, ends] {
        let [(Arm::A, report)] = &reports[..] else { panic!("{reports:?}") };
        let endpoints = report.endpoints.unwrap();
        assert_eq!(endpoints.domain, Family::V6);
        assert!(endpoints.local.is_ipv6() && endpoints.peer.is_ipv6());
    }
}

#[test]
fn a_session_opens_over_either_family_and_does_tasks() {
    let served = Served::new(|_| {});
    for family in Family::BOTH {
        let mut addresses = PerFamily::default();
        *addresses.get_mut(family) = *served.addresses.get(family);
        let mut connection = open(addresses, &options("client")).unwrap();
        assert_eq!((connection.family(), connection.version()), (family, SPOKEN.highest()));
        let opened = connection.opened();
        assert_eq!(opened.welcome.host, host("server"));
        // Both ends read the same clock here.
        let offset = opened.offset.unwrap();
        assert!(offset.ns.unsigned_abs() <= offset.uncertainty_ns, "{offset:?}");
        for number in 0..3 {
            run(&mut connection, served.addresses, number);
        }
        connection.close();
    }
    let left = |e: &ServerEvent| matches!(e, ServerEvent::Left { ending: Ending::PeerLeft, .. });
    served.await_event(left);
    served.await_event(left);
}

#[test]
fn both_families_are_greeted_and_the_first_carries_control() {
    let served = Served::new(|_| {});
    let connection = open(served.addresses, &options("client")).unwrap();
    assert_eq!(connection.family(), Family::V4);
    assert!(connection.problems().v4.is_none() && connection.problems().v6.is_none());
}

#[test]
fn a_task_that_the_server_objects_to_fails_and_the_session_goes_on() {
    let served = Served::new(|_| {});
    let mut connection = open(served.addresses, &options("client")).unwrap();
    let refused = connection.run_task(&task(0, 0), |_| Ok::<_, Infallible>(()));
    assert!(matches!(refused, Err(TaskError::Server { number: 0, .. })), "{refused:?}");
    let own = connection.run_task(&task(1, 1), |_| Err::<(), _>("no socket"));
    assert!(matches!(own, Err(TaskError::Both { own: "no socket", .. })), "{own:?}");
    run(&mut connection, served.addresses, 2);
}

#[test]
fn a_family_that_does_not_answer_is_named() {
    let served = Served::new(|options| options.addresses.v4 = None);
    let refusing = PerFamily { v4: Some(unused_address()), v6: served.addresses.v6 };
    let connection = open(refusing, &options("client")).unwrap();
    assert_eq!(connection.family(), Family::V6);
    let problem = connection.problems().v4.as_ref().unwrap();
    assert!(matches!(problem.trouble, Trouble::Refused), "{problem}");
    assert_eq!(Some(problem.address), refusing.v4);
}

#[test]
fn strangers_are_told_apart_by_what_they_answer() {
    type Expected = fn(&Trouble) -> bool;
    let answers: [(&'static [u8], Expected); 3] = [
        (
            b"HTTP/1.1 400 Bad Request\r\n",
            |trouble| matches!(trouble, Trouble::NotOurs { answered } if answered == "HTTP/1.1"),
        ),
        (b"", |trouble| matches!(trouble, Trouble::NotOurs { answered } if answered.is_empty())),
        (b"!", |trouble| matches!(trouble, Trouble::NotOurs { answered } if answered == "!")),
    ];
    let mut options = options("client");
    options.timeout_ns = 300_000_000;
    for (answer, expected) in answers {
        let listener = Listener::bind(SocketAddr::new(Family::V4.loopback(), 0), 8).unwrap();
        let addresses = PerFamily { v4: Some(listener.local().unwrap()), v6: None };
        let stranger = thread::spawn(move || {
            let stream = listener.accept().unwrap();
            stream.write_all(answer).unwrap();
            // Stays until the client has given up.
            while stream.read(&mut [0; 64]).is_ok_and(|bytes| bytes > 0) {}
        });
        let problem = open(addresses, &options).err().unwrap().problems.v4.unwrap();
        assert!(expected(&problem.trouble), "{problem}");
        stranger.join().unwrap();
    }
}

#[test]
fn versions_that_do_not_meet_are_told_from_both_sides() {
    let served = Served::new(|_| {});
    let mut newer = options("client");
    let ahead = VersionRange::new(SPOKEN.highest() + 1, SPOKEN.highest() + 2).unwrap();
    newer.versions = ahead;
    let error = open(served.addresses, &newer).err().unwrap();
    for problem in [error.problems.v4.unwrap(), error.problems.v6.unwrap()] {
        let Trouble::Version(VersionMismatch::PeerTooOld { here, peer }) = problem.trouble else {
            panic!("{problem}")
        };
        assert_eq!((here, peer), (ahead, SPOKEN));
    }
    let future = Served::new(|o| o.versions = ahead);
    let problem = open(future.addresses, &options("client")).err().unwrap().problems.v4.unwrap();
    let too_new =
        Trouble::Version(VersionMismatch::PeerTooNew { here: options("").versions, peer: ahead });
    assert_eq!(problem.trouble.to_string(), too_new.to_string());
}

#[test]
fn another_key_is_not_accepted_and_the_same_one_is() {
    let served = Served::new(|options| options.key = Some(word("garden")));
    let mut client = options("client");
    for other in [Key::none(), word("Garden")] {
        client.key = other;
        let problem = open(served.addresses, &client).err().unwrap().problems.v4.unwrap();
        assert!(matches!(problem.trouble, Trouble::Key), "{problem}");
    }
    client.key = word("garden");
    open(served.addresses, &client).unwrap();
}

#[test]
fn sources_outside_the_list_are_turned_away_without_a_word() {
    let elsewhere = ["192.0.2.0/24", "2001:db8::/32"];
    let elsewhere = elsewhere.map(|text| text.parse::<Prefix>().unwrap());
    let served = Served::new(|options| options.allow = elsewhere.to_vec());
    let problems = open(served.addresses, &options("client")).err().unwrap().problems;
    for problem in [problems.v4.unwrap(), problems.v6.unwrap()] {
        assert!(matches!(problem.trouble, Trouble::TurnedAway), "{problem}");
    }
    served.await_event(|event| matches!(event, ServerEvent::TurnedAway { .. }));
}

/// The control connection comes from the address that the client was told to use.
#[test]
fn control_goes_from_the_address_that_was_asked_for() {
    let here: SocketAddr = "127.0.0.2:0".parse().unwrap();
    if Datagram::bind(here).is_err() {
        return println!("not tested: loopback has one address here");
    }
    let served = Served::new(|options| options.allow = vec!["127.0.0.2/32".parse().unwrap()]);
    let addresses = PerFamily { v6: None, ..served.addresses };
    let local = PerFamily { v4: Some(here), v6: None };
    open(addresses, &ClientOptions { local, ..options("bound") }).unwrap().close();
    let problems = open(addresses, &options("elsewhere")).err().unwrap().problems;
    assert!(matches!(problems.v4.unwrap().trouble, Trouble::TurnedAway));
}

#[test]
fn idle_slow_and_junk_connections_block_nobody() {
    let served = Served::new(|_| {});
    let mut strangers = Vec::new();
    for i in 0..600_u32 {
        let stream = served.connect(Family::BOTH[i as usize % 2]);
        match i % 4 {
            0 => {}
            1 => stream.write_all(b"v6g").unwrap(),
            2 => drop(stream.write(b"GET / HTTP/1.1\r\n\r\n")),
            _ => drop(stream.write(b"v6gC\x02\x02\0\0 and no handshake at all, only words")),
        }
        strangers.push(stream);
    }
    let mut connection = open(served.addresses, &options("client")).unwrap();
    run(&mut connection, served.addresses, 0);
    for i in 0..500 {
        let stream = served.connect(Family::BOTH[i % 2]);
        stream.linger_zero().unwrap();
    }
    run(&mut connection, served.addresses, 1);
}

#[test]
fn one_session_is_served_and_the_others_hear_their_place() {
    let served = Served::new(|_| {});
    let mut first = open(served.addresses, &options("one")).unwrap();
    let addresses = served.addresses;
    let (place, places) = mpsc::channel();
    let second = thread::spawn(move || {
        Connection::open(addresses, &options("two"), &mut |queued| {
            place.send(queued.clone()).unwrap();
            ControlFlow::Continue(())
        })
        .map(Connection::close)
    });
    let queued = places.recv_timeout(PATIENCE).unwrap();
    assert_eq!((queued.place, queued.by.as_str()), (1, "one"));
    let impatient = ClientOptions { wait: false, ..options("three") };
    let problem = open(served.addresses, &impatient).err().unwrap().problems.v4.unwrap();
    assert!(matches!(problem.trouble, Trouble::Busy { .. }), "{problem}");
    let gave_up = Connection::open(addresses, &options("four"), &mut |_| ControlFlow::Break(()));
    let problem = gave_up.err().unwrap().problems.v4.unwrap();
    assert!(matches!(problem.trouble, Trouble::GaveUp), "{problem}");
    run(&mut first, addresses, 0);
    first.close();
    second.join().unwrap().unwrap();
}

#[test]
fn all_data_connections_of_a_large_task_find_it() {
    let served = Served::new(|_| {});
    let mut connection = open(served.addresses, &options("client")).unwrap();
    let echo = Echo {
        transport: Transport::Tcp,
        message_bytes: 64,
        connections: Limits::default().connections,
        turn_exchanges: 10,
        turns: 2,
        warmup_exchanges: 1,
        wait: Wait::Block,
        ..Echo::default()
    };
    let second = TaskArm { arm: Arm::B, family: Family::V4 };
    let mut task = Task { workload: Workload::Echo(echo), ..task(0, 1) };
    task.arms.push(second);
    let timeout_ns = PATIENCE.as_nanos() as u64;
    let context = ClientContext::new(served.addresses, timeout_ns);
    let (own, _) = connection.run_task(&task, |task| trial::client::run(task, &context)).unwrap();
    for (_, report) in own {
        let Measured::Times(times) = report.measured else { panic!("{report:?}") };
        assert_eq!((times.count, times.lost), (20, 0));
    }
}

/// The whole way of each connection: accepted, read, passed on, answered, kept.
#[test]
fn connections_are_answered_and_held() {
    let served = Served::new(|_| {});
    let mut connection = open(served.addresses, &options("client")).unwrap();
    let timeout_ns = PATIENCE.as_nanos() as u64;
    let context = ClientContext::new(served.addresses, timeout_ns);
    for (number, purpose) in
        [Purpose::FirstByte, Purpose::Rate, Purpose::Hold].into_iter().enumerate()
    {
        let concurrent = if purpose == Purpose::FirstByte { 1 } else { 64 };
        let workload = Connect { count: 300, purpose, concurrent };
        let task = Task { workload: Workload::Connect(workload), ..task(number as u32, 1) };
        let (own, _) =
            connection.run_task(&task, |task| trial::client::run(task, &context)).unwrap();
        let Measured::Connections(all) = &own[0].1.measured else { panic!("{own:?}") };
        assert_eq!((all.connect.count, all.connect.lost), (300, 0), "{purpose:?}");
    }
}

#[test]
fn a_client_that_dies_in_a_task_frees_the_server() {
    let served = Served::new(|_| {});
    let addresses = served.addresses;
    let dying = thread::spawn(move || {
        let mut connection = open(addresses, &options("mortal")).unwrap();
        let _ = connection.run_task(&task(0, 1), |_| -> Result<(), Infallible> {
            std::panic::resume_unwind(Box::new("the client is gone"))
        });
    });
    assert!(dying.join().is_err());
    let lost = Ending::Lost { during: "during a task" };
    served.await_event(|e| matches!(e, ServerEvent::Left { ending, .. } if *ending == lost));
    let mut connection = open(served.addresses, &options("heir")).unwrap();
    run(&mut connection, served.addresses, 0);
}

#[test]
fn a_data_connection_without_the_token_is_closed() {
    let served = Served::new(|_| {});
    let mut connection = open(served.addresses, &options("client")).unwrap();
    let closed = |token| {
        let stream = served.connect(Family::V6);
        stream.write_all(&Data { token, arm: Arm::A, connection: 0 }.encode()).unwrap();
        match stream.read(&mut [0; 1]) {
            Ok(bytes) => bytes == 0,
            Err(error) => ErrorClass::of(&error) == ErrorClass::Closed,
        }
    };
    assert!(closed(Token([0; 16])), "no task");
    let mut strange = false;
    // Our half does nothing more, so the server's half has to fail.
    let outcome = connection.run_task(&task(1, 1), |_| {
        strange = closed(Token([9; 16]));
        Ok::<_, Infallible>(())
    });
    assert!(strange, "another task's token");
    assert!(matches!(outcome, Err(TaskError::Server { number: 1, .. })), "{outcome:?}");
}

#[test]
fn stopping_takes_leave_of_the_client() {
    let served = Served::new(|_| {});
    let mut connection = open(served.addresses, &options("client")).unwrap();
    drop(served);
    let error = connection.run_task(&task(0, 1), |_| Ok::<_, Infallible>(()));
    let Err(TaskError::Session(problem)) = error else { panic!("{error:?}") };
    assert!(
        matches!(
            problem.trouble,
            Trouble::Ended { ending: Ending::PeerLeft | Ending::Lost { .. }, .. }
        ),
        "{problem}"
    );
}

/// An address of the loopback on which nobody listens.
fn unused_address() -> SocketAddr {
    let any_port = SocketAddr::new(Family::V4.loopback(), 0);
    Listener::bind(any_port, 1).unwrap().local().unwrap()
}
