//! The journal of a run: lines appended and synced, so that a crash costs at most the block it hit.

use crate::StoreError;
use crate::held::Held;
use crate::lines::{Next, Room};
use crate::source::{JOURNAL_BYTES_MAX, LINE_BYTES_MAX, Named, Source};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread::Builder;
use v6gap_core::record::{self, Line, RecordError};
use v6gap_sys::disk;

/// A journal of at least so many bytes is worth several threads.
const LONG_BYTES: u64 = 1_000_000;

/// Where the last line is looked for first, in bytes before the end.
const TAIL_BYTES: u64 = 4096;

/// A journal open for appending. While it is open no other process can append.
#[derive(Debug)]
pub struct Journal {
    file: Held,
    path: PathBuf,
    /// Length up to which every line is whole and was synced, in bytes.
    good_bytes: u64,
}

impl Journal {
    /// Makes a new journal; it must not exist.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        let options = disk::private(options.write(true).create_new(true));
        let file = options.open(path).map_err(StoreError::io("create", path))?;
        Journal::of(file, path)
    }

    /// Goes on with a journal that is held, cutting off a line that a crash left unfinished, and
    /// returns what it holds.
    pub(crate) fn resumed(mut self) -> Result<(Self, Vec<Line>), StoreError> {
        let (lines, bytes) = read_whole_lines(&self.path, Named::ByUs)?;
        self.good_bytes = bytes;
        self.cut().map_err(StoreError::io("mend", &self.path))?;
        Ok((self, lines))
    }

    /// Keeps others from writing to it, and neither reads nor changes it.
    pub(crate) fn hold(path: &Path) -> Result<Self, StoreError> {
        let file = Source::open_stored(path)?;
        Journal::of(file, path)
    }

    fn of(file: File, path: &Path) -> Result<Self, StoreError> {
        let file = Held::take_or_fail(file, path)?;
        Ok(Journal { file, path: path.to_owned(), good_bytes: 0 })
    }

    /// Appends `lines` in one write and waits until they are on the disk.
    ///
    /// # Errors
    /// If the disk is full or gone; what was appended before stays valid.
    pub fn append(&mut self, lines: &[Line]) -> Result<(), StoreError> {
        let text: String = lines.iter().map(|line| record::encode(line) + "\n").collect();
        self.append_text(&text)
    }

    /// The same for whole lines as another program wrote them.
    pub(crate) fn append_text(&mut self, text: &str) -> Result<(), StoreError> {
        // What nobody could read again is not written: the run ends readable.
        if text.split('\n').any(|line| line.len() > LINE_BYTES_MAX) {
            return Err(StoreError::unfit(&self.path, "a line of it would be too long to read"));
        }
        if self.good_bytes + text.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(StoreError::unfit(&self.path, "it would be too long to read"));
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

/// Reads a journal that a person named, without locking it; a line that is still being written is
/// left out.
///
/// # Errors
/// If the file cannot be read, is too long, or holds a line that is not a record.
pub fn read_journal(path: &Path) -> Result<Vec<Line>, StoreError> {
    Ok(read_whole_lines(path, Named::ByUser)?.0)
}

/// The lines of the journal in the folder of a run.
pub(crate) fn read_stored(path: &Path) -> Result<Vec<Line>, StoreError> {
    Ok(read_whole_lines(path, Named::ByUs)?.0)
}

/// The lines, and their text, each with a newline: it has also what only a later program knows.
pub(crate) fn read_text(path: &Path, named: Named) -> Result<(Vec<Line>, String), StoreError> {
    let Part { lines, text, .. } = read_whole(path, named, true)?;
    Ok((lines, text))
}

/// The lines, and how many bytes they take.
fn read_whole_lines(path: &Path, named: Named) -> Result<(Vec<Line>, u64), StoreError> {
    let Part { lines, end, .. } = read_whole(path, named, false)?;
    Ok((lines, end))
}

/// All whole lines, `with_text` or without. What follows the last newline is not looked at: a crash
/// may have cut it inside a character.
///
/// Long journals are read by all processors at once, each of them a part of the file.
fn read_whole(path: &Path, named: Named, with_text: bool) -> Result<Part, StoreError> {
    let source = Source::open(path, named)?;
    if source.bytes.is_some_and(|bytes| bytes > JOURNAL_BYTES_MAX) {
        return Err(too_long(path));
    }
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    // A pipe has no length and no parts.
    let parts = if source.bytes.is_some_and(|n| n >= LONG_BYTES) { processors } else { 1 };
    read_parts(source, path, parts, with_text)
}

fn too_long(path: &Path) -> StoreError {
    let why = format!(
        "is longer than {} MiB, the most that is read of a run (10 000 trials of a \
                       first look take 30 MB)",
        JOURNAL_BYTES_MAX >> 20
    );
    StoreError::unfit(path, why)
}

/// The lines of what was opened, by so many threads.
fn read_parts(
    source: Source,
    path: &Path,
    parts: u64,
    with_text: bool,
) -> Result<Part, StoreError> {
    // Of a pipe one byte more than may come is read, to see that it is too long.
    let bytes = source.bytes.unwrap_or(JOURNAL_BYTES_MAX + 1);
    let named = source.named;
    let edge = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(parts)) as u64;
    let mut found = std::thread::scope(|scope| {
        let read = |part| {
            let range = edge(part)..edge(part + 1);
            read_part(Source::open(path, named)?, path, range, bytes, with_text)
        };
        let start = |part| (part, Builder::new().spawn_scoped(scope, move || read(part)));
        let readers: Vec<_> = (1..parts).map(start).collect();
        let mut found = vec![read_part(source, path, 0..edge(1), bytes, with_text)];
        for (part, reader) in readers {
            found.push(match reader {
                Ok(reader) => {
                    reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                // One after the other where there are no threads.
                Err(_) => read(part),
            });
        }
        found.into_iter()
    });
    let mut whole = Part::default();
    for part in &mut found {
        let part = part?;
        whole.lines.extend(part.lines);
        whole.text += &part.text;
        whole.end = whole.end.max(part.end);
        if let Some(source) = part.wrong {
            let line = whole.lines.len() + 1;
            return Err(StoreError::Record { path: path.to_owned(), line, source });
        }
    }
    Ok(whole)
}

/// What one thread read, or all together.
#[derive(Debug, Default)]
struct Part {
    lines: Vec<Line>,
    /// Their text, if it was asked for.
    text: String,
    /// Where the last of them ends in the file; 0 if there are none.
    end: u64,
    /// What is wrong with the line after them.
    wrong: Option<RecordError>,
}

/// The lines that begin in `range`, of a file of which `bytes` bytes are looked at. They are
/// decoded where they were read to, in room that is used again and again.
fn read_part(
    mut source: Source,
    path: &Path,
    range: Range<u64>,
    bytes: u64,
    with_text: bool,
) -> Result<Part, StoreError> {
    let wrong = |error| StoreError::io("read", path)(error);
    // A line begins after a newline, so the byte before the range is looked at as well.
    let mut at = range.start.saturating_sub(1);
    if at > 0 {
        source.file.seek(SeekFrom::Start(at)).map_err(wrong)?;
    }
    let endless = source.bytes.is_none();
    let mut file = source.take(bytes - at);
    let mut part = Part::default();
    let mut room = Room::default();
    let mut is_tail = range.start > 0;
    while is_tail || at < range.end {
        let line = match room.next_line(&mut file).map_err(wrong)? {
            Next::Line(line) => line,
            Next::End => break,
            Next::TooLong => {
                part.wrong = Some(line_too_long());
                break;
            }
        };
        at += line.len() as u64 + 1;
        if std::mem::take(&mut is_tail) {
            continue;
        }
        match text_of(line).and_then(|text| Ok((record::decode(text)?, text))) {
            Ok((decoded, text)) => {
                part.lines.push(decoded);
                if with_text {
                    part.text.push_str(text);
                    part.text.push('\n');
                }
            }
            Err(error) => {
                part.wrong = Some(error);
                break;
            }
        }
        part.end = at;
    }
    if endless && file.limit() == 0 {
        return Err(too_long(path));
    }
    Ok(part)
}

/// What is wrong with a line that is longer than any of this program.
pub(crate) fn line_too_long() -> RecordError {
    let most = LINE_BYTES_MAX >> 20;
    RecordError::Malformed(format!("longer than {most} MiB, the most that is read of a line"))
}

fn decode(line: &[u8]) -> Result<Line, RecordError> {
    record::decode(text_of(line)?)
}

fn text_of(line: &[u8]) -> Result<&str, RecordError> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::str::from_utf8(line).map_err(|e| RecordError::Malformed(e.to_string()))
}

/// Whether a process is measuring into a stored journal, or that cannot be told.
pub(crate) fn is_held(path: &Path) -> bool {
    is_locked(path).unwrap_or(true)
}

/// Whether a process is measuring into a stored journal; nothing if that cannot be told.
pub(crate) fn is_locked(path: &Path) -> Option<bool> {
    // Whoever looks does not keep others from looking.
    match Source::open(path, Named::ByUs).ok()?.file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

/// The first line of a stored journal, how many bytes all of it has, and the last whole line, if
/// that can be read; nothing of one without a whole line.
///
/// # Errors
/// If it cannot be read, or the first line is too long or no record.
pub(crate) fn ends(path: &Path) -> Result<Option<(Line, u64, Option<Line>)>, StoreError> {
    let mut source = Source::open(path, Named::ByUs)?;
    let bytes = source.bytes.unwrap_or_default();
    let mut room = Room::default();
    let first = match room.next_line(&mut source).map_err(StoreError::io("read", path))? {
        Next::End => return Ok(None),
        Next::TooLong => Err(line_too_long()),
        Next::Line(line) => decode(line),
    };
    let wrong = |source| StoreError::Record { path: path.to_owned(), line: 1, source };
    Ok(Some((first.map_err(wrong)?, bytes, last_line(&mut source.file, bytes))))
}

/// The last whole line, if it can be read.
fn last_line(file: &mut File, bytes: u64) -> Option<Line> {
    let mut tail = Vec::new();
    for wanted in [TAIL_BYTES, bytes.min(LINE_BYTES_MAX as u64)] {
        let start = bytes.saturating_sub(wanted);
        tail.clear();
        file.seek(SeekFrom::Start(start)).ok()?;
        (&*file).take(bytes - start).read_to_end(&mut tail).ok()?;
        tail.truncate(tail.iter().rposition(|&byte| byte == b'\n')?);
        let before = tail.iter().rposition(|&byte| byte == b'\n');
        if before.is_some() || start == 0 {
            return decode(&tail[before.map_or(0, |at| at + 1)..]).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::ROOM_BYTES;
    use crate::tests::Scratch;
    use v6gap_core::record::{BlockRecord, Ending};

    fn opened(path: &Path) -> Source {
        Source::open(path, Named::ByUser).unwrap()
    }

    fn last_of(path: &Path) -> Option<Line> {
        let mut file = File::open(path).ok()?;
        let bytes = file.metadata().ok()?.len();
        last_line(&mut file, bytes)
    }

    fn block(block: u32) -> Line {
        Line::Block(BlockRecord { block, valid: true, drawn: None })
    }

    /// Wherever the parts begin, in the middle of a line or at its end, and however long it is.
    #[test]
    fn every_line_is_read_once_and_in_order_by_any_number_of_threads() {
        let scratch = Scratch::new("parts");
        let path = scratch.0.join("journal.jsonl");
        let why = |n: usize| Ending::Failed { error: "x".repeat(n) };
        let mut lines: Vec<Line> = (0..5).map(block).collect();
        lines.extend([0, 1, 2000, 3 * ROOM_BYTES, 0].map(|n| Line::End(why(n))));
        for count in [0, 1, 5, 7, 8, lines.len()] {
            let lines = &lines[..count];
            let mut text: String = lines.iter().map(|l| record::encode(l) + "\n").collect();
            let whole = text.len() as u64;
            for unfinished in ["", "{\"v\":1"] {
                text.push_str(unfinished);
                std::fs::write(&path, &text).unwrap();
                for parts in [1, 2, 3, 7, 19] {
                    let read = read_parts(opened(&path), &path, parts, true).unwrap();
                    assert_eq!((read.lines.as_slice(), read.end), (lines, whole), "{parts}");
                    assert_eq!(read.text, text[..whole as usize], "{parts}");
                }
            }
        }
    }

    #[test]
    fn the_bad_line_is_named_wherever_it_stands() {
        let scratch = Scratch::new("bad-line");
        let path = scratch.0.join("journal.jsonl");
        for bad in 0..8 {
            let line = |n| if n == bad { "{}".to_owned() } else { record::encode(&block(n)) };
            let text: String = (0..8).map(|n| line(n) + "\n").collect();
            std::fs::write(&path, &text).unwrap();
            for parts in 1..10 {
                let error = read_parts(opened(&path), &path, parts, false).unwrap_err();
                let named =
                    matches!(error, StoreError::Record { line, .. } if line == bad as usize + 1);
                assert!(named, "{error}");
            }
        }
    }

    #[test]
    fn a_line_that_is_no_text_is_an_error() {
        let scratch = Scratch::new("no-text");
        let path = scratch.0.join("journal.jsonl");
        std::fs::write(&path, b"\xff\n").unwrap();
        assert!(matches!(read_journal(&path), Err(StoreError::Record { line: 1, .. })));
        // Cut inside a character: not a whole line.
        std::fs::write(&path, b"\xc3").unwrap();
        assert_eq!(read_journal(&path).unwrap(), []);
    }

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        let scratch = Scratch::new("last-line");
        let path = scratch.0.join("journal.jsonl");
        assert_eq!(last_of(&path), None);
        for n in [0, TAIL_BYTES as usize - 50, TAIL_BYTES as usize, 20_000] {
            let last = Line::End(Ending::Failed { error: "x".repeat(n) });
            for before in [vec![], vec![block(1)]] {
                let mut text: String = before.iter().map(|l| record::encode(l) + "\n").collect();
                text += &(record::encode(&last) + "\n{\"v\":");
                std::fs::write(&path, &text).unwrap();
                assert_eq!(last_of(&path), Some(last.clone()), "{n}");
            }
        }
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
        let writable = std::mem::replace(&mut *journal.file, File::open(&path).unwrap());
        assert!(journal.append(&[Line::End(Ending::Complete)]).is_err());
        *journal.file = writable;
        journal.append(&[Line::End(Ending::Complete)]).unwrap();
        let expected = [Line::End(Ending::Stopped), Line::End(Ending::Complete)];
        assert_eq!(read_journal(&path).unwrap(), expected);
    }
}
