//! Marks on runs whose line in the index is behind, or soon may be: set before a run is changed and
//! taken away when its line was written anew. Whoever is killed in between leaves the mark, and
//! whoever finds it reads the run itself, or takes it away where there is neither run nor line.
//!
//! Each mark is an empty file of its own, so that nobody takes away the mark of another.

use crate::layout::own_folder;
use crate::write::{drawn, make_private, remove_file, sync_folder};
use crate::{Store, StoreError};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use v6gap_core::record::RunId;

/// The folder of marks. Their names are those of the runs, and behind a full stop letters by
/// chance.
const MARKS: &str = "unindexed";

/// The marks on each run that has any.
pub(crate) type Marks = BTreeMap<RunId, Vec<PathBuf>>;

impl Store {
    /// Marks a run that is about to be changed.
    pub(crate) fn mark(&self, id: &RunId) -> Result<(), StoreError> {
        let folder = self.data().join(MARKS);
        make_private(&folder)?;
        own_folder(&folder)?;
        let path = folder.join(format!("{id}.{}", drawn(&folder)?));
        Store::new_file(&path)?;
        // Else the change could outlast a loss of power, and the mark not.
        sync_folder(&folder)
    }

    /// All marks. A folder that cannot be read has none that could be taken away either.
    pub(crate) fn marks(&self) -> Marks {
        let folder = self.data().join(MARKS);
        let mut marks = Marks::new();
        let found = own_folder(&folder)
            .and_then(|()| fs::read_dir(&folder).map_err(StoreError::io("read", &folder)));
        for mark in found.into_iter().flatten().flatten() {
            let name = mark.file_name();
            let id = name.to_str().and_then(|name| name.split_once('.')?.0.parse().ok());
            if let Some(id) = id {
                marks.entry(id).or_default().push(mark.path());
            }
        }
        marks
    }

    /// Takes marks away. One that cannot be taken away costs another look at its run, no more.
    pub(crate) fn unmark(&self, marks: &[PathBuf]) {
        for mark in marks {
            let _ = remove_file(mark);
        }
    }
}
