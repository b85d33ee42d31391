//! A file that one process at a time has.

use crate::StoreError;
use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// How often a file is tried to be locked: whoever looks whether a run is being written locks its
/// journal for some microseconds.
const LOOKS: usize = 100;

/// A file that other processes cannot have while this is there.
///
/// It is let go of by name and not by closing: a child that another thread has just forked has the
/// file, too, until it becomes another program, and would keep it as long.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Held {
    /// Takes the file that was opened at `path`; nothing if another process has it.
    pub(crate) fn take(file: File, path: &Path) -> Result<Option<Self>, StoreError> {
        for _ in 0..LOOKS {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Held(file))),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
                Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", path)(e)),
            }
        }
        Ok(None)
    }

    /// The same for one that has to be had: whoever finds it taken is told that `what` is locked.
    pub(crate) fn take_or_fail(file: File, what: &Path) -> Result<Self, StoreError> {
        Held::take(file, what)?.ok_or_else(|| StoreError::Locked { path: what.to_owned() })
    }
}

impl Deref for Held {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closed in a moment, which lets go of it as well, though later.
        drop(self.0.unlock());
    }
}
