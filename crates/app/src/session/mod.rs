//! A session of measuring, from what was typed to the answer: what `run`, `demo` and `plan run`
//! share.

pub mod alone;
mod conclude;
pub mod labs;
mod measure;
mod progress;
mod repeat;
mod replay;
mod view;

pub use conclude::in_words;
pub use measure::{in_held_lab, in_lab, interruptible, measure, on_loopback};
pub use progress::only_waits;
pub use repeat::{preset_of, repeat};
pub use replay::{Playing, replay};
