//! A stored result as whoever puts it somewhere needs it: read, and judged.

use crate::index;
use crate::settings::Context;
use v6gap_core::record::Line;
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_store::Row;

/// What came of looking at a result.
pub(super) enum Looked {
    /// Its lines, and what they say.
    Judged(Vec<Line>, Box<Analysis>),
    /// It is being measured.
    Measured,
    /// It cannot be judged, with the reason in words.
    LeftOut(String),
}

/// Looks at a result. What the index lacks of it is put there.
pub(super) fn look(row: &Row, context: &Context) -> Looked {
    let (store, id) = (&context.store, &row.head.id);
    let lagging = if row.lags() { store.lagging(id) } else { None };
    if row.lags() && lagging.is_none() {
        return Looked::Measured;
    }
    let read = store.read_run(id).map_err(|error| error.to_string());
    let judged = read.and_then(|lines| match analyse(&lines) {
        Ok(analysis) => Ok((lines, analysis)),
        Err(error) => Err(error.to_string()),
    });
    match judged {
        Ok((lines, analysis)) => {
            index::keep(lagging, &analysis, &lines, context);
            Looked::Judged(lines, Box::new(analysis))
        }
        Err(why) => Looked::LeftOut(format!("{id} is left out: {why}")),
    }
}
