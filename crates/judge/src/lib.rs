//! What judges a run: gates, effects, verdicts, comparison of runs, cost model, fitness of hosts,
//! paths between many hosts.
//!
//! Whoever measures or stores does not see this crate, so nothing that was measured can depend on
//! what it is taken for. Like [`v6gap_core`] it decides and cannot act.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod allotment;
pub mod analysis;
pub mod changes;
pub mod eyeballs;
pub mod fitness;
pub mod gate;
pub mod matrix;
pub mod planning;
pub mod reach;
pub mod sameness;
pub mod stopping;
pub mod transfer;
