//! The journal of a run: lines appended and synced, so that a crash costs at most the block it hit.

use crate::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use v6gap_core::record::{self, Line};

/// A journal of at least so many bytes is worth several threads.
const LONG_BYTES: usize = 4_000_000;

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

/// Long journals are read by all processors at once.
fn parse(path: &Path, text: &str) -> Result<Vec<Line>, StoreError> {
    let parts = std::thread::available_parallelism().map_or(1, |n| n.get());
    if parts == 1 || text.len() < LONG_BYTES {
        return parse_part(path, text, 0);
    }
    let texts = split(text, parts);
    let mut first = 0;
    std::thread::scope(|scope| {
        let mut readers = Vec::new();
        for text in texts {
            let before = first;
            readers.push(scope.spawn(move || parse_part(path, text, before)));
            first += text.lines().count();
        }
        let mut lines = Vec::with_capacity(first);
        for reader in readers {
            match reader.join() {
                Ok(part) => lines.extend(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(lines)
    })
}

/// About equal parts of whole lines.
fn split(text: &str, parts: usize) -> Vec<&str> {
    let mut rest = text;
    let mut found = Vec::with_capacity(parts);
    for part in (1..=parts).rev() {
        let bytes = rest.as_bytes();
        let from = bytes.len() / part;
        let newline = bytes[from..].iter().position(|&byte| byte == b'\n');
        let (first, second) = rest.split_at(newline.map_or(bytes.len(), |at| from + at + 1));
        found.push(first);
        rest = second;
    }
    found
}

/// `before` lines stand before `text`.
fn parse_part(path: &Path, text: &str, before: usize) -> Result<Vec<Line>, StoreError> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let decoded = record::decode(line).map_err(|source| StoreError::Record {
            path: path.to_owned(),
            line: before + index + 1,
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
    use v6gap_core::record::{BlockRecord, Ending};

    #[test]
    fn parts_are_whole_lines_and_nothing_is_left_out() {
        for text in ["", "a\n", "a\nb\n", "a long line\nb\n", "a\nbb\nccc\ndddd\n"] {
            for parts in 1..6 {
                let found = split(text, parts);
                assert_eq!(found.concat(), text);
                assert!(found.iter().all(|part| part.is_empty() || part.ends_with('\n')));
            }
        }
    }

    #[test]
    fn a_long_journal_is_read_in_order_and_its_bad_line_named() {
        let line = |block| record::encode(&Line::Block(BlockRecord { block, valid: true })) + "\n";
        let count = u32::try_from(LONG_BYTES / line(0).len() + 1).unwrap();
        let mut text: String = (0..count).map(line).collect();
        let path = Path::new("journal.jsonl");
        let lines = parse(path, &text).unwrap();
        let in_order = lines
            .iter()
            .zip(0..count)
            .all(|(line, i)| matches!(line, Line::Block(block) if block.block == i));
        assert!(in_order && lines.len() == count as usize);
        text.push_str("{}\n");
        let error = parse(path, &text).unwrap_err();
        assert!(
            matches!(error, StoreError::Record { line, .. } if line == count as usize + 1),
            "{error}"
        );
    }

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
