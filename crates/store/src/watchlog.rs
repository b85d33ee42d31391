//! The log of the watch: lines appended and synced in the folder `watch` beside the runs, one file
//! for each four weeks, so that what is old can be put away. Whoever watches holds a lock.

use crate::held::Held;
use crate::journal::line_too_long;
use crate::lines::{Next, Room, whole_bytes};
use crate::source::{Named, Source};
use crate::write::{make_private, sync_folder, write_stored};
use crate::{Store, StoreError};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use v6gap_core::record::RecordError;
use v6gap_core::watch::DAY_NS;
use v6gap_core::watch::log::{self, Logged};
use v6gap_sys::disk;

/// The folder.
const FOLDER: &str = "watch";

/// The file whose lock whoever watches holds.
const LOCK: &str = "lock";

/// How the files of the log end.
const ENDING: &str = ".jsonl";

/// What one file spans, in ns.
const SPAN_NS: u64 = 28 * DAY_NS;

/// The log, open for appending. While it is open no other process can append.
#[derive(Debug)]
pub struct WatchLog {
    folder: PathBuf,
    /// The file that is written to, with its number and its length up to which every line is whole.
    open: Option<(u64, File, u64)>,
    /// Held as long as this lives.
    _lock: Held,
}

/// How far the log was read, file by file.
#[derive(Debug, Clone, Default)]
pub struct Reached(BTreeMap<u64, Whole>);

/// What was read of a file: whole lines, and the bytes that they have.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    lines: usize,
    bytes: u64,
}

impl Store {
    /// Opens the log of the watch, which makes it if there is none.
    ///
    /// # Errors
    /// If another process has it open, or it cannot be made.
    pub fn open_watch_log(&self) -> Result<WatchLog, StoreError> {
        let folder = self.data().join(FOLDER);
        make_private(&folder)?;
        let path = folder.join(LOCK);
        let mut options = OpenOptions::new();
        let options = disk::private(options.write(true).create(true).truncate(false));
        let lock = disk::wary(options, false).open(&path).map_err(StoreError::io("open", &path))?;
        Ok(WatchLog { _lock: Held::take_or_fail(lock, &folder)?, folder, open: None })
    }

    /// Gives each entry of the log that may be of `since_unix_ns` or later, in their order; some
    /// before it come, too. A line that is still being written is left out.
    ///
    /// # Errors
    /// If a file cannot be read, or holds a line that is no entry or too long.
    pub fn read_watch_log(
        &self,
        since_unix_ns: u64,
        take: &mut dyn FnMut(Logged),
    ) -> Result<(), StoreError> {
        self.read_watch_log_on(since_unix_ns, &mut Reached::default(), take)
    }

    /// The same of what was appended since it was read as far as `reached`, which moves on.
    ///
    /// # Errors
    /// Those, and if a file became shorter: it is another one then.
    pub fn read_watch_log_on(
        &self,
        since_unix_ns: u64,
        reached: &mut Reached,
        take: &mut dyn FnMut(Logged),
    ) -> Result<(), StoreError> {
        let folder = self.data().join(FOLDER);
        for number in numbers(&folder)? {
            // One more: a watch may have gone past the end of a file in a visit.
            if number + 1 >= since_unix_ns / SPAN_NS {
                let whole = reached.0.entry(number).or_default();
                read(&file(&folder, number), Named::ByUs, whole, take)?;
            }
        }
        Ok(())
    }

    /// Takes over the log that a person named, a file of one or the folder of them all, in place of
    /// what it has of the same weeks; the time of the last entry, in ns since the Unix epoch, if
    /// there is one.
    ///
    /// # Errors
    /// If it cannot be read, or not be written here.
    pub fn take_watch_log(&self, named: &Path) -> Result<Option<u64>, StoreError> {
        let files = match fs::metadata(named).map_err(StoreError::io("open", named))?.is_dir() {
            true => numbers(named)?.into_iter().map(|number| file(named, number)).collect(),
            false => vec![named.to_owned()],
        };
        let (mut texts, mut last) = (BTreeMap::<u64, String>::new(), None);
        for path in &files {
            read(path, Named::ByUser, &mut Whole::default(), &mut |entry| {
                let at_unix_ns = entry.at_unix_ns();
                let text = texts.entry(at_unix_ns / SPAN_NS).or_default();
                text.push_str(&log::encode(&entry));
                text.push('\n');
                last = last.max(Some(at_unix_ns));
            })?;
        }
        let folder = self.data().join(FOLDER);
        make_private(&folder)?;
        for (number, text) in texts {
            write_stored(&file(&folder, number), text.as_bytes())?;
        }
        Ok(last)
    }
}

impl WatchLog {
    /// Appends an entry and waits until it is on the disk.
    ///
    /// # Errors
    /// If the disk is full or gone; what was appended before stays valid.
    pub fn append(&mut self, entry: &Logged) -> Result<(), StoreError> {
        // Files are read in the order of their numbers, which is that in which they were written
        // also where a clock was ahead for a time.
        let newest = match &self.open {
            Some((open, ..)) => Some(*open),
            None => numbers(&self.folder)?.pop(),
        };
        let number = newest.unwrap_or(0).max(entry.at_unix_ns() / SPAN_NS);
        let path = file(&self.folder, number);
        if self.open.as_ref().is_none_or(|(open, ..)| *open != number) {
            self.open = Some(opened(&path, number)?);
        }
        let Some((_, file, good_bytes)) = &mut self.open else { return Ok(()) };
        let text = log::encode(entry) + "\n";
        let written = file
            .write_all(text.as_bytes())
            .map_err(StoreError::io("append to", &path))
            .and_then(|()| file.sync_data().map_err(StoreError::io("sync", &path)));
        match written {
            Ok(()) => *good_bytes += text.len() as u64,
            Err(_) => {
                // A later line would otherwise follow half of this one; the first error is told.
                let _ = cut(file, *good_bytes);
            }
        }
        written
    }
}

/// The file of that number with the position behind its last whole line, and what follows it, as a
/// crash left it, cut off.
fn opened(path: &Path, number: u64) -> Result<(u64, File, u64), StoreError> {
    if !Store::exists(path) {
        let mut options = OpenOptions::new();
        let new = disk::private(options.write(true).create_new(true)).open(path);
        new.map_err(StoreError::io("create", path))?;
        path.parent().map_or(Ok(()), sync_folder)?;
    }
    let mut file = Source::open_stored(path)?;
    let good_bytes = whole_bytes(&mut file).map_err(StoreError::io("read", path))?;
    cut(&mut file, good_bytes).map_err(StoreError::io("mend", path))?;
    Ok((number, file, good_bytes))
}

fn cut(file: &mut File, good_bytes: u64) -> std::io::Result<()> {
    file.set_len(good_bytes)?;
    file.seek(SeekFrom::Start(good_bytes)).map(|_| ())
}

/// The numbers of the files that there are, in their order.
fn numbers(folder: &Path) -> Result<Vec<u64>, StoreError> {
    if !Store::exists(folder) {
        return Ok(Vec::new());
    }
    let found = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    let number =
        |entry: fs::DirEntry| entry.file_name().to_str()?.strip_suffix(ENDING)?.parse::<u64>().ok();
    let mut numbers: Vec<u64> = found.flatten().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn file(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}{ENDING}"))
}

/// Entry by entry behind what is `whole` already, so that a file may be of any length: that of a
/// path on this host itself, visited each second, has gigabytes.
fn read(
    path: &Path,
    named: Named,
    whole: &mut Whole,
    take: &mut dyn FnMut(Logged),
) -> Result<(), StoreError> {
    let mut source = Source::open(path, named)?;
    match source.bytes {
        Some(bytes) if bytes < whole.bytes => {
            return Err(StoreError::unfit(path, "became shorter while it was followed"));
        }
        Some(bytes) if bytes == whole.bytes => return Ok(()),
        Some(_) => {
            let sought = source.file.seek(SeekFrom::Start(whole.bytes));
            sought.map_err(StoreError::io("read", path))?;
        }
        None => {}
    }
    let mut room = Room::default();
    loop {
        let number = whole.lines + 1;
        let wrong = |source| StoreError::Record { path: path.to_owned(), line: number, source };
        let line = match room.next_line(&mut source).map_err(StoreError::io("read", path))? {
            Next::Line(line) => line,
            Next::End => return Ok(()),
            Next::TooLong => return Err(wrong(line_too_long())),
        };
        let text = std::str::from_utf8(line);
        let text = text.map_err(|e| wrong(RecordError::Malformed(e.to_string())))?;
        let entry = log::decode(text).map_err(wrong)?;
        *whole = Whole { lines: number, bytes: whole.bytes + line.len() as u64 + 1 };
        take(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;
    use v6gap_core::watch::Kind;
    use v6gap_core::watch::log::{Began, Cause, Missed};

    fn entry(at_unix_ns: u64) -> Logged {
        let path = "lab-b".to_owned();
        Logged::Began(Began { at_unix_ns, due_unix_ns: at_unix_ns, path, kind: Kind::Light })
    }

    fn all(store: &Store, since_unix_ns: u64) -> Vec<Logged> {
        let mut found = Vec::new();
        store.read_watch_log(since_unix_ns, &mut |entry| found.push(entry)).unwrap();
        found
    }

    #[test]
    fn what_is_appended_is_read_in_its_order_over_all_files() {
        let scratch = Scratch::new("watch-log");
        let store = Store::at(&scratch.0);
        assert_eq!(all(&store, 0), []);
        let times = [5, SPAN_NS - 1, SPAN_NS, 9 * SPAN_NS, 10 * SPAN_NS];
        let entries: Vec<Logged> = times.into_iter().map(entry).collect();
        for two in entries.chunks(2) {
            let mut log = store.open_watch_log().unwrap();
            two.iter().for_each(|entry| log.append(entry).unwrap());
        }
        assert_eq!(all(&store, 0), entries);
        assert_eq!(all(&store, 10 * SPAN_NS), entries[3..]);
        let names = fs::read_dir(store.data().join(FOLDER)).unwrap().count();
        assert_eq!(names, 5, "four files and the lock");
    }

    /// A folder and a file of it are taken over alike.
    #[test]
    fn a_log_that_is_named_is_taken_over() {
        let scratch = Scratch::new("watch-taken");
        let (from, to) = (Store::at(&scratch.0), Store::at(&scratch.0.join("other")));
        let entries = [entry(5), entry(SPAN_NS), entry(SPAN_NS + 7)];
        let mut log = from.open_watch_log().unwrap();
        entries.iter().for_each(|entry| log.append(entry).unwrap());
        let folder = from.data().join(FOLDER);
        assert_eq!(to.take_watch_log(&folder).unwrap(), Some(SPAN_NS + 7));
        assert_eq!(all(&to, 0), entries);
        assert_eq!(to.take_watch_log(&file(&folder, 0)).unwrap(), Some(5));
        assert_eq!(all(&to, 0), entries, "the other file stays");
        assert!(to.take_watch_log(&scratch.0.join("none")).is_err());
    }

    /// Whoever follows it reads each entry once, also in a file that is gone back to.
    #[test]
    fn what_was_read_is_not_read_again() {
        let scratch = Scratch::new("watch-on");
        let store = Store::at(&scratch.0);
        let (mut log, mut reached) = (store.open_watch_log().unwrap(), Reached::default());
        let mut on = || {
            let mut found = Vec::new();
            store.read_watch_log_on(0, &mut reached, &mut |entry| found.push(entry))?;
            Ok::<_, StoreError>(found)
        };
        assert!(on().unwrap().is_empty());
        log.append(&entry(5)).unwrap();
        log.append(&entry(SPAN_NS)).unwrap();
        assert_eq!(on().unwrap(), [entry(5), entry(SPAN_NS)]);
        assert!(on().unwrap().is_empty());
        // A clock was set back, and half a line is written.
        log.append(&entry(7)).unwrap();
        let path = store.data().join(FOLDER).join("1.jsonl");
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        let line = log::encode(&entry(9)) + "\n";
        let (half, rest) = line.split_at(20);
        file.write_all(half.as_bytes()).unwrap();
        assert_eq!(on().unwrap(), [entry(7)]);
        file.write_all(rest.as_bytes()).unwrap();
        assert_eq!(on().unwrap(), [entry(9)]);
        file.write_all(b"no entry\n").unwrap();
        assert!(matches!(on().unwrap_err(), StoreError::Record { line: 4, .. }));
        file.set_len(3).unwrap();
        assert!(on().is_err());
    }

    #[test]
    fn one_process_at_a_time_appends_and_all_may_read() {
        let scratch = Scratch::new("watch-lock");
        let store = Store::at(&scratch.0);
        let mut log = store.open_watch_log().unwrap();
        log.append(&entry(1)).unwrap();
        assert!(matches!(store.open_watch_log(), Err(StoreError::Locked { .. })));
        assert_eq!(all(&store, 0), [entry(1)]);
        drop(log);
        store.open_watch_log().unwrap();
    }

    /// Cut off at any byte, what was whole is there and the rest is mended.
    #[test]
    fn half_a_line_is_no_entry_and_is_cut_off() {
        let scratch = Scratch::new("watch-torn");
        let store = Store::at(&scratch.0);
        let missed = Logged::Missed(Missed {
            at_unix_ns: 2,
            path: "lab-b".to_owned(),
            kind: Kind::Throughput,
            why: Cause::Budget,
            visits: 3,
        });
        let path = store.data().join(FOLDER).join("0.jsonl");
        let mut log = store.open_watch_log().unwrap();
        log.append(&entry(1)).unwrap();
        let first = fs::read(&path).unwrap();
        log.append(&missed).unwrap();
        drop(log);
        let whole = fs::read(&path).unwrap();
        for length in first.len()..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(all(&store, 0), [entry(1)], "{length}");
            store.open_watch_log().unwrap().append(&missed).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole, "{length}");
        }
    }

    /// A hole of 3 GiB takes no room on the disk; whoever reads it stops at the longest line.
    #[test]
    fn a_file_may_be_of_any_length_and_a_line_not() {
        let scratch = Scratch::new("watch-long");
        let store = Store::at(&scratch.0);
        store.open_watch_log().unwrap().append(&entry(1)).unwrap();
        let path = store.data().join(FOLDER).join("0.jsonl");
        OpenOptions::new().write(true).open(&path).unwrap().set_len(3 << 30).unwrap();
        let mut found = Vec::new();
        let error = store.read_watch_log(0, &mut |entry| found.push(entry)).unwrap_err();
        assert!(matches!(error, StoreError::Record { line: 2, .. }), "{error}");
        assert_eq!(found, [entry(1)]);
    }

    #[test]
    fn a_line_that_is_no_entry_is_named() {
        let scratch = Scratch::new("watch-wrong");
        let store = Store::at(&scratch.0);
        store.open_watch_log().unwrap().append(&entry(1)).unwrap();
        let path = store.data().join(FOLDER).join("0.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{{}}\n{text}")).unwrap();
        let error = store.read_watch_log(0, &mut |_| {}).unwrap_err();
        assert!(matches!(error, StoreError::Record { line: 2, .. }), "{error}");
    }
}
