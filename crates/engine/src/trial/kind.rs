//! What kinds of errors there are, whoever met one: what follows from one follows from its kind.

/// The kinds of [`TrialError`](super::TrialError).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The task cannot be done as it stands.
    Unsuitable,
    /// There is no address or socket for a family.
    Missing,
    /// This host does not have what the task needs.
    Unavailable,
    /// A socket could not be made or asked.
    Socket,
    /// Sending or receiving failed.
    Io,
    /// The system granted other socket buffers than the plan insists on.
    Buffers,
    /// A datagram does not fit the path in one piece, and may not be cut.
    TooBig,
    /// No datagram was answered that travels in fragments.
    Fragments,
    /// No datagram of the server comes to this host.
    Blocked,
    /// The peer did not behave as agreed.
    Peer,
    /// The task was given up from outside.
    Aborted,
    /// The worker ended, or did not come to an end.
    Worker,
}

// A kind that is not listed would not be understood.
const _: () = assert!(Kind::ALL.len() == Kind::Worker as usize + 1);

impl Kind {
    const ALL: [Kind; 12] = [
        Kind::Unsuitable,
        Kind::Missing,
        Kind::Unavailable,
        Kind::Socket,
        Kind::Io,
        Kind::Buffers,
        Kind::TooBig,
        Kind::Fragments,
        Kind::Blocked,
        Kind::Peer,
        Kind::Aborted,
        Kind::Worker,
    ];

    /// A stable word for it, as a journal has it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Unsuitable => "unsuitable",
            Kind::Missing => "missing",
            Kind::Unavailable => "unavailable",
            Kind::Socket => "socket",
            Kind::Io => "io",
            Kind::Buffers => "buffers",
            Kind::TooBig => "too-big",
            Kind::Fragments => "fragments",
            Kind::Blocked => "blocked",
            Kind::Peer => "peer",
            Kind::Aborted => "aborted",
            Kind::Worker => "worker",
        }
    }

    /// The kind of this word.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// See [`TrialError::is_lasting`](super::TrialError::is_lasting).
    pub(crate) fn is_lasting(self) -> bool {
        match self {
            Kind::Unsuitable
            | Kind::Missing
            | Kind::Unavailable
            | Kind::Buffers
            | Kind::Blocked
            | Kind::TooBig => true,
            Kind::Socket | Kind::Io | Kind::Fragments | Kind::Peer => false,
            Kind::Aborted | Kind::Worker => false,
        }
    }
}
