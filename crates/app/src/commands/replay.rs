//! `replay`: a stored result happens again.

use crate::args::ReplayArgs;
use crate::failure::{Failure, Outcome};
use crate::session;
use crate::settings::Context;
use v6gap_store::RunName;

/// Plays a stored result.
///
/// # Errors
/// If it is not there or cannot be read.
pub fn execute(args: &ReplayArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.result.dry_run {
        return Err(Failure::usage("--dry-run is for what measures: a replay sends nothing"));
    }
    let lines = context.store.read(&RunName::parse(&args.reference))?;
    session::replay(&lines, args.speed, args.keep, &args.result, context)
}
