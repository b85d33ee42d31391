//! Stored results by reference, for the verbs that look at them.

use crate::alike;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::output;
use crate::settings::Context;
use std::path::Path;
use v6gap_core::record::{Line, RunId};
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_report::figure::{self, Figure, JointError, Paint, System};
use v6gap_report::json_escaped;
use v6gap_store::{Index, Row, RunName, Store, StoreError};

/// A stored result.
pub(super) struct Stored {
    /// Journal of the run.
    pub(super) lines: Vec<Line>,
    /// What it says.
    pub(super) analysis: Analysis,
    /// The result itself, where another may be the last by now.
    pub(super) name: RunName,
}

/// The result that `reference` means.
///
/// # Errors
/// If there is none, or it cannot be read.
pub(super) fn load(reference: &str, context: &Context) -> Result<Stored, Failure> {
    v6gap_sys::host::memory::expect_much();
    let name = RunName::parse(reference);
    let lines = context.store.read(&name)?;
    let analysis = analyse(&lines)?;
    Ok(Stored { lines, analysis, name })
}

/// The results that several references mean, all of them at one moment: another may be the last by
/// the time the first is analysed.
///
/// # Errors
/// As [`load`]; none is read if one is not stored.
pub(super) fn load_all(references: &[String], context: &Context) -> Result<Vec<Stored>, Failure> {
    v6gap_sys::host::memory::expect_much();
    let store = &context.store;
    let names: Vec<RunName> = references.iter().map(|text| RunName::parse(text)).collect();
    let is_file = |name: &RunName| matches!(name, RunName::File(_));
    // Files are what they are, also where the folder of results cannot be read.
    let index = if names.iter().all(is_file) { Index::default() } else { store.index()? };
    let look_up = |name: RunName| -> Result<(RunName, Option<RunId>), StoreError> {
        match name {
            file @ RunName::File(_) => Ok((file, None)),
            name @ (RunName::Id(_) | RunName::Last(_) | RunName::LastOf(_)) => {
                let id = index.resolve(&name)?;
                Ok((RunName::Id(id.to_string()), Some(id)))
            }
        }
    };
    let found: Vec<(RunName, Option<RunId>)> =
        names.into_iter().map(look_up).collect::<Result<_, _>>()?;
    let read = |(name, id): (RunName, Option<RunId>)| -> Result<Stored, Failure> {
        let lines = match &id {
            Some(id) => store.read_run(id)?,
            None => store.read(&name)?,
        };
        let analysis = analyse(&lines)?;
        Ok(Stored { lines, analysis, name })
    };
    found.into_iter().map(read).collect()
}

/// The result that `reference` means, with what stored runs like it say of the next. One whose
/// summary is behind gets that, too.
///
/// # Errors
/// As [`load`].
pub(super) fn load_told(reference: &str, context: &Context) -> Result<Stored, Failure> {
    v6gap_sys::host::memory::expect_much();
    let store = &context.store;
    let (index, lines, lagging, name) = match RunName::parse(reference) {
        file @ RunName::File(_) => {
            (index::all(store).unwrap_or_default(), store.read(&file)?, None, file)
        }
        name => {
            let index = index::all(store)?;
            let id = index.resolve(&name)?;
            let lags = index.row(&id).is_some_and(Row::lags);
            let lagging = if lags { store.lagging(&id) } else { None };
            let lines = store.read_run(&id)?;
            (index, lines, lagging, RunName::Id(id.to_string()))
        }
    };
    let mut analysis = analyse(&lines)?;
    index::keep(lagging, &analysis, &lines, context);
    alike::tell(&mut analysis, &lines, &index, store);
    Ok(Stored { lines, analysis, name })
}

/// The text of a journal for other programs. It keeps every field that it has, and nothing in it
/// can drive a terminal.
pub(super) fn for_others(text: String) -> String {
    // Blanks between fields mean nothing, and cannot be escaped there.
    let blanks = ['\t', '\r'];
    json_escaped(if text.contains(blanks) { text.replace(blanks, " ") } else { text })
}

/// Writes `text` into a file and says where, or without a file or with `-` to standard output.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else {
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
    output::to_stdout(&output::shown(path));
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

/// The pictures of several systems that the study printed which all results repeat; says so where
/// it printed none. `labels` are the names of the systems, one for each result, or none.
///
/// # Errors
/// If the results do not belong into one picture, or the labels do not fit them.
pub(super) fn joint(
    analyses: &[&Analysis],
    labels: &[String],
    paint: Paint,
) -> Result<Vec<Figure>, Failure> {
    if !labels.is_empty() && labels.len() != analyses.len() {
        let (labels, results) = (labels.len(), analyses.len());
        return Err(Failure::usage(format!(
            "--label names the system of each result once: {labels} given for {results}"
        )));
    }
    let label = |at: usize| labels.get(at).map_or("", String::as_str);
    let named = analyses.iter().enumerate();
    let systems: Vec<System<'_>> =
        named.map(|(at, &analysis)| System { label: label(at), analysis }).collect();
    let drawn = figure::joint(&systems, paint).map_err(|error| apart(&error))?;
    if drawn.is_empty() && analyses.len() > 1 {
        output::to_stderr(
            "note: no picture of several systems: the study printed none of what was measured in \
             all of these results",
        );
    }
    Ok(drawn)
}

/// Why results do not belong into one picture, and what to do about it.
fn apart(error: &JointError) -> Failure {
    let what = error.to_string();
    match error {
        JointError::Twice(_) | JointError::TooMany(_) => Failure::usage(what),
        JointError::Arms(_) | JointError::Experiments(_) => {
            Failure::new("V602", Outcome::NotValid, what)
                .seen("A picture of several systems needs one plan of a study, run on each.")
                .run("v6gap plan list", "names the plans of studies")
        }
    }
}
