//! Workers: this program started again, to do the halves of tasks at one end for one round.
//!
//! Where a process, its buffers and its sockets lie in memory bears on how long an exchange takes,
//! and is the same all through a process. Where each round is measured by workers of its own, the
//! place is drawn anew for each block of a cell, so that the spread of the blocks has it in it
//! (docs/method.md section B.3). A worker measures as a thread of the program does, and by the same
//! functions; where there are none, threads do it, and reports have no
//! [`process`](v6gap_core::observation::EndReport::process).

mod child;
mod frame;
mod parent;
#[cfg(test)]
mod tests;

pub use child::serve;
pub(crate) use parent::{Half, Order, Worker};

use std::ffi::{CStr, OsStr, OsString};
use std::sync::OnceLock;
use v6gap_sys::Unavailable;
use v6gap_sys::worker::Program;

/// The first argument of a worker. Whoever types it has no conduit as standard input.
const WORD: &CStr = c"--worker";

/// This program, once it has said that it can be started so.
static PROGRAM: OnceLock<Program> = OnceLock::new();

/// Lets this process start workers from now on: the program that runs begins with [`serve`] where
/// its first argument [`is_word`]. `name` is the first word of its command line; a worker has
/// nothing but `environment`.
///
/// # Errors
/// If there is no such thing here; threads measure then.
pub fn enable(name: Option<&OsStr>, environment: &[(&str, OsString)]) -> Result<(), Unavailable> {
    let program = Program::this(name, environment)?;
    // The first stays: it is the same file.
    let _ = PROGRAM.set(program);
    Ok(())
}

/// Whether this is the first argument of a worker.
pub fn is_word(word: Option<&OsStr>) -> bool {
    word.is_some_and(|word| word.as_encoded_bytes() == WORD.to_bytes())
}
