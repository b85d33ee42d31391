//! What goes wrong in a fleet.

use std::io;
use std::path::PathBuf;
use v6gap_store::StoreError;
use v6gap_sys::Unavailable;

/// Oldest nats-server that takes several grants at once and traces a message only where whoever
/// sends it may write.
pub(crate) const SERVER_MIN: (i64, i64, i64) = (2, 12, 6);

/// Why something of a fleet could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A key that is none, or cannot sign.
    #[error("a key cannot be used: {0}")]
    Key(#[from] nkeys::error::Error),
    /// A certificate that cannot be made.
    #[error("a certificate cannot be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The folder of a hub is there already.
    #[error("{0} holds a hub already")]
    HubThere(PathBuf),
    /// No hub was made in that folder.
    #[error("{0} holds no hub")]
    NoHub(PathBuf),
    /// A file of a hub or an agent does not say what it should.
    #[error("{path}: {why}")]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Nodes that make no hub.
    #[error("{0}")]
    Nodes(String),
    /// An agent that nobody invited, or that was revoked before.
    #[error("no agent {0} is invited here")]
    NotInvited(String),
    /// An agent that is invited already.
    #[error("{name} is invited already")]
    Invited {
        /// Its name.
        name: String,
        /// The folder of the hub.
        hub: PathBuf,
    },
    /// No server program.
    #[error("there is no nats-server: {0}")]
    NoServer(String),
    /// A child that ended, or did not become ready.
    #[error("{0}")]
    Child(String),
    /// The hub cannot be reached, or lets nobody in.
    #[error("cannot come to {hubs}: {why}")]
    Connect {
        /// Which hubs.
        hubs: String,
        /// What came of it.
        why: String,
        /// Whether it is there and lets nobody in with these credentials.
        refused: bool,
    },
    /// A hub without encryption beyond this host.
    #[error("{0} is beyond this host and does not encrypt")]
    Plain(String),
    /// A server that is too old for grants of several hosts at once.
    #[error("the server at the hub is {0}; {major}.{minor}.{patch} is needed", major = SERVER_MIN.0,
        minor = SERVER_MIN.1, patch = SERVER_MIN.2)]
    ServerOld(String),
    /// The server refuses what it was asked for.
    #[error("the hub refuses {what}: {why}")]
    Refused {
        /// What.
        what: String,
        /// The server's words.
        why: String,
    },
    /// The disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the system does not give.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl FleetError {
    /// Whether it may be otherwise in a moment, as a hub that is not there yet.
    pub fn may_pass(&self) -> bool {
        matches!(self, FleetError::Connect { refused: false, .. })
    }

    /// What `source` said of `path`.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> FleetError {
        let path = path.to_owned();
        move |source| FleetError::Io { path, source }
    }

    /// What is wrong in the file `path`.
    pub(crate) fn file(path: &std::path::Path, why: impl ToString) -> FleetError {
        FleetError::File { path: path.to_owned(), why: why.to_string() }
    }

    /// That the server refuses `what`, and why.
    pub(crate) fn refused(what: &str, why: impl ToString) -> FleetError {
        FleetError::Refused { what: what.to_owned(), why: why.to_string() }
    }
}
