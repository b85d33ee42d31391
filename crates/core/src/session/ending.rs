//! How a session ends.

use crate::wire::control::Refused;

/// Why a machine closed its session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ending {
    /// This end had all it wanted and said so.
    #[error("the session is complete")]
    Complete,
    /// The other end left in good order.
    #[error("the other end left")]
    PeerLeft,
    /// The server refused the session.
    #[error("refused: {}", .0.why)]
    Refused(Refused),
    /// The connection broke.
    #[error("the control connection was lost {during}")]
    Lost {
        /// The phase.
        during: &'static str,
    },
    /// The other end did not do its part in time.
    #[error("no answer in time {during}")]
    TimedOut {
        /// The phase.
        during: &'static str,
    },
    /// The other end said something that does not belong there.
    #[error("the other end broke the protocol {during}")]
    Broken {
        /// The phase.
        during: &'static str,
    },
    /// The session or the silence in it was longer than the server allows.
    #[error("the session was longer or idler than the server allows")]
    OverLimit,
}
