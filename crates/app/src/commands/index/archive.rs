//! `index archive`: what stored results say as tables of Parquet, which outlive them.
//!
//! A run is in the archive when its answers are. They are written last, and a month of them at a
//! time, so that whoever is killed in between leaves runs that are looked at again.

use super::look::{Looked, look};
use super::progress::Progress;
use super::stores;
use super::tally::Tally;
use crate::args::IndexArchiveArgs;
use crate::commands::archived;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::settings::Context;
use std::collections::BTreeMap;
use v6gap_report::{Answers, ParquetError, archived_tables};
use v6gap_store::{Archive, Row};

/// The work, and what came of it.
struct Work<'a> {
    context: &'a Context,
    archive: Archive,
    progress: Progress,
    /// Results that are done with.
    seen: usize,
    tally: Tally,
}

/// Archives what is not in the archive yet.
///
/// # Errors
/// If another process does, or the archive cannot be read or written.
pub(super) fn execute(args: &IndexArchiveArgs, context: &Context) -> Result<Outcome, Failure> {
    v6gap_sys::host::memory::expect_much();
    let mut put = |context: &Context| put(args, context);
    let tell = |tally: &Tally| tally.tell("archive", args.json, context);
    stores::each(args.fleet.as_deref(), context, &mut put, &tell)
}

/// Archives what the archive of a store lacks.
fn put(args: &IndexArchiveArgs, context: &Context) -> Result<Tally, Failure> {
    let archive = context.store.hold_archive()?;
    let index = index::all(&context.store)?;
    let mut months: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in index.rows() {
        months.entry(archived::month(&row.head)).or_default().push(row);
    }
    let (progress, tally) = (Progress::new(), Tally::of(index.rows().len()));
    let mut work = Work { context, archive, progress, seen: 0, tally };
    for (month, rows) in months {
        let known = archived::runs(&month, context)?;
        let is_new = |row: &&Row| args.afresh || !known.contains(&archived::entry(&row.head));
        let count = rows.len();
        let new: Vec<&Row> = rows.into_iter().filter(is_new).collect();
        work.seen += count - new.len();
        work.put_month(&month, &new)?;
    }
    Ok(work.tally)
}

impl Work<'_> {
    /// Archives runs of a month.
    fn put_month(&mut self, month: &str, rows: &[&Row]) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let table = archived::answers(month, self.context)?.map(Answers::read).transpose();
        let table = table.map_err(|error| archived::damaged(month, &error, self.context))?;
        let (mut answers, before) = (table.unwrap_or_default(), self.tally.put);
        for row in rows {
            self.put_run(row, &mut answers)?;
            self.seen += 1;
            self.progress.told(self.seen, self.tally.all);
        }
        if self.tally.put > before {
            let table = answers.table().map_err(|error| not_made(&error))?;
            self.archive.put(table.name, month, table.name, &table.bytes)?;
        }
        Ok(())
    }

    /// Archives trials and pairs of a run, and adds what it answered to the others.
    fn put_run(&mut self, row: &Row, answers: &mut Answers) -> Result<(), Failure> {
        let head = &row.head;
        let (lines, analysis) = match look(row, self.context) {
            Looked::Judged(lines, analysis) => (lines, analysis),
            Looked::Measured => {
                self.tally.measured += 1;
                return Ok(());
            }
            Looked::LeftOut(why) => {
                self.tally.left_out.push(why);
                return Ok(());
            }
        };
        let day = archived::day(head);
        for table in archived_tables(&lines, &analysis).map_err(|error| not_made(&error))? {
            self.archive.put(table.name, &day, head.id.as_str(), &table.bytes)?;
        }
        answers.put(&analysis, &lines, head.journal_bytes);
        self.tally.put += 1;
        Ok(())
    }
}

fn not_made(error: &ParquetError) -> Failure {
    Failure::unexpected(format!("the tables cannot be made: {error}"))
}
