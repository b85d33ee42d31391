//! A session of measuring, from what was typed to the answer: what `run`, `demo` and `plan run`
//! share.

mod conclude;
pub mod labs;
mod measure;
mod progress;
mod repeat;
mod turn;
mod view;

pub use conclude::{conclude, in_words};
pub use measure::{
    at_each_line, in_held_lab, in_lab, interruptible, measure, on_loopback, replay,
    stop_at_end_of_input, stopper, unwatched,
};
pub use progress::only_waits;
#[cfg(test)]
pub use repeat::tests::analysis as analysis_of;
pub use repeat::{preset_of, repeat};
pub use turn::{in_turn, in_turn_unstored};
