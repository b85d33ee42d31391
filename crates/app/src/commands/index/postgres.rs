//! `index postgres`: what stored results say and measured in a database, which outlives them.
//!
//! Each result is one transaction, so that whoever is killed in between leaves whole ones.

use super::look::{Looked, look};
use super::progress::Progress;
use super::stores;
use super::tally::Tally;
use crate::args::IndexPostgresArgs;
use crate::database::{access, rows};
use crate::failure::{Failure, Outcome};
use crate::index;
use crate::settings::Context;
use std::collections::BTreeSet;
use v6gap_fleet::postgres::{Alone, Held, Written};
use v6gap_report::ArchivedRows;
use v6gap_store::{Head, Row};
use v6gap_sys::clock::wall_ns;

/// Puts in what the database lacks.
///
/// # Errors
/// If the database cannot be reached or refuses, or results cannot be read.
pub(super) fn execute(args: &IndexPostgresArgs, context: &Context) -> Result<Outcome, Failure> {
    v6gap_sys::host::memory::expect_much();
    let mut database = Alone::connect(&access(&args.database, &args.variables)?)?;
    let held = if args.afresh { BTreeSet::new() } else { database.held()? };
    let mut put = |context: &Context| put(args, &held, &mut database, context);
    let tell = |tally: &Tally| tally.tell("database", args.json, context);
    stores::each(args.fleet.as_deref(), context, &mut put, &tell)
}

/// Puts in what the database lacks of a store.
fn put(
    args: &IndexPostgresArgs,
    held: &BTreeSet<Held>,
    database: &mut Alone,
    context: &Context,
) -> Result<Tally, Failure> {
    let from = args.since.map_or(0, |span| wall_ns().saturating_sub(span));
    let index = index::all(&context.store)?;
    let is_wanted = |row: &&Row| row.head.started_unix_ns >= from;
    // The earliest first, as they came.
    let wanted: Vec<&Row> = index.rows().iter().rev().filter(is_wanted).collect();
    let (progress, mut tally) = (Progress::new(), Tally::of(wanted.len()));
    for (seen, row) in wanted.into_iter().enumerate() {
        if !held.contains(&entry(&row.head)) {
            match look(row, context) {
                Looked::Judged(lines, analysis) => {
                    let archived = ArchivedRows::of(&analysis, &lines, row.head.journal_bytes);
                    let written = database.write(&rows(archived))?;
                    tally.put += usize::from(written == Written::Put);
                }
                Looked::Measured => tally.measured += 1,
                Looked::LeftOut(why) => tally.left_out.push(why),
            }
        }
        progress.told(seen + 1, tally.all);
    }
    Ok(tally)
}

/// A run as the database has it, if it has all of it.
fn entry(head: &Head) -> Held {
    let [started_unix_ns, journal_bytes] = [head.started_unix_ns, head.journal_bytes]
        .map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    Held { run: head.id.to_string(), started_unix_ns, journal_bytes }
}
