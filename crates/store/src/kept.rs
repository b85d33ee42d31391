//! Files of a fleet that are neither runs nor secrets: the folder of a hub, short lists in it, and
//! logs of which each line is synced, as an agent's of what it has sent and the archive's of what
//! came.

use crate::held::Held;
use crate::source::{JOURNAL_BYTES_MAX, Named, Source};
use crate::write::{make_private, open_or_make, replace_locked, sync_folder};
use crate::{Store, StoreError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Longest list, in bytes: one of 100,000 agents has 20 MB.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// A log of lines, open for appending. While it is open no other process can append.
#[derive(Debug)]
pub struct KeptLines {
    path: PathBuf,
    file: Held,
    /// Length up to which every line is whole and was synced, in bytes.
    good_bytes: u64,
    /// The file before the last [`KeptLines::replace`], still locked: another process may have
    /// opened it before it lost its name.
    replaced: Option<Held>,
}

impl Store {
    /// Makes a folder into which its owner alone may look, and those above it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn private_folder(folder: &Path) -> Result<(), StoreError> {
        make_private(folder)
    }

    /// The text of a list of a fleet.
    ///
    /// # Errors
    /// If it cannot be read, is no text, or is longer than any list.
    pub fn read_list(path: &Path) -> Result<String, StoreError> {
        let mut text = String::new();
        let source = Source::open(path, Named::ByUs)?;
        let read = source.take(LIST_BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(StoreError::io("read", path))?;
        match text.len() as u64 > LIST_BYTES_MAX {
            true => Err(StoreError::unfit(path, "is longer than any list of this kind")),
            false => Ok(text),
        }
    }

    /// The text of a file that a person named, as a mesh plan.
    ///
    /// # Errors
    /// If it cannot be read, is no text, or is longer than any plan.
    pub fn read_text(path: &Path) -> Result<String, StoreError> {
        crate::source::text(path)
    }

    /// The bytes of a journal from `at` on, at most so many; none at its end.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be read.
    pub fn read_part(path: &Path, at: u64, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let mut source = Source::open(path, Named::ByUs)?;
        let mut bytes = Vec::new();
        source.file.seek(SeekFrom::Start(at)).map_err(StoreError::io("read", path))?;
        source.take(bytes_max).read_to_end(&mut bytes).map_err(StoreError::io("read", path))?;
        Ok(bytes)
    }
}

impl Store {
    /// Bytes of a journal up to the end of its last whole line: what a crash left behind that is
    /// cut off by whoever goes on with the run.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn whole_bytes(path: &Path) -> Result<u64, StoreError> {
        let mut lines = BufReader::new(Source::open(path, Named::ByUs)?);
        whole_lines(&mut lines, &mut |_| {}).map_err(StoreError::io("read", path))
    }
}

/// Gives each whole line, and says where the last one ends, in bytes.
fn whole_lines(from: &mut impl BufRead, take: &mut dyn FnMut(&[u8])) -> std::io::Result<u64> {
    let mut good_bytes = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = from.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Ok(good_bytes);
        }
        take(&line);
        good_bytes += read as u64;
    }
}

impl KeptLines {
    /// Opens the log at `path`, which is made if there is none, and gives its lines. What a crash
    /// left of a last one is cut off.
    ///
    /// # Errors
    /// If another process has it open, or it cannot be made or read.
    pub fn open(path: &Path, take: &mut dyn FnMut(&str)) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            make_private(folder)?;
        }
        let file = open_or_make(path)?;
        let file = Held::take_or_fail(file, path)?;
        path.parent().map_or(Ok(()), sync_folder)?;
        let mut kept = KeptLines { path: path.to_owned(), file, good_bytes: 0, replaced: None };
        kept.read(take)?;
        kept.cut().map_err(StoreError::io("mend", path))?;
        Ok(kept)
    }

    /// Appends a line and waits until it is on the disk.
    ///
    /// # Errors
    /// If the disk is full or gone; what was appended before stays valid.
    pub fn append(&mut self, line: &str) -> Result<(), StoreError> {
        let text = format!("{line}\n");
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.good_bytes += text.len() as u64,
            // A later line would otherwise follow half of this one; the first error is told.
            Err(_) => drop(self.cut()),
        }
        written.map_err(StoreError::io("append to", &self.path))
    }

    /// Puts these lines in the place of all that are there, whole or not at all, and waits until
    /// they are on the disk.
    ///
    /// # Errors
    /// If the disk is full or gone; what was there or what is new is there then.
    pub fn replace(&mut self, lines: &[String]) -> Result<(), StoreError> {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let file = replace_locked(&self.path, text.as_bytes())?;
        // From here on the other one has no name, so that nothing may be written to it.
        drop(self.replaced.replace(std::mem::replace(&mut self.file, file)));
        self.good_bytes = text.len() as u64;
        self.path.parent().map_or(Ok(()), sync_folder)
    }

    fn read(&mut self, take: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        if self.file.metadata().is_ok_and(|found| found.len() > JOURNAL_BYTES_MAX) {
            return Err(StoreError::unfit(&self.path, "is longer than any log of this kind"));
        }
        let mut give = |line: &[u8]| {
            if let Ok(text) = std::str::from_utf8(line) {
                take(text.trim_end());
            }
        };
        let good_bytes = whole_lines(&mut BufReader::new(&*self.file), &mut give);
        self.good_bytes = good_bytes.map_err(StoreError::io("read", &self.path))?;
        Ok(())
    }

    fn cut(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.good_bytes)?;
        self.file.seek(SeekFrom::Start(self.good_bytes)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;

    fn lines(path: &Path) -> (KeptLines, Vec<String>) {
        let mut found = Vec::new();
        let kept = KeptLines::open(path, &mut |line| found.push(line.to_owned())).unwrap();
        (kept, found)
    }

    /// Cut off at any byte, what was whole is there and the rest is mended.
    #[test]
    fn half_a_line_is_cut_off_and_whole_ones_stay() {
        let scratch = Scratch::new("kept-torn");
        let path = scratch.0.join("fleet").join("log.jsonl");
        let (mut kept, found) = lines(&path);
        assert!(found.is_empty());
        kept.append("first").unwrap();
        kept.append("second").unwrap();
        drop(kept);
        let whole = std::fs::read(&path).unwrap();
        for length in "first\n".len()..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut kept, found) = lines(&path);
            assert_eq!(found, ["first"], "{length}");
            kept.append("second").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{length}");
        }
    }

    #[test]
    fn one_at_a_time_appends() {
        let scratch = Scratch::new("kept-lock");
        let path = scratch.0.join("log.jsonl");
        let (kept, _) = lines(&path);
        let second = KeptLines::open(&path, &mut |_| {});
        assert!(matches!(second, Err(StoreError::Locked { .. })));
        drop(kept);
        lines(&path);
    }

    #[test]
    fn what_is_replaced_is_appended_to_and_nobody_else_has_it() {
        let scratch = Scratch::new("kept-replace");
        let path = scratch.0.join("log.jsonl");
        let (mut kept, _) = lines(&path);
        for line in ["first", "second", "third"] {
            kept.append(line).unwrap();
        }
        kept.replace(&["third".to_owned()]).unwrap();
        kept.append("fourth").unwrap();
        let second = KeptLines::open(&path, &mut |_| {});
        assert!(matches!(second, Err(StoreError::Locked { .. })));
        drop(kept);
        let (mut kept, found) = lines(&path);
        assert_eq!(found, ["third", "fourth"]);
        kept.replace(&[]).unwrap();
        drop(kept);
        assert_eq!(lines(&path).1, Vec::<String>::new());
        // No file that is not whole is left.
        assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 1);
    }

    #[test]
    fn a_journal_is_read_in_parts_to_its_end() {
        let scratch = Scratch::new("kept-part");
        let path = scratch.0.join("journal");
        std::fs::create_dir_all(&scratch.0).unwrap();
        std::fs::write(&path, b"abcdefg").unwrap();
        let part = |at| Store::read_part(&path, at, 3).unwrap();
        assert_eq!([part(0), part(3), part(6), part(7)].concat(), b"abcdefg");
        assert_eq!(part(7), b"");
        assert_eq!(Store::whole_bytes(&path).unwrap(), 0);
        std::fs::write(&path, b"ab\ncd\ne").unwrap();
        assert_eq!(Store::whole_bytes(&path).unwrap(), 6);
    }
}
