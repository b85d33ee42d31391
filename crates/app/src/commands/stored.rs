//! Stored results by reference, for the verbs that look at them.

use crate::failure::Failure;
use crate::settings::Context;
use v6gap_core::analysis::{Analysis, analyse};
use v6gap_core::record::Line;
use v6gap_store::Reference;

/// A stored result.
pub(super) struct Stored {
    /// Its journal.
    pub(super) lines: Vec<Line>,
    /// What it says.
    pub(super) analysis: Analysis,
}

/// The result that `reference` means.
///
/// # Errors
/// If there is none, or it cannot be read.
pub(super) fn load(reference: &str, context: &Context) -> Result<Stored, Failure> {
    v6gap_sys::memory::expect_much();
    let lines = context.store.read(&Reference::parse(reference))?;
    let analysis = analyse(&lines)?;
    Ok(Stored { lines, analysis })
}
