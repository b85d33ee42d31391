//! Files that are read, all of which may come from somebody else: what is neither a file nor a pipe
//! is refused, what is stored is read from where it lies and through no link, and nothing is read
//! without end. A pipe is waited for so long and no longer.

use crate::StoreError;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use v6gap_sys::{clock, disk};

/// Most that is read of a run, in bytes. A run of 10 000 trials of a first look takes 30 MB, one
/// whose every trial is as long as the longest of those 90 MB, and one of 100 000 blocks 0.9 GB.
pub const JOURNAL_BYTES_MAX: u64 = 2 << 30;

/// Longest line of a journal, in bytes; usual ones have 9 kB, and what one end tells of a trial
/// fits into a message of 1 MiB.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// Longest plan or world, in bytes.
pub(crate) const TEXT_BYTES_MAX: u64 = 1 << 20;

/// How long nothing may come from a pipe, in ns.
const SILENCE_NS_MAX: u64 = 30_000_000_000;

/// How long a pipe may take altogether, in ns.
const PIPE_NS_MAX: u64 = 600_000_000_000;

/// Who chose the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// A person, who may name a link.
    ByUser,
    /// This program, which made the file itself.
    ByUs,
}

/// An open file or pipe.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: File,
    /// Length of a file, in bytes; a pipe has none.
    pub(crate) bytes: Option<u64>,
    pub(crate) named: Named,
    /// When a pipe must have ended, by the monotonic clock.
    deadline_ns: u64,
}

impl Source {
    /// Opens what is to be read.
    ///
    /// # Errors
    /// If it is not there, or neither a file nor a pipe.
    pub(crate) fn open(path: &Path, named: Named) -> Result<Self, StoreError> {
        Self::open_with(path, named, OpenOptions::new().read(true))
    }

    /// Opens what is to be read and written, which a pipe cannot be.
    ///
    /// # Errors
    /// If it is not there, or no file of the store.
    pub(crate) fn open_stored(path: &Path) -> Result<File, StoreError> {
        let options = &mut OpenOptions::new();
        let source = Self::open_with(path, Named::ByUs, options.read(true).write(true))?;
        Ok(source.file)
    }

    fn open_with(path: &Path, named: Named, options: &mut OpenOptions) -> Result<Self, StoreError> {
        let follow = named == Named::ByUser;
        let unfit = |why| Err(StoreError::unfit(path, why));
        // Opening a device may already do something, so it is looked at before and, as it may
        // have been exchanged, after.
        let found = if follow { path.metadata() } else { path.symlink_metadata() };
        let found = found.map_err(StoreError::io("read", path))?;
        if found.is_symlink() {
            return unfit("is a link, and what is stored is read where it lies");
        }
        let fits = |found: &std::fs::Metadata| found.is_file() || (follow && disk::is_pipe(found));
        if found.is_dir() {
            return unfit("is a folder, where a file is meant");
        }
        if !fits(&found) {
            return unfit("is a device or a socket, which may never end; files and pipes are read");
        }
        let file = disk::wary(options, follow).open(path).map_err(StoreError::io("open", path))?;
        let found = file.metadata().map_err(StoreError::io("read", path))?;
        if !fits(&found) {
            return unfit("was exchanged while it was opened");
        }
        let bytes = found.is_file().then_some(found.len());
        let deadline_ns = clock::now_ns().saturating_add(PIPE_NS_MAX);
        Ok(Source { file, bytes, named, deadline_ns })
    }

    /// All of it as text, if it has at most so many bytes.
    ///
    /// # Errors
    /// If it cannot be read, is longer, or no text.
    pub(crate) fn text(self, path: &Path, most_bytes: u64) -> Result<String, StoreError> {
        let mut bytes = Vec::new();
        let read = self.take(most_bytes + 1).read_to_end(&mut bytes);
        read.map_err(StoreError::io("read", path))?;
        if bytes.len() as u64 > most_bytes {
            let why = format!("is longer than {} kB, which no such file is", most_bytes >> 10);
            return Err(StoreError::unfit(path, why));
        }
        String::from_utf8(bytes).map_err(|_| StoreError::unfit(path, "is no text in UTF-8"))
    }
}

impl Read for Source {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_some() {
            return self.file.read(room);
        }
        loop {
            let left_ns = self.deadline_ns.saturating_sub(clock::now_ns());
            if !disk::readable(&self.file, left_ns.min(SILENCE_NS_MAX))? {
                let why = match left_ns {
                    0 => format!("it had not ended after {} min", PIPE_NS_MAX / 60_000_000_000),
                    _ => format!("nothing came for {} s", SILENCE_NS_MAX / 1_000_000_000),
                };
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
            match self.file.read(room) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// The text of a plan or world, which a person named.
///
/// # Errors
/// If it cannot be read, or is too long.
pub(crate) fn text(path: &Path) -> Result<String, StoreError> {
    Source::open(path, Named::ByUser)?.text(path, TEXT_BYTES_MAX)
}
