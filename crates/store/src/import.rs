//! Results that were measured elsewhere. What they say of themselves names a folder of the store
//! and cannot name another.

use crate::form::{begin, no_journal};
use crate::journal::read_stored;
use crate::layout::{NOTE, PLAN};
use crate::note::{self, Note};
use crate::source::{Named, Source, TEXT_BYTES_MAX};
use crate::write::{sync_folder, write_new};
use crate::{RunName, Store, StoreError};
use std::path::Path;
use v6gap_core::record::{Line, RunId};

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It is stored under this identifier now.
    Stored(RunId),
    /// It was stored before.
    Known(RunId),
}

impl Store {
    /// Stores the run in `path`, a journal or the folder of a run, under its own identifier, whole
    /// or not at all; of one that is stored in part, what is missing. Lines are kept as they were
    /// written, with the fields that only a later program knows. From a folder come the plan as it
    /// was written and what a person wrote on the run, too, where the run has none.
    ///
    /// # Errors
    /// If it is no journal, cannot be read or written, another run has its identifier, or another
    /// process measures into that run.
    pub fn import(&self, path: &Path) -> Result<Imported, StoreError> {
        let imported = self.import_lines(path)?;
        let (Imported::Stored(id) | Imported::Known(id)) = &imported;
        if path.is_dir() {
            self.import_texts(path, id)?;
        }
        Ok(imported)
    }

    fn import_texts(&self, folder: &Path, id: &RunId) -> Result<(), StoreError> {
        // What is not there, or is no such text, is not taken.
        let text = |name: &str, most_bytes: u64| {
            let path = folder.join(name);
            Source::open(&path, Named::ByUs).ok()?.text(&path, most_bytes).ok()
        };
        if let Some(plan) = text(PLAN, TEXT_BYTES_MAX).filter(|_| self.written_plan(id).is_none()) {
            self.write_plan(id, &plan)?;
        }
        let written = Note::read(&text(NOTE, note::BYTES_MAX).unwrap_or_default());
        if self.note(id) == Note::default() && written != Note::default() {
            self.set_note(id, &written)?;
        }
        Ok(())
    }

    fn import_lines(&self, path: &Path) -> Result<Imported, StoreError> {
        let (lines, text) = self.lines_and_text(&RunName::File(path.to_owned()))?;
        let lacks = |why: &str| no_journal(path, begin(path).as_deref(), why.to_owned());
        let id = match lines.first() {
            Some(Line::Run(header)) => header.id.clone(),
            Some(_) => return Err(lacks("it does not begin with the facts of a run")),
            None => return Err(lacks("it has no whole line")),
        };
        let to = self.journal_path(&id);
        if Store::exists(&to) {
            return self.go_on(id, &lines, &text);
        }
        // A run of that name may have been here, and its line be in the index still.
        self.mark(&id)?;
        let folder = self.make_folder(&id)?;
        if !write_new(&to, text.as_bytes())? {
            // Another process was quicker.
            return self.go_on(id, &lines, &text);
        }
        sync_folder(&folder)?;
        sync_folder(&self.runs)?;
        Ok(Imported::Stored(id))
    }

    /// Adds to a stored run what was measured into it elsewhere since it was copied: those of the
    /// lines that it lacks, as they stand in the text.
    fn go_on(&self, id: RunId, lines: &[Line], text: &str) -> Result<Imported, StoreError> {
        self.make_folder(&id)?;
        let stored = read_stored(&self.journal_path(&id))?;
        if stored.starts_with(lines) {
            return Ok(Imported::Known(id));
        }
        if !lines.starts_with(&stored) {
            return Err(StoreError::Taken { id });
        }
        let (mut journal, held) = self.resume(&id)?;
        if !lines.starts_with(&held) {
            return Err(StoreError::Taken { id });
        }
        journal.append_text(behind(text, held.len()))?;
        Ok(Imported::Stored(id))
    }
}

/// What stands behind so many lines of a text.
fn behind(text: &str, lines: usize) -> &str {
    let bytes: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
    &text[bytes..]
}
