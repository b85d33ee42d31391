//! Results that were measured elsewhere. What they say of themselves is not trusted to name a file.

use crate::layout::JOURNAL;
use crate::{Store, StoreError, read_journal};
use std::path::Path;
use v6gap_core::record::{self, Line};

/// Longest identifier, in letters; ours have six.
const ID_MAX: usize = 32;

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// It is stored under this identifier now.
    Stored(String),
    /// It was stored before.
    Known(String),
}

impl Store {
    /// Stores the run in `path`, a journal or the folder of a run, under its own identifier, whole
    /// or not at all.
    ///
    /// # Errors
    /// If it is no journal, cannot be read or written, or another run has its identifier.
    pub fn import(&self, path: &Path) -> Result<Imported, StoreError> {
        let file = if path.is_dir() { path.join(JOURNAL) } else { path.to_owned() };
        let lines = read_journal(&file)?;
        let id = match lines.first() {
            Some(Line::Run(header)) if is_id(&header.id) => header.id.clone(),
            _ => return Err(StoreError::NoJournal { path: file }),
        };
        let to = self.journal_path(&id);
        if to.exists() {
            return match read_journal(&to)? == lines {
                true => Ok(Imported::Known(id)),
                false => Err(StoreError::Taken { id }),
            };
        }
        let text: String = lines.iter().map(|line| record::encode(line) + "\n").collect();
        Store::write_file(&to, text)?;
        Ok(Imported::Stored(id))
    }
}

/// Whether it may be the name of a folder.
fn is_id(text: &str) -> bool {
    let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    letters && (1..=ID_MAX).contains(&text.len())
}
