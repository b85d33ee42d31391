//! The control connection: the input and output round [`v6gap_core::session`].
//!
//! In the clear go two preambles, by which versions are agreed and strangers recognised; then a
//! Noise handshake with a shared [`Key`]; then messages. docs/protocol.md describes it for other
//! programs.

mod channel;
pub mod client;
mod greeting;
mod key;
pub(crate) mod seal;
mod trouble;

pub use channel::Channel;
pub use client::{ClientOptions, Connection, EndReports};
pub use key::Key;
pub use trouble::{ChannelError, ConnectError, FamilyProblem, TaskError, Trouble};
