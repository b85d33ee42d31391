//! Whose results are put somewhere: those of this host, or of all hosts of a fleet.

use super::tally::Tally;
use crate::failure::Failure;
use crate::settings::Context;
use std::path::Path;
use v6gap_store::Store;

/// Has `put` put results of each store that is meant, and adds up what came of it: this host's, or
/// those in the archive of a hub.
pub(super) fn each(
    fleet: Option<&Path>,
    context: &Context,
    put: &mut dyn FnMut(&Context) -> Result<Tally, Failure>,
) -> Result<Tally, Failure> {
    let Some(folder) = fleet else { return put(context) };
    let mut all = Tally::of(0);
    for store in Store::of_hosts(folder)? {
        all.add(put(&context.of(store))?);
    }
    Ok(all)
}
