//! Stored runs like one that is shown or compared. They are found by the index, and their summaries
//! are read before whole journals are, the nearest in time first; what is damaged, or of another
//! program, is passed over.

use crate::index;
use std::collections::BTreeMap;
use v6gap_core::record::{Line, RunHeader, RunId};
use v6gap_judge::analysis::alike::{self, Known, RUNS_MAX, RUNS_MIN};
use v6gap_judge::analysis::compare::Compared;
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_store::{Index, Row, Store};

/// So many stored runs are opened for one at most: where hardly any is valid, the search must end.
const OPENED_MAX: usize = 3 * RUNS_MAX;

/// Adds where the next run will be, if enough stored runs are like this one.
pub fn tell(analysis: &mut Analysis, lines: &[Line], index: &Index, store: &Store) {
    let known = nearest(&[&analysis.run], index, store);
    if known.len() + 1 >= RUNS_MIN {
        alike::tell(analysis, lines, &known);
    }
}

/// Stored runs that may be like any of those compared, and are not among them.
pub fn of_any(compared: &[Compared<'_>], store: &Store) -> Vec<Known> {
    let index = index::all(store).unwrap_or_default();
    let runs: Vec<&RunHeader> = compared.iter().map(|run| &run.analysis.run).collect();
    nearest(&runs, &index, store)
}

/// Of each run the valid others nearest in time that may be like it, as many as count. Each is
/// opened once, and none that lies further away.
fn nearest(runs: &[&RunHeader], index: &Index, store: &Store) -> Vec<Known> {
    let mut opened: BTreeMap<&RunId, Option<Known>> = BTreeMap::new();
    for run in runs {
        let mut valid = 0;
        for row in candidates(run, index, store) {
            let id = &row.head.id;
            if runs.iter().any(|one| one.id == *id) {
                continue;
            }
            let found = opened.entry(id).or_insert_with(|| known(row, store));
            valid += usize::from(found.is_some());
            if valid == RUNS_MAX - 1 {
                break;
            }
        }
    }
    opened.into_values().flatten().collect()
}

/// The nearest in time that may be like it, as far as their first lines tell.
fn candidates<'a>(
    run: &'a RunHeader,
    index: &'a Index,
    store: &'a Store,
) -> impl Iterator<Item = &'a Row> + 'a {
    let word = alike::word(run);
    let may_be = move |row: &&Row| {
        let head = &row.head;
        let is_named_alike = head.target == run.target && head.plan == run.plan.name;
        head.id != run.id
            && is_named_alike
            && match &head.set_up {
                Some(other) => *other == word,
                None => store.header(&head.id).is_ok_and(|other| alike::word(&other) == word),
            }
    };
    let mut rows: Vec<&Row> = index.rows().iter().collect();
    rows.sort_by_key(|row| row.head.started_unix_ns.abs_diff(run.started_unix_ns));
    rows.into_iter().filter(may_be).take(OPENED_MAX)
}

fn known(row: &Row, store: &Store) -> Option<Known> {
    let head = &row.head;
    let (id, word) = (&head.id, head.set_up.as_deref());
    let kept = word.zip(index::summary(head, store));
    // A run that is not valid says nothing, and its journal need not be asked again.
    if let Some((word, summary)) = kept.filter(|(_, summary)| summary.is_ours()) {
        return Known::read((id, head.started_unix_ns), word, &summary);
    }
    let lines = store.read_run(id).ok()?;
    Known::of(&analyse(&lines).ok()?, &lines)
}
