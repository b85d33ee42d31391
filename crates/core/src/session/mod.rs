//! The session between a client and a server as two state machines without input or output.
//!
//! Phases: *hello* (who, what is wanted, waiting for one's turn), *clock* (how far apart the two
//! clocks are), *agree* (a task is proposed, checked and made ready), *run*, *report*, and over
//! again from *agree*; then *close*. A session cannot hang: every phase has a time limit, so that
//! whatever the network does, each machine comes to its `Close`.
//!
//! **How to drive a machine.** Give it messages ([`Client::on_message`], [`Server::on_message`]),
//! the passing of its [`Client::deadline`] (`on_timer`) and the loss of the connection (`on_lost`);
//! then, after *every* call with `now` in it, call `poll` until it returns `None` and do what it
//! says, in that order. At most [`ACTIONS_MAX`] actions wait at any time. After `Close` nothing
//! follows and all calls are without effect. `now` is the caller's clock in ns since any origin; it
//! should not go backwards, and if it does, time stands still for the machine until it has caught
//! up.
//!
//! The machines do not retry and do not resend: control runs over TCP.

pub mod access;
pub mod agree;
pub mod allowance;
pub mod backlog;
mod client;
pub mod clock;
mod ending;
pub mod lobby;
pub mod origin;
mod pulse;
pub mod queue;
mod server;
pub mod throttle;
pub mod validation;
mod watch;

pub use client::{Client, ClientAction, Opened};
pub use ending::Ending;
pub use server::{Server, ServerAction, ServerFacts};

#[cfg(test)]
mod tests;

/// Most actions that wait in a machine at any time.
pub const ACTIONS_MAX: usize = 3;

const SECOND_NS: u64 = 1_000_000_000;

/// Time limits of the phases, in ns. The client's are longer where the server's must have passed
/// first.
pub mod timeout {
    use super::SECOND_NS;

    /// Server: until the client's first message, if the caller did not see to that. Client: until
    /// the first answer.
    pub const HELLO_NS: u64 = 5 * SECOND_NS;
    /// How often a waiting client is told its place.
    pub const QUEUE_REPEAT_NS: u64 = 2 * SECOND_NS;
    /// Server: how long a client may wait.
    pub const WAITING_NS: u64 = 30 * 60 * SECOND_NS;
    /// Server: silence after which a client that waits or is between two tasks is asked whether it
    /// is still there.
    pub const PING_NS: u64 = 3 * SECOND_NS;
    /// Server: until the answer to that.
    pub const PONG_NS: u64 = 4 * SECOND_NS;
    /// Client: until it hears of its place again.
    pub const QUEUE_SILENCE_NS: u64 = 10 * SECOND_NS;
    /// Client: until the answer to a question about the clock.
    pub const CLOCK_NS: u64 = 5 * SECOND_NS;
    /// Client: until the answer to where else the server is.
    pub const WHEREABOUTS_NS: u64 = 5 * SECOND_NS;
    /// Server: until its half of a task is ready.
    pub const PREPARE_NS: u64 = 10 * SECOND_NS;
    /// Client: until the server is ready.
    pub const READY_NS: u64 = 15 * SECOND_NS;
    /// Both: how much longer a task may last than it says.
    pub const RUN_GRACE_NS: u64 = 10 * SECOND_NS;
    /// Server: until its half has ended after the client's.
    pub const END_NS: u64 = 10 * SECOND_NS;
    /// Client: until the server's report.
    pub const REPORT_NS: u64 = 20 * SECOND_NS;
}

/// A call that the phase of the session does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot {what} in this phase of the session")]
pub struct NotNow {
    /// What was asked for.
    pub what: &'static str,
}
