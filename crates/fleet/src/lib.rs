//! Many hosts: a hub where they meet over NATS JetStream, agents that measure between each other, a
//! coordinator that gives them jobs, and a sink that keeps what they found.
//!
//! Nothing here decides: the machines of `v6gap_core::fleet` do. Nothing here measures either: an
//! agent runs this program, a process for each job, so that no runtime is in a process that
//! measures.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![forbid(unsafe_code)]

pub mod agent;
pub mod archive;
pub mod beside;
mod complaint;
pub mod coordinator;
mod creds;
mod error;
#[cfg(test)]
mod fixtures;
pub mod heard;
pub mod hub;
mod letter;
pub mod nats;
mod now;
mod once;
pub mod operate;
pub mod orders;
pub mod parts;
mod pause;
mod plans;
pub mod postgres;
mod rights;
pub mod sink;
pub mod supervise;

pub use error::FleetError;
pub use letter::Letter;
pub use orders::NoOrder;
pub use parts::NoPart;
pub use plans::{asked, longest_ns};
pub use rights::Role;
pub use v6gap_core::fleet::SILENT_NS;
pub use v6gap_core::fleet::clock::Clocks;
pub use v6gap_core::fleet::message::{Heartbeat, State};
pub use v6gap_core::fleet::metrics::Metrics;
pub use v6gap_core::fleet::work::Outcome as Ended;

use std::io;
use tokio::sync::watch;
use v6gap_sys::stop::Stopper;

/// What says when to end.
pub type Stop = watch::Receiver<bool>;

/// Performs a part of a fleet in this thread; `perform` is handed what says when to end, which it
/// does once `stop` is stopped.
///
/// # Errors
/// If the system has no descriptors left.
pub fn block_on<T>(stop: &Stopper, perform: impl AsyncFnOnce(Stop) -> T) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (says, hears) = watch::channel(false);
    stop.then(move || {
        says.send_replace(true);
    });
    Ok(runtime.block_on(perform(hears)))
}
