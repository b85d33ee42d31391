//! The file of an index: read by several threads, and written by one process at a time.

use super::{INDEX, Row};
use crate::held::Held;
use crate::lines::{Next, Room, whole_bytes};
use crate::source::{Named, Source};
use crate::summary;
use crate::write::{PARTIAL, lock, open_or_make, remove_file, write_pieces};
use crate::{Head, Store, StoreError};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::thread::Builder;
use std::time::Duration;
use v6gap_sys::clock;

/// Whether the whole line of a run is wanted.
pub type Keep<'a> = &'a (dyn Fn(&Head) -> bool + Sync);

/// Held by whoever writes to the index.
const LOCK: &str = "index.lock";

/// Longest number of a process that is read, in bytes.
const HOLDER_BYTES_MAX: u64 = 16;

/// How often whoever waits looks again.
const LOOK: Duration = Duration::from_millis(50);

/// An index of at least so many bytes is worth several threads.
const LONG_BYTES: u64 = 1 << 20;

/// Most threads that read it.
const READERS_MAX: u64 = 8;

/// What an index file holds, in its order.
#[derive(Default)]
pub(super) struct Lines {
    /// The whole lines.
    pub(super) rows: Vec<Row>,
    /// Lines that are none.
    pub(super) wrong: usize,
    /// Length of the file, in bytes.
    pub(super) bytes: u64,
}

impl Lines {
    /// Whether each run has one line, in the order in which they began.
    pub(super) fn are_in_order(&self) -> bool {
        self.rows.windows(2).all(|pair| pair[0].head.place() < pair[1].head.place())
    }

    /// Whether every line of the file is among them.
    pub(super) fn are_all_of(&self, path: &Path) -> bool {
        let there = fs::symlink_metadata(path).map_or(0, |found| found.len());
        self.wrong == 0 && self.bytes == there
    }

    fn add(&mut self, part: Option<Lines>) {
        match part {
            Some(part) => {
                self.rows.extend(part.rows);
                self.wrong += part.wrong;
            }
            None => self.wrong += 1,
        }
    }
}

/// Whether reading it is worth several threads.
pub(super) fn is_long(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.len() >= LONG_BYTES)
}

/// All lines of the index. One that cannot be read has none: everything is in the folders of runs.
pub(super) fn read(path: &Path, keep: Keep<'_>) -> Lines {
    let Ok(source) = Source::open(path, Named::ByUs) else { return Lines::default() };
    let bytes = source.bytes.unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let parts = if bytes >= LONG_BYTES { processors.min(READERS_MAX) } else { 1 };
    let edge = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(parts)) as u64;
    std::thread::scope(|scope| {
        let read = |part| read_part(path, edge(part)..edge(part + 1), bytes, keep);
        let start = |part| (part, Builder::new().spawn_scoped(scope, move || read(part)));
        let readers: Vec<_> = (1..parts).map(start).collect();
        let mut whole = Lines { bytes, ..Lines::default() };
        whole.add(read(0));
        for (part, reader) in readers {
            whole.add(match reader {
                Ok(reader) => {
                    reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                Err(_) => read(part),
            });
        }
        whole
    })
}

/// The lines that begin in `range` of a file of which `bytes` bytes are looked at. What follows the
/// last newline is being written, or was left by a crash.
fn read_part(path: &Path, range: Range<u64>, bytes: u64, keep: Keep<'_>) -> Option<Lines> {
    let mut file = Source::open(path, Named::ByUs).ok()?.file;
    // A line begins after a newline, so the byte before the range is looked at as well.
    let mut at = range.start.saturating_sub(1);
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut file = file.take(bytes.saturating_sub(at));
    let (mut room, mut part) = (Room::default(), Lines::default());
    let mut is_tail = range.start > 0;
    while is_tail || at < range.end {
        let line = match room.next_line(&mut file).ok()? {
            Next::Line(line) => line,
            Next::End => break,
            Next::TooLong => {
                part.wrong += 1;
                break;
            }
        };
        at += line.len() as u64 + 1;
        if std::mem::take(&mut is_tail) {
            continue;
        }
        match summary::read(line) {
            Some(whole) => {
                let text = keep(&whole.head).then(|| String::from_utf8_lossy(line).into_owned());
                part.rows.push(Row { head: whole.head, line: text, sum: whole.sum, lags: false });
            }
            None => part.wrong += 1,
        }
    }
    Some(part)
}

impl Store {
    /// Keeps others from writing to the index while the file is open; nothing if another does.
    pub(crate) fn lock_index(&self) -> Result<Option<Held>, StoreError> {
        let Some(mut file) = lock(&self.data().join(LOCK))? else { return Ok(None) };
        // For those who wait. It may be held without, on a disk that is full.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Some(file))
    }

    /// The same for whoever has nothing to do without it, and waits so long, in ns.
    ///
    /// # Errors
    /// If another process writes to it all the time.
    pub(crate) fn lock_index_within(&self, wait_ns: u64) -> Result<Held, StoreError> {
        let end_ns = clock::now_ns().saturating_add(wait_ns);
        loop {
            if let Some(file) = self.lock_index()? {
                return Ok(file);
            }
            if clock::now_ns() >= end_ns {
                let path = self.data().join(LOCK);
                let source = Source::open(&path, Named::ByUs)?;
                let text = source.text(&path, HOLDER_BYTES_MAX).unwrap_or_default();
                let (path, process) = (self.index_path(), text.parse().ok());
                return Err(StoreError::Held { path, process });
            }
            clock::rest(LOOK);
        }
    }

    /// Adds a line, with its newline, to the index, which must be locked, and waits until it is on
    /// the disk: the mark is taken away after that.
    pub(super) fn append_line(&self, line: &str) -> Result<(), StoreError> {
        let path = self.index_path();
        let mut file = open_or_make(&path)?;
        let end = whole_bytes(&mut file).map_err(StoreError::io("read", &path))?;
        let written = file
            .set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .and_then(|_| file.write_all(line.as_bytes()))
            .and_then(|()| file.sync_data());
        if written.is_err() {
            // What is left of the line is cut off by whoever adds the next one.
            let _ = file.set_len(end);
        }
        written.map_err(StoreError::io("append to", &path))
    }

    /// Puts these rows, with their lines, in place of the index, which must be locked.
    pub(super) fn write_rows(&self, mut rows: Vec<Row>) -> Result<(), StoreError> {
        rows.sort_by(|a, b| a.head.place().cmp(&b.head.place()));
        self.sweep();
        let lines = rows.iter().filter_map(|row| row.line.as_deref());
        write_pieces(&self.index_path(), lines.flat_map(|line| [line, "\n"]))
    }

    /// Removes what those left who were killed while they wrote an index: one of many runs is long.
    fn sweep(&self) {
        for found in fs::read_dir(self.data()).into_iter().flatten().flatten() {
            let name = found.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix(INDEX));
            if rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(PARTIAL)) {
                let _ = remove_file(&found.path());
            }
        }
    }
}
