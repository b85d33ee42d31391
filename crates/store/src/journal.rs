//! The journal of a run: lines appended and synced, so that a crash costs at most the block it hit.

use crate::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use v6gap_core::record::{self, Line};

/// A journal open for appending. While it is open no other process can append.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Makes a new journal; it must not exist.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(StoreError::io("create", path))?;
        Journal { file, path: path.to_owned() }.locked()
    }

    /// Opens a journal to go on with it, cutting off a line that a crash left unfinished, and
    /// returns what it holds.
    pub(crate) fn resume(path: &Path) -> Result<(Self, Vec<Line>), StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        let mut journal = Journal { file, path: path.to_owned() }.locked()?;
        let text = std::fs::read_to_string(path).map_err(StoreError::io("read", path))?;
        let (lines, whole_bytes) = parse(path, &text)?;
        journal.file.set_len(whole_bytes as u64).map_err(StoreError::io("mend", path))?;
        journal.file.seek(SeekFrom::End(0)).map_err(StoreError::io("mend", path))?;
        Ok((journal, lines))
    }

    fn locked(self) -> Result<Self, StoreError> {
        match self.file.try_lock() {
            Ok(()) => Ok(self),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: self.path }),
            Err(TryLockError::Error(e)) => Err(StoreError::io("lock", &self.path)(e)),
        }
    }

    /// Appends `lines` in one write and waits until they are on the disk.
    ///
    /// # Errors
    /// If the disk is full or gone; what was appended before stays valid.
    pub fn append(&mut self, lines: &[Line]) -> Result<(), StoreError> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&record::encode(line));
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).map_err(StoreError::io("append to", &self.path))?;
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))
    }
}

/// Reads a journal without locking it; a line that is still being written is left out.
///
/// # Errors
/// If the file cannot be read or holds a line that is not a record.
pub fn read_journal(path: &Path) -> Result<Vec<Line>, StoreError> {
    let text = std::fs::read_to_string(path).map_err(StoreError::io("read", path))?;
    Ok(parse(path, &text)?.0)
}

/// The whole lines and their length in bytes.
fn parse(path: &Path, text: &str) -> Result<(Vec<Line>, usize), StoreError> {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut lines = Vec::new();
    for (index, line) in whole.lines().enumerate() {
        let decoded = record::decode(line).map_err(|source| StoreError::Record {
            path: path.to_owned(),
            line: index + 1,
            source,
        })?;
        lines.push(decoded);
    }
    Ok((lines, whole.len()))
}
