//! What does not belong to a task, coming without end: it must not keep a loop from stopping.

use crate::common::proving::{NOWHERE, message, prove};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::capacity::{LoadSearch, Thresholds};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::access::Access;
use v6gap_core::session::validation::{Own, PROOF, Validation};
use v6gap_core::task::Token;
use v6gap_core::wire::datagram::{End, Flags, HEADER_BYTES, Header};
use v6gap_core::wire::preamble::Data;
use v6gap_core::wire::status::STATUS_BYTES;
use v6gap_core::workload::{Echo, Transport, Wait};
use v6gap_engine::hot::capacity::{self, Followed, Following, Reporter};
use v6gap_engine::hot::connect::{Failure, Manner, Slots, Steps, several};
use v6gap_engine::hot::datagram_bulk::{self, Counted, Line, Replies};
use v6gap_engine::hot::echo::Buffers;
use v6gap_engine::hot::turns::Turns;
use v6gap_engine::hot::window::{self, Window};
use v6gap_engine::hot::{Broken, Cause, TICK_NS, Tally, Watch, bulk, echo, load};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener, ReceiveBatch, SendBatch, Stream, StreamOptions};

const TAG: [u8; 8] = *b"of tests";
const SILENCE_NS: u64 = 20_000_000_000;

static YES: AtomicBool = AtomicBool::new(true);
static NO: AtomicBool = AtomicBool::new(false);

fn any(family: Family) -> SocketAddr {
    SocketAddr::new(family.loopback(), 0)
}

/// Does `work` while `send` is called without pause, from before it begins until after it ended.
fn flooded<T>(mut send: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        send();
        let flood = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                send();
            }
        });
        let outcome = work();
        over.store(true, Ordering::Relaxed);
        flood.join().unwrap();
        outcome
    })
}

/// Asserts that `task` ends as it should when told so, at its deadline, and when nothing of its own
/// comes.
fn assert_stops(task: impl Fn(&Watch<'_>) -> Result<(), Broken>) {
    let patient = Watch::silence(Wait::Block, SILENCE_NS);
    task(&Watch { finish: &YES, ..patient }).unwrap();
    let cause = |watch| task(&watch).unwrap_err().cause;
    let soon_ns = clock::now_ns() + TICK_NS;
    assert!(matches!(cause(Watch { abort: &YES, finish: &NO, ..patient }), Cause::Aborted));
    assert!(matches!(cause(Watch { deadline_ns: soon_ns, ..patient }), Cause::TooLong));
    assert!(matches!(cause(Watch { silence_ns: TICK_NS, ..patient }), Cause::Silent));
}

/// A server's socket and one that is connected to it.
fn datagrams(family: Family) -> (Datagram, Datagram) {
    let server = Datagram::bind(any(family)).unwrap();
    let client = Datagram::bind(any(family)).unwrap();
    client.connect(server.local().unwrap()).unwrap();
    server.set_read_timeout(Some(TICK_NS)).unwrap();
    (server, client)
}

fn receive(
    socket: &Datagram,
    mut counted: Counted,
    watch: &Watch<'_>,
) -> (Result<(), Broken>, Counted) {
    let (mut batch, mut answer) = (ReceiveBatch::new(16, 65), [0xf1; 64]);
    let line = Line { socket, end: End::Server };
    let mut replies = Replies::new(&mut answer, None);
    let of = (Arm::A, TAG);
    let outcome = datagram_bulk::receive(of, line, &mut batch, &mut counted, &mut replies, watch);
    (outcome, counted)
}

#[test]
fn a_receiver_of_datagrams_stops_among_strangers() {
    let (server, stranger) = datagrams(Family::V6);
    // What the full socket of the receiver does not take is of no interest.
    let flood = || drop(stranger.send(&[0; 64]));
    flooded(flood, || {
        assert_stops(|watch| {
            let (outcome, counted) = receive(&server, Counted::new(1, 64), watch);
            assert_eq!((counted.sequence.packets, counted.began), (0, false));
            outcome
        });
    });
}

/// A sender begins only when it is asked by a message of the task, and not by its own kind's.
#[test]
fn a_sender_waits_for_the_knock_and_stops_among_strangers() {
    let (server, client) = datagrams(Family::V6);
    server.connect(client.local().unwrap()).unwrap();
    server.set_nonblocking(true).unwrap();
    let line = Line { socket: &server, end: End::Server };
    let knock = |watch: &Watch<'_>| datagram_bulk::await_knock(Arm::A, line, TAG, watch);
    let patient = Watch::silence(Wait::Block, SILENCE_NS);
    for other in [
        message(*b"no token", Flags::WARMUP, Arm::A, 0),
        message(TAG, End::Server.says(Flags::WARMUP), Arm::A, 0),
        message(TAG, Flags::INTRODUCTION, Arm::A, 0),
    ] {
        flooded(
            || drop(client.send(&other)),
            || {
                let cause = |watch| knock(&watch).unwrap_err().cause;
                let soon_ns = clock::now_ns() + TICK_NS;
                let aborted = Watch { abort: &YES, finish: &NO, ..patient };
                assert!(matches!(cause(aborted), Cause::Aborted));
                assert!(matches!(cause(Watch { deadline_ns: soon_ns, ..patient }), Cause::TooLong));
                let finished = Watch { finish: &YES, ..patient };
                assert!(matches!(cause(finished), Cause::Finished));
            },
        );
    }
    // What the flood left fills the socket.
    while server.recv(&mut [0; 100]).is_ok() {}
    // The last answer was lost and the proof comes again; then the knock.
    client.send(&message(TAG, PROOF, Arm::A, 5)).unwrap();
    client.send(&message(TAG, Flags::WARMUP, Arm::A, 0)).unwrap();
    knock(&patient).unwrap();
    let mut back = [0; 100];
    client.set_nonblocking(true).unwrap();
    assert_eq!(client.recv(&mut back).unwrap(), HEADER_BYTES);
    assert_eq!(back[..20], message(TAG, End::Server.says(PROOF), Arm::A, 5));
    assert!(client.recv(&mut back).is_err());
}

#[test]
fn what_comes_late_is_not_waited_for_without_end() {
    let (server, client) = datagrams(Family::V6);
    server.connect(client.local().unwrap()).unwrap();
    let mut header =
        Header { tag: TAG, sequence: 0, turn: 0, next: 0, arm: Arm::A, flags: Flags::END };
    let mut message = [0; HEADER_BYTES];
    let mut flood = || {
        header.encode(&mut message);
        drop(client.send(&message));
        header.flags = Flags::NONE;
        header.sequence += 1;
    };
    let watch = Watch::silence(Wait::Block, SILENCE_NS);
    // The end comes before anything else.
    flood();
    let (outcome, counted) = flooded(flood, || receive(&server, Counted::new(1, 64), &watch));
    outcome.unwrap();
    assert!(counted.sequence.packets > 0, "late ones count");
}

fn turns() -> Turns {
    let workload = Echo {
        transport: Transport::Udp,
        message_bytes: 64,
        connections: 1,
        turn_exchanges: 1,
        turns: 1,
        warmup_exchanges: 0,
        wait: Wait::Block,
        ..Echo::default()
    };
    Turns::new(TurnOrder::Ab, &workload).unwrap()
}

/// Those that know the task's tag and have proved nothing are strangers too.
#[test]
fn an_echo_server_stops_among_strangers() {
    let ((a, to_a), (b, to_b)) = (datagrams(Family::V4), datagrams(Family::V6));
    let sockets = PerArm { a: &a, b: &b };
    for kind in [[0; 20], message(TAG, Flags::NONE, Arm::A, 0), message(TAG, Flags::END, Arm::B, 0)]
    {
        let flood = || {
            let _ = to_a.send(&kind);
            let _ = to_b.send(&kind);
        };
        flooded(flood, || {
            assert_stops(|watch| {
                let room = PerArm { a: 1, b: 1 };
                let mut valid = Validation::new(TAG, &[3; 16], &Access::Near, NOWHERE, room);
                let mut peers = PerArm { a: None, b: None };
                let memory = (&mut [0; 64][..], &mut [0; 64][..]);
                let outcome = echo::datagram_server(
                    &turns(),
                    &mut valid,
                    &sockets,
                    memory,
                    &mut peers,
                    watch,
                );
                assert_eq!(peers, PerArm { a: None, b: None });
                outcome
            });
        });
    }
    to_a.set_nonblocking(true).unwrap();
    assert!(to_a.recv(&mut [0; 100]).is_err(), "a stranger was answered");
}

/// What comes from the server's own address and port, and what another server answers, is as good
/// as nothing: it goes round once and no more.
#[test]
fn a_server_does_not_talk_to_itself() {
    for family in Family::BOTH {
        let (server, other) = datagrams(family);
        let local = server.local().unwrap();
        let sockets = PerArm { a: &server, b: &server };
        let addresses = [local.ip()];
        let ports = PerFamily::from_fn(|_| local.port());
        let own = Own { addresses: Some(&addresses), ports };
        let room = PerArm { a: 1, b: 1 };
        let mut valid = Validation::new(TAG, &[3; 16], &Access::Near, own, room);
        prove(&mut valid, TAG, other.local().unwrap(), Arm::A);
        for kind in [Flags::NONE, Flags::WARMUP, Flags::INTRODUCTION, PROOF] {
            server.send_to(&message(TAG, kind, Arm::A, 0), local).unwrap();
            // One that has proved itself may be another server whose address was forged.
            other.send(&message(TAG, End::Server.says(kind), Arm::A, 0)).unwrap();
        }
        let watch = Watch { finish: &YES, ..Watch::silence(Wait::Block, SILENCE_NS) };
        let mut peers = PerArm { a: None, b: None };
        let (mut request, mut answer) = ([0; 64], [0; 64]);
        // It looks at one datagram before it asks whether it is over.
        for _ in 0..10 {
            let memory = (&mut request[..], &mut answer[..]);
            let deadline_ns = clock::now_ns() + SILENCE_NS / 4;
            let watch = Watch { deadline_ns, ..watch };
            echo::datagram_server(&turns(), &mut valid, &sockets, memory, &mut peers, &watch)
                .unwrap();
        }
        assert_eq!(peers, PerArm { a: None, b: None });
        server.set_nonblocking(true).unwrap();
        assert!(server.recv_from(&mut [0; 100]).is_err(), "it answered itself");
        other.set_nonblocking(true).unwrap();
        assert!(other.recv(&mut [0; 100]).is_err(), "it answered an answer");
    }
}

/// Who has proved itself and goes on is answered as often as its task allows, with what is lost
/// sent again.
#[test]
fn datagrams_beyond_the_task_are_not_answered() {
    let (server, client) = datagrams(Family::V6);
    let sockets = PerArm { a: &server, b: &server };
    let room = PerArm { a: 1, b: 1 };
    let mut valid = Validation::new(TAG, &[3; 16], &Access::Near, NOWHERE, room);
    prove(&mut valid, TAG, client.local().unwrap(), Arm::A);
    let most = 4 * turns().exchanges();
    let (asked, mut peers) = (3 * most, PerArm { a: None, b: None });
    for _ in 0..asked {
        client.send(&message(TAG, Flags::NONE, Arm::A, 0)).unwrap();
    }
    client.send(&message(TAG, Flags::END, Arm::A, 0)).unwrap();
    let memory = (&mut [0; 20][..], &mut [0; 20][..]);
    let watch = Watch::silence(Wait::Block, SILENCE_NS);
    echo::datagram_server(&turns(), &mut valid, &sockets, memory, &mut peers, &watch).unwrap();
    client.set_nonblocking(true).unwrap();
    let answered = std::iter::from_fn(|| client.recv(&mut [0; 100]).ok()).count() as u64;
    assert!((1..=most).contains(&answered), "{answered} of {asked}");
}

/// The same over a connection, whose requests are never lost: one too many ends the task.
#[test]
fn requests_beyond_a_turn_end_the_task() {
    let request = |turn| {
        let flags = Flags::NONE;
        let mut bytes = [0; HEADER_BYTES];
        let header = Header { tag: TAG, sequence: 0, turn, next: 0, arm: Arm::A, flags };
        header.encode(&mut bytes);
        bytes
    };
    for (turn, answered) in [(0, 2), (1, 0)] {
        let (server, client) = streams();
        for _ in 0..4 {
            client.write(&request(turn)).unwrap();
        }
        let servers = PerArm { a: vec![server], b: Vec::new() };
        let (mut asked, mut answer) = ([0; HEADER_BYTES], [0; 1000]);
        let memory = (&mut asked[..], &mut answer[..]);
        let watch = Watch::silence(Wait::Block, SILENCE_NS);
        let broken = echo::stream_server(&turns(), TAG, &servers, memory, &watch).unwrap_err();
        assert!(matches!(broken.cause, Cause::Foreign), "{broken:?}");
        drop(servers);
        let (mut came, mut buffer) = (0, [0; 5000]);
        while let Ok(count) = client.read(&mut buffer) {
            came += count;
            if count == 0 {
                break;
            }
        }
        assert_eq!(came, answered * 1000, "turn {turn}");
    }
}

/// A server's connection and the client's end of it.
fn streams() -> (Stream, Stream) {
    let listener = Listener::bind(any(Family::V6), 1).unwrap();
    let remote = listener.local().unwrap();
    let client = Stream::connect(None, remote, &StreamOptions::default(), SILENCE_NS).unwrap();
    let server = listener.accept().unwrap();
    server.set_read_timeout(Some(TICK_NS)).unwrap();
    client.set_nonblocking(true).unwrap();
    (server, client)
}

#[test]
fn the_end_of_a_connection_that_goes_on_is_not_awaited_for_ever() {
    let (server, client) = streams();
    let flood = || drop(client.write(&[0; 64]));
    flooded(flood, || assert_stops(|watch| bulk::await_close(Arm::A, &server, watch)));
}

/// A client that never lets a connection rest holds the server no longer than a task may take.
#[test]
fn what_never_rests_ends_in_time() {
    let patient = Watch::silence(Wait::Block, SILENCE_NS);
    let ends = |task: &dyn Fn(&Watch<'_>) -> Cause| {
        let aborted = Watch { abort: &YES, finish: &NO, ..patient };
        assert!(matches!(task(&aborted), Cause::Aborted));
        let deadline_ns = clock::now_ns() + TICK_NS;
        assert!(matches!(task(&Watch { deadline_ns, ..patient }), Cause::TooLong));
    };
    let (server, client) = streams();
    flooded(
        || drop(client.write(&[0; 64])),
        || ends(&|watch| load::receive(&server, &mut [0; 64], None, &NO, watch).unwrap_err().0),
    );
    let (server, client) = streams();
    let servers = PerArm { a: vec![server], b: Vec::new() };
    let trickle = || drop(client.write(&[0]));
    flooded(trickle, || {
        ends(&|watch| {
            let mut request = vec![0; 64 << 20];
            let memory = (&mut request[..], &mut [][..]);
            echo::stream_server(&turns(), TAG, &servers, memory, watch).unwrap_err().cause
        });
    });
}

/// A client of which strangers answer all the time gives its requests up as it does in silence.
#[test]
fn requests_on_the_way_are_given_up_among_strangers() {
    let workload = Echo { outstanding: 2, turn_exchanges: 2, turns: 1, ..Echo::default() };
    let turns = Turns::new(TurnOrder::Ab, &Echo { warmup_exchanges: 0, ..workload }).unwrap();
    let (stranger, client) = datagrams(Family::V6);
    let to = client.local().unwrap();
    client.set_nonblocking(true).unwrap();
    let sockets = PerArm { a: vec![client], b: Vec::new() };
    let bytes = || vec![0; 64].into();
    let mut buffers = Buffers::new(bytes(), bytes(), bytes());
    let mut window = Window::of(2, &turns);
    let mut tallies = PerArm::from_fn(|_| Tally::with_room(1, 2));
    let flood = || drop(stranger.send_to(&[0; 64], to));
    let cause = flooded(flood, || {
        let watch = Watch::silence(Wait::Spin, SILENCE_NS);
        let watch = Watch { deadline_ns: clock::now_ns() + 20 * TICK_NS, ..watch };
        let places = (&mut buffers, &mut window);
        window::datagram_client(&turns, TAG, &sockets, places, &mut tallies, &watch)
    });
    assert!(matches!(cause.unwrap_err().cause, Cause::TooLong));
    assert_eq!(tallies.a.lost, 2);
}

/// The receiver of a search tells the source that knows the task no more bytes than came, however
/// often it is asked.
#[test]
fn a_receiver_of_a_search_sends_no_more_than_it_got() {
    for family in Family::BOTH {
        let (server, client) = datagrams(family);
        server.connect(client.local().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        let header =
            Header { tag: TAG, sequence: 0, turn: 1, next: 0, arm: Arm::A, flags: Flags::STATUS };
        let mut asked_bytes = 0;
        for sequence in 0..100 {
            let mut message = [0; HEADER_BYTES];
            Header { sequence, ..header }.encode(&mut message);
            asked_bytes += client.send(&message).unwrap();
        }
        let mut counted = Counted::new(1, 64);
        counted.reporter = Some(Reporter::new(header, false, TICK_NS, 0));
        let watch = Watch { finish: &YES, ..Watch::silence(Wait::Block, SILENCE_NS) };
        receive(&server, counted, &watch).0.unwrap();
        let (mut told_bytes, mut back) = (0, [0; 100]);
        while let Ok(count) = client.recv(&mut back) {
            assert_eq!(count, STATUS_BYTES);
            told_bytes += count;
        }
        assert!((1..=asked_bytes).contains(&told_bytes), "{told_bytes} for {asked_bytes}");
    }
}

/// Reports without end do not make the sender of a search hurry, and strangers' are not its own.
#[test]
fn a_sender_of_a_search_follows_so_many_reports_and_no_more() {
    let (server, client) = datagrams(Family::V6);
    client.set_nonblocking(true).unwrap();
    let to = client.local().unwrap();
    let number = AtomicU32::new(1);
    let report = |tag| {
        let sequence = number.fetch_add(1, Ordering::Relaxed);
        let flags = End::Server.says(Flags::STATUS);
        let mut message = [0; STATUS_BYTES];
        Header { tag, sequence, turn: 0, next: 0, arm: Arm::A, flags }.encode(&mut message);
        drop(server.send_to(&message, to));
    };
    let duration_ns = 6 * TICK_NS;
    let follow = |last_row| {
        let mut out = SendBatch::new(8, &[0; 64], false);
        let header =
            Header { tag: TAG, sequence: 0, turn: 0, next: 0, arm: Arm::A, flags: Flags::NONE };
        let search = LoadSearch::new(Thresholds::default(), last_row);
        let (ip_bytes, payload_bytes) = (112, 64);
        let mut following = Following { search, ip_bytes, payload_bytes, duration_ns, header };
        let mut followed = Followed::new(duration_ns);
        let line = Line { socket: &client, end: End::Client };
        let watch = Watch::silence(Wait::Block, SILENCE_NS);
        capacity::follow(line, &mut out, &mut following, &mut followed, &watch).unwrap();
        followed
    };
    let strange = flooded(|| report(*b"no token"), || follow(50));
    assert_eq!((strange.reports, strange.rates.len()), (0, 1));
    let own = flooded(|| report(TAG), || follow(50));
    assert!((1..=12).contains(&own.reports), "{own:?}");
    assert!(own.rates[1..].windows(2).all(|two| two[1].0 - two[0].0 >= TICK_NS / 2), "{own:?}");
    assert!(own.rates.iter().all(|&(_, bps)| bps <= 50_000_000), "{own:?}");
}

/// What three connections to `listener` that ask in vain come to, made so many at a time.
fn given_up(listener: &Listener, concurrent: usize) -> Steps {
    let manner = Manner {
        remote: listener.local().unwrap(),
        options: &StreamOptions::default(),
        timeout_ns: TICK_NS,
        count: 9,
        concurrent,
        request: Data { token: Token([7; 16]), arm: Arm::A, connection: 0 },
    };
    let family = Family::of(&manner.remote.ip()).unwrap();
    let mut steps = Steps::with_room(9);
    let (mut locals, mut slots) = (std::iter::repeat(any(family)), Slots::with_room(2, 0));
    let start_ns = clock::now_ns();
    let gave_up = several(&manner, &mut locals, &mut slots, &mut steps).unwrap_err();
    assert!(matches!(gave_up, Failure::Ask(Cause::Silent)), "{gave_up:?}");
    assert_eq!(steps.connect.lost, 3);
    // Each has its time and the tick in which it is noticed; the rest is for a busy machine.
    let took_ns = clock::now_ns() - start_ns;
    assert!((TICK_NS..SILENCE_NS / 2).contains(&took_ns), "{took_ns} ns");
    steps
}

/// Somebody takes connections and never says anything: whether one is made at a time or several,
/// each is given up in time and all after three.
#[test]
fn a_silent_answerer_is_given_up() {
    for (family, concurrent) in [(Family::V4, 1), (Family::V6, 1), (Family::V6, 2)] {
        let listener = Listener::bind(any(family), 16).unwrap();
        assert_eq!(given_up(&listener, concurrent).first_byte.times_ns.len(), 0);
    }
}

/// As well if it stops in the middle of its answer, when no call has a limit of its own.
#[test]
fn an_answerer_that_stops_half_way_is_given_up() {
    for (family, concurrent) in [(Family::V4, 1), (Family::V6, 1), (Family::V6, 2)] {
        let listener = Listener::bind(any(family), 16).unwrap();
        let halves = || {
            let answered = |_| {
                let stream = listener.accept().unwrap();
                let mut said = [0; Data::BYTES];
                stream.read_exact(&mut said).unwrap();
                stream.write_all(&said[..Data::BYTES / 2]).unwrap();
                stream
            };
            (0..3).map(answered).collect::<Vec<Stream>>()
        };
        let steps = thread::scope(|scope| {
            // What it holds stays open until the client has given up.
            let held = scope.spawn(halves);
            let steps = given_up(&listener, concurrent);
            assert_eq!(held.join().unwrap().len(), 3);
            steps
        });
        assert_eq!(steps.first_byte.times_ns.len(), 3);
    }
}
