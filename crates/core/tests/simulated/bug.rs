//! Faults that are planted to see whether they are found. The machines have no switches: each bug
//! is something between a machine and its surroundings that takes away what the machine relies on,
//! as whoever left it out would.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// An agent forgets before each order which ones it has seen.
    NoTokenCheck,
    /// To an agent that is ready no time passes.
    NoNonceAge,
    /// Batches are written whatever stands there.
    NoCompare,
    /// A refusal is read as the answer that it also has the form of.
    ErrorAsSuccess,
    /// The archive is said to have what is still to be synced.
    AckBeforeSync,
    /// That a part was sent is taken for the archive's word.
    AckByStream,
    /// A job whose hosts' keys have expired is not seen by whoever takes the lead.
    FreeAtExpiry,
    /// Nor is any other.
    NoHold,
    /// The archive does not look at how much of a run it has.
    CountedTwice,
    /// Nobody looks whether something else is measured on the host.
    NoHostLock,
    /// An agent's deadlines are by the clock of the wall.
    WallDeadline,
}

impl Bug {
    pub const ALL: [Bug; 11] = [
        Bug::NoTokenCheck,
        Bug::NoNonceAge,
        Bug::NoCompare,
        Bug::ErrorAsSuccess,
        Bug::AckBeforeSync,
        Bug::AckByStream,
        Bug::FreeAtExpiry,
        Bug::NoHold,
        Bug::CountedTwice,
        Bug::NoHostLock,
        Bug::WallDeadline,
    ];

    /// What is broken by it.
    pub fn breaks(self) -> &'static [&'static str] {
        match self {
            Bug::NoTokenCheck | Bug::ErrorAsSuccess => &["G5"],
            Bug::NoNonceAge | Bug::FreeAtExpiry | Bug::NoHold | Bug::WallDeadline => &["G1", "G2"],
            Bug::NoCompare => &["G5", "G1", "G2"],
            Bug::AckBeforeSync | Bug::AckByStream => &["G3"],
            Bug::CountedTwice => &["G4"],
            Bug::NoHostLock => &["G1"],
        }
    }
}
