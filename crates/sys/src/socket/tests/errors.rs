//! What must be refused, and that errors say what failed, for which address, and of which class.

use super::*;
use std::error::Error;
use std::io;

/// A port on which nobody listens: it is held by a TCP socket that does not listen.
fn closed_port(address: SocketAddr) -> (Socket, SocketAddr) {
    let holder = open(address, Type::STREAM, Protocol::TCP).expect("loopback has this family");
    holder.bind(&address.into()).expect("loopback has this family");
    let local = holder.local_addr().expect("it is bound").as_socket().expect("an IP address");
    (holder, local)
}

fn connect(local: Option<SocketAddr>, remote: SocketAddr) -> Result<Stream, SocketError> {
    Stream::connect(local, remote, &StreamOptions::default(), PATIENCE_NS)
}

#[test]
fn mapped_addresses_are_refused_everywhere() {
    let mapped = parse(MAPPED);
    let six = parse("[::1]:0");
    let socket = Datagram::bind(six).expect("this host has IPv6");
    let errors = [
        Listener::bind(mapped, 1).map(drop),
        Datagram::bind(mapped).map(drop),
        socket.connect(mapped),
        connect(None, mapped).map(drop),
        connect(Some(mapped), six).map(drop),
    ];
    for outcome in errors {
        let error = outcome.expect_err("mapped addresses are refused");
        assert!(matches!(error, SocketError::Mapped { .. }), "{error}");
        assert_eq!(error.class(), ErrorClass::AddressUnavailable);
        let text = error.to_string();
        assert!(text.contains("[::ffff:127.0.0.1]:9: this is IPv4 in IPv6 form"), "{text}");
    }
    socket.send_to(b"x", mapped).expect_err("a v6-only socket has no way to IPv4");
}

#[test]
fn ends_of_different_families_are_refused() {
    let (four, six) = (parse("127.0.0.1:0"), parse("[::1]:9"));
    let error = connect(Some(four), six).expect_err("different families");
    assert!(matches!(error, SocketError::Mixed { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "cannot connect: 127.0.0.1:0 and [::1]:9 are of different families"
    );
    let socket = Datagram::bind(four).expect("loopback has IPv4");
    let error = socket.connect(six).expect_err("different families");
    assert!(error.to_string().starts_with("cannot connect"), "{error}");
    socket.send_to(b"x", six).expect_err("the kernel refuses as well");
}

#[test]
fn refused_connection_says_where() {
    both(|address| {
        let (_held, remote) = closed_port(address);
        let error = connect(None, remote).expect_err("nobody listens");
        assert_eq!(error.class(), ErrorClass::Refused, "{error}");
        assert!(
            error.to_string().starts_with(&format!("cannot connect for {remote}: ")),
            "{error}"
        );
        assert!(error.source().is_some());
    });
}

#[test]
fn foreign_and_taken_addresses_are_told_apart() {
    for foreign in ["192.0.2.77:0", "[2001:db8::77]:0"] {
        let error = Listener::bind(parse(foreign), 1).expect_err("a documentation address");
        assert_eq!(error.class(), ErrorClass::AddressUnavailable, "{error}");
        assert!(error.to_string().starts_with("cannot bind a socket for "), "{error}");
    }
    both(|address| {
        let first = Datagram::bind(address).expect("loopback has this family");
        let taken = first.local().expect("it is bound");
        let error = Datagram::bind(taken).expect_err("it is taken");
        assert_eq!(error.class(), ErrorClass::AddressInUse, "{error}");
    });
}

/// Fills the queue of a listener that never accepts; from then on connecting gets no answer.
#[cfg(target_os = "linux")]
#[test]
fn unanswered_connection_times_out() {
    both(|address| {
        let listener = Listener::bind(address, 0).expect("loopback has this family");
        let remote = listener.local().expect("it is bound");
        let mut kept = Vec::new();
        let error = loop {
            let start = crate::clock::now_ns();
            match Stream::connect(None, remote, &StreamOptions::default(), 50_000_000) {
                Ok(stream) => kept.push(stream),
                Err(error) => {
                    assert!(crate::clock::now_ns() - start >= 50_000_000);
                    break error;
                }
            }
            assert!(kept.len() < 100, "a queue of 0 took 100 connections");
        };
        assert_eq!(error.class(), ErrorClass::TimedOut, "{error}");
        assert!(error.to_string().contains(&remote.to_string()), "{error}");
    });
}

#[test]
fn system_answers_have_classes() {
    use io::ErrorKind;
    let cases = [
        (ErrorKind::ConnectionRefused, ErrorClass::Refused),
        (ErrorKind::TimedOut, ErrorClass::TimedOut),
        (ErrorKind::HostUnreachable, ErrorClass::NoRoute),
        (ErrorKind::NetworkUnreachable, ErrorClass::NoRoute),
        (ErrorKind::WouldBlock, ErrorClass::WouldBlock),
        (ErrorKind::AddrNotAvailable, ErrorClass::AddressUnavailable),
        (ErrorKind::AddrInUse, ErrorClass::AddressInUse),
        (ErrorKind::PermissionDenied, ErrorClass::Permission),
        (ErrorKind::Interrupted, ErrorClass::Interrupted),
        (ErrorKind::BrokenPipe, ErrorClass::Closed),
        (ErrorKind::ConnectionReset, ErrorClass::Closed),
        (ErrorKind::InvalidData, ErrorClass::Other),
    ];
    for (kind, class) in cases {
        assert_eq!(ErrorClass::of(&io::Error::from(kind)), class, "{kind:?}");
    }
    let absent_family = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    let error = io::Error::from_raw_os_error(absent_family);
    assert_eq!(ErrorClass::of(&error), ErrorClass::AddressUnavailable);
}
