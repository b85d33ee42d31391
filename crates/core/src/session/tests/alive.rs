//! Clients that vanish or fall silent, clients that come in crowds, and ends that talk so much that
//! nobody looks at the time.

use super::*;
use crate::session::queue::{OWED_NS, Room, WELCOMED_NS};
use crate::session::timeout::{CLOCK_NS, PING_NS, PONG_NS, QUEUE_REPEAT_NS, WAITING_NS};
use crate::wire::control::{Queued, TaskFailure};
use alloc::string::String;
use core::net::IpAddr;

fn open_session() -> Server {
    let mut server = server();
    server.on_message(hello(&[]), 0);
    server.admit(0);
    drain(&mut server);
    server
}

fn running() -> Server {
    let mut server = open_session();
    let connect = Workload::Connect(Connect { count: 9, ..Connect::default() });
    server.on_message(Message::Prepare(task(connect, &[V4])), 1);
    server.ready(2);
    drain(&mut server);
    server
}

const GONE: Ending = Ending::TimedOut { during: "between two tasks" };

#[test]
fn a_client_between_tasks_is_asked_and_ended_if_it_does_not_answer() {
    let mut server = open_session();
    assert_eq!(server.deadline(), Some(PING_NS));
    server.on_timer(PING_NS);
    assert_eq!(drain(&mut server), [ServerAction::Send(Message::Ping)]);
    server.on_message(Message::Pong, PING_NS + PONG_NS - 1);
    assert_eq!(drain(&mut server), []);
    let again = 2 * PING_NS + PONG_NS - 1;
    server.on_timer(again);
    assert_eq!(drain(&mut server), [ServerAction::Send(Message::Ping)]);
    server.on_timer(again + PONG_NS - 1);
    assert_eq!(drain(&mut server), []);
    server.on_timer(again + PONG_NS);
    assert_eq!(drain(&mut server), [ServerAction::Close(GONE)]);
}

#[test]
fn nothing_is_asked_while_a_task_runs_and_at_once_when_it_failed() {
    let mut server = running();
    server.on_timer(20 * SECOND_NS);
    assert_eq!(drain(&mut server), []);
    server.ended(Err(TaskFailure::passing("silent")), 20 * SECOND_NS);
    let [ServerAction::Send(Message::Failed { .. })] = &drain(&mut server)[..] else { panic!() };
    server.on_timer(20 * SECOND_NS);
    assert_eq!(drain(&mut server), [ServerAction::Send(Message::Ping)]);
    server.on_timer(20 * SECOND_NS + PONG_NS);
    assert_eq!(drain(&mut server), [ServerAction::Close(GONE)]);
}

#[test]
fn a_client_that_never_finishes_a_task_that_is_over_is_asked_too() {
    let mut server = running();
    server.ended(Ok(Vec::new()), 7);
    server.on_timer(7 + PING_NS);
    assert_eq!(drain(&mut server), [ServerAction::Send(Message::Ping)]);
    server.on_timer(7 + PING_NS + PONG_NS);
    let during = "during a task";
    assert_eq!(drain(&mut server), [ServerAction::Close(Ending::TimedOut { during })]);
}

#[test]
fn who_takes_what_was_sent_is_not_hurried() {
    let mut server = open_session();
    server.on_timer(PING_NS);
    drain(&mut server);
    server.on_taken(PING_NS + PONG_NS - 1);
    server.on_timer(PING_NS + PONG_NS);
    assert_eq!(drain(&mut server), []);
    server.on_timer(PING_NS + 2 * PONG_NS);
    assert_eq!(drain(&mut server), [ServerAction::Close(GONE)]);
}

#[test]
fn the_clock_does_not_put_off_the_limit_of_idleness() {
    let mut server = open_session();
    let idle = Limits::default().idle_ns;
    let mut now = 0;
    while now + SECOND_NS < idle {
        now += SECOND_NS;
        server.on_message(Message::Clock { asked_ns: now }, now);
        assert!(matches!(drain(&mut server)[..], [ServerAction::Send(Message::ClockReply { .. })]));
    }
    server.on_message(Message::Clock { asked_ns: 0 }, idle);
    assert_eq!(drain(&mut server).last(), Some(&ServerAction::Close(Ending::OverLimit)));
}

#[test]
fn nobody_waits_for_ever() {
    let mut server = server();
    server.on_message(hello(&[]), 0);
    drain(&mut server);
    let mut now = 0;
    while now < WAITING_NS {
        let queued = Queued { place: 1, seconds: 0, by: String::new() };
        server.queued(queued, now);
        drain(&mut server);
        now += QUEUE_REPEAT_NS;
        server.on_message(Message::Pong, now);
        drain(&mut server);
        assert_eq!(server.is_closed(), now >= WAITING_NS, "{now}");
    }
}

#[test]
fn a_client_looks_at_the_time_while_a_server_talks() {
    let mut client = client(&[]);
    client.on_message(welcome(&[]), 1);
    drain_client(&mut client);
    // A message of a later program each half second.
    for half in 1..=2 * CLOCK_NS / SECOND_NS {
        client.on_message(Message::Unknown, half * SECOND_NS / 2);
    }
    client.on_message(Message::Unknown, CLOCK_NS + 1);
    let during = "while comparing clocks";
    assert_eq!(drain_client(&mut client), [ClientAction::Close(Ending::TimedOut { during })]);
}

#[test]
fn a_client_answers_in_every_phase() {
    let mut waiting = client(&[]);
    let mut open = opened(&[]);
    for client in [&mut waiting, &mut open] {
        client.on_message(Message::Ping, 100);
        assert_eq!(drain_client(client), [ClientAction::Send(Message::Pong)]);
    }
}

#[test]
fn words_of_the_other_end_are_harmless_behind_the_machines() {
    let mut server = server();
    let name = "lab\n\x1b[2J".repeat(100);
    let Message::Hello(mut greeting) = hello(&[]) else { panic!() };
    greeting.host.name = name.clone();
    server.on_message(Message::Hello(greeting), 0);
    let [ServerAction::Ask { by, .. }] = &drain(&mut server)[..] else { panic!() };
    assert!(by.starts_with("lab??[2J") && by.len() <= 64, "{by:?}");
    let mut client = client(&[]);
    client.on_message(Message::Queued(Queued { place: 1, seconds: 0, by: name }), 1);
    let [ClientAction::Waiting(queued)] = &drain_client(&mut client)[..] else { panic!() };
    assert!(queued.by.starts_with("lab??[2J") && queued.by.len() <= 64, "{queued:?}");
}

#[test]
fn strangers_are_told_little() {
    let all = ["kernel", "distribution", "hypervisor", "interface.eth0.offloads", "system"];
    let told = all.iter().map(|name| (name.to_string(), "x".to_string())).collect();
    let all = facts(Host { name: "lab-b".to_string(), facts: told });
    let some = all.to_strangers(1000);
    assert_eq!(some.host.facts.keys().collect::<Vec<_>>(), ["system"]);
    assert_eq!((some.host.name.as_str(), some.limits), ("lab-b", all.limits));
    let mut server = Server::new(some, 0);
    server.on_message(hello(&[]), 0);
    server.admit(0);
    drain(&mut server);
    server.on_message(Message::Clock { asked_ns: 1 }, 7);
    let reply = Message::ClockReply { asked_ns: 1, server_ns: 1007 };
    assert_eq!(drain(&mut server), [ServerAction::Send(reply)]);
}

fn four(number: u32) -> IpAddr {
    IpAddr::V4(number.into())
}

#[test]
fn a_network_has_few_places() {
    let mut queue = Queue::new(100, 2);
    for id in 0..2 {
        assert_eq!(queue.room(four(1), 0), Room::Free);
        queue.ask(id, four(1), "", true, 0);
        queue.heard(id);
    }
    assert_eq!(queue.room(four(1), 0), Room::Crowded);
    for id in 2..4 {
        assert_eq!(queue.room(four(id), 0), Room::Free);
        queue.ask(id, four(id), "", true, 0);
        queue.heard(id);
    }
    assert_eq!(queue.room(four(9), 0), Room::Crowded, "the /24 has four");
    assert_eq!(queue.room(four(1 << 8), 0), Room::Free);
    // One that owes an answer makes room for its own network.
    queue.asked(1, 5);
    assert_eq!(queue.room(four(1), 4 + OWED_NS), Room::Crowded);
    assert_eq!(queue.room(four(1), 5 + OWED_NS), Room::Instead(1));
    queue.heard(1);
    assert_eq!(queue.room(four(1), 5 + OWED_NS), Room::Crowded);
}

#[test]
fn who_says_nothing_after_its_welcome_gives_way() {
    let mut queue = Queue::new(4, 4);
    assert_eq!(queue.ask(1, four(1), "one", true, 100), Turn::Now);
    assert_eq!(queue.overdue(u64::MAX), None, "nobody else wants it");
    let at = 100 + WELCOMED_NS;
    assert_eq!(queue.ask(2, four(2), "two", false, 101), Turn::Soon(at));
    assert_eq!((queue.overdue(at - 1), queue.overdue(at)), (None, Some(1)));
    queue.leave(1, at);
    assert_eq!(queue.ask(2, four(2), "two", false, at), Turn::Now);
    queue.heard(2);
    assert!(matches!(queue.ask(3, four(3), "three", true, at), Turn::Later(_)));
    assert_eq!((queue.deadline(), queue.overdue(u64::MAX)), (None, None));
}

#[test]
fn who_waits_for_the_host_need_not_hurry() {
    let mut queue = Queue::new(4, 4);
    assert_eq!(queue.ask(1, four(1), "one", true, 0), Turn::Now);
    queue.held_up(1);
    assert!(matches!(queue.ask(2, four(2), "two", true, 1), Turn::Later(_)));
    assert_eq!(queue.overdue(u64::MAX), None, "it cannot say more");
    queue.entered(1, 10 * WELCOMED_NS);
    assert_eq!(queue.deadline(), Some(11 * WELCOMED_NS), "its time begins with its welcome");
}

proptest! {
    /// Whoever asks, leaves, speaks and is asked in whatever order: networks keep within their
    /// bounds, and all together too.
    #[test]
    fn a_queue_is_bounded_for_each_network_and_in_all(
        steps in proptest::collection::vec((0_u8..5, 0_u32..40, 0_u32..12, any::<bool>()), 1..300),
    ) {
        let mut queue = Queue::new(6, 2);
        let mut inside: Vec<(u32, u32)> = Vec::new();
        let mut now = 0;
        for (step, id, from, wait) in steps {
            now += SECOND_NS / 3;
            let from = ((from % 4) << 8) | (from / 4);
            match step {
                0 | 1 if !inside.iter().any(|(known, _)| *known == id) => {
                    match queue.room(four(from), now) {
                        Room::Crowded => continue,
                        Room::Instead(other) => {
                            prop_assert!(inside.iter().any(|(known, _)| *known == other));
                            inside.retain(|(known, _)| *known != other);
                            queue.leave(other, now);
                        }
                        Room::Free => {}
                    }
                    if !matches!(queue.ask(id, four(from), "", wait, now), Turn::Never(_)) {
                        inside.push((id, from));
                    }
                }
                2 => queue.heard(id),
                3 => queue.asked(id, now),
                _ => {
                    inside.retain(|(known, _)| *known != id);
                    queue.leave(id, now);
                }
            }
            for (_, from) in &inside {
                let near = inside.iter().filter(|(_, other)| other == from).count();
                let wide = inside.iter().filter(|(_, other)| other >> 8 == from >> 8).count();
                prop_assert!(near <= 2 && wide <= 4, "{:?}", inside);
            }
            prop_assert!(inside.len() <= 7);
            prop_assert_eq!(queue.served(), inside.first().map(|(id, _)| *id));
        }
    }

    /// Whatever is said and however the time goes, a session that nobody attends to comes to an
    /// end, and time that comes with messages is as good as any.
    #[test]
    fn messages_put_no_limit_off(
        messages in proptest::collection::vec((message(), 0_u64..SECOND_NS), 0..20),
    ) {
        let mut server = open_session();
        let mut now = 0;
        let end = Limits::default().session_ns;
        for (message, step) in messages {
            now += step;
            server.on_message(message, now);
            while server.poll().is_some() {}
        }
        server.on_message(Message::Unknown, end);
        prop_assert!(server.is_closed());
    }
}

#[test]
fn a_client_that_has_left_answers_no_question() {
    let mut client = client(&[]);
    client.on_lost(1);
    assert!(matches!(drain_client(&mut client)[..], [ClientAction::Close(_)]));
    client.on_message(Message::Ping, 2);
    assert_eq!(drain_client(&mut client), []);
}
