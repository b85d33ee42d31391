//! Performs what `core` decides: the control connection, the server, the traffic of trials and the
//! course of a run.
//!
//! Threads and blocking calls, no asynchronous runtime: nothing may stand between a clock and a
//! socket while something is measured. Control and data are apart: the control connection may
//! allocate and wait; the loops in [`hot`] do neither.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod capture;
pub mod control;
pub mod device;
mod hex;
pub mod hot;
pub mod run;
pub mod server;
pub mod stamp;
pub mod trial;
pub mod worker;
