//! Whose results are put somewhere: those of this host, or of all hosts of a fleet.

use super::tally::Tally;
use crate::failure::{Failure, Outcome};
use crate::settings::Context;
use std::path::Path;
use v6gap_store::Store;

/// Has `put` put results of each store that is meant, this host's or those in the archive of a hub,
/// and has what came of it all told.
///
/// # Errors
/// The first of them: what is wrong with the results of one host keeps those of no other out.
pub(super) fn each(
    fleet: Option<&Path>,
    context: &Context,
    put: &mut dyn FnMut(&Context) -> Result<Tally, Failure>,
    tell: &dyn Fn(&Tally),
) -> Result<Outcome, Failure> {
    let Some(folder) = fleet else {
        tell(&put(context)?);
        return Ok(Outcome::Done);
    };
    let (mut all, mut failed) = (Tally::of(0), None);
    for store in Store::of_hosts(folder)? {
        match put(&context.of(store)) {
            Ok(tally) => all.add(tally),
            Err(failure) => failed = failed.or(Some(failure)),
        }
    }
    tell(&all);
    failed.map_or(Ok(Outcome::Done), Err)
}
