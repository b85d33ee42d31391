//! Why a visit came to nothing, and how far it had come.

use std::io;
use v6gap_core::wire::foreign::{WHY_BYTES_MAX, line};
use v6gap_sys::socket::SocketError;

/// A part of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// From the call of `connect` until the connection stands.
    Connect,
    /// From the first byte of TLS until its handshake is complete.
    Tls,
    /// From the first datagram of QUIC until its handshake is complete.
    Quic,
    /// From the request until the first byte of the answer.
    Response,
    /// From there to the end of what was asked for.
    Body,
}

/// Why it failed.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// The system said so.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The system said so in the middle of it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What came does not follow its protocol, or refuses, perhaps in words of its own.
    #[error("{}", line(.0, WHY_BYTES_MAX))]
    Protocol(String),
    /// Nothing came in time.
    #[error("nothing came in {} ms", .0 / 1_000_000)]
    Silent(u64),
}

/// A visit that failed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", phase.words())]
pub struct Failure {
    /// In which phase.
    pub phase: Phase,
    /// Bytes that had come by then.
    pub bytes: u64,
    /// How long connecting took until it failed, in ns, if that is what failed.
    pub connect_ns: Option<u64>,
    /// Why.
    #[source]
    pub why: Why,
}

impl Phase {
    /// What was being done.
    pub const fn words(self) -> &'static str {
        match self {
            Phase::Connect => "connecting",
            Phase::Tls => "TLS",
            Phase::Quic => "QUIC",
            Phase::Response => "waiting for the answer",
            Phase::Body => "reading the answer",
        }
    }

    /// Of a failure in it.
    pub(crate) fn failed(self, bytes: u64, why: impl Into<Why>) -> Failure {
        Failure { phase: self, bytes, connect_ns: None, why: why.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the reason with which a server of QUIC closes a connection.
    #[test]
    fn words_of_a_stranger_are_one_harmless_line() {
        let why = Why::Protocol("closed: \u{1b}[2J\nerror: ".to_owned() + &"x".repeat(5_000));
        let said = Phase::Quic.failed(0, why).to_string();
        assert!(said.starts_with("QUIC: closed: ?[2J?error: xx"), "{said}");
        assert!(said.len() < 2_000);
    }
}
