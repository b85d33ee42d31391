//! `index archive`: what stored results say as tables of Parquet, which outlive them.
//!
//! A run is in the archive when its answers are. They are written last, and a month of them at a
//! time, so that whoever is killed in between leaves runs that are looked at again.

use super::progress::Progress;
use crate::args::IndexArchiveArgs;
use crate::commands::archived;
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::output;
use crate::settings::Context;
use serde_json::json;
use std::collections::BTreeMap;
use v6gap_judge::analysis::analyse;
use v6gap_report::{Answers, ParquetError, archived_tables};
use v6gap_store::{Archive, Row};

/// The work, and what came of it.
struct Work<'a> {
    context: &'a Context,
    archive: Archive,
    progress: Progress,
    /// All results.
    all: usize,
    /// Results that are done with.
    seen: usize,
    /// Results that were put in.
    put: usize,
    /// Results that are being measured.
    measured: usize,
    /// Results that cannot be archived, each with the reason in words.
    left_out: Vec<String>,
}

/// Archives what is not in the archive yet.
///
/// # Errors
/// If another process does, or the archive cannot be read or written.
pub(super) fn execute(args: &IndexArchiveArgs, context: &Context) -> Result<Outcome, Failure> {
    v6gap_sys::host::memory::expect_much();
    let archive = context.store.hold_archive()?;
    let index = index::all(&context.store)?;
    let mut months: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in index.rows() {
        months.entry(archived::month(&row.head)).or_default().push(row);
    }
    let (progress, all) = (Progress::new(), index.rows().len());
    let left_out = Vec::new();
    let mut work = Work { context, archive, progress, all, seen: 0, put: 0, measured: 0, left_out };
    for (month, rows) in months {
        let known = archived::runs(&month, context)?;
        let is_new = |row: &&Row| args.afresh || !known.contains(&archived::entry(&row.head));
        let count = rows.len();
        let new: Vec<&Row> = rows.into_iter().filter(is_new).collect();
        work.seen += count - new.len();
        work.put_month(&month, &new)?;
    }
    output::to_stdout(&output::fit(&context.output.results, &work.in_words(args.json)));
    for why in &work.left_out {
        output::to_stderr(&output::fit(&context.output.errors, &format!("note: {why}")));
    }
    Ok(Outcome::Done)
}

impl Work<'_> {
    /// Archives runs of a month.
    fn put_month(&mut self, month: &str, rows: &[&Row]) -> Result<(), Failure> {
        if rows.is_empty() {
            return Ok(());
        }
        let table = archived::answers(month, self.context)?.map(Answers::read).transpose();
        let table = table.map_err(|error| archived::damaged(month, &error, self.context))?;
        let (mut answers, before) = (table.unwrap_or_default(), self.put);
        for row in rows {
            self.put_run(row, &mut answers)?;
            self.seen += 1;
            self.progress.told(self.seen, self.all);
        }
        if self.put > before {
            let table = answers.table().map_err(|error| not_made(&error))?;
            self.archive.put(table.name, month, table.name, &table.bytes)?;
        }
        Ok(())
    }

    /// Archives trials and pairs of a run, and adds what it answered to the others.
    fn put_run(&mut self, row: &Row, answers: &mut Answers) -> Result<(), Failure> {
        let (store, head) = (&self.context.store, &row.head);
        let lagging = if row.lags() { store.lagging(&head.id) } else { None };
        if row.lags() && lagging.is_none() {
            self.measured += 1;
            return Ok(());
        }
        let read = store.read_run(&head.id).map_err(|error| error.to_string());
        let judged = read.and_then(|lines| match analyse(&lines) {
            Ok(analysis) => Ok((lines, analysis)),
            Err(error) => Err(error.to_string()),
        });
        let (lines, analysis) = match judged {
            Ok(judged) => judged,
            Err(why) => {
                self.left_out.push(format!("{} is left out: {why}", head.id));
                return Ok(());
            }
        };
        index::keep(lagging, &analysis, &lines, self.context);
        let day = archived::day(head);
        for table in archived_tables(&lines, &analysis).map_err(|error| not_made(&error))? {
            self.archive.put(table.name, &day, head.id.as_str(), &table.bytes)?;
        }
        answers.put(&analysis, &lines, head.journal_bytes);
        self.put += 1;
        Ok(())
    }

    fn in_words(&self, as_json: bool) -> String {
        let Work { all, put, measured, left_out, .. } = self;
        let archived = all - measured - left_out.len();
        if as_json {
            let document = json!({
                "schema": "v6gap.archive/1",
                "results": archived,
                "archived": put,
                "being_measured": measured,
                "left_out": left_out,
            });
            return format!("{document:#}");
        }
        let mut text = format!("{archived} results are in the archive; {put} were put in.");
        if *measured > 0 {
            text += &format!(" {measured} are being measured, and get in when they end.");
        }
        text
    }
}

fn not_made(error: &ParquetError) -> Failure {
    Failure::unexpected(format!("the tables cannot be made: {error}"))
}
