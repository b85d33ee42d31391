//! What a file is that somebody named as the journal of a run.

use crate::journal::read_text;
use crate::source::{Named, Source};
use crate::{StoreError, read_journal};
use std::io::Read;
use std::path::Path;
use v6gap_core::record::{Line, RecordError};

/// How much of a file is looked at to say what it is, in bytes.
const BEGIN_BYTES: u64 = 65_536;

/// The lines of a file that somebody named as a journal.
///
/// # Errors
/// If it is none, or as [`read_journal`].
pub(crate) fn read_named(path: &Path) -> Result<Vec<Line>, StoreError> {
    read_journal(path).map_err(|error| unlike(path, error))
}

/// The same with their text.
///
/// # Errors
/// As [`read_named`].
pub(crate) fn read_named_text(path: &Path) -> Result<(Vec<Line>, String), StoreError> {
    read_text(path, Named::ByUser).map_err(|error| unlike(path, error))
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
pub(crate) fn no_journal(path: &Path, begin: Option<&str>, why: String) -> StoreError {
    let form = begin.and_then(form);
    let why = form.map_or(why, |form| format!("it is a document of the form {form}"));
    StoreError::NoJournal { path: path.to_owned(), why }
}

/// The beginning of a file as text; nothing of a pipe, of which it is gone once it was read.
pub(crate) fn begin(path: &Path) -> Option<String> {
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
