//! One behaviour suite for sockets on all platforms, on loopback, for both families.

mod datagram;
mod errors;
mod stream;

use super::*;

/// A loopback address of each family with port 0. A host without one of them fails the tests.
const LOOPBACK: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];

/// An IPv4 loopback address in IPv6 form.
const MAPPED: &str = "[::ffff:127.0.0.1]:9";

/// Long enough for anything on loopback.
const PATIENCE_NS: u64 = 10_000_000_000;

/// Runs `body` for the loopback address of each family.
fn both(body: impl Fn(SocketAddr)) {
    for text in LOOPBACK {
        body(parse(text));
    }
}

fn parse(text: &str) -> SocketAddr {
    text.parse().expect("a literal")
}

/// A connection over loopback: the connecting end and the accepting end.
fn pair(address: SocketAddr, options: &StreamOptions) -> (Stream, Stream) {
    let listener = Listener::bind_with(address, 4, options).expect("loopback has this family");
    let remote = listener.local().expect("it is bound");
    let near = Stream::connect(None, remote, options, PATIENCE_NS).expect("somebody listens");
    (near, listener.accept().expect("somebody connected"))
}
