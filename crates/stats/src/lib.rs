//! Samples of numbers to estimates and intervals. This crate knows no networks, no clock and no
//! chance (where orders are too many to try, one fixed sequence of shuffles stands in): it can
//! be read and checked alone, and the same numbers always give the same answer on every platform
//! (all mathematics goes through `libm`).
//!
//! Conventions used everywhere:
//! * `alpha` is a two-sided error rate in (0, 1): `0.05` asks for a 95 % interval;
//! * a sample is a slice in the order it was taken; functions that need sorted input say so;
//! * nothing panics: input that cannot answer the question gives an interval over the whole line
//!   (or a p-value of 1).
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![no_std]

extern crate alloc;

pub mod bartels;
pub mod batch;
pub mod between;
pub mod bootstrap;
pub mod change;
mod dips;
pub mod drift;
pub mod equivalence;
mod estimate;
pub mod fisher;
pub mod groups;
pub mod kruskal;
pub mod least_squares;
pub mod loss;
pub mod modes;
pub mod multiplicity;
pub mod outliers;
pub mod paired_t;
pub mod permutation;
pub mod power;
pub mod quantile;
pub mod repeats;
pub mod rounds;
pub mod score;
pub mod sequence;
mod shuffles;
pub mod sign_test;
pub mod signed_rank;
mod solve;
pub mod spearman;
mod special;
pub mod steady;
pub mod stein;
pub mod summary;
pub mod trend;
pub mod two_runs;

pub use estimate::{Alternative, Estimate, Interval};
