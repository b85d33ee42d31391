//! The developer verbs of this repository, in Rust so that every platform runs the same ones.
//!
//! `cargo xtask test --setup` is all that continuous integration calls; there is no second list of
//! steps that could drift from this one.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod command;
pub mod dist;
pub mod fuzz;
pub mod lines;
mod outcome;
pub mod pages;
mod root;
pub mod setup;
pub mod steps;
pub mod suites;
pub mod targets;
pub mod tidy;
pub mod workspace;
mod zig;
