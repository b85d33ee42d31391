//! Results that were measured elsewhere. What they say of themselves names a folder of the store
//! and cannot name another.

use crate::journal::read_stored;
use crate::layout::JOURNAL;
use crate::source::{Named, Source};
use crate::write::write_stored;
use crate::{Store, StoreError, read_journal};
use std::io::Read;
use std::path::Path;
use v6gap_core::record::{self, Line, RecordError, RunId};

/// How much of a file is looked at to say what it is, in bytes.
const BEGIN_BYTES: u64 = 65_536;

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
            false => read_journal(path).map_err(|error| unlike(path, error))?,
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

/// What is wrong with a file that cannot be read as a journal: one whose first line is nothing like
/// a line of a journal is none. One that is damaged, or was written by a later version, stays one.
fn unlike(path: &Path, error: StoreError) -> StoreError {
    let begin = begin(path);
    match error {
        StoreError::Record { line: 1, source: source @ RecordError::Malformed(_), .. }
            if begin.as_deref().is_some_and(|begin| !is_of_journal(begin)) =>
        {
            no_journal(path, begin.as_deref(), format!("its first line is {source}"))
        }
        error => error,
    }
}

/// That a file is no journal, for the reason `why` unless its beginning says what it is.
fn no_journal(path: &Path, begin: Option<&str>, why: String) -> StoreError {
    let form = begin.and_then(form);
    let why = form.map_or(why, |form| format!("it is a document of the form {form}"));
    StoreError::NoJournal { path: path.to_owned(), why }
}

/// The beginning of a file as text; nothing of a pipe, of which it is gone once it was read.
fn begin(path: &Path) -> Option<String> {
    let source = Source::open(path, Named::ByUser).ok().filter(|source| source.bytes.is_some())?;
    let mut bytes = Vec::new();
    source.take(BEGIN_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a file begins as this program begins the lines of journals, whatever follows.
fn is_of_journal(begin: &str) -> bool {
    begin.strip_prefix(r#"{"v":"#).is_some_and(|rest| rest.contains(r#","line":""#))
}

/// The form that a document of this program says that it has, as in "v6gap.result/1", wherever in
/// its beginning it does.
fn form(begin: &str) -> Option<&str> {
    begin.trim_start().strip_prefix('{')?;
    let named = |(at, key): (usize, &str)| {
        let field = begin[at + key.len()..].trim_start().strip_prefix(':')?;
        let (form, _) = field.trim_start().strip_prefix('"')?.split_once('"')?;
        Some(form)
    };
    let is_usual = |c: char| c.is_ascii_alphanumeric() || "./-".contains(c);
    let mut forms = begin.match_indices(r#""schema""#).filter_map(named);
    forms.find(|form| form.starts_with("v6gap.") && form.chars().all(is_usual))
}
