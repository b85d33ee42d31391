//! Stored results by reference, for the verbs that look at them.

use crate::failure::Failure;
use crate::output;
use crate::settings::Context;
use std::path::Path;
use v6gap_core::analysis::{Analysis, analyse};
use v6gap_core::record::Line;
use v6gap_report::figure;
use v6gap_store::{Reference, Store};

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

/// Writes `text` into a file and says where, or without a file to standard output.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = file else {
        output::to_stdout(text);
        return Ok(());
    };
    write_file(path, text)
}

/// Writes a file and says where.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    Store::write_file(path, content)?;
    output::to_stdout(&path.display().to_string());
    Ok(())
}

/// Says so where figures as a study printed them were asked for and there are none.
pub(super) fn note_facsimile(analysis: &Analysis) {
    if !figure::has_facsimile(analysis) {
        output::to_stderr(
            "note: nothing is drawn as printed: the plan of this result repeats no study that \
             printed figures of what was measured (v6gap plan list names those that do)",
        );
    }
}
