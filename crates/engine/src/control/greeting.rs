//! The client's first steps with one address: connect, exchange preambles, agree on a version, then
//! perhaps the handshake.

use super::handshake::{Initiator, Preambles};
use super::{Channel, Key, Trouble};
use std::io;
use std::net::SocketAddr;
use v6gap_core::wire::preamble::{self, Control, Nonce, Preamble, Progress};
use v6gap_core::wire::version::VersionRange;
use v6gap_sys::clock;
use v6gap_sys::socket::{ErrorClass, Stream, StreamOptions};

/// A server that answered with its preamble, and what was agreed.
pub(super) struct Greeted {
    stream: Stream,
    preambles: Preambles,
    version: u8,
    deadline_ns: u64,
}

/// Connects to `address`, from `local` if that is given, and exchanges preambles within
/// `timeout_ns`.
pub(super) fn greet(
    local: Option<SocketAddr>,
    address: SocketAddr,
    versions: VersionRange,
    timeout_ns: u64,
) -> Result<Greeted, Trouble> {
    let deadline_ns = clock::now_ns().saturating_add(timeout_ns);
    let options = StreamOptions { no_delay: true, ..StreamOptions::default() };
    let stream = Stream::connect(local, address, &options, timeout_ns)
        .map_err(|e| Trouble::of_connect(&e, timeout_ns))?;
    let client = Control { versions };
    // A server that closed at once is told from its silence below, whatever the write says.
    let _ = stream.write_all(&client.encode());
    let server = read_preamble(&stream, deadline_ns)?;
    let version = versions.agree(server.versions)?;
    // Only now, for a server of another version may send none.
    let nonce = read_nonce(&stream, deadline_ns)?;
    let preambles = Preambles { client, server, nonce };
    Ok(Greeted { stream, preambles, version, deadline_ns })
}

impl Greeted {
    /// The agreed version.
    pub(super) fn version(&self) -> u8 {
        self.version
    }

    /// What the server drew for this connection.
    pub(super) fn nonce(&self) -> &Nonce {
        &self.preambles.nonce
    }

    /// Proves this end's key to the server and makes the server prove its own.
    pub(super) fn seal(self, key: &Key) -> Result<Channel, Trouble> {
        let Greeted { stream, preambles, deadline_ns, .. } = self;
        let broken = |e: super::ChannelError| Trouble::System(e.to_string());
        let (initiator, message) = Initiator::begin(key, &preambles).map_err(broken)?;
        // A server that does not accept the message closes the connection.
        let _ = stream.write_all(&message);
        let mut answer = vec![0; initiator.awaits()];
        match fill(&stream, &mut answer, deadline_ns) {
            Filled::All => {}
            Filled::Closed(_) => return Err(Trouble::Key),
            Filled::Late(_) => return Err(silent()),
        }
        let (sealed, last) = initiator.complete(&answer)?;
        // A server that is gone is told from its silence later.
        let _ = stream.write_all(&last);
        Channel::new(stream, sealed).map_err(broken)
    }
}

fn read_preamble(stream: &Stream, deadline_ns: u64) -> Result<Control, Trouble> {
    let mut bytes = [0; Control::BYTES];
    let filled = fill(stream, &mut bytes, deadline_ns);
    let answer = match filled {
        Filled::All => &bytes[..],
        Filled::Closed(0) => return Err(Trouble::TurnedAway),
        Filled::Closed(n) | Filled::Late(n) => &bytes[..n],
    };
    match preamble::decode(answer) {
        Ok(Progress::Complete(Preamble::Control(control))) => Ok(control),
        _ => Err(Trouble::NotOurs { answered: printable(answer) }),
    }
}

fn read_nonce(stream: &Stream, deadline_ns: u64) -> Result<Nonce, Trouble> {
    let mut bytes = [0; Nonce::BYTES];
    match fill(stream, &mut bytes, deadline_ns) {
        Filled::All => Ok(Nonce(bytes)),
        Filled::Closed(_) => Err(Trouble::TurnedAway),
        Filled::Late(_) => Err(silent()),
    }
}

fn silent() -> Trouble {
    Trouble::System("the server greeted and then fell silent".to_string())
}

/// How filling a buffer went, with the number of bytes if not all came.
enum Filled {
    All,
    Closed(usize),
    Late(usize),
}

fn fill(stream: &Stream, bytes: &mut [u8], deadline_ns: u64) -> Filled {
    let mut filled = 0;
    while filled < bytes.len() {
        let left = deadline_ns.saturating_sub(clock::now_ns());
        match read_within(stream, &mut bytes[filled..], left) {
            Ok(0) => return Filled::Closed(filled),
            Ok(read) => filled += read,
            Err(error) if ErrorClass::of(&error).is_timeout() => return Filled::Late(filled),
            Err(_) => return Filled::Closed(filled),
        }
    }
    Filled::All
}

fn read_within(stream: &Stream, bytes: &mut [u8], timeout_ns: u64) -> io::Result<usize> {
    if stream.wait_readable(timeout_ns)? {
        stream.read(bytes)
    } else {
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// What a stranger said, safe to show.
fn printable(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '.' }).collect()
}
