//! The turn of this host: it is waited for before anything is made or looked at that could be felt
//! by who measures here.

use super::progress::say_occupied;
use crate::args::ResultArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use v6gap_perform::News;
use v6gap_perform::turn::Turn;
use v6gap_sys::term;

/// Does `work` in the turn of this host, once it has come.
///
/// The process still has one thread then, as labs demand, and a signal ends it at once; what ends
/// with its standard input is asked for now and then.
///
/// # Errors
/// If somebody else measures here and is not to be waited for (E204), and those of `work`.
pub fn in_turn(
    turn: Turn,
    result: &ResultArgs,
    work: impl FnOnce(Turn) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let is_left = || result.stop_at_eof && term::input_is_over();
    taken(turn, result.json_stream, &is_left, work)
}

/// The same for work of which no result is stored.
///
/// # Errors
/// As [`in_turn`].
pub fn in_turn_unstored(
    turn: Turn,
    work: impl FnOnce(Turn) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    taken(turn, false, &|| false, work)
}

fn taken(
    mut turn: Turn,
    streams: bool,
    is_left: &dyn Fn() -> bool,
    work: impl FnOnce(Turn) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let mut told = |news: &News<'_>| {
        if let News::Occupied(occupant) = news {
            say_occupied(occupant, streams);
        }
    };
    match turn.take(&mut told, is_left)? {
        true => work(turn),
        false => Ok(stopped()),
    }
}

/// How a run ends of which nothing was measured.
pub fn stopped() -> Outcome {
    output::to_stderr("stopped before anything was measured; nothing is stored");
    Outcome::Interrupted
}
