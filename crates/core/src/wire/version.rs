//! Which versions of the protocol an end speaks, and which one two ends agree on.

use core::fmt;

/// The versions that this program speaks.
pub const SPOKEN: VersionRange = VersionRange { lowest: 3, highest: 3 };

/// An inclusive range of protocol versions, never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionRange {
    lowest: u8,
    highest: u8,
}

/// Two ends have no version in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VersionMismatch {
    /// All that the peer speaks is older.
    #[error("peer speaks protocol {peer}, too old for {here} here")]
    PeerTooOld {
        /// Spoken here.
        here: VersionRange,
        /// Spoken there.
        peer: VersionRange,
    },
    /// All that the peer speaks is newer.
    #[error("peer speaks protocol {peer}, too new for {here} here")]
    PeerTooNew {
        /// Spoken here.
        here: VersionRange,
        /// Spoken there.
        peer: VersionRange,
    },
}

impl VersionRange {
    /// The range from `lowest` to `highest`; `None` if that is empty.
    pub const fn new(lowest: u8, highest: u8) -> Option<Self> {
        if lowest <= highest { Some(VersionRange { lowest, highest }) } else { None }
    }

    /// The oldest version.
    pub const fn lowest(self) -> u8 {
        self.lowest
    }

    /// The newest version.
    pub const fn highest(self) -> u8 {
        self.highest
    }

    /// The newest version that both ranges hold. Both ends come to the same answer.
    pub fn agree(self, peer: VersionRange) -> Result<u8, VersionMismatch> {
        if peer.highest < self.lowest {
            return Err(VersionMismatch::PeerTooOld { here: self, peer });
        }
        if peer.lowest > self.highest {
            return Err(VersionMismatch::PeerTooNew { here: self, peer });
        }
        Ok(self.highest.min(peer.highest))
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lowest == self.highest {
            write!(f, "{}", self.lowest)
        } else {
            write!(f, "{}–{}", self.lowest, self.highest)
        }
    }
}
