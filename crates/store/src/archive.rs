//! Where the archive lies: tables that outlive the runs which they were made of, in folders that
//! programs which read Parquet take for columns (`answers/month=2026-11`).
//!
//! A file appears under its name when it is whole and on the disk, and one that takes the place of
//! another does so at once: whoever reads finds the one or the other.

use crate::held::Held;
use crate::layout::own_folder;
use crate::source::{Named, Source};
use crate::write::{PARTIAL, lock, make_private, remove_file, sync_folder, write_stored};
use crate::{Store, StoreError};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder, beside that of the runs.
const ARCHIVE: &str = "archive";

/// Held by whoever writes to the archive.
const LOCK: &str = "archive.lock";

/// How tables end.
const TABLE: &str = "parquet";

/// The archive, to be written to; no other process can meanwhile.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    _lock: Held,
}

impl Store {
    /// Whether there is an archive.
    pub fn has_archive(&self) -> bool {
        Store::exists(&self.data().join(ARCHIVE))
    }

    /// The table of that name in a part of the archive, as in `answers`, `month=2026-11`, or
    /// nothing if there is none.
    ///
    /// # Errors
    /// If it cannot be opened, or lies behind a link.
    pub fn archived(&self, kind: &str, part: &str, name: &str) -> Result<Option<File>, StoreError> {
        let Some(folder) = inside(&self.data().join(ARCHIVE), kind, part)? else {
            return Ok(None);
        };
        match Source::open(&table(&folder, name), Named::ByUs) {
            Ok(source) => Ok(Some(source.file)),
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where such a table lies.
    pub fn archived_path(&self, kind: &str, part: &str, name: &str) -> PathBuf {
        table(&self.data().join(ARCHIVE).join(kind).join(part), name)
    }

    /// The archive, to be written to; it is made if it is not there. What a process left in it that
    /// was killed is removed.
    ///
    /// # Errors
    /// If another process writes to it, or it cannot be written.
    pub fn hold_archive(&self) -> Result<Archive, StoreError> {
        let folder = self.data().join(ARCHIVE);
        make_private(&folder)?;
        own_folder(&folder)?;
        let path = self.data().join(LOCK);
        let Some(lock) = lock(&path)? else { return Err(StoreError::Locked { path: folder }) };
        sweep(&folder, 2);
        Ok(Archive { folder, _lock: lock })
    }
}

impl Archive {
    /// Puts a table into a part of the archive, in place of that of its name, and waits until it is
    /// on the disk.
    ///
    /// # Errors
    /// If it cannot be written, or would lie behind a link.
    pub fn put(
        &self,
        kind: &str,
        part: &str,
        name: &str,
        content: &[u8],
    ) -> Result<(), StoreError> {
        let kind = self.folder.join(kind);
        let folder = kind.join(part);
        for folder in [&kind, &folder] {
            make_private(folder)?;
            own_folder(folder)?;
        }
        write_stored(&table(&folder, name), content)?;
        for folder in [&folder, &kind, &self.folder] {
            sync_folder(folder)?;
        }
        Ok(())
    }
}

fn table(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(TABLE)
}

/// The folder of a part, if it is there; no link leads to it.
fn inside(archive: &Path, kind: &str, part: &str) -> Result<Option<PathBuf>, StoreError> {
    let kind = archive.join(kind);
    let part = kind.join(part);
    for folder in [archive, kind.as_path(), part.as_path()] {
        if !Store::exists(folder) {
            return Ok(None);
        }
        own_folder(folder)?;
    }
    Ok(Some(part))
}

/// Removes files that never became whole, from a folder and so many levels of folders in it. No
/// reader takes one for a table, so one that cannot be removed does no harm.
fn sweep(folder: &Path, levels: u32) {
    for found in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = found.file_type().is_ok_and(|kind| kind.is_dir());
        let is_partial = found.file_name().to_string_lossy().ends_with(PARTIAL);
        if is_folder && levels > 0 {
            sweep(&found.path(), levels - 1);
        } else if !is_folder && is_partial {
            let _ = remove_file(&found.path());
        }
    }
}
