//! A session of measuring, from the connection to the answer: what `run`, `demo` and `plan run`
//! share.

pub mod alone;
mod conclude;
mod devices;
pub mod facts;
mod here;
mod hooks;
pub mod labs;
pub mod local;
mod measure;
mod path;
mod progress;
mod repeat;
mod replay;
mod selftest;
mod view;
mod witness;
pub mod world;

pub use conclude::in_words;
pub use devices::Keys;
pub use here::{in_held_lab, in_lab, on_loopback};
pub use local::with_server;
pub use measure::{Measuring, broken_off, connect_for, interruptible, measure, tool};
pub use path::check as check_path;
pub use repeat::{LOOPBACK, preset_of, repeat};
pub use replay::{Playing, replay};
