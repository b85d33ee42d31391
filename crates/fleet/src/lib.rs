//! Many hosts: a hub where they meet over NATS JetStream, agents that measure between each other, a
//! coordinator that gives them jobs, and a sink that keeps what they found.
//!
//! Nothing here decides: the machines of `v6gap_core::fleet` do. Nothing here measures either: an
//! agent runs this program, a process for each job, so that no runtime is in a process that
//! measures.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![forbid(unsafe_code)]

pub mod agent;
pub mod beside;
mod complaint;
pub mod coordinator;
mod creds;
mod error;
pub mod hub;
mod letter;
pub mod nats;
mod now;
pub mod operate;
pub mod orders;
mod parts;
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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// What says when to end.
pub type Stop = watch::Receiver<bool>;

/// How often it is looked whether somebody wants it to end.
const LOOK: Duration = Duration::from_millis(100);

/// Performs a part of a fleet in this thread; `perform` is handed what says when to end, which it
/// does once `stop` is set.
///
/// # Errors
/// If the system has no descriptors left.
pub fn block_on<T>(stop: &Arc<AtomicBool>, perform: impl AsyncFnOnce(Stop) -> T) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async {
        let (says, hears) = watch::channel(false);
        let looks = async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
            // Whoever hears it no more has ended.
            let _ = says.send(true);
            std::future::pending::<T>().await
        };
        tokio::select! {
            done = perform(hears) => done,
            never = looks => never,
        }
    }))
}
