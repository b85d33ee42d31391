//! Results that were measured elsewhere. What they say of themselves names a folder of the store
//! and cannot name another.

use crate::form::{begin, no_journal, read_named};
use crate::journal::read_stored;
use crate::layout::JOURNAL;
use crate::write::write_stored;
use crate::{Store, StoreError};
use std::path::Path;
use v6gap_core::record::{self, Line, RunId};

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
    /// or not at all.
    ///
    /// # Errors
    /// If it is no journal, cannot be read or written, or another run has its identifier.
    pub fn import(&self, path: &Path) -> Result<Imported, StoreError> {
        let lines = match path.is_dir() {
            true => read_stored(&path.join(JOURNAL))?,
            false => read_named(path)?,
        };
        let lacks = |why: &str| no_journal(path, begin(path).as_deref(), why.to_owned());
        let id = match lines.first() {
            Some(Line::Run(header)) => header.id.clone(),
            Some(_) => return Err(lacks("it does not begin with the facts of a run")),
            None => return Err(lacks("it has no whole line")),
        };
        let to = self.journal_path(&id);
        if Store::exists(&to) {
            self.make_folder(&id)?;
            return match read_stored(&to)? == lines {
                true => Ok(Imported::Known(id)),
                false => Err(StoreError::Taken { id }),
            };
        }
        let text: String = lines.iter().map(|line| record::encode(line) + "\n").collect();
        // A run of that name may have been here, and its line be in the index still.
        self.mark(&id)?;
        self.make_folder(&id)?;
        write_stored(&to, text.as_bytes())?;
        Ok(Imported::Stored(id))
    }
}
