//! What measuring by ssh needs of the disk: a result that comes bit by bit and is stored whole or
//! not at all, the program that is sent, and a place for a socket.

use crate::source::{JOURNAL_BYTES_MAX, Named, Source};
use crate::write::{PARTIAL, drawn, make_private, remove_file};
use crate::{Imported, Store, StoreError};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Longest program that is sent, in bytes; one with everything to find faults with has 0.3 GB.
const PROGRAM_BYTES_MAX: u64 = 1 << 30;

/// A journal on its way here; what is not stored in the end is removed.
#[derive(Debug)]
pub struct Received {
    store: Store,
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Store {
    /// Begins to receive a journal.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn receive(&self) -> Result<Received, StoreError> {
        make_private(self.data())?;
        let name = format!("received-{}.jsonl{PARTIAL}", drawn(self.data())?);
        let path = self.data().join(name);
        let file = Store::new_file(&path)?;
        Ok(Received { store: self.clone(), path, file, bytes: 0 })
    }

    /// Where a socket may be whose name cannot be foreseen, in a folder that is its owner's alone.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn socket_place(&self) -> Result<PathBuf, StoreError> {
        make_private(self.data())?;
        Ok(self.data().join(format!("ssh-{}", drawn(self.data())?)))
    }

    /// The bytes of a program.
    ///
    /// # Errors
    /// If it cannot be read, or is longer than any program.
    pub fn read_program(path: &Path) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        let source = Source::open(path, Named::ByUser)?;
        let read = source.take(PROGRAM_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(StoreError::io("read", path))?;
        match bytes.len() as u64 > PROGRAM_BYTES_MAX {
            true => Err(StoreError::unfit(path, "is longer than any program of this kind")),
            false => Ok(bytes),
        }
    }
}

impl Received {
    /// Adds bytes to it.
    ///
    /// # Errors
    /// If they cannot be written, or are more than a journal has.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > JOURNAL_BYTES_MAX {
            return Err(StoreError::unfit(&self.path, "is longer than any result"));
        }
        self.file.write_all(bytes).map_err(StoreError::io("write", &self.path))
    }

    /// Stores it under its own identifier.
    ///
    /// # Errors
    /// As [`Store::import`].
    pub fn import(mut self) -> Result<Imported, StoreError> {
        self.file.flush().map_err(StoreError::io("write", &self.path))?;
        self.store.import(&self.path)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        // That it stays behind is the lesser trouble, and its name says what it is.
        let _ = remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_journal_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("v6gap-received-{}", std::process::id()));
        let store = Store::at(&folder);
        let files = || std::fs::read_dir(&folder).unwrap().count();
        let mut received = store.receive().unwrap();
        received.add(b"no ").unwrap();
        received.add(b"journal\n").unwrap();
        assert_eq!(files(), 1);
        assert!(received.import().is_err());
        drop(store.receive().unwrap());
        assert_eq!(files(), 0);
        let path = folder.join("program");
        std::fs::write(&path, b"\x7fELF").unwrap();
        assert_eq!(Store::read_program(&path).unwrap(), b"\x7fELF");
        assert!(Store::read_program(Path::new("/dev/zero")).is_err());
        assert_ne!(store.socket_place().unwrap(), store.socket_place().unwrap());
        store.clear().unwrap();
    }
}
