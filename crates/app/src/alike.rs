//! Stored runs like one that is shown or compared. First lines are looked at before whole journals
//! are read, the newest first; what is damaged, or of another program, is passed over.

use v6gap_core::record::{Line, RunHeader};
use v6gap_judge::analysis::alike::{self, Known, RUNS_MAX, RUNS_MIN};
use v6gap_judge::analysis::compare::Compared;
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_store::{Entry, Store};

/// Adds where the next run will be, if enough stored runs are like this one.
pub fn tell(analysis: &mut Analysis, lines: &[Line], store: &Store) {
    let entries = store.list().unwrap_or_default();
    let like: Vec<&Entry> = candidates(&analysis.run, &entries).collect();
    if like.len() + 1 >= RUNS_MIN {
        let known: Vec<Known> = like.iter().filter_map(|entry| known(entry, store)).collect();
        alike::tell(analysis, lines, &known);
    }
}

/// Stored runs that may be like any of those compared, and are not among them.
pub fn of_any(compared: &[Compared<'_>], store: &Store) -> Vec<Known> {
    let entries = store.list().unwrap_or_default();
    let mut like: Vec<&Entry> = Vec::new();
    for run in compared {
        for entry in candidates(&run.analysis.run, &entries) {
            let id = &entry.header.id;
            let there = like.iter().any(|known| known.header.id == *id)
                || compared.iter().any(|run| run.analysis.run.id == *id);
            if !there {
                like.push(entry);
            }
        }
    }
    like.into_iter().filter_map(|entry| known(entry, store)).collect()
}

/// The newest that may be like it, as far as their first lines tell.
fn candidates<'a>(
    run: &'a RunHeader,
    entries: &'a [Entry],
) -> impl Iterator<Item = &'a Entry> + 'a {
    entries.iter().filter(|entry| alike::may_be_like(run, &entry.header)).take(RUNS_MAX - 1)
}

fn known(entry: &Entry, store: &Store) -> Option<Known> {
    let lines = store.read_run(&entry.header.id).ok()?;
    Known::of(&analyse(&lines).ok()?, &lines)
}
