//! Limits hold whatever a client does: one that knows of none is read at the limit and sent to at
//! the limit, and a task beyond them is refused in words.

use crate::common::{Service, slice, trial, values_of};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use v6gap_core::arm::PerArm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{EndReport, Measured};
use v6gap_core::record::Host;
use v6gap_core::wire::control::Limits;
use v6gap_core::workload::{
    Direction, Echo, Load, Marking, Probe, TcpBulk, Transport, UdpBulk, Wait, Workload,
};
use v6gap_engine::control::{ClientOptions, Connection, Key, TaskError};
use v6gap_engine::server::{Server, ServerOptions};
use v6gap_engine::trial::TrialError;
use v6gap_engine::trial::client::{self, ClientContext};
use v6gap_sys::clock;

const MS: u64 = 1_000_000;
const MBIT: u64 = 1_000_000;

/// The limit of these servers: 5 MB per second.
const LIMIT_BPS: u64 = 40 * MBIT;

/// Time of a transfer, and of what a receiver may read after it.
const TIMES_NS: (u64, u64) = (500 * MS, 300 * MS);

fn limited() -> Limits {
    Limits { rate_bps: Some(LIMIT_BPS), ..Limits::default() }
}

fn service(limits: Limits) -> Service {
    let mut service = Service::new();
    service.limits = limits;
    service
}

fn bulk(direction: Direction, streams: u32) -> Workload {
    let (duration_ns, warmup_ns) = (TIMES_NS.0, 100 * MS);
    Workload::TcpBulk(TcpBulk { duration_ns, warmup_ns, direction, streams, ..TcpBulk::default() })
}

fn received_bytes(report: &EndReport) -> u64 {
    match &report.measured {
        Measured::Received(received) | Measured::BothWays { received, .. } => received.bytes,
        other => panic!("{other:?}"),
    }
}

fn sent_bytes(report: &EndReport) -> u64 {
    match &report.measured {
        Measured::Sent(sent) | Measured::BothWays { sent, .. } => sent.bytes,
        other => panic!("{other:?}"),
    }
}

/// Bytes that the limit allows in a time; a read at the start and one at the end come on top.
fn allowed(ns: u64, streams: u64) -> u64 {
    let pace = LIMIT_BPS / 8;
    pace * ns / 1_000_000_000 + pace / 50 + streams * 2 * 512 * 1024
}

/// The client of these knows of no limit, and on loopback sends as fast as memory is copied.
#[test]
fn a_sender_that_keeps_to_no_limit_is_read_at_the_limit() {
    let service = service(limited());
    let context = service.context(Transport::Tcp);
    assert_eq!(context.limits, Limits::default());
    for family in Family::BOTH {
        for streams in [1, 3] {
            let task = trial(bulk(Direction::Send, streams), family);
            let (client, server) = service.perform(&task, &context);
            let taken = received_bytes(&server.unwrap()[0].1);
            let most = allowed(TIMES_NS.0 + TIMES_NS.1, u64::from(streams));
            assert!(taken <= most, "{family}, {streams}: {taken} B, at most {most}");
            // It handed over more than was taken: nothing but the reader held it back.
            assert!(client.is_err() || sent_bytes(&client.unwrap()[0].1) > taken);
        }
    }
}

#[test]
fn a_server_sends_at_its_limit_and_both_ends_keep_to_it_evenly() {
    let service = service(limited());
    let unaware = service.context(Transport::Tcp);
    let aware = ClientContext { limits: limited(), ..unaware.clone() };
    for family in Family::BOTH {
        for (direction, context) in
            [(Direction::Receive, &unaware), (Direction::Send, &aware), (Direction::Both, &aware)]
        {
            let task = trial(bulk(direction, 2), family);
            let (client, server) = service.perform(&task, context);
            let (client, server) = (client.unwrap(), server.unwrap());
            let all = [received_of(&client[0].1), received_of(&server[0].1)];
            for moved in all.into_iter().flatten() {
                let most = allowed(TIMES_NS.0, 2);
                assert!(moved <= most, "{family} {direction:?}: {moved} B, at most {most}");
            }
            let rate = values_of(&task, &client, &server)[0][&Metric::Throughput];
            let near = (0.8..1.1).contains(&(rate / LIMIT_BPS as f64));
            assert!(near || direction == Direction::Both, "{family} {direction:?}: {rate} bit/s");
        }
    }
}

fn received_of(report: &EndReport) -> Option<u64> {
    match &report.measured {
        Measured::Received(_) | Measured::BothWays { .. } => Some(received_bytes(report)),
        _ => None,
    }
}

#[test]
fn bytes_are_kept_to_by_a_sender_that_knows_and_by_one_that_does_not() {
    let limits = Limits { task_bytes: Some(1_000_000), ..Limits::default() };
    let service = service(limits);
    let unaware = service.context(Transport::Tcp);
    let aware = ClientContext { limits, ..unaware.clone() };
    let task = trial(bulk(Direction::Send, 1), Family::V6);
    let (_, server) = service.perform(&task, &unaware);
    let taken = received_bytes(&server.unwrap()[0].1);
    // The last read may bring one buffer more.
    assert!(taken <= 1_000_000 + 512 * 1024, "{taken} B");
    let (client, server) = service.perform(&task, &aware);
    let (client, server) = (client.unwrap(), server.unwrap());
    assert!(sent_bytes(&client[0].1) <= 1_000_000);
    let rate = values_of(&task, &client, &server)[0][&Metric::Throughput];
    assert!((0.8..1.1).contains(&(rate / 16e6)), "{rate} bit/s");
}

/// Streams beside probes, of a client that knows of no limit.
#[test]
fn a_load_is_held_to_what_the_probes_leave() {
    let service = service(limited());
    let unaware = ClientContext { limits: Limits::default(), ..service.context(Transport::Udp) };
    let lead_ns = 100 * MS;
    for direction in [Direction::Send, Direction::Receive] {
        let load = Load { direction, streams: 2, lead_ns, ..Load::default() };
        let probe = Probe { turns: 1, turn_packets: 100, timeout_ns: 200 * MS, ..Probe::default() };
        let workload = Workload::Probe(Probe { load: Some(load), ..probe });
        let task = trial(workload, Family::V4);
        let (client, server) = service.perform(&task, &unaware);
        let (client, server) = (client.unwrap(), server.unwrap());
        let loaded = |report: &EndReport| match &report.measured {
            Measured::Probed(probed) => probed.load.unwrap(),
            Measured::Returned(returned) => returned.load.unwrap(),
            other => panic!("{other:?}"),
        };
        let (far, near) = (loaded(&server[0].1), loaded(&client[0].1));
        let (moved, ns) = match direction {
            Direction::Send => (far.received_bytes, far.span_ns),
            _ => (near.received_bytes, near.span_ns),
        };
        let most = allowed(ns, 2);
        assert!(moved > 0 && moved <= most, "{direction:?}: {moved} B in {ns} ns, at most {most}");
    }
}

/// Tells the server to stop when it is dropped.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A server with these limits while `work` talks to it over a session of its own.
fn served<T>(limits: Limits, work: impl FnOnce(&mut Connection, &ClientContext) -> T) -> T {
    let host = Host { name: "here".to_owned(), ..Host::default() };
    let mut options = ServerOptions::new("test 1".to_owned(), host.clone());
    let any = |family: Family| Some(std::net::SocketAddr::new(family.loopback(), 0));
    options.addresses = PerFamily::from_fn(any);
    options.limits = limits;
    let server = Server::bind(&options).unwrap();
    let addresses = *server.addresses();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.run(&stop, &mut |_| ()).unwrap());
        // The scope waits for the server, so it must end even if `work` panics.
        let stopping = Stopping(&stop);
        let options = ClientOptions::new(Key::none(), "test 1".to_owned(), host);
        let waiting = &mut |_: &_| ControlFlow::Continue(());
        let mut connection = Connection::open(addresses, &options, waiting).ok().unwrap();
        assert_eq!(connection.opened().welcome.limits, limits);
        let context = ClientContext::new(addresses, 5_000 * MS);
        let outcome = work(&mut connection, &context);
        connection.close();
        drop(stopping);
        serving.join().unwrap();
        outcome
    })
}

/// Proposes a task as it is; what the server said to it, if it did not do it.
fn proposed(
    connection: &mut Connection,
    context: &ClientContext,
    workload: Workload,
) -> Option<String> {
    let mut task = match workload {
        Workload::Echo(_) => slice(workload, PerArm::FAMILIES),
        _ => trial(workload, Family::V4),
    };
    task.number = connection.next_number();
    match connection.run_task(&task, |task| client::run(task, context)) {
        Ok(_) => None,
        Err(TaskError::Server { failure, .. }) => {
            assert!(failure.lasting, "{failure:?}");
            Some(failure.why)
        }
        Err(TaskError::Own(error) | TaskError::Both { own: error, .. }) => {
            panic!("{}", TrialError::to_string(&error))
        }
        Err(TaskError::Session(problem)) => panic!("{problem}"),
    }
}

#[test]
fn what_is_beyond_the_limits_is_refused_in_words() {
    let limits = Limits { task_ns: 1_000 * MS, ..Limits::strict() };
    served(limits, |connection, context| {
        let echo = Echo { turns: 1, turn_exchanges: 2, connections: 1, ..Echo::default() };
        let stream = UdpBulk { duration_ns: 100 * MS, warmup_ns: 0, ..UdpBulk::default() };
        let transfer = TcpBulk { duration_ns: 100 * MS, warmup_ns: 0, ..TcpBulk::default() };
        let marked = Marking { traffic_class: Some(0xb8), ..Marking::default() };
        let mut named = transfer.clone();
        named.settings.congestion = Some("cubic".to_owned());
        let too_much = [
            (
                Workload::TcpBulk(TcpBulk { duration_ns: 1_001 * MS, ..transfer.clone() }),
                "duration",
            ),
            (
                Workload::TcpBulk(TcpBulk { pacing_bps: Some(50 * MBIT + 1), ..transfer.clone() }),
                "pace in bit/s is 50000001, it must be from 1 to 50000000",
            ),
            (Workload::UdpBulk(UdpBulk { rate_bps: None, ..stream.clone() }), "limits the rate"),
            (
                Workload::UdpBulk(UdpBulk { rate_bps: Some(60 * MBIT), ..stream.clone() }),
                "rate in bit/s",
            ),
            (Workload::TcpBulk(named), "does not allow the choice of a congestion control"),
            (
                Workload::UdpBulk(UdpBulk {
                    rate_bps: Some(MBIT),
                    marking: marked,
                    ..stream.clone()
                }),
                "does not allow marks of packets",
            ),
            (Workload::Echo(Echo { wait: Wait::Spin, ..echo.clone() }), "without sleep"),
            (
                Workload::Echo(Echo { message_bytes: 16 << 20, ..echo.clone() }),
                "bytes of all exchanges",
            ),
        ];
        for (workload, expected) in too_much {
            let why = proposed(connection, context, workload).unwrap();
            assert!(why.contains(expected), "{expected}: {why}");
        }
        // The session goes on, and what is within the limits is done.
        assert_eq!(proposed(connection, context, Workload::Echo(echo)), None);
        assert_eq!(proposed(connection, context, Workload::TcpBulk(transfer)), None);
    });
}

/// One task of exchanges after the other moves no more on average than the limit.
#[test]
fn exchanges_follow_each_other_no_faster_than_the_limit_on_average() {
    let limits = Limits { rate_bps: Some(80 * MBIT), ..Limits::default() };
    let echo = Echo {
        message_bytes: 100_000,
        connections: 1,
        turns: 2,
        turn_exchanges: 10,
        warmup_exchanges: 0,
        ..Echo::default()
    };
    // Two arms of 20 messages of 100 kB are 4 MB, which take 0.4 s at 10 MB/s.
    served(limits, |connection, context| {
        let start_ns = clock::now_ns();
        for _ in 0..3 {
            assert_eq!(proposed(connection, context, Workload::Echo(echo.clone())), None);
        }
        let passed_ns = clock::now_ns() - start_ns;
        assert!(passed_ns >= 800 * MS, "two rests: {passed_ns} ns");
    });
}
