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
    /// Length up to which every line is whole and was synced, in bytes.
    good_bytes: u64,
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
        Journal { file, path: path.to_owned(), good_bytes: 0 }.locked()
    }

    /// Opens a journal to go on with it, cutting off a line that a crash left unfinished, and
    /// returns what it holds.
    pub(crate) fn resume(path: &Path) -> Result<(Self, Vec<Line>), StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        let mut journal = Journal { file, path: path.to_owned(), good_bytes: 0 }.locked()?;
        let text = whole_lines(path)?;
        let lines = parse(path, &text)?;
        journal.good_bytes = text.len() as u64;
        journal.cut().map_err(StoreError::io("mend", path))?;
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
        let written = self
            .file
            .write_all(text.as_bytes())
            .map_err(StoreError::io("append to", &self.path))
            .and_then(|()| self.file.sync_data().map_err(StoreError::io("sync", &self.path)));
        match written {
            Ok(()) => {
                self.good_bytes += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A later line would otherwise follow half of this one. If even that fails, the
                // first error is still the one to tell.
                let _ = self.cut();
                Err(error)
            }
        }
    }

    /// Cuts off what follows the last good line and goes on there.
    fn cut(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.good_bytes)?;
        self.file.seek(SeekFrom::Start(self.good_bytes)).map(|_| ())
    }
}

/// Reads a journal without locking it; a line that is still being written is left out.
///
/// # Errors
/// If the file cannot be read or holds a line that is not a record.
pub fn read_journal(path: &Path) -> Result<Vec<Line>, StoreError> {
    parse(path, &whole_lines(path)?)
}

/// The text up to the last newline. What follows is not looked at: a crash may have cut it inside a
/// character.
pub(crate) fn whole_lines(path: &Path) -> Result<String, StoreError> {
    let mut bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
    bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    String::from_utf8(bytes).map_err(|error| {
        StoreError::io("read", path)(std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    })
}

fn parse(path: &Path, text: &str) -> Result<Vec<Line>, StoreError> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let decoded = record::decode(line).map_err(|source| StoreError::Record {
            path: path.to_owned(),
            line: index + 1,
            source,
        })?;
        lines.push(decoded);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;
    use v6gap_core::record::Ending;

    #[test]
    fn what_a_failed_append_left_is_cut_off() {
        let scratch = Scratch::new("append");
        let path = scratch.0.join("journal.jsonl");
        let mut journal = Journal::create(&path).unwrap();
        journal.append(&[Line::End(Ending::Stopped)]).unwrap();
        let good = std::fs::read(&path).unwrap();
        // Half a line, as a full disk leaves it.
        journal.file.write_all(b"{\"v\":1,\"li").unwrap();
        journal.cut().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), good);
        // A file that cannot be written stays as it was, and the error is told.
        let writable = std::mem::replace(&mut journal.file, File::open(&path).unwrap());
        assert!(journal.append(&[Line::End(Ending::Complete)]).is_err());
        journal.file = writable;
        journal.append(&[Line::End(Ending::Complete)]).unwrap();
        let expected = [Line::End(Ending::Stopped), Line::End(Ending::Complete)];
        assert_eq!(read_journal(&path).unwrap(), expected);
    }
}
