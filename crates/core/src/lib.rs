//! The experiment itself: plan, world, wire model, workloads, run, session and record.
//!
//! This crate decides and cannot act: it is `no_std`, so no clock, socket, file or random order is
//! within its reach. Time, randomness and bytes come in as arguments; what is to be done comes out
//! as values.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod arm;
pub mod budget;
pub mod capacity;
pub mod cost;
mod days;
pub mod device;
pub mod family;
pub mod fleet;
pub mod host;
pub mod http2;
pub mod iperf3;
pub mod ippm;
pub mod ladder;
pub mod metric;
pub mod nat64;
pub mod observation;
pub mod path_mtu;
pub mod plan;
pub mod problem;
pub mod published;
pub mod record;
pub mod run;
pub mod schedule;
pub mod selftest;
pub mod session;
pub mod steady;
pub mod task;
pub mod transport;
pub mod tunnel;
pub mod turn;
pub mod unit;
pub mod values;
pub mod version_negotiation;
pub mod via;
pub mod watch;
pub mod wire;
pub mod wiremodel;
pub mod workload;
pub mod world;
