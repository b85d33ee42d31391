//! Stored runs like one that is shown or compared. They are found by the index, and their summaries
//! are read before whole journals are, the nearest in time first; what is damaged, or of another
//! program, is passed over.

use crate::index;
use v6gap_core::record::{Line, RunHeader};
use v6gap_judge::analysis::alike::{self, Known, RUNS_MAX, RUNS_MIN};
use v6gap_judge::analysis::compare::Compared;
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_store::{Index, Row, Store};

/// Adds where the next run will be, if enough stored runs are like this one.
pub fn tell(analysis: &mut Analysis, lines: &[Line], index: &Index, store: &Store) {
    let like: Vec<&Row> = candidates(&analysis.run, index, store).collect();
    if like.len() + 1 >= RUNS_MIN {
        let known: Vec<Known> = like.iter().filter_map(|row| known(row, store)).collect();
        alike::tell(analysis, lines, &known);
    }
}

/// Stored runs that may be like any of those compared, and are not among them.
pub fn of_any(compared: &[Compared<'_>], store: &Store) -> Vec<Known> {
    let index = index::all(store).unwrap_or_default();
    let mut like: Vec<&Row> = Vec::new();
    for run in compared {
        for row in candidates(&run.analysis.run, &index, store) {
            let id = &row.head.id;
            let there = like.iter().any(|known| known.head.id == *id)
                || compared.iter().any(|run| run.analysis.run.id == *id);
            if !there {
                like.push(row);
            }
        }
    }
    like.into_iter().filter_map(|row| known(row, store)).collect()
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
    rows.into_iter().filter(may_be).take(RUNS_MAX - 1)
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
