//! The measuring loops allocate nothing: counted on each loop's own thread while it runs.

#[path = "../common/proving.rs"]
mod proving;
mod stack;

use allocation_counter::measure;
use proving::{NOWHERE, message, prove};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::capacity::{LoadSearch, Thresholds};
use v6gap_core::family::Family;
use v6gap_core::session::access::Access;
use v6gap_core::session::validation::Validation;
use v6gap_core::task::Token;
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_core::wire::preamble::Data;
use v6gap_core::wire::status::Status;
use v6gap_core::workload::{Echo, Transport, UdpBulk, Wait};
use v6gap_engine::hot::answer::{Answered, Door, answer};
use v6gap_engine::hot::bulk::{Extent, Sink, Source};
use v6gap_engine::hot::capacity::{Followed, Following, Reporter};
use v6gap_engine::hot::connect::{Slots, Steps};
use v6gap_engine::hot::datagram_bulk::{Counted, Line, Replies, Sending};
use v6gap_engine::hot::echo::Buffers;
use v6gap_engine::hot::pace::Pace;
use v6gap_engine::hot::probe::{
    self, ClientBuffers, ClientNotes, Clock, Manner, ServerNotes, Slot,
};
use v6gap_engine::hot::series::Series;
use v6gap_engine::hot::turns::Turns;
use v6gap_engine::hot::window::{self, Window};
use v6gap_engine::hot::{self, Tally, Watch, bulk, capacity, connect, datagram_bulk, ping};
use v6gap_sys::socket::{
    Datagram, ECHO_HEADER_BYTES, ECHO_ROOM_BYTES, KernelTimes, Listener, MemoryFile, Ping,
    ReceiveBatch, SendBatch, Stream, StreamOptions,
};

const MS: u64 = 1_000_000;
const TAG: [u8; 8] = *b"of tests";
const WAIT_NS: u64 = 10_000 * MS;

fn any(family: Family) -> SocketAddr {
    SocketAddr::new(family.loopback(), 0)
}

/// Two ends of a connection.
fn stream_pair(family: Family) -> (Stream, Stream) {
    let listener = Listener::bind(any(family), 8).unwrap();
    let options = StreamOptions { no_delay: true, ..StreamOptions::default() };
    let client = Stream::connect(None, listener.local().unwrap(), &options, WAIT_NS).unwrap();
    let server = listener.accept().unwrap();
    for end in [&client, &server] {
        end.set_read_timeout(Some(hot::TICK_NS)).unwrap();
        end.set_write_timeout(Some(hot::TICK_NS)).unwrap();
    }
    (client, server)
}

fn datagram_pair(family: Family) -> (Datagram, Datagram) {
    let server = Datagram::bind(any(family)).unwrap();
    let client = Datagram::bind(any(family)).unwrap();
    client.connect(server.local().unwrap()).unwrap();
    server.connect(client.local().unwrap()).unwrap();
    for end in [&client, &server] {
        end.set_read_timeout(Some(hot::TICK_NS)).unwrap();
    }
    (client, server)
}

/// What servers of exchanges and probes fill their answers with.
const FILL: u8 = 0xf1;

/// A validation to which all of these sockets have proved themselves.
fn validated(sockets: &PerArm<Vec<Datagram>>) -> Validation<'static> {
    let count = sockets.a.len() as u16;
    let sources = PerArm { a: count, b: count };
    let mut validation = Validation::new(TAG, &[3; 16], &Access::Near, NOWHERE, sources);
    for arm in Arm::BOTH {
        for socket in sockets.get(arm) {
            prove(&mut validation, TAG, socket.local().unwrap(), arm);
        }
    }
    validation
}

/// Somebody who introduces himself in the middle of it all.
fn stranger(server: &Datagram) -> Datagram {
    let socket = Datagram::bind(any(Family::of(&server.local().unwrap().ip()).unwrap())).unwrap();
    let introduction = message(TAG, Flags::INTRODUCTION, Arm::A, 0);
    socket.send_to(&introduction, server.local().unwrap()).unwrap();
    socket
}

/// Runs both ends at once and asserts that neither allocated.
fn assert_free(client: impl FnOnce() + Send, server: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let server = scope.spawn(|| measure(server));
        let client = measure(client);
        assert_eq!(client.count_total, 0, "client");
        assert_eq!(server.join().unwrap().count_total, 0, "server");
    });
}

fn echo(transport: Transport, wait: Wait) -> Echo {
    Echo {
        transport,
        message_bytes: 64,
        connections: 2,
        turn_exchanges: 10,
        turns: 6,
        warmup_exchanges: 1,
        wait,
        ..Echo::default()
    }
}

/// What a client of an echo block needs.
struct Client {
    turns: Turns,
    buffers: Buffers,
    tallies: PerArm<Tally>,
}

/// So many bytes of one value.
fn all(value: u8, count: usize) -> v6gap_sys::placed::Bytes {
    vec![value; count].into()
}

fn echo_client(workload: &Echo) -> Client {
    let (turns, exchanges) = (workload.turns as usize, workload.turn_exchanges as usize);
    Client {
        turns: Turns::new(TurnOrder::Ab, workload).unwrap(),
        buffers: Buffers::new(all(0, 64), all(0, 64), all(FILL, 64)),
        tallies: PerArm::from_fn(|_| Tally::with_room(turns, exchanges)),
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![0_u8; 10]))).count_total, 1);
}

#[test]
fn echo_over_streams() {
    for wait in [Wait::Block, Wait::Yield, Wait::Spin] {
        let workload = echo(Transport::Tcp, wait);
        let mut client = echo_client(&workload);
        let turns = client.turns;
        let (mut near, mut far) = (PerArm::<Vec<Stream>>::default(), PerArm::default());
        for (arm, family) in [(Arm::A, Family::V4), (Arm::B, Family::V6)] {
            for _ in 0..workload.connections {
                let (client, server) = stream_pair(family);
                for end in [&client, &server] {
                    end.set_nonblocking(wait.polls()).unwrap();
                }
                near.get_mut(arm).push(client);
                let ends: &mut Vec<Stream> = far.get_mut(arm);
                ends.push(server);
            }
        }
        let watch = Watch::silence(wait, WAIT_NS);
        let (mut request, mut answer) = (vec![0; 64], vec![FILL; 64]);
        let memory = (&mut request[..], &mut answer[..]);
        let Client { buffers, tallies, .. } = &mut client;
        assert_free(
            || hot::echo::stream_client(&turns, TAG, &near, buffers, tallies, &watch).unwrap(),
            || hot::echo::stream_server(&turns, TAG, &far, memory, &watch).unwrap(),
        );
        assert_eq!(client.tallies.a.times_ns.len(), 60);
    }
}

#[test]
fn echo_over_datagrams() {
    for wait in [Wait::Block, Wait::Yield, Wait::Spin] {
        let workload = echo(Transport::Udp, wait);
        let mut client = echo_client(&workload);
        let turns = client.turns;
        let servers = PerArm::FAMILIES.map(|f| Datagram::bind(any(f)).unwrap());
        let near = PerArm::from_fn(|arm| {
            let server = servers.get(arm);
            let connect = |_| {
                let socket = Datagram::bind(any(*PerArm::FAMILIES.get(arm))).unwrap();
                socket.connect(server.local().unwrap()).unwrap();
                socket
            };
            (0..workload.connections).map(connect).collect::<Vec<_>>()
        });
        for socket in near.a.iter().chain(&near.b).chain([&servers.a, &servers.b]) {
            socket.set_read_timeout(Some(hot::TICK_NS)).unwrap();
            socket.set_nonblocking(wait.polls()).unwrap();
        }
        let watch = Watch::silence(wait, WAIT_NS);
        let (mut request, mut answer) = (vec![0; 64], vec![FILL; 64]);
        let memory = (&mut request[..], &mut answer[..]);
        let mut peers = PerArm { a: None, b: None };
        let sockets = PerArm { a: &servers.a, b: &servers.b };
        let mut validation = validated(&near);
        let _stranger = stranger(sockets.a);
        let Client { buffers, tallies, .. } = &mut client;
        let (peers, valid) = (&mut peers, &mut validation);
        assert_free(
            || hot::echo::datagram_client(&turns, TAG, &near, buffers, tallies, &watch).unwrap(),
            || {
                hot::echo::datagram_server(&turns, valid, &sockets, memory, peers, &watch).unwrap();
            },
        );
        assert_eq!(client.tallies.b.turn_ends.len(), 6);
    }
}

/// Sockets of both families with two ends, as loops with requests outstanding want them.
#[test]
fn requests_outstanding() {
    for wait in [Wait::Block, Wait::Spin] {
        let workload = Echo { outstanding: 3, ..echo(Transport::Tcp, wait) };
        let mut client = echo_client(&workload);
        let turns = client.turns;
        let (mut near, mut far) = (PerArm::<Vec<Stream>>::default(), PerArm::default());
        for (arm, family) in [(Arm::A, Family::V4), (Arm::B, Family::V6)] {
            for _ in 0..workload.connections {
                let (client, server) = stream_pair(family);
                client.set_nonblocking(true).unwrap();
                server.set_nonblocking(wait.polls()).unwrap();
                near.get_mut(arm).push(client);
                let ends: &mut Vec<Stream> = far.get_mut(arm);
                ends.push(server);
            }
        }
        let watch = Watch::silence(wait, WAIT_NS);
        let asking = Watch { asks: wait == Wait::Block, ..watch };
        let (mut request, mut answer) = (vec![0; 64], vec![FILL; 64]);
        let memory = (&mut request[..], &mut answer[..]);
        let mut window = Window::of(workload.outstanding, &turns);
        let Client { buffers, tallies, .. } = &mut client;
        let places = (buffers, &mut window);
        thread::scope(|scope| {
            let server = || hot::echo::stream_server(&turns, TAG, &far, memory, &watch).unwrap();
            let server = scope.spawn(|| measure(server));
            let client = measure(|| {
                window::stream_client(&turns, TAG, &near, places, tallies, &asking).unwrap();
            });
            assert_eq!((client.count_total, server.join().unwrap().count_total), (0, 0));
        });
        assert_eq!(client.tallies.a.times_ns.len(), 60);
    }
}

#[test]
fn requests_outstanding_as_datagrams() {
    let workload = Echo { outstanding: 3, ..echo(Transport::Udp, Wait::Spin) };
    let mut client = echo_client(&workload);
    let turns = client.turns;
    let servers = PerArm::FAMILIES.map(|f| Datagram::bind(any(f)).unwrap());
    let near = PerArm::from_fn(|arm| {
        let connect = |_| {
            let socket = Datagram::bind(any(*PerArm::FAMILIES.get(arm))).unwrap();
            socket.connect(servers.get(arm).local().unwrap()).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        (0..workload.connections).map(connect).collect::<Vec<_>>()
    });
    for socket in [&servers.a, &servers.b] {
        socket.set_nonblocking(true).unwrap();
    }
    let watch = Watch::silence(Wait::Spin, WAIT_NS);
    let (mut request, mut answer) = (vec![0; 64], vec![FILL; 64]);
    let mut validation = validated(&near);
    let mut peers = PerArm { a: None, b: None };
    let sockets = PerArm { a: &servers.a, b: &servers.b };
    let mut window = Window::of(workload.outstanding, &turns);
    let Client { buffers, tallies, .. } = &mut client;
    let places = (buffers, &mut window);
    thread::scope(|scope| {
        let memory = (&mut request[..], &mut answer[..]);
        let (peers, valid) = (&mut peers, &mut validation);
        let server = scope.spawn(move || {
            measure(|| {
                hot::echo::datagram_server(&turns, valid, &sockets, memory, peers, &watch).unwrap();
            })
        });
        let client = measure(|| {
            window::datagram_client(&turns, TAG, &near, places, tallies, &watch).unwrap();
        });
        assert_eq!((client.count_total, server.join().unwrap().count_total), (0, 0));
    });
    assert_eq!(client.tallies.b.turn_ends.len(), 6);
}

#[test]
fn icmp_echo() {
    let workload = echo(Transport::Icmp, Wait::Spin);
    let mut client = echo_client(&workload);
    let near = PerArm::FAMILIES.map(|family| {
        let socket = Ping::open(any(family), any(family), 1).unwrap();
        socket.map(|socket| {
            socket.set_nonblocking(true).unwrap();
            vec![socket]
        })
    });
    let (Ok(a), Ok(b)) = (near.a, near.b) else {
        return println!("not tested: this host lets nobody send echoes");
    };
    let workload = Echo { connections: 1, ..workload };
    let turns = Turns::new(TurnOrder::Ab, &workload).unwrap();
    let watch = Watch::silence(Wait::Spin, WAIT_NS);
    let Client { buffers, tallies, .. } = &mut client;
    let [out, back] = [ECHO_HEADER_BYTES, ECHO_ROOM_BYTES].map(|more| all(0, 64 + more));
    *buffers = Buffers::new(out, back, all(FILL, 64));
    let near = PerArm { a, b };
    let client = measure(|| {
        ping::client(&turns, TAG, &near, buffers, tallies, &watch).unwrap();
    });
    assert_eq!(client.count_total, 0);
    assert_eq!(tallies.b.times_ns.len() as u64 + tallies.b.lost, 60);
}

#[test]
fn tcp_bulk() {
    let chunk = vec![0; 128 * 1024];
    let file = MemoryFile::new(&chunk);
    let mut sources = vec![Source::Copied(&chunk), Source::InPlace(&chunk)];
    sources.extend(file.iter().map(|file| Source::File(file, chunk.len())));
    for family in Family::BOTH {
        for (number, &source) in sources.iter().enumerate() {
            let (near, far) = stream_pair(family);
            if matches!(source, Source::InPlace(_)) && near.allow_in_place().is_err() {
                continue;
            }
            let watch = Watch::silence(Wait::Block, WAIT_NS);
            let mut buffer = vec![0; 128 * 1024];
            let sink = match number == 0 || Stream::can_discard().is_err() {
                true => Sink::Buffer(&mut buffer),
                false => Sink::Nowhere(128 * 1024),
            };
            let mut series = Series::new(100 * MS);
            // Long enough for the round-trip time to be looked at.
            let pace = (number == 0).then_some(50_000_000);
            let extent = Extent { duration_ns: 250 * MS, bytes: u64::MAX, pace };
            let low_water = 256 * 1024;
            assert_free(
                || {
                    bulk::send(Arm::A, &near, source, extent, &watch, None).unwrap();
                    near.shutdown_write().unwrap();
                },
                || {
                    bulk::receive(Arm::A, &far, sink, &mut series, extent, low_water, &watch)
                        .unwrap();
                },
            );
            assert!(series.received(Some(10 * MS), 100 * MS).rate_bps > 0.0);
        }
    }
}

#[test]
fn udp_bulk_paced_and_at_full_speed() {
    let rates = [(Family::V4, Some(10_000_000)), (Family::V6, None)];
    for ((family, rate_bps), offload) in rates.into_iter().flat_map(|r| [(r, false), (r, true)]) {
        let (near, far) = datagram_pair(family);
        near.set_nonblocking(true).unwrap();
        let watch = Watch::silence(Wait::Block, WAIT_NS);
        let bulk = UdpBulk { rate_bps, payload_bytes: 1000, ..UdpBulk::default() };
        let offload = offload && near.segments().is_ok() && far.set_coalescing(true).is_ok();
        let (message, mut answer) = (vec![0; 1000], vec![FILL; 1000]);
        let mut out = SendBatch::new(bulk.batch, &message, offload);
        let mut back = ReceiveBatch::new(8, if offload { 1 << 16 } else { 1001 });
        let mut counted = Counted::new(50 * MS, 1000);
        let header =
            Header { tag: TAG, sequence: 0, turn: 0, next: 0, arm: Arm::A, flags: Flags::NONE };
        let start_ns = v6gap_sys::clock::now_ns();
        let pace = bulk.schedule(1).map(|schedule| Pace::new(start_ns, schedule, 50 * MS, 64));
        let mut sending = Sending { pace, duration_ns: 50 * MS, packets_max: u64::MAX, header };
        assert_free(
            || {
                datagram_bulk::send(&near, &mut out, &mut sending, &watch).unwrap();
                let end = Header { flags: Flags::END, ..header };
                let line = Line { socket: &near, end: End::Client };
                datagram_bulk::end(line, end, &watch).unwrap();
            },
            || {
                let line = Line { socket: &far, end: End::Server };
                let mut replies = Replies::new(&mut answer, None);
                let (of, counted) = ((Arm::A, TAG), &mut counted);
                datagram_bulk::receive(of, line, &mut back, counted, &mut replies, &watch).unwrap();
            },
        );
        assert!(counted.sequence.packets > 0);
    }
}

/// The other way round: the server waits for the knock, then sends.
#[test]
fn udp_bulk_from_the_server() {
    for family in Family::BOTH {
        let (near, far) = datagram_pair(family);
        far.set_nonblocking(true).unwrap();
        let watch = Watch::silence(Wait::Block, WAIT_NS);
        let (message, mut answer) = (vec![0; 1000], vec![0; 1000]);
        let mut knock = vec![0; 1000];
        let mut back = ReceiveBatch::new(8, 1001);
        let mut counted = Counted::new(50 * MS, 1000);
        let header =
            Header { tag: TAG, sequence: 0, turn: 0, next: 0, arm: Arm::A, flags: Flags::NONE };
        Header { flags: Flags::WARMUP, ..header }.encode(&mut knock);
        let mut out = SendBatch::new(64, &message, false);
        let duration_ns = 20 * MS;
        let data = Header { flags: End::Server.says(Flags::NONE), ..header };
        let mut sending = Sending { pace: None, duration_ns, packets_max: 1000, header: data };
        // The proof comes again, because its answer was lost.
        near.send(&message_of_proof()).unwrap();
        assert_free(
            || {
                let line = Line { socket: &near, end: End::Client };
                let mut replies = Replies::new(&mut answer, Some(&knock));
                let (of, counted) = ((Arm::A, TAG), &mut counted);
                datagram_bulk::receive(of, line, &mut back, counted, &mut replies, &watch).unwrap();
            },
            || {
                let line = Line { socket: &far, end: End::Server };
                datagram_bulk::await_knock(Arm::A, line, TAG, &watch).unwrap();
                let done = datagram_bulk::send(&far, &mut out, &mut sending, &watch).unwrap();
                assert!(done.sent.packets > 0);
                let end = Header { flags: Flags::END, ..header };
                datagram_bulk::end(line, end, &watch).unwrap();
            },
        );
        assert!(counted.sequence.packets > 0);
    }
}

fn message_of_proof() -> [u8; 20] {
    message(TAG, v6gap_core::session::validation::PROOF, Arm::A, 7)
}

/// A sender that follows reports, and one that asks for them.
#[test]
fn searching_for_capacity() {
    for (family, asks) in [(Family::V4, false), (Family::V6, true)] {
        let (near, far) = datagram_pair(family);
        near.set_nonblocking(true).unwrap();
        let watch = Watch::silence(Wait::Block, WAIT_NS);
        let (mut message, mut answer) = (vec![0; 1000], vec![FILL; 1000]);
        let mut out = SendBatch::new(64, &message, false);
        let mut back = ReceiveBatch::new(8, 1001);
        let mut counted = Counted::new(300 * MS, 1000);
        let header =
            Header { tag: TAG, sequence: 0, turn: 1, next: 0, arm: Arm::A, flags: Flags::NONE };
        counted.reporter = Some(Reporter::new(header, !asks, 300 * MS, 0));
        let mut following = Following {
            search: LoadSearch::new(Thresholds::default(), 30),
            ip_bytes: 1028,
            payload_bytes: 1000,
            duration_ns: 300 * MS,
            header,
        };
        let mut followed = Followed::new(300 * MS);
        let mut status = Status::default();
        assert_free(
            || {
                let line = Line { socket: &near, end: End::Client };
                let (search, found) = (&mut following, &mut followed);
                capacity::follow(line, &mut out, search, found, &watch).unwrap();
                if asks {
                    status = capacity::ask_status(line, &mut message, header, &watch).unwrap();
                }
                let end = Header { flags: Flags::END, ..header };
                datagram_bulk::end(line, end, &watch).unwrap();
            },
            || {
                let line = Line { socket: &far, end: End::Server };
                let mut replies = Replies::new(&mut answer, None);
                let (of, counted) = ((Arm::A, TAG), &mut counted);
                datagram_bulk::receive(of, line, &mut back, counted, &mut replies, &watch).unwrap();
            },
        );
        let sent = followed.sent.packets;
        assert!(sent > 0 && counted.sequence.packets == sent);
        if asks {
            assert_eq!((followed.reports, u64::from(status.packets)), (0, sent));
        } else {
            assert!(followed.reports > 0 && followed.rates.len() > 1, "{followed:?}");
        }
    }
}

#[test]
fn connecting() {
    let listener = Listener::bind(any(Family::V6), 64).unwrap();
    let remote = listener.local().unwrap();
    let options = StreamOptions::default();
    let mut steps = Steps::with_room(10);
    let mut locals = std::iter::repeat(any(Family::V6));
    assert_free(
        || connect::connect(remote, &options, WAIT_NS, 10, &mut locals, &mut steps).unwrap(),
        || {},
    );
    assert_eq!(steps.connect.times_ns.len(), 10);
}

#[test]
fn connecting_several_at_a_time() {
    connecting_and_asking(8);
}

#[test]
fn connecting_one_by_one() {
    connecting_and_asking(1);
}

fn connecting_and_asking(concurrent: usize) {
    let listener = Listener::bind(any(Family::V4), 64).unwrap();
    let remote = listener.local().unwrap();
    let options = StreamOptions::default();
    let request = Data { token: Token([7; 16]), arm: Arm::A, connection: 0 };
    let options = &options;
    let (count, timeout_ns) = (40, WAIT_NS);
    let manner = connect::Manner { remote, options, timeout_ns, count, concurrent, request };
    let mut steps = Steps::with_room(40);
    let mut places = Slots::with_room(8, 40);
    let mut locals = std::iter::repeat(any(Family::V4));
    let (access, token) = (&Access::Near, request.token);
    let door = Door { listener: &listener, access, token, arm: Arm::A, concurrent };
    let mut answered = Answered::with_room(40, 40);
    let finish = AtomicBool::new(false);
    let watch = Watch { finish: &finish, ..Watch::silence(Wait::Block, WAIT_NS) };
    assert_free(
        || {
            connect::several(&manner, &mut locals, &mut places, &mut steps).unwrap();
            finish.store(true, Ordering::Relaxed);
        },
        || {
            let mut others = |other| panic!("{other:?}");
            answer(&door, &mut || None, &mut others, &mut answered, &watch).unwrap();
        },
    );
    assert_eq!((answered.held.len(), answered.between.times_ns.len()), (40, 39));
    assert_eq!((steps.connect.times_ns.len(), steps.connect.lost, places.held.len()), (40, 0, 40));
    let times = steps.connect.times_ns.iter().max().zip(steps.first_byte.times_ns.iter().max());
    assert!(times.is_some_and(|(connect, first_byte)| connect <= first_byte));
}

/// With every note that an end can take, and a list that is too short for all of them.
#[test]
fn probing() {
    for wait in [Wait::Block, Wait::Yield] {
        let ends = PerArm::FAMILIES.map(datagram_pair);
        for (near, far) in [&ends.a, &ends.b] {
            for end in [near, far] {
                end.set_nonblocking(true).unwrap();
                // Where the system has neither, the loops run without.
                let _ = end.report_marks(true);
                let _ = end.report_times(KernelTimes::Both);
            }
        }
        let slot = |n: u64| {
            let arm = if n % 20 < 10 { Arm::A } else { Arm::B };
            Slot { at_ns: n * MS / 4, arm, turn: (n / 10) as u16 }
        };
        let course: Vec<Slot> = (0..80).map(slot).collect();
        // However long an end is held up, nothing is left out.
        let (interval_ns, timeout_ns) = (1_000 * MS, 2_000 * MS);
        let manner = Manner { tag: TAG, clock: Clock::Wall, interval_ns, timeout_ns };
        let watch = Watch::silence(wait, WAIT_NS);
        let mut buffers =
            ClientBuffers { message: all(0, 100), back: all(0, 101), expected: all(FILL, 100) };
        let (mut buffer, mut answer) = (vec![0; 101], vec![FILL; 100]);
        let sources = PerArm { a: 1, b: 1 };
        let mut valid = Validation::new(TAG, &[3; 16], &Access::Near, NOWHERE, sources);
        for (arm, (near, _)) in [(Arm::A, &ends.a), (Arm::B, &ends.b)] {
            prove(&mut valid, TAG, near.local().unwrap(), arm);
        }
        let again = message(TAG, Flags::INTRODUCTION, Arm::A, 0);
        ends.a.0.send(&again).unwrap();
        let mut client = PerArm::from_fn(|_| ClientNotes::with_room(40));
        let mut server = PerArm::from_fn(|_| ServerNotes::with_room(40));
        client.b.back = Vec::with_capacity(5);
        let PerArm { a: (a, first), b: (b, second) } = ends;
        let sockets = PerArm { a: Some(a), b: Some(b) };
        let (notes, seen) = (&mut client, &mut server);
        assert_free(
            || {
                probe::client(&course, &manner, &sockets, &mut buffers, notes, &watch).unwrap();
            },
            || {
                let memory = (&mut buffer[..], &mut answer[..]);
                let both = (&first, Some(&second));
                probe::server(&manner, &mut valid, both, memory, seen, &watch).unwrap();
            },
        );
        let sent = client.b.sent.len() as u64;
        assert_eq!((sent, client.b.skipped), (40, 0));
        assert_eq!((client.b.back.len(), client.b.beyond), (5, sent - 5));
        assert_eq!(u64::from(server.b.returned), sent);
    }
}
