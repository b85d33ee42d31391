//! Runs of other hosts that come part by part: their journals only grow, and what is said to be
//! there is on the disk.

use crate::held::Held;
use crate::source::Source;
use crate::write::{open_or_make, sync_folder};
use crate::{Store, StoreError};
use std::io::{Seek, SeekFrom, Write};
use v6gap_core::record::RunId;

impl Store {
    /// Bytes of the journal of a run that are here; 0 if there is none.
    ///
    /// # Errors
    /// If it cannot be looked at, or is no file of the store.
    pub fn grown_bytes(&self, id: &RunId) -> Result<u64, StoreError> {
        let path = self.journal_path(id);
        if !Store::exists(&path) {
            return Ok(0);
        }
        let file = Source::open_stored(&path)?;
        Ok(file.metadata().map_err(StoreError::io("look at", &path))?.len())
    }

    /// Adds `bytes` behind the `at` that the journal of a run has, and waits until they are on the
    /// disk. If that fails it is as long as before.
    ///
    /// # Errors
    /// If the disk is full or gone, or the journal has another length.
    pub fn grow(&self, id: &RunId, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.make_folder(id)?;
        let path = self.journal_path(id);
        let is_new = !Store::exists(&path);
        // Held before it is marked, as where it is measured into: its line in the index is behind
        // from now on, and whoever finds the mark and nobody who writes may settle it.
        let mut file = Held::take_or_fail(open_or_make(&path)?, &path)?;
        self.mark(id)?;
        let end = file.seek(SeekFrom::End(0)).map_err(StoreError::io("look at", &path))?;
        if end != at {
            let other = std::io::Error::other(format!("it has {end} bytes, not {at}"));
            return Err(StoreError::io("add to", &path)(other));
        }
        let written = file.write_all(bytes).and_then(|()| file.sync_data());
        match written {
            Ok(()) if is_new => {
                sync_folder(&folder)?;
                sync_folder(self.folder(id).parent().unwrap_or(&folder))
            }
            Ok(()) => Ok(()),
            Err(error) => {
                // Only what was added; the first error is the one to tell.
                if file.metadata().is_ok_and(|found| found.len() > at) {
                    let _ = file.set_len(at);
                }
                Err(StoreError::io("add to", &path)(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;

    #[test]
    fn a_journal_grows_from_where_it_ends_and_nowhere_else() {
        let scratch = Scratch::new("grown");
        let store = Store::at(&scratch.0.join("rome").join("a"));
        let id = RunId::from_bits(3);
        assert_eq!(store.grown_bytes(&id).unwrap(), 0);
        store.grow(&id, 0, b"abc\n").unwrap();
        store.grow(&id, 4, b"de\n").unwrap();
        assert_eq!(store.grown_bytes(&id).unwrap(), 7);
        for at in [0, 6, 8] {
            assert!(store.grow(&id, at, b"x").is_err(), "{at}");
        }
        let journal = std::fs::read(store.journal_path(&id)).unwrap();
        assert_eq!(journal, b"abc\nde\n");
    }
}
