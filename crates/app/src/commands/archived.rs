//! What the archive has of stored results, for the verbs that fill it and that remove results.

use crate::failure::Failure;
use crate::settings::Context;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use v6gap_report::{ArchivedRun, ParquetError, archived_runs, date};
use v6gap_store::{Head, Row};

/// The table of what runs answered, as folder and file are called.
pub(super) const ANSWERS: &str = "answers";

/// The command that fills the archive.
pub(super) const COMMAND: &str = "v6gap index archive";

/// The part of the archive for what is kept by month, of UTC.
pub(super) fn month(head: &Head) -> String {
    format!("month={}", &date(head.started_unix_ns)[..7])
}

/// The part for what is kept by day.
pub(super) fn day(head: &Head) -> String {
    format!("day={}", &date(head.started_unix_ns)[..10])
}

/// A run as the archive has it, if it has all of it. Whole numbers of a table end at 63 bits, and
/// what a journal says of its start may be longer.
pub(super) fn entry(head: &Head) -> ArchivedRun {
    let [started_unix_ns, journal_bytes] = [head.started_unix_ns, head.journal_bytes]
        .map(|number| number.min(i64::MAX.unsigned_abs()));
    ArchivedRun { run: head.id.to_string(), started_unix_ns, journal_bytes }
}

/// The table of a month, if there is one.
pub(super) fn answers(month: &str, context: &Context) -> Result<Option<File>, Failure> {
    Ok(context.store.archived(ANSWERS, month, ANSWERS)?)
}

/// The runs that the archive has of a month.
pub(super) fn runs(month: &str, context: &Context) -> Result<BTreeSet<ArchivedRun>, Failure> {
    let table = answers(month, context)?;
    let runs = table.map(archived_runs).transpose();
    Ok(runs.map_err(|error| damaged(month, &error, context))?.unwrap_or_default())
}

/// Of these runs those that the archive has all of, and how many others there are.
pub(super) fn among<'a>(
    rows: Vec<&'a Row>,
    context: &Context,
) -> Result<(Vec<&'a Row>, usize), Failure> {
    let mut months: BTreeMap<String, BTreeSet<ArchivedRun>> = BTreeMap::new();
    for row in &rows {
        if let Entry::Vacant(unread) = months.entry(month(&row.head)) {
            let runs = runs(unread.key(), context)?;
            unread.insert(runs);
        }
    }
    let count = rows.len();
    let has = |row: &&Row| months[&month(&row.head)].contains(&entry(&row.head));
    let archived: Vec<&Row> = rows.into_iter().filter(has).collect();
    let others = count - archived.len();
    Ok((archived, others))
}

/// The table of a month cannot be read.
pub(super) fn damaged(month: &str, error: &ParquetError, context: &Context) -> Failure {
    let path = context.store.archived_path(ANSWERS, month, ANSWERS);
    Failure::unexpected(format!("{} cannot be read as Parquet: {error}", path.display()))
        .seen("Once it is moved away, what is still stored of that month can be archived again.")
        .run(COMMAND, "")
}
