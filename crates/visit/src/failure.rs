//! Why a visit came to nothing, and how far it had come.

use std::io;
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
    /// What came does not follow its protocol, or refuses.
    #[error("{0}")]
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
