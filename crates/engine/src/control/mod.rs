//! The control connection: the input and output round [`v6gap_core::session`].
//!
//! In the clear go two preambles, by which versions are agreed and strangers recognised; then a
//! Noise handshake by which both prove a [`Key`]; then messages. docs/protocol.md describes it for
//! other programs.

mod channel;
pub mod client;
mod greeting;
pub(crate) mod handshake;
mod keeper;
mod key;
pub mod memory;
mod pinned;
pub(crate) mod seal;
mod trouble;

use v6gap_sys::socket::{KeepAlive, Stream};

/// When either end of a control connection takes the other's host for gone. Longer than most trials
/// last, so that the system says nothing while they run; together with the last question in less
/// time than the other clients of a server should wait for somebody who is not there.
pub(crate) const ALIVE: KeepAlive =
    KeepAlive { idle_s: 8, interval_s: 2, probes: 2, unanswered_ms: 12_000 };

pub use channel::Channel;
pub use client::{ClientOptions, Connection, EndReports, Unlocated};
pub use key::{EmptyWord, Key};
pub use pinned::{NoPinnedKeys, Pinned, PublicKey};
pub use trouble::{ChannelError, ConnectError, FamilyProblem, TaskError, Trouble};

/// Acknowledges what was read of a control connection. What the system holds back would go out
/// within the trial that the message began: a packet of one family, on the link of both.
pub(crate) fn acknowledge(stream: &Stream) {
    // Where the system cannot, it is as late as ever.
    let _ = stream.acknowledge();
}
