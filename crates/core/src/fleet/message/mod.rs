//! What the parts of a fleet say to each other, as JSON objects.
//!
//! A receiver ignores fields that it does not know, so that small additions need no new version.
//! An agent says in each heartbeat which versions it speaks; orders and replies say theirs. What a
//! job needs of both ends beyond the version are features, by name.

mod command;
mod heartbeat;
mod reply;
mod result;
#[cfg(test)]
mod tests;

pub use command::{Command, Order, Peer, Prepare, Role, Signed, Start};
pub use heartbeat::{ClockState, Heartbeat, State};
pub use reply::{Answer, Failure, Measured, Refusal, Reply};
pub use result::{Ack, ChunkHeader, RunHeld};

use crate::wire::version::VersionRange;

/// The versions of these messages that this program speaks.
pub const SPOKEN: VersionRange = match VersionRange::new(1, 1) {
    Some(range) => range,
    None => panic!("the range is empty"),
};
