//! All runs by one file, so that a list does not open each of them.
//!
//! The folders of the runs are the truth, and the index holds a copy of the summary of each. A look
//! at it also reads the names in the folder of runs and the marks on those that are changed: a run
//! without a line, or with a mark, is read itself, and a line without a run is passed over. So a
//! process that is killed at any moment costs time, and nothing that is stored.

mod file;
mod settle;

pub use file::Keep;
pub use settle::{Fits, Judge, Lagging, Rebuilt, Told};

use crate::layout::own_folder;
use crate::marks::Marks;
use crate::summary::{self, Head, digest};
use crate::{RunName, Store, StoreError};
use file::Lines;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::path::PathBuf;
use std::thread::Builder;
use v6gap_core::record::RunId;

/// The file, in the folder for this program's data.
const INDEX: &str = "index.jsonl";

/// So many bytes of an index are put in order whenever they are not.
const SHORT_BYTES: u64 = 4 << 20;

/// A longer one when one line in so many says nothing any more, or none does and they are out of
/// order, as after an import.
const OLD_SHARE: usize = 4;

/// A run in a list.
#[derive(Debug, Clone)]
pub struct Row {
    /// What a list says of it.
    pub head: Head,
    /// The whole line, if it was asked for.
    line: Option<String>,
    /// The sum of the line.
    sum: u64,
    /// Whether the run itself was looked at, since its line is behind.
    lags: bool,
}

/// All runs, as their lines say it and the runs themselves where those are behind.
#[derive(Debug, Clone, Default)]
pub struct Index {
    rows: Vec<Row>,
    left_out: Vec<String>,
    is_old: bool,
}

impl Row {
    /// What whoever judges said of it, if that was asked for and is known.
    pub fn judged(&self) -> Option<&str> {
        summary::judged(self.line.as_deref()?).filter(|judged| *judged != "null")
    }

    /// Whether its line in the index is behind.
    pub fn lags(&self) -> bool {
        self.lags
    }
}

impl Index {
    /// The runs, the latest first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Folders that are left out, each with the reason in words.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The run of that identifier.
    pub fn row(&self, id: &RunId) -> Option<&Row> {
        self.rows.iter().find(|row| row.head.id == *id)
    }

    /// Runs whose line is behind, the latest first.
    pub fn lagging(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.lags)
    }

    /// Whether [`Store::order_index`] would make it worth its time.
    pub fn is_old(&self) -> bool {
        self.is_old
    }

    /// The identifier that `reference` means.
    ///
    /// # Errors
    /// If no run or more than one fits.
    pub fn resolve(&self, reference: &RunName) -> Result<RunId, StoreError> {
        let known = self.rows.iter().map(|row| (&row.head.id, row.head.target.as_str()));
        reference.pick(&known.collect::<Vec<_>>())
    }
}

/// A name in the folder of runs, and what it names.
type Name = (OsString, Option<FileType>);

impl Store {
    /// All runs, without what whoever judges said of them.
    ///
    /// # Errors
    /// If the folder of runs exists and cannot be read.
    pub fn index(&self) -> Result<Index, StoreError> {
        self.index_with(&|_| false)
    }

    /// All runs, with what whoever judges said of those that `keep` names.
    ///
    /// # Errors
    /// If the folder of runs exists and cannot be read.
    pub fn index_with(&self, keep: Keep<'_>) -> Result<Index, StoreError> {
        if !Store::exists(&self.runs) {
            return Ok(Index::default());
        }
        own_folder(&self.runs)?;
        // The marks first: a run that is changed later is marked later, and its line is as it was.
        let marks = self.marks();
        let (lines, names) = self.lines_and_names(keep);
        let names = names?;
        if marks.is_empty() && are_alike(&lines, &names) {
            let mut rows = lines.rows;
            rows.reverse();
            return Ok(Index { rows, ..Index::default() });
        }
        Ok(self.held_against(lines, &names, &marks))
    }

    /// Where the index lies.
    pub(crate) fn index_path(&self) -> PathBuf {
        self.data().join(INDEX)
    }

    /// Both at once where that takes long.
    fn lines_and_names(&self, keep: Keep<'_>) -> (Lines, Result<Vec<Name>, StoreError>) {
        let path = self.index_path();
        if !file::is_long(&path) {
            return (file::read(&path, keep), self.names());
        }
        std::thread::scope(|scope| {
            let names = Builder::new().spawn_scoped(scope, || self.names());
            let lines = file::read(&path, keep);
            let names = match names {
                Ok(names) => names.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // One after the other where there are no threads.
                Err(_) => self.names(),
            };
            (lines, names)
        })
    }

    fn names(&self) -> Result<Vec<Name>, StoreError> {
        let found = fs::read_dir(&self.runs).map_err(StoreError::io("read", &self.runs))?;
        Ok(found.flatten().map(|found| (found.file_name(), found.file_type().ok())).collect())
    }

    /// Every run by its line, or by itself.
    fn held_against(&self, lines: Lines, names: &[Name], marks: &Marks) -> Index {
        let (count, is_short) = (lines.rows.len() + lines.wrong, lines.bytes <= SHORT_BYTES);
        let in_order = lines.are_in_order();
        let mut known = last_of_each(lines);
        if marks.keys().any(|id| self.is_nowhere(id, &known)) {
            self.unmark_nowhere();
        }
        let (mut index, mut waiting) = (Index::default(), 0);
        for (name, kind) in names {
            let is_folder = kind.is_some_and(|kind| kind.is_dir());
            let id: Option<RunId> = name.to_str().and_then(|name| name.parse().ok());
            let id = id.filter(|id| is_folder && !marks.contains_key(id));
            if let Some(row) = id.and_then(|id| known.remove(&id)) {
                index.rows.push(row);
                continue;
            }
            match self.entry(name, *kind) {
                Ok(Some(entry)) => {
                    // The line of a run that is marked is replaced when that is settled.
                    waiting += usize::from(known.remove(&entry.header.id).is_some());
                    let head = Head::of(&entry, self.note(&entry.header.id));
                    index.rows.push(Row { head, line: None, sum: 0, lags: true });
                }
                Ok(None) => {}
                Err(why) => index.left_out.push(self.left_out(name, &why)),
            }
        }
        let old = count - waiting - index.rows.iter().filter(|row| !row.lags).count();
        let is_old = old > 0 || !in_order;
        index.is_old = is_old && (is_short || old == 0 || old * OLD_SHARE >= count);
        index.rows.sort_by(|a, b| b.head.place().cmp(&a.head.place()));
        index.left_out.sort();
        index
    }
}

/// The last line of each run.
type Known = BTreeMap<RunId, Row>;

/// Of several lines of a run the last one counts.
fn last_of_each(lines: Lines) -> Known {
    let mut last = BTreeMap::new();
    for row in lines.rows {
        last.insert(row.head.id.clone(), row);
    }
    last
}

/// Whether the lines are those of the runs, one for each and in their order.
fn are_alike(lines: &Lines, names: &[Name]) -> bool {
    // Adding up the sums of all names tells as much as sorting them, in less time.
    let sum = |sum: u64, name: &[u8]| sum.wrapping_add(digest(name));
    let all_folders = names.iter().all(|(_, kind)| kind.is_some_and(|kind| kind.is_dir()));
    let named = names.iter().fold(0, |all, (name, _)| sum(all, name.as_encoded_bytes()));
    let ids = lines.rows.iter().map(|row| row.head.id.as_str().as_bytes());
    all_folders
        && lines.wrong == 0
        && lines.rows.len() == names.len()
        && lines.are_in_order()
        && ids.fold(0, sum) == named
}
