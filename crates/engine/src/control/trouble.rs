//! What can go wrong on the way to a server, told apart finely enough to say what to do about it.

use super::PublicKey;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::session::Ending;
use v6gap_core::wire::control::{RefusalCode, Refused, TaskFailure};
use v6gap_core::wire::frame::FrameError;
use v6gap_core::wire::version::VersionMismatch;
use v6gap_sys::socket::{ErrorClass, SocketError};

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// Nothing came in time.
    #[error("nothing came in time")]
    TimedOut,
    /// The other end closed the connection.
    #[error("the other end closed the connection")]
    Closed,
    /// The system's answer.
    #[error("the connection failed: {0}")]
    System(#[from] io::Error),
    /// A socket could not be set up.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// Encryption failed: another key, or bytes changed on the way.
    #[error("the encryption does not fit: {0}")]
    Noise(#[from] snow::Error),
    /// What came is no message, or what was to go is too long.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// What went wrong with one address.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Trouble {
    /// Nobody listens there, or a firewall says so.
    #[error("connection refused")]
    Refused,
    /// Nothing came back at all.
    #[error("no answer within {} s", .waited_ns.div_ceil(1_000_000_000))]
    NoAnswer {
        /// How long was waited, in ns.
        waited_ns: u64,
    },
    /// This host has no route to it, or no address of the family.
    #[error("no route: {system}")]
    NoRoute {
        /// The system's words.
        system: String,
    },
    /// The connection stands, but what came back is not our greeting.
    #[error("not a v6gap server: it answered {answered:?}")]
    NotOurs {
        /// The first bytes of the answer as text; empty if nothing was said.
        answered: String,
    },
    /// It closed the connection without a word: too many connections, or it serves others only.
    #[error("the server closed the connection without a word")]
    TurnedAway,
    /// No protocol version in common.
    #[error(transparent)]
    Version(#[from] VersionMismatch),
    /// The server knows another key, or needs one.
    #[error("the server does not accept the key")]
    Key,
    /// The server has proved a key that is none of the pinned ones.
    #[error("the server's public key, {public}, is that of none of the peers")]
    Unpinned {
        /// That key.
        public: PublicKey,
    },
    /// The server has not pinned the key of this end.
    #[error("{why}")]
    Stranger {
        /// The server's words.
        why: String,
    },
    /// The server is measuring for somebody else.
    #[error("{why}")]
    Busy {
        /// Whom for, in words.
        why: String,
    },
    /// The server has too many connections from this network.
    #[error("{why}")]
    Crowded {
        /// The server's words.
        why: String,
    },
    /// The server refused the session for another reason.
    #[error("refused: {}", .0.why)]
    Session(Refused),
    /// The person did not want to wait any longer.
    #[error("gave up waiting")]
    GaveUp,
    /// The session ended, or was lost, before it was complete.
    #[error("{ending}{}", Detail(.detail.as_deref()))]
    Ended {
        /// How.
        ending: Ending,
        /// What the connection said.
        detail: Option<String>,
    },
    /// The system's answer where nothing above fits.
    #[error("{0}")]
    System(String),
}

/// The trouble with one family, at one address.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{family} {address}: {trouble}")]
pub struct FamilyProblem {
    /// The family.
    pub family: Family,
    /// The server's address in it.
    pub address: SocketAddr,
    /// What went wrong.
    pub trouble: Trouble,
}

/// There is no session with the server. Holds what went wrong with each family that an address was
/// given for and that did not answer well; if neither did, or if one's session was refused, that is
/// why.
#[derive(Debug)]
pub struct ConnectError {
    /// The trouble with each family; `None` for one that answered, or that no address was given
    /// for.
    pub problems: Box<PerFamily<Option<FamilyProblem>>>,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.problems.v4, &self.problems.v6) {
            (Some(a), Some(b)) => write!(f, "no session: {a}; {b}"),
            (Some(one), None) | (None, Some(one)) => write!(f, "no session: {one}"),
            (None, None) => f.write_str("no session: no address of the server is known"),
        }
    }
}

impl std::error::Error for ConnectError {}

/// Why a task gave no result. `E` is what the client's half may fail with.
#[derive(Debug, thiserror::Error)]
pub enum TaskError<E> {
    /// The server's half was not or could not be done; the session goes on.
    #[error("the server did not do task {number}: {}", failure.why)]
    Server {
        /// Number of the task.
        number: u32,
        /// The server's reason.
        failure: TaskFailure,
    },
    /// This half failed; the session goes on.
    #[error("{0}")]
    Own(E),
    /// Both halves failed, which may have one cause; the session goes on.
    #[error("{own}; the server: {}", failure.why)]
    Both {
        /// What this half met, which is nearer to the person who asks.
        own: E,
        /// The server's reason.
        failure: TaskFailure,
        /// Whether the server told of it before this half was over.
        before: bool,
    },
    /// The session is over.
    #[error(transparent)]
    Session(Box<FamilyProblem>),
}

impl<E> TaskError<E> {
    pub(super) fn session(problem: FamilyProblem) -> Self {
        TaskError::Session(Box::new(problem))
    }
}

impl Trouble {
    /// The trouble behind a socket that could not connect within `timeout_ns`.
    pub(super) fn of_connect(error: &SocketError, timeout_ns: u64) -> Self {
        match error.class() {
            ErrorClass::Refused => Trouble::Refused,
            ErrorClass::TimedOut => Trouble::NoAnswer { waited_ns: timeout_ns },
            ErrorClass::NoRoute | ErrorClass::AddressUnavailable => {
                Trouble::NoRoute { system: error.to_string() }
            }
            _ => Trouble::System(error.to_string()),
        }
    }

    /// The trouble behind a session that ended.
    pub(super) fn of_ending(ending: Ending, detail: Option<String>) -> Self {
        match ending {
            Ending::Refused(Refused { code: RefusalCode::Busy, why }) => Trouble::Busy { why },
            Ending::Refused(Refused { code: RefusalCode::Crowded, why }) => {
                Trouble::Crowded { why }
            }
            Ending::Refused(Refused { code: RefusalCode::Stranger, why }) => {
                Trouble::Stranger { why }
            }
            Ending::Refused(refused) => Trouble::Session(refused),
            ending => Trouble::Ended { ending, detail },
        }
    }
}

/// A detail in brackets, if there is one.
struct Detail<'a>(Option<&'a str>);

impl fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(detail) => write!(f, " ({detail})"),
            None => Ok(()),
        }
    }
}
