//! Asking a server where else it is: between tasks alone, within limits, and nothing is believed
//! that was not asked for.

use super::*;
use crate::session::timeout::WHEREABOUTS_NS;
use crate::wire::preamble::Nonce;
use crate::wire::whereabouts::{ADDRESSES_MAX, Addresses, PROOFS_MAX, QUESTIONS_MAX, proof};
use alloc::vec;
use core::net::IpAddr;

/// A server whose client has been welcomed.
fn welcoming() -> Server {
    let mut server = server();
    server.on_message(hello(&[Feature::Whereabouts.name()]), 0);
    server.admit(0);
    drain(&mut server);
    server
}

/// A client that has asked.
fn asking() -> Client {
    let mut client = opened(&[Feature::Whereabouts.name()]);
    client.ask_addresses(100).unwrap();
    assert_eq!(drain_client(&mut client), [ClientAction::Send(Message::Whereabouts)]);
    client
}

fn told() -> Addresses {
    let proofs = vec![proof(&Nonce([1; Nonce::BYTES]), &[2; 32])];
    Addresses { addresses: vec!["2001:db8::7".parse().unwrap()], proofs }
}

#[test]
fn a_server_says_where_else_it_is_as_often_as_it_is_asked_while_it_is_idle() {
    let mut server = welcoming();
    for now in 1..4 {
        server.on_message(Message::Whereabouts, now);
        assert_eq!(drain(&mut server), [ServerAction::Locate]);
        server.located(told(), now);
        let answer = Message::Addresses(told());
        assert_eq!(drain(&mut server), [ServerAction::Send(answer)]);
    }
}

/// Whatever is said meanwhile, an idle session ends when it must.
#[test]
fn asking_does_not_put_off_the_limit_of_idleness() {
    let mut server = welcoming();
    let idle = Limits::default().idle_ns;
    for second in 0..idle / SECOND_NS {
        let now = second * SECOND_NS;
        let asks = second % 10 == 0;
        server.on_message(if asks { Message::Whereabouts } else { Message::Pong }, now);
        server.located(told(), now);
        drain(&mut server);
    }
    assert!(!server.is_closed());
    server.on_message(Message::Whereabouts, idle);
    let actions = drain(&mut server);
    assert_eq!(actions.last(), Some(&ServerAction::Close(Ending::OverLimit)));
    server.located(told(), idle);
    assert_eq!(drain(&mut server), [], "nothing follows the end");
}

#[test]
fn a_client_that_asks_without_end_is_ended() {
    let mut server = welcoming();
    for now in 0..u64::from(QUESTIONS_MAX) {
        server.on_message(Message::Whereabouts, now);
        server.located(told(), now);
        assert_eq!(drain(&mut server).len(), 2);
    }
    server.on_message(Message::Whereabouts, 100);
    let actions = drain(&mut server);
    assert!(matches!(&actions[..], [ServerAction::Close(Ending::Broken { .. })]), "{actions:?}");
}

#[test]
fn a_question_out_of_turn_ends_the_session() {
    let mut waiting = server();
    waiting.on_message(hello(&[]), 0);
    let mut running = welcoming();
    let connect = Workload::Connect(Connect { count: 9, ..Connect::default() });
    running.on_message(Message::Prepare(task(connect, &[V4])), 1);
    running.ready(2);
    for mut server in [server(), waiting, running] {
        drain(&mut server);
        server.on_message(Message::Whereabouts, 3);
        let actions = drain(&mut server);
        let Some(ServerAction::Close(Ending::Broken { .. })) = actions.last() else {
            panic!("{actions:?}")
        };
        assert!(!actions.contains(&ServerAction::Locate));
    }
}

#[test]
fn a_client_is_told_what_it_asked_and_goes_on() {
    let mut client = asking();
    assert!(client.ask_addresses(101).is_err(), "one question at a time");
    let connect = Workload::Connect(Connect { count: 9, ..Connect::default() });
    assert!(client.prepare(task(connect, &[V4]), 101).is_err());
    client.on_message(Message::Addresses(told()), 102);
    assert_eq!(drain_client(&mut client), [ClientAction::Told(told())]);
    assert_eq!(client.deadline(), None);
    client.ask_addresses(103).unwrap();
}

#[test]
fn an_answer_that_nobody_asked_for_ends_the_session() {
    for mut client in [client(&[]), opened(&[])] {
        client.on_message(Message::Addresses(told()), 100);
        let actions = drain_client(&mut client);
        assert!(matches!(&actions[..], [ClientAction::Close(Ending::Broken { .. })]));
    }
}

#[test]
fn a_server_that_does_not_answer_is_left() {
    let mut client = asking();
    assert_eq!(client.deadline(), Some(100 + WHEREABOUTS_NS));
    client.on_message(Message::Ping, 99 + WHEREABOUTS_NS);
    assert_eq!(drain_client(&mut client), [ClientAction::Send(Message::Pong)]);
    client.on_timer(100 + WHEREABOUTS_NS);
    let actions = drain_client(&mut client);
    assert!(matches!(&actions[..], [ClientAction::Close(Ending::TimedOut { .. })]));
}

/// At either end: neither tells more than it may, nor takes more.
#[test]
fn both_lists_are_bounded_and_hold_addresses_of_hosts_alone() {
    let bad = ["::ffff:192.0.2.1", "fe80::1", "ff02::1", "::"];
    let bad = bad.map(|text| text.parse::<IpAddr>().unwrap());
    let addresses = bad.into_iter().chain((0..1000_u32).map(|n| IpAddr::V4(n.into()))).collect();
    let long = Addresses { addresses, proofs: (0..1000).collect() };
    let mut server = welcoming();
    server.on_message(Message::Whereabouts, 1);
    server.located(long.clone(), 1);
    let actions = drain(&mut server);
    let Some(ServerAction::Send(Message::Addresses(sent))) = actions.last() else { panic!() };
    let mut client = asking();
    client.on_message(Message::Addresses(long), 101);
    let [ClientAction::Told(taken)] = &drain_client(&mut client)[..] else { panic!() };
    assert_eq!(sent, taken);
    assert_eq!((taken.addresses.len(), taken.proofs.len()), (ADDRESSES_MAX, PROOFS_MAX));
    assert!(taken.addresses.iter().all(|address| address.is_ipv4() && !address.is_unspecified()));
}
