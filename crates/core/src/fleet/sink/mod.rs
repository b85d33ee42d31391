//! The sink.

mod event;

pub use event::{Action, Event, RunOf};

/// Most runs that are named to a host at once.
pub const ACK_RUNS: usize = 64;

/// After how long a message that was not taken should come again, in ns.
pub const AGAIN_NS: u64 = 5 * super::SECOND_NS;
