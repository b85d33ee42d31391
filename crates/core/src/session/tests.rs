//! The machines' answers where the simulated network does not come by: what a server objects to,
//! whose turn it is, and that no message out of place starts anything.

mod alive;
mod whereabouts;

use super::agree::{Objection, check};
use super::queue::{Queue, Turn};
use super::*;
use crate::arm::{Arm, TurnOrder};
use crate::family::Family;
use crate::host::Host;
use crate::task::{self, Task, TaskArm, Token};
use crate::wire::arbitrary::{message, task as arbitrary_task};
use crate::wire::control::{Hello, Limits, Message, RefusalCode, Welcome};
use crate::workload::Feature;
use crate::workload::{
    Capacity, Connect, Direction, Echo, Impossible, Load, Marking, Probe, Purpose, Search,
    StreamSettings, TcpBulk, Timing, Transport, UdpBulk, UdpLoad, Wait, Workload,
};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use proptest::prelude::*;

const V4: TaskArm = TaskArm { arm: Arm::A, family: Family::V4 };
const V6: TaskArm = TaskArm { arm: Arm::B, family: Family::V6 };

fn task(workload: Workload, arms: &[TaskArm]) -> Task {
    let arms = arms.to_vec();
    let (order, token) = (TurnOrder::Ab, Token([7; 16]));
    Task { number: 0, workload, arms, order, seed: 1, token, arrives: task::native(), draw: None }
}

fn tcp_bulk() -> TcpBulk {
    TcpBulk {
        duration_ns: 1_000_000_000,
        warmup_ns: 100_000_000,
        write_bytes: 65_536,
        direction: Direction::Send,
        settings: StreamSettings {
            congestion: Some("cubic".to_string()),
            ..StreamSettings::default()
        },
        ..TcpBulk::default()
    }
}

fn udp_bulk() -> UdpBulk {
    UdpBulk {
        payload_bytes: 1200,
        rate_bps: Some(8_000_000),
        duration_ns: 1_000_000_000,
        warmup_ns: 0,
        ..UdpBulk::default()
    }
}

fn echo(transport: Transport) -> Echo {
    Echo {
        transport,
        message_bytes: 64,
        connections: 8,
        turn_exchanges: 25,
        turns: 10,
        warmup_exchanges: 5,
        wait: Wait::Block,
        ..Echo::default()
    }
}

fn hello(want: &[&str]) -> Message {
    let want = want.iter().map(ToString::to_string).collect();
    Message::Hello(Hello { tool: "t 1".to_string(), host: Host::default(), want, wait: true })
}

fn facts(host: Host) -> ServerFacts {
    ServerFacts { tool: "t 1".to_string(), host, limits: Limits::default(), clock_ahead_ns: 0 }
}

fn server() -> Server {
    Server::new(facts(Host::default()), 0)
}

fn drain(server: &mut Server) -> Vec<ServerAction> {
    let actions: Vec<_> = core::iter::from_fn(|| server.poll()).collect();
    assert!(actions.len() <= ACTIONS_MAX, "{actions:?}");
    actions
}

#[test]
fn ordinary_tasks_meet_no_objection() {
    let limits = Limits::default();
    for (workload, arms) in [
        (Workload::TcpBulk(tcp_bulk()), &[V4][..]),
        (Workload::UdpBulk(udp_bulk()), &[V6]),
        (Workload::Echo(echo(Transport::Tcp)), &[V4, V6]),
        (Workload::Echo(echo(Transport::Udp)), &[V4, V6]),
        (Workload::Echo(echo(Transport::Icmp)), &[V4, V6]),
        (Workload::Connect(Connect { count: 100, ..Connect::default() }), &[V6]),
    ] {
        assert_eq!(check(&task(workload, arms), &limits), Ok(()));
    }
}

#[test]
fn every_number_out_of_bounds_is_named() {
    let limits = Limits::default();
    let objected = |workload, arms: &[TaskArm]| match check(&task(workload, arms), &limits) {
        Err(Objection::Impossible(Impossible::Range { what, .. })) => what,
        other => panic!("{other:?}"),
    };
    let tcp = |change: fn(&mut TcpBulk)| {
        let mut bulk = tcp_bulk();
        change(&mut bulk);
        objected(Workload::TcpBulk(bulk), &[V4])
    };
    assert_eq!(tcp(|b| b.duration_ns = 0), "duration in ns");
    assert_eq!(tcp(|b| b.duration_ns = u64::MAX), "duration in ns");
    assert_eq!(tcp(|b| b.warmup_ns = b.duration_ns), "warm-up in ns");
    assert_eq!(tcp(|b| b.write_bytes = 0), "bytes in one write");
    assert_eq!(tcp(|b| b.write_bytes = u32::MAX), "bytes in one write");
    assert_eq!(tcp(|b| b.streams = 0), "streams");
    assert_eq!(tcp(|b| b.streams = 129), "streams");
    assert_eq!(tcp(|b| b.streams = 65), "connections");
    let both_ways = |b: &mut TcpBulk| (b.streams, b.direction) = (33, Direction::Both);
    assert_eq!(tcp(both_ways), "connections");
    assert_eq!(tcp(|b| b.bytes = Some(0)), "bytes in all");
    assert_eq!(tcp(|b| b.pacing_bps = Some(0)), "pace in bit/s");
    assert_eq!(tcp(|b| b.settings.buffer_bytes = Some(0)), "bytes of a socket buffer");
    assert_eq!(tcp(|b| b.settings.buffer_bytes = Some(u32::MAX)), "bytes of a socket buffer");
    assert_eq!(tcp(|b| b.settings.mss_bytes = Some(87)), "bytes of a segment");
    assert_eq!(tcp(|b| b.settings.mss_bytes = Some(32_768)), "bytes of a segment");
    let udp = |change: fn(&mut UdpBulk)| {
        let mut bulk = udp_bulk();
        change(&mut bulk);
        objected(Workload::UdpBulk(bulk), &[V4])
    };
    assert_eq!(udp(|b| b.payload_bytes = 19), "payload bytes of a datagram");
    assert_eq!(udp(|b| b.payload_bytes = 65_508), "payload bytes of a datagram");
    assert_eq!(udp(|b| b.rate_bps = Some(0)), "rate in bit/s");
    let slice = |change: fn(&mut Echo)| {
        let mut echo = echo(Transport::Tcp);
        change(&mut echo);
        objected(Workload::Echo(echo), &[V4, V6])
    };
    assert_eq!(slice(|e| e.message_bytes = 19), "bytes of a message");
    assert_eq!(slice(|e| e.message_bytes = u32::MAX), "bytes of a message");
    assert_eq!(slice(|e| e.response_bytes = Some(19)), "bytes of an answer");
    assert_eq!(slice(|e| e.response_bytes = Some(u32::MAX)), "bytes of an answer");
    assert_eq!(slice(|e| e.outstanding = 0), "requests outstanding");
    assert_eq!(slice(|e| e.outstanding = 1025), "requests outstanding");
    let batch = |e: &mut Echo| (e.timing, e.outstanding) = (Timing::Batch, 2);
    assert_eq!(slice(batch), "requests outstanding");
    let larger = |e: &mut Echo| {
        e.transport = Transport::Udp;
        e.response_bytes = Some(e.message_bytes + 1);
    };
    assert_eq!(slice(larger), "bytes of an answer", "nothing to gain by a false source");
    let several = |e: &mut Echo| (e.transport, e.outstanding) = (Transport::Icmp, 2);
    assert_eq!(slice(several), "requests outstanding");
    let v6_only = |e: &mut Echo| (e.transport, e.message_bytes) = (Transport::Icmp, 65_508);
    assert_eq!(slice(v6_only), "bytes of a message");
    assert_eq!(slice(|e| e.connections = 0), "connections");
    assert_eq!(slice(|e| e.connections = 65), "connections");
    assert_eq!(slice(|e| e.turns = 65_536), "turns");
    assert_eq!(slice(|e| e.turn_exchanges = 0), "exchanges of a turn");
    assert_eq!(slice(|e| e.turn_exchanges = u32::MAX), "exchanges in all");
    assert_eq!(slice(|e| e.warmup_exchanges = u32::MAX), "exchanges in all");
    assert_eq!(
        objected(Workload::Connect(Connect { count: 0, ..Connect::default() }), &[V4]),
        "connections in all"
    );
}

#[test]
fn connections_are_bounded_by_what_they_are_for() {
    let limits = Limits::default();
    let objected = |purpose, count, concurrent| {
        let connect = Workload::Connect(Connect { count, purpose, concurrent });
        match check(&task(connect, &[V4]), &limits) {
            Ok(()) => "",
            Err(Objection::Impossible(Impossible::Range { what, .. })) => what,
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(objected(Purpose::Open, 30_000, 1), "");
    assert_eq!(objected(Purpose::Open, 30_001, 1), "connections in all");
    assert_eq!(objected(Purpose::Open, 9, 2), "connections at a time");
    assert_eq!(objected(Purpose::FirstByte, 9, 2), "connections at a time");
    assert_eq!(objected(Purpose::Rate, 30_000, 64), "");
    assert_eq!(objected(Purpose::Rate, 9, 0), "connections at a time");
    assert_eq!(objected(Purpose::Rate, 9, 65), "connections at a time");
    assert_eq!(objected(Purpose::Hold, 20_000, 64), "");
    assert_eq!(objected(Purpose::Hold, 20_001, 64), "connections held");
}

#[test]
fn the_larger_ipv6_payload_is_allowed_for_ipv6_alone() {
    let bulk = UdpBulk { payload_bytes: 65_527, ..udp_bulk() };
    let checked = |arm| check(&task(Workload::UdpBulk(bulk.clone()), &[arm]), &Limits::default());
    assert_eq!(checked(V6), Ok(()));
    assert!(checked(V4).is_err());
}

#[test]
fn arms_must_suit_the_interleaving() {
    let limits = Limits::default();
    let bulk = Workload::TcpBulk(tcp_bulk());
    let slices = Workload::Echo(echo(Transport::Tcp));
    for (workload, arms) in
        [(&bulk, &[V4, V6][..]), (&bulk, &[]), (&slices, &[V4]), (&slices, &[V6, V4])]
    {
        let result = check(&task(workload.clone(), arms), &limits);
        assert!(
            matches!(result, Err(Objection::Impossible(Impossible::Senseless(_)))),
            "{result:?}"
        );
    }
}

#[test]
fn a_search_is_bounded_by_its_highest_rate_and_its_time() {
    let free = Limits::default();
    let slow = Limits { rate_bps: Some(100_000_000), ..free };
    let short = Limits { task_ns: 20_000_000_000, ..free };
    let few = Limits { task_bytes: Some(100_000_000), ..free };
    let load = Capacity { rate_bps_max: 80_000_000, ..Capacity::default() };
    let search = Search::Halving { trial_ns: 500_000_000, lost_ppm_max: 0, forced: false };
    let halving = Capacity { search, ..load.clone() };
    let faster = Capacity { rate_bps_max: 100_000_001, ..load.clone() };
    let large = Capacity { payload_bytes: 1500, ..load.clone() };
    let tiny = Limits { message_bytes: 1400, ..free };
    let checked = |capacity: &Capacity, limits| match check(
        &task(Workload::Capacity(capacity.clone()), &[V4]),
        limits,
    ) {
        Ok(()) => "",
        Err(Objection::Impossible(
            Impossible::Range { what, .. } | Impossible::Senseless(what),
        )) => what,
        Err(other) => panic!("{other:?}"),
    };
    for limits in [&free, &slow, &short, &few] {
        assert_eq!(checked(&load, limits), "");
    }
    assert_eq!(checked(&halving, &free), "");
    assert_eq!(checked(&faster, &slow), "highest rate in bit/s");
    assert_eq!(checked(&faster, &few), "bytes in all");
    assert_eq!(checked(&halving, &short), "duration in ns");
    assert_eq!(checked(&large, &tiny), "payload bytes of a datagram");
    let both = Capacity { direction: Direction::Both, ..load };
    assert_eq!(checked(&both, &free), "a search goes one way in a trial");
}

#[test]
fn a_congestion_control_is_a_name() {
    for bad in ["", "CUBIC", "../bbr", "sixteen-letters_"] {
        let bulk = TcpBulk {
            settings: StreamSettings {
                congestion: Some(bad.to_string()),
                ..StreamSettings::default()
            },
            ..tcp_bulk()
        };
        let result = check(&task(Workload::TcpBulk(bulk), &[V4]), &Limits::default());
        let refused = matches!(result, Err(Objection::Impossible(Impossible::Senseless(_))));
        assert!(refused, "{bad}: {result:?}");
    }
}

#[test]
fn turns_come_in_the_order_of_asking() {
    let from = core::net::IpAddr::V6(core::net::Ipv6Addr::LOCALHOST);
    let mut queue = Queue::new(1, 9);
    assert_eq!(queue.ask(1, from, "one", true, 0), Turn::Now);
    queue.heard(1);
    assert_eq!(queue.ask(1, from, "one", true, 5), Turn::Now);
    let Turn::Later(later) = queue.ask(2, from, "two", true, 3_000_000_000) else { panic!() };
    assert_eq!((later.place, later.seconds, later.by.as_str()), (1, 3, "one"));
    assert!(matches!(queue.ask(3, from, "three", true, 0), Turn::Never(_)), "one may wait");
    assert!(matches!(queue.ask(4, from, "four", false, 0), Turn::Never(_)), "would not wait");
    queue.leave(1, 10);
    assert_eq!(queue.served(), Some(2));
    assert_eq!(queue.ask(2, from, "two", true, 10), Turn::Now);
    queue.leave(2, 10);
    assert_eq!(queue.served(), None);
}

#[test]
fn a_want_that_the_server_lacks_is_refused_by_name() {
    let mut server = server();
    server.on_message(hello(&["echo", "teleport"]), 1);
    let [ServerAction::Send(Message::Refused(refused)), ServerAction::Close(_)] =
        &drain(&mut server)[..]
    else {
        panic!()
    };
    assert_eq!(refused.code, RefusalCode::TooOld);
    assert!(refused.why.contains("teleport"));
}

/// What a server says that knows no more than `features`.
fn welcome(features: &[&str]) -> Message {
    Message::Welcome(Box::new(Welcome {
        tool: "v6gap 0.0.1".to_string(),
        features: features.iter().map(ToString::to_string).collect(),
        limits: Limits::default(),
        host: Host::default(),
    }))
}

/// A client that wants these, and whose greeting is on its way.
fn client(want: &[&str]) -> Client {
    let Message::Hello(hello) = hello(want) else { panic!() };
    let mut client = Client::new(hello, 0);
    drain_client(&mut client);
    client
}

fn drain_client(client: &mut Client) -> Vec<ClientAction> {
    let actions: Vec<_> = core::iter::from_fn(|| client.poll()).collect();
    assert!(actions.len() <= ACTIONS_MAX, "{actions:?}");
    actions
}

/// An open session with a server that knows these.
fn opened(features: &[&str]) -> Client {
    let mut client = client(&[]);
    client.on_message(welcome(features), 1);
    for now in 2.. {
        match &drain_client(&mut client)[..] {
            [ClientAction::Send(Message::Clock { asked_ns })] => {
                let reply = Message::ClockReply { asked_ns: *asked_ns, server_ns: 0 };
                client.on_message(reply, now);
            }
            [ClientAction::Opened(_)] => break,
            other => panic!("{other:?}"),
        }
    }
    client
}

#[test]
fn a_server_that_lacks_a_wanted_feature_is_left_whichever_it_is() {
    for feature in Feature::ALL {
        let others = Feature::ALL.iter().filter(|other| *other != feature);
        let known: Vec<&str> = others.map(|feature| feature.name()).collect();
        let mut client = client(&["echo", feature.name()]);
        client.on_message(welcome(&known), 1);
        let [ClientAction::Send(Message::Bye), ClientAction::Close(Ending::Refused(refused))] =
            &drain_client(&mut client)[..]
        else {
            panic!("{feature:?}")
        };
        assert_eq!(refused.code, RefusalCode::TooOld);
        assert!(refused.why.contains(feature.name()), "{}", refused.why);
        assert!(refused.why.contains("v6gap 0.0.1"), "{}", refused.why);
    }
}

#[test]
fn a_bad_task_fails_in_words_and_the_session_goes_on() {
    let mut server = server();
    server.on_message(hello(&[]), 1);
    drain(&mut server);
    server.admit(2);
    drain(&mut server);
    server.on_message(
        Message::Prepare(task(
            Workload::Connect(Connect { count: 0, ..Connect::default() }),
            &[V4],
        )),
        3,
    );
    let [ServerAction::Send(Message::Failed { number: 0, failure })] = &drain(&mut server)[..]
    else {
        panic!()
    };
    assert!(failure.lasting && failure.why.contains("connections in all is 0"), "{failure:?}");
    let good = Task {
        number: 1,
        ..task(Workload::Connect(Connect { count: 9, ..Connect::default() }), &[V4])
    };
    server.on_message(Message::Prepare(good.clone()), 4);
    assert_eq!(drain(&mut server), [ServerAction::Start(good)]);
}

#[test]
fn an_idle_session_ends() {
    let mut server = server();
    server.on_message(hello(&[]), 0);
    server.admit(0);
    drain(&mut server);
    let idle = Limits::default().idle_ns;
    while let Some(now) = server.deadline().filter(|now| *now < idle) {
        server.on_timer(now);
        assert_eq!(drain(&mut server), [ServerAction::Send(Message::Ping)]);
        server.on_message(Message::Pong, now + 1);
    }
    assert!(!server.is_closed());
    server.on_timer(idle);
    assert_eq!(drain(&mut server), [ServerAction::Close(Ending::OverLimit)]);
}

fn any_echo() -> impl Strategy<Value = Echo> {
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp), Just(Transport::Icmp)];
    let timing = prop_oneof![Just(Timing::Each), Just(Timing::Batch)];
    let sizes = (0_u32..200, proptest::option::of(0_u32..200), 0_u32..4);
    (transport, timing, sizes, [0_u32..4, 0_u32..4, 0_u32..4, 0_u32..4]).prop_map(
        |(transport, timing, (message_bytes, response_bytes, outstanding), n)| {
            let [connections, turn_exchanges, turns, warmup_exchanges] = n;
            Echo {
                transport,
                message_bytes,
                response_bytes,
                outstanding,
                timing,
                connections,
                turn_exchanges,
                turns,
                warmup_exchanges,
                ..Echo::default()
            }
        },
    )
}

proptest! {
    /// Whatever a task says, what a server agrees to is within its limits.
    #[test]
    fn a_transfer_that_is_agreed_to_is_bounded(
        task in arbitrary_task(), connections in 1_u32..200, task_bytes: Option<u64>,
    ) {
        let limits = Limits { connections, task_bytes, ..Limits::default() };
        if let (Ok(()), Workload::TcpBulk(bulk)) = (check(&task, &limits), &task.workload) {
            prop_assert!((1..=u64::from(connections)).contains(&bulk.connections()));
            prop_assert!(bulk.streams <= TcpBulk::STREAMS_MAX);
            prop_assert!((1..=limits.task_ns).contains(&bulk.duration_ns));
            prop_assert!((1..=limits.message_bytes).contains(&bulk.write_bytes));
            prop_assert!(bulk.bytes != Some(0));
            // Without a number the ends hold it to the limit in its time.
            let held = task.workload.held_bps(&limits).map(u128::from);
            let timed = held.map(|bps| bps * u128::from(bulk.duration_ns) / 8_000_000_000);
            let bytes = bulk.bytes.map(u128::from).or(timed);
            prop_assert!(task_bytes.is_none_or(|most| bytes.unwrap() <= u128::from(most)));
        }
    }

    /// What passes can be done, and does nobody harm.
    #[test]
    fn an_echo_that_is_agreed_to_is_bounded(echo in any_echo()) {
        let limits = Limits { exchanges: 20, ..Limits::default() };
        let outcome = check(&task(Workload::Echo(echo.clone()), &[V4, V6]), &limits);
        let least = echo.message_bytes.min(echo.answer_bytes());
        let some = [echo.connections, echo.turn_exchanges, echo.turns, echo.outstanding];
        let alone = echo.transport == Transport::Icmp || echo.timing == Timing::Batch;
        let fits = least >= Echo::MESSAGE_BYTES_MIN
            && !some.contains(&0)
            && (echo.transport != Transport::Udp || echo.answer_bytes() <= echo.message_bytes)
            && (echo.transport != Transport::Icmp || echo.answer_bytes() == echo.message_bytes)
            && !(alone && echo.outstanding > 1)
            && echo.exchanges() <= limits.exchanges;
        prop_assert_eq!(outcome.is_ok(), fits, "{:?} {:?}", outcome, echo);
    }

    /// A task goes to a server that knows all that it needs, and to no other.
    #[test]
    fn a_task_is_proposed_only_to_a_server_that_knows_all_of_it(
        task in arbitrary_task(), left_out in any::<proptest::sample::Index>(),
    ) {
        let needed = task.features();
        let names: Vec<&str> = needed.iter().map(|feature| feature.name()).collect();
        let mut client = opened(&names);
        client.prepare(task.clone(), 100).unwrap();
        let actions = drain_client(&mut client);
        prop_assert!(matches!(&actions[..], [ClientAction::Send(Message::Prepare(_))]));

        let lacking = left_out.get(&names);
        let fewer: Vec<&str> = names.iter().copied().filter(|name| name != lacking).collect();
        for known in [&fewer[..], &[]] {
            let mut client = opened(known);
            client.prepare(task.clone(), 100).unwrap();
            let actions = drain_client(&mut client);
            let [ClientAction::Failed { number, failure }] = &actions[..] else {
                panic!("{actions:?}")
            };
            let why = &failure.why;
            prop_assert_eq!((*number, failure.lasting), (task.number, true));
            let named = names.iter().any(|name| !known.contains(name) && why.contains(name));
            prop_assert!(named && why.contains("update"), "{}", why);
            // The session goes on.
            prop_assert!(client.prepare(task.clone(), 101).is_ok());
        }
    }

    #[test]
    fn no_message_before_admission_starts_a_task(
        messages in proptest::collection::vec(message(), 0..20),
    ) {
        let mut server = server();
        for (now, message) in messages.into_iter().enumerate() {
            server.on_message(message, now as u64);
            for action in drain(&mut server) {
                prop_assert!(!matches!(action, ServerAction::Start(_)));
            }
        }
    }

    #[test]
    fn an_unchecked_task_is_never_started(
        tasks in proptest::collection::vec(arbitrary_task(), 0..10),
    ) {
        let mut server = server();
        server.on_message(hello(&[]), 0);
        server.admit(0);
        for task in tasks {
            server.on_message(Message::Prepare(task), 1);
            for action in drain(&mut server) {
                if let ServerAction::Start(task) = action {
                    prop_assert_eq!(check(&task, &Limits::default()), Ok(()));
                }
            }
        }
    }
}

#[test]
fn a_load_of_datagrams_is_held_to_the_limits() {
    let loaded = |udp: UdpLoad, streams, limits: &Limits| {
        let load = Load { udp: Some(udp), streams, ..Load::default() };
        let probe = Probe { load: Some(load), ..Probe::default() };
        check(&task(Workload::Probe(probe), &[V4]), limits)
    };
    let limits = Limits::default();
    let paced = UdpLoad { payload_bytes: 1000, rate_bps: Some(1_000_000) };
    assert_eq!(loaded(paced, 32, &limits), Ok(()));
    assert_eq!(loaded(UdpLoad::default(), 1, &limits), Ok(()));
    for (payload_bytes, rate_bps, streams) in [
        (19, None, 1),
        (65_508, None, 1),
        (20, Some(u64::MAX), 1),
        (20, Some(0), 1),
        (20, None, 33),
    ] {
        let udp = UdpLoad { payload_bytes, rate_bps };
        assert!(loaded(udp, streams, &limits).is_err(), "{udp:?}");
    }
}

#[test]
fn marks_are_within_their_fields() {
    let marked = |hop_limit, flow_label| {
        let marking = Marking { hop_limit, flow_label, ..Marking::default() };
        let workload = Workload::TcpBulk(tcp_bulk()).marked(marking);
        check(&task(workload, &[V4]), &Limits::default())
    };
    assert_eq!(marked(Some(1), Some(0xf_ffff)), Ok(()));
    assert!(matches!(marked(Some(0), None), Err(Objection::Impossible(Impossible::Range { .. }))));
    assert!(matches!(
        marked(None, Some(0x10_0000)),
        Err(Objection::Impossible(Impossible::Range { .. }))
    ));
}

#[test]
fn only_what_sends_datagrams_can_be_kept_from_being_cut() {
    let whole = Marking { dont_fragment: true, ..Marking::default() };
    let found = |workload: Workload, arms: &[TaskArm]| {
        check(&task(workload.marked(whole), arms), &Limits::default())
    };
    assert_eq!(found(Workload::UdpBulk(udp_bulk()), &[V4]), Ok(()));
    for transport in [Transport::Udp, Transport::Icmp] {
        assert_eq!(found(Workload::Echo(echo(transport)), &[V4, V6]), Ok(()));
    }
    let tcp = [
        found(Workload::TcpBulk(tcp_bulk()), &[V4]),
        found(Workload::Echo(echo(Transport::Tcp)), &[V4, V6]),
    ];
    assert!(
        tcp.iter()
            .all(|found| matches!(found, Err(Objection::Impossible(Impossible::Senseless(_)))))
    );
}
