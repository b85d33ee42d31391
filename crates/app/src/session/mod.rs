//! A session of measuring, from the connection to the answer: what `run`, `demo` and `plan run`
//! share.

mod conclude;
pub mod facts;
mod here;
mod hooks;
mod local;
mod measure;
mod path;
mod progress;
mod selftest;
pub mod world;

pub use conclude::repeat;
pub use here::{in_lab, on_loopback};
pub use measure::{Measuring, measure, tool};
