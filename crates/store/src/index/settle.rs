//! Lines that are written: of one run that was measured or changed, and of all.
//!
//! Whoever judges a run takes a [`Lagging`] before it reads the journal, so that a run that goes on
//! meanwhile is not taken for what it was.

use super::file;
use super::{Known, Name, Row, last_of_each};
use crate::journal::{is_held, is_locked, read_stored};
use crate::layout::SUMMARY;
use crate::marks::Marks;
use crate::summary::{self, Head, Judged};
use crate::{Note, Store, StoreError};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use v6gap_core::record::{Line, RunId};

/// Longest summary that is read, in bytes; one of 256 cells takes 0.2 MB.
const SUMMARY_BYTES_MAX: u64 = 4 << 20;

/// Most threads that read summaries.
const WORKERS_MAX: usize = 8;

/// How long whoever makes the index anew waits for those who write to it, in ns.
const WAIT_NS: u64 = 10_000_000_000;

/// Judges the lines of a run.
pub type Judge<'a> = &'a (dyn Fn(&[Line]) -> Judged + Sync);

/// Whether what whoever judges said of a run, if anything, is to be kept.
pub type Fits<'a> = &'a (dyn Fn(Option<&str>) -> bool + Sync);

/// Is told how many runs of how many were looked at.
pub type Told<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// A run as it was before its journal was read, with the marks that were on it.
#[derive(Debug)]
pub struct Lagging {
    head: Head,
    marks: Vec<PathBuf>,
}

/// What came of making the index anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Runs with a line.
    pub runs: usize,
    /// Of these, runs whose journals were read, since they had no summary that fits.
    pub judged: usize,
    /// Runs that are being measured; they have no line yet.
    pub measured: usize,
    /// Folders that are left out, each with the reason in words.
    pub left_out: Vec<String>,
}

impl Store {
    /// Whether a process is measuring into a run, as far as that can be told.
    pub fn is_measured(&self, id: &RunId) -> bool {
        is_locked(&self.journal_path(id)).unwrap_or(false)
    }

    /// A run that is about to be judged; nothing if it is not there or being measured.
    pub fn lagging(&self, id: &RunId) -> Option<Lagging> {
        // The marks first: one that is set later stays.
        let marks = self.marks().remove(id).unwrap_or_default();
        self.lagging_with(id, marks)
    }

    fn lagging_with(&self, id: &RunId, marks: Vec<PathBuf>) -> Option<Lagging> {
        if is_held(&self.journal_path(id)) {
            return None;
        }
        let entry = self.look(id)?;
        Some(Lagging { head: Head::of(&entry, self.note(id)), marks })
    }

    /// Writes the summary of a run and its line in the index. Returns false, and leaves that to
    /// whoever looks next, if the run went on meanwhile or another process writes to the index.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn catch_up(&self, lagging: Lagging, judged: Judged) -> Result<bool, StoreError> {
        let Lagging { head, marks } = lagging;
        let written = self.put(&Head { set_up: judged.set_up, ..head }, judged.text.as_deref())?;
        if written {
            self.unmark(&marks);
        }
        Ok(written)
    }

    /// What whoever judges said of a run, if that is of all that was measured until now.
    pub fn judged(&self, id: &RunId) -> Option<String> {
        let (_, line) = self.summary_line(id)?;
        judged_in(&line).map(str::to_owned)
    }

    /// Has the note of a run written and puts it into its line; what whoever judges said stays.
    pub(crate) fn renote(
        &self,
        id: &RunId,
        write: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.own(id)?;
        self.mark(id)?;
        let marks = self.marks().remove(id).unwrap_or_default();
        let before = self.summary_line(id).filter(|_| !is_held(&self.journal_path(id)));
        write()?;
        let is_told = before.is_some_and(|(head, line)| {
            let Note { title, note } = self.note(id);
            let head = Head { title, note, ..head };
            self.put(&head, summary::judged(&line)).unwrap_or(false)
        });
        if is_told {
            self.unmark(&marks);
        } else {
            // Who settled the run meanwhile may have read what was written on it before, and taken
            // the first mark away. The note is written; that no mark can be is no reason to fail.
            let _ = self.mark(id);
        }
        Ok(())
    }

    /// Puts the lines of the index in order and takes out those that say nothing any more. Returns
    /// false if another process writes to it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn order_index(&self) -> Result<bool, StoreError> {
        let Some(_lock) = self.lock_index()? else { return Ok(false) };
        let marks = self.marks();
        let mut rows = last_of_each(file::read(&self.index_path(), &|_| true));
        rows.retain(|id, _| self.has_journal(id));
        self.write_rows(rows.into_values().collect())?;
        self.unmark_removed(&marks);
        Ok(true)
    }

    /// Makes the index anew from the summaries, and those that are not there or do not fit from the
    /// journals; `fits` says whether one that is of all that was measured does. The same runs give
    /// the same bytes.
    ///
    /// # Errors
    /// If another process writes to it, or it cannot be written.
    pub fn rebuild_index(
        &self,
        fits: Fits<'_>,
        judge: Judge<'_>,
        told: Told<'_>,
    ) -> Result<Rebuilt, StoreError> {
        if !Store::exists(&self.runs) {
            return Ok(Rebuilt::default());
        }
        let marks = self.marks();
        let names = self.names()?;
        let (rows, mut rebuilt) = self.sum_up_all(&names, &marks, fits, judge, told);
        let settled = rows.iter().filter_map(|row| marks.get(&row.head.id)).flatten();
        let settled: Vec<PathBuf> = settled.cloned().collect();
        let _lock = self.lock_index_within(WAIT_NS)?;
        let mut rows: BTreeMap<RunId, Row> =
            rows.into_iter().map(|row| (row.head.id.clone(), row)).collect();
        let known = last_of_each(file::read(&self.index_path(), &|_| false));
        // One that was removed meanwhile may have no mark any more, since it has no line there.
        rows.retain(|id, ours| known.contains_key(id) || self.is_still(&ours.head));
        // Runs that were measured or changed meanwhile have other lines there.
        for (id, row) in known {
            if rows.get(&id).is_some_and(|ours| ours.sum == row.sum) {
                continue;
            }
            match self.summary_line(&id) {
                Some((_, line)) => rows.extend(of_line(line).map(|row| (id, row))),
                // Without a line it is looked at itself.
                None if rows.get(&id).is_some_and(|ours| !self.is_still(&ours.head)) => {
                    rows.remove(&id);
                }
                None => {}
            }
        }
        rebuilt.runs = rows.len();
        self.write_rows(rows.into_values().collect())?;
        self.unmark(&settled);
        self.unmark_removed(&marks);
        Ok(rebuilt)
    }

    /// The lines of all runs, by several threads, in no order.
    fn sum_up_all(
        &self,
        names: &[Name],
        marks: &Marks,
        fits: Fits<'_>,
        judge: Judge<'_>,
        told: Told<'_>,
    ) -> (Vec<Row>, Rebuilt) {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let (mut rows, mut rebuilt) = (Vec::new(), Rebuilt::default());
            while let Some((name, kind)) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                let id: Option<RunId> = name.to_str().and_then(|name| name.parse().ok());
                let fitting = id.filter(|id| !marks.contains_key(id));
                let known = fitting.and_then(|id| self.summary_line(&id)).map(|(_, line)| line);
                let known = known.filter(|line| fits(judged_in(line)));
                rows.extend(match known {
                    Some(line) => of_line(line),
                    None => self.sum_up(name, *kind, judge, &mut rebuilt),
                });
                told(done.fetch_add(1, Ordering::Relaxed) + 1, names.len());
            }
            (rows, rebuilt)
        };
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        let workers = processors.min(WORKERS_MAX).min(names.len());
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers)
                .filter_map(|_| Builder::new().spawn_scoped(scope, work).ok())
                .collect();
            let (mut rows, mut rebuilt) = work();
            for other in others {
                let (more, found) =
                    other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                rows.extend(more);
                rebuilt.judged += found.judged;
                rebuilt.measured += found.measured;
                rebuilt.left_out.extend(found.left_out);
            }
            rebuilt.left_out.sort();
            (rows, rebuilt)
        })
    }

    /// The line of what lies in the folder of runs under that name, by its journal, if it is a run.
    fn sum_up(
        &self,
        name: &OsStr,
        kind: Option<FileType>,
        judge: Judge<'_>,
        rebuilt: &mut Rebuilt,
    ) -> Option<Row> {
        let id = match self.entry(name, kind) {
            Ok(entry) => entry?.header.id,
            Err(why) => {
                rebuilt.left_out.push(self.left_out(name, &why));
                return None;
            }
        };
        let Some(lagging) = self.lagging_with(&id, Vec::new()) else {
            rebuilt.measured += 1;
            return None;
        };
        let lines = match read_stored(&self.journal_path(&id)) {
            // What the system refuses now it may give the next time.
            Err(error @ StoreError::Io { .. }) => {
                rebuilt.left_out.push(self.left_out(name, &error.to_string()));
                return None;
            }
            read => read.unwrap_or_default(),
        };
        let judged = judge(&lines);
        rebuilt.judged += 1;
        let head = Head { set_up: judged.set_up, ..lagging.head };
        let line = self.is_still(&head).then(|| line_of(&head, judged.text.as_deref()))?;
        // Without the file its journal is read again the next time.
        let _ = self.write_to(&id, SUMMARY, line.as_bytes());
        of_line(line)
    }

    /// Writes a line into the folder of its run and to the end of the index, if the run is still
    /// what the line says and no other process writes to the index.
    fn put(&self, head: &Head, judged: Option<&str>) -> Result<bool, StoreError> {
        let Some(_lock) = self.lock_index()? else { return Ok(false) };
        if !self.is_still(head) {
            return Ok(false);
        }
        let line = line_of(head, judged);
        self.write_to(&head.id, SUMMARY, line.as_bytes())?;
        self.append_line(&line)?;
        Ok(true)
    }

    /// The summary of a run with its newline, if that is of all that was measured and written until
    /// now.
    pub(crate) fn summary_line(&self, id: &RunId) -> Option<(Head, String)> {
        let text = self.text_of(id, SUMMARY, SUMMARY_BYTES_MAX)?;
        let head = summary::read(text.strip_suffix('\n')?.as_bytes())?.head;
        (head.id == *id && self.is_still(&head)).then_some((head, text))
    }

    /// Whether nothing was measured into a run, and nothing written on it, since.
    pub fn is_still(&self, head: &Head) -> bool {
        let journal = fs::symlink_metadata(self.journal_path(&head.id));
        let Note { title, note } = self.note(&head.id);
        journal.is_ok_and(|found| found.is_file() && found.len() == head.journal_bytes)
            && title == head.title
            && note == head.note
    }

    fn has_journal(&self, id: &RunId) -> bool {
        Store::exists(&self.journal_path(id))
    }

    /// Whether a run has neither a journal nor a line among these.
    pub(super) fn is_nowhere(&self, id: &RunId, known: &Known) -> bool {
        !known.contains_key(id) && !self.has_journal(id)
    }

    /// Takes away the marks on runs that have neither a journal nor a line, as of one that was
    /// removed before it had one: nobody else would. Where another process writes to the index, or
    /// not all of it can be read, that is left to whoever looks next.
    pub(super) fn unmark_nowhere(&self) {
        let Ok(Some(_lock)) = self.lock_index() else { return };
        // With the lock, so that no line is added meanwhile: a run that comes back has none then,
        // and is looked at itself.
        let marks = self.marks();
        let path = self.index_path();
        let lines = file::read(&path, &|_| false);
        if !lines.are_all_of(&path) {
            return;
        }
        let known = last_of_each(lines);
        for (_, marks) in marks.iter().filter(|(id, _)| self.is_nowhere(id, &known)) {
            self.unmark(marks);
        }
    }

    /// Takes away the marks on runs that are not there, and have no line any more.
    fn unmark_removed(&self, marks: &Marks) {
        for (_, marks) in marks.iter().filter(|(id, _)| !self.has_journal(id)) {
            self.unmark(marks);
        }
    }
}

/// What whoever judges said in a line, if anything.
fn judged_in(line: &str) -> Option<&str> {
    summary::judged(line).filter(|judged| *judged != "null")
}

/// The line of a run; what is no JSON of one line is not said of it.
fn line_of(head: &Head, judged: Option<&str>) -> String {
    let is_json =
        |text: &&str| !text.contains('\n') && serde_json::from_str::<IgnoredAny>(text).is_ok();
    head.line(judged.filter(is_json))
}

/// The row of a line with its newline.
fn of_line(mut line: String) -> Option<Row> {
    line.truncate(line.strip_suffix('\n')?.len());
    let whole = summary::read(line.as_bytes())?;
    let (head, sum) = (whole.head, whole.sum);
    Some(Row { head, line: Some(line), sum, lags: false })
}
