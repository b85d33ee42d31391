//! One address leads to the other, if both are the server's; whoever else is named hears a preamble
//! and nothing more, whatever the server says.

use super::hostile::{Puppet, hello, until_closed};
use super::silent::{hear, let_in, pretend_at, say};
use super::*;
use crate::control::Unlocated;
use std::net::IpAddr;
use v6gap_core::wire::control::Message;
use v6gap_core::wire::preamble::{Control, Nonce};
use v6gap_core::wire::whereabouts::Addresses;
use v6gap_core::workload::Feature;

/// A client that knows one address.
fn asking() -> ClientOptions {
    ClientOptions { want: [Feature::Whereabouts].into(), ..options("client") }
}

/// What `bind` makes at addresses of loopback with a port that is free in both families.
fn on_one_port<T>(mut bind: impl FnMut(PerFamily<SocketAddr>) -> Option<T>) -> T {
    let any_port = SocketAddr::new(Family::V6.loopback(), 0);
    let bound = (0..100).find_map(|_| {
        let port = Listener::bind(any_port, 1).unwrap().local().unwrap().port();
        bind(PerFamily::from_fn(|family: Family| SocketAddr::new(family.loopback(), port)))
    });
    bound.expect("a port that is free in both families")
}

/// A server at both addresses of loopback with one port.
fn served(change: impl Fn(&mut ServerOptions)) -> Served {
    on_one_port(|at| {
        Served::bind(|options| {
            options.addresses = at.map(Some);
            change(options);
        })
    })
}

/// A server that listens on IPv4 alone and says that it is at the other address, too.
fn lying(at: PerFamily<SocketAddr>) -> Option<Served> {
    Served::bind(|options| {
        options.addresses = PerFamily { v4: Some(at.v4), v6: None };
        options.announce = vec![at.v6.ip()];
    })
}

/// The server's address in `family` alone.
fn alone(served: &Served, family: Family) -> PerFamily<Option<SocketAddr>> {
    let mut one = PerFamily::default();
    *one.get_mut(family) = *served.addresses.get(family);
    one
}

/// Those that were greeted in vain, with the reasons.
fn passed_over(outcome: Result<SocketAddr, Unlocated>) -> Vec<(IpAddr, String)> {
    match outcome {
        Err(Unlocated::Nowhere(passed)) => passed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_address_of_either_family_leads_to_the_other() {
    let served = served(|_| {});
    for family in Family::BOTH {
        let mut connection = open(alone(&served, family), &asking()).unwrap();
        let other = *served.addresses.get(family.other());
        let found = connection.locate(family.other(), None, &asking()).unwrap();
        assert_eq!(Some(found), other);
        // Again, and the one that is wanted alone.
        let wanted = other.map(|address| address.ip());
        let found = connection.locate(family.other(), wanted, &asking()).unwrap();
        assert_eq!(Some(found), other);
        let strange = Some(Family::V4.unspecified());
        assert!(passed_over(connection.locate(family.other(), strange, &asking())).is_empty());
        // The session goes on, and measures there.
        run(&mut connection, served.addresses, 0);
        connection.close();
    }
}

#[test]
fn an_address_of_another_server_is_not_taken() {
    let (one, other) = on_one_port(|at| {
        let other = |options: &mut ServerOptions| {
            options.addresses = PerFamily { v4: None, v6: Some(at.v6) };
        };
        Some((lying(at)?, Served::bind(other)?))
    });
    let connection = open(one.addresses, &asking()).unwrap();
    let passed = passed_over(connection.locate(Family::V6, None, &asking()));
    let why = "another server answers there".to_string();
    assert_eq!(passed, [(Family::V6.loopback(), why)]);
    // To the other it was a connection that said nothing; the first to join is this one.
    open(other.addresses, &options("client")).unwrap().close();
    let first = other.events.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(first, ServerEvent::Joined { session: 0, .. }), "{first:?}");
}

#[test]
fn who_is_named_hears_a_preamble_and_nothing_else() {
    let (served, listener) = on_one_port(|at| {
        let listener = Listener::bind(at.v6, 8).ok()?;
        Some((lying(at)?, listener))
    });
    let named = thread::spawn(move || {
        let stream = listener.accept().unwrap();
        let mut said = [0; Control::BYTES];
        stream.read_exact(&mut said).unwrap();
        let (control, nonce) = (Control { versions: SPOKEN }, Nonce([5; Nonce::BYTES]));
        stream.write_all(&[&control.encode()[..], &nonce.0].concat()).unwrap();
        (said, until_closed(&stream))
    });
    let connection = open(served.addresses, &asking()).unwrap();
    assert_eq!(passed_over(connection.locate(Family::V6, None, &asking())).len(), 1);
    let (said, more) = named.join().unwrap();
    assert_eq!(said, Control { versions: SPOKEN }.encode());
    assert_eq!(more, [0_u8; 0]);
}

/// A hostile server may itself be a client of the one that it names, and ask that for its proofs.
#[test]
fn proofs_of_another_server_are_of_no_use() {
    let (victim, listener) = on_one_port(|at| {
        let victim = |options: &mut ServerOptions| {
            options.addresses = PerFamily { v4: None, v6: Some(at.v6) };
        };
        let listener = Listener::bind(at.v4, 8).ok()?;
        Some((Served::bind(victim)?, listener))
    });
    let mut spy = Puppet::greet(&victim, Family::V6, &Key::none());
    spy.say(&hello("spy", false));
    assert!(matches!(spy.hear(), Some(Message::Welcome(_))));
    let four = PerFamily { v4: Some(listener.local().unwrap()), v6: None };
    let hostile = pretend_at(listener, move |stream, sealed| {
        let_in(stream, sealed);
        let mut told = Addresses { addresses: vec![Family::V6.loopback()], proofs: Vec::new() };
        assert_eq!(hear(stream, sealed), Some(Message::Whereabouts));
        say(stream, sealed, &Message::Addresses(told.clone()));
        assert_eq!(hear(stream, sealed), Some(Message::Whereabouts));
        // The client is in the victim's lobby by now.
        spy.say(&Message::Whereabouts);
        let Some(Message::Addresses(stolen)) = spy.hear() else { panic!() };
        told.proofs = stolen.proofs;
        say(stream, sealed, &Message::Addresses(told.clone()));
        told.proofs.len()
    });
    let connection = open(four, &asking()).unwrap();
    let passed = passed_over(connection.locate(Family::V6, None, &asking()));
    assert_eq!(passed.len(), 1, "{passed:?}");
    assert_eq!(hostile.join().unwrap(), 1, "the victim proves its nonce, to the spy");
}

#[test]
fn an_address_where_nobody_listens_is_passed_over() {
    let nobody = |last: u8| IpAddr::from([127, 0, 0, last]);
    let named = served(|options| options.announce = vec![nobody(2), nobody(1)]);
    let connection = open(alone(&named, Family::V6), &asking()).unwrap();
    let found = connection.locate(Family::V4, None, &asking()).unwrap();
    assert_eq!(Some(found), named.addresses.v4);
    let far = served(|options| options.announce = (2..10).map(nobody).collect());
    let connection = open(alone(&far, Family::V6), &asking()).unwrap();
    let passed = passed_over(connection.locate(Family::V4, None, &asking()));
    let refused = |last| (nobody(last), "connection refused".to_string());
    assert_eq!(passed, [2, 3, 4, 5].map(refused), "few are tried");
}

#[test]
fn a_public_server_tells_what_it_was_told_to_tell() {
    let silent = served(|options| options.public = true);
    let connection = open(alone(&silent, Family::V6), &asking()).unwrap();
    assert!(passed_over(connection.locate(Family::V4, None, &asking())).is_empty());
    let named = served(|options| {
        options.public = true;
        options.announce = vec![Family::V4.loopback()];
    });
    let connection = open(alone(&named, Family::V6), &asking()).unwrap();
    let found = connection.locate(Family::V4, None, &asking()).unwrap();
    assert_eq!(Some(found), named.addresses.v4);
}
