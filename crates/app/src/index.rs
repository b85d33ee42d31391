//! Stored runs by the index: what is behind in it is brought up to date by whoever looks, as far as
//! nobody has to wait for that.

use crate::settings::Context;
use v6gap_core::record::{Line, RunId};
use v6gap_judge::analysis::summary::Summary;
use v6gap_judge::analysis::{Analysis, alike, analyse};
use v6gap_store::{Head, Index, Judged, Keep, Lagging, Store, StoreError};

/// Bytes of journals that are read to bring the index up to date before anything is said: about
/// 100 ms.
const READ_BYTES_MAX: u64 = 8 << 20;

/// A shorter journal counts as so many bytes, since writing its line takes time, too.
const RUN_BYTES_MIN: u64 = 256 << 10;

/// All runs, the latest first.
///
/// # Errors
/// If the folder of results cannot be read.
pub fn all(store: &Store) -> Result<Index, StoreError> {
    with(store, &|_| false)
}

/// All runs, with what those say that `keep` names. Where none was brought up to date, that is done
/// for one of these however long it takes: whoever asks for it waits, and has one more each time.
///
/// # Errors
/// If the folder of results cannot be read.
pub fn with(store: &Store, keep: Keep<'_>) -> Result<Index, StoreError> {
    let index = store.index_with(keep)?;
    let mut left = READ_BYTES_MAX;
    let mut wrote = false;
    for row in index.lagging() {
        // One that is too long keeps no other from its line.
        if let Some(less) = left.checked_sub(row.head.journal_bytes.max(RUN_BYTES_MIN)) {
            left = less;
            wrote |= settle(store, &row.head.id);
        }
    }
    if !wrote {
        let fits_never = |head: &Head| head.journal_bytes > READ_BYTES_MAX;
        let is_next = |head: &Head| fits_never(head) && keep(head) && !store.is_measured(&head.id);
        // One that cannot be written keeps no other from its line.
        let mut next = index.lagging().filter(|row| is_next(&row.head));
        wrote = next.any(|row| settle(store, &row.head.id));
    }
    let index = if wrote { store.index_with(keep)? } else { index };
    // Whatever cannot be written is as good as it was, and the next who looks tries again.
    let is_ordered = index.is_old() && store.order_index().unwrap_or(false);
    if is_ordered { store.index_with(keep) } else { Ok(index) }
}

/// Brings the line of a run up to date; false if that cannot be done now.
pub fn settle(store: &Store, id: &RunId) -> bool {
    let Some(lagging) = store.lagging(id) else { return false };
    let lines = match store.read_run(id) {
        // What the system refuses now it may give the next time.
        Err(StoreError::Io { .. }) => return false,
        read => read.unwrap_or_default(),
    };
    store.catch_up(lagging, judged(&lines)).unwrap_or(false)
}

/// Stores what was found out of a run that was looked at before its journal was read.
pub fn keep(lagging: Option<Lagging>, analysis: &Analysis, lines: &[Line], context: &Context) {
    if let Some(lagging) = lagging {
        // A result is a result without its line, which the next who looks writes.
        let _ = context.store.catch_up(lagging, of(analysis, lines));
    }
}

/// What the lines of a run say, for its summary.
pub fn judged(lines: &[Line]) -> Judged {
    match (lines.first(), analyse(lines)) {
        (_, Ok(analysis)) => of(&analysis, lines),
        (Some(Line::Run(header)), Err(_)) => {
            Judged { set_up: Some(alike::word(header)), text: None }
        }
        _ => Judged::default(),
    }
}

fn of(analysis: &Analysis, lines: &[Line]) -> Judged {
    let summary = Summary::of(analysis, lines, v6gap_report::headline(analysis));
    Judged { set_up: Some(alike::word(&analysis.run)), text: Some(summary.encode()) }
}

/// What a stored run says, if that is known without its journal.
pub fn summary(head: &Head, store: &Store) -> Option<Summary> {
    Summary::decode(&store.judged(&head.id)?)
}
