//! Performs a plan: connects to the far end, looks at the path, tests the links of a lab, measures,
//! stores what was measured, and says what became of it.
//!
//! [`perform`] is the call: a [`Job`] goes in, [`News`] come out while it goes on, and [`Done`] or
//! a [`Trouble`] is the end. Nothing here reads a command line or prints, so that whoever has a
//! plan can have it performed: the program, a far end that is told to, or a test.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod addresses;
pub mod against;
pub mod always;
pub mod check;
mod ends;
pub mod facts;
pub mod floor;
mod hooks;
mod job;
pub mod local;
mod news;
mod occupant;
mod path;
mod perform;
mod place;
mod placement;
mod replay;
pub mod resolver;
mod rounds;
mod same_host;
mod selftest;
pub mod session;
pub mod site;
pub mod stranger;
pub mod target;
mod trouble;
pub mod turn;
pub mod via;
pub mod watch;
mod whereabouts;
mod witness;
pub mod world;

pub use v6gap_engine::control::Key;
pub use v6gap_engine::device::{Cipher, Credentials, Digest, Secret};
pub use v6gap_sys::capture::{SNAP_BYTES_MAX, SNAP_BYTES_MIN};

pub use job::{Access, Capture, Devices, Job};
pub use news::{News, Watcher};
pub use occupant::Occupant;
pub use perform::{Done, perform};
pub use place::{LOOPBACK, Place};
pub use replay::{Played, replay};
pub use trouble::{CaptureTrouble, DeviceTrouble, NoLab, Trouble};
pub use witness::Captured;

/// What a [`Trouble`] holds of the crates below.
pub mod errors {
    pub use v6gap_engine::control::{ConnectError, FamilyProblem, Trouble};
    pub use v6gap_engine::device::DeviceError;
    pub use v6gap_engine::run::RunError;
    pub use v6gap_engine::trial::Kind as TrialKind;
    pub use v6gap_sys::socket::{ErrorClass, SocketError};
}

/// Serving those who measure from elsewhere: nothing of a plan is in it.
pub mod serve {
    pub use crate::placement::processors;
    pub use crate::turn::HostDoor;
    pub use v6gap_engine::control::Pinned;
    pub use v6gap_engine::server::{
        Prefix, Server, ServerError, ServerEvent, ServerOptions, StampOptions, TurnedAway,
    };
    pub use v6gap_engine::stamp::StampKey;
}

/// Processes of this program that measure.
pub mod worker {
    pub use v6gap_engine::worker::{enable, is_word, serve};
}

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Program and version, as the two ends tell each other.
pub fn tool() -> String {
    format!("v6gap {VERSION}")
}
