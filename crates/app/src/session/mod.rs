//! A session of measuring, from the connection to the answer: what `run`, `demo` and `plan run` share.

mod conclude;
mod hooks;
pub mod local;
mod measure;
mod progress;
mod selftest;
pub mod world;

pub use measure::{Measuring, measure};
