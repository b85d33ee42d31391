//! Claims of whoever measures on this host (core's `turn` says what they are), as files in a folder
//! that all its users share.
//!
//! A user may be hostile to others, so nobody trusts a file that is another's. Each claim is a file
//! of its own, under a name that nobody can foresee, to which its owner alone may write. It stands
//! as long as its first byte is locked, which takes the right to write and ends with the process;
//! the second byte is locked once the claim is held. So nobody can make a claim in another's name,
//! keep it up, or take it away, and whoever is in the way is named by the file system. Links,
//! pipes, folders and what may not be read stand in nobody's way.

use crate::StoreError;
use crate::write::make_private;
use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use v6gap_core::turn::{Claim, Seen, TEXT_BYTES_MAX};
use v6gap_sys::{Unavailable, clock, disk, entropy, lock};

/// How the name of a claim begins; the rest is drawn.
const PREFIX: &str = "v6gap-claim-";

/// The byte that is locked as long as the claim stands.
const STANDS: u8 = 0;

/// The byte that is locked once it is held.
const HELD: u8 = 1;

/// How often a claim is made anew that was taken for a leftover; that it is once is rare.
const TRIES_MAX: u32 = 8;

/// Names of the claims of this process, which not every system lets it look at.
static OWN: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// The folder in which the claims of this host lie.
#[derive(Debug, Clone)]
pub struct Claims {
    folder: PathBuf,
}

/// A claim that stands.
#[derive(Debug)]
pub struct Found {
    /// What it says.
    pub seen: Seen,
    /// Whose it is, if the system tells.
    pub user: Option<String>,
    /// How long it has stood, in ns.
    pub age_ns: u64,
}

/// A claim of this process. It is gone when this is dropped, or the process ends.
#[derive(Debug)]
pub struct Shown {
    name: u64,
    file: File,
    path: PathBuf,
}

impl Claims {
    /// The claims in the folder that is `named`, which is made if it is not there, or else in that
    /// of all users.
    ///
    /// # Errors
    /// Where there is no such folder, or no locks.
    pub fn open(named: Option<&Path>) -> Result<Self, Unavailable> {
        lock::supported()?;
        let folder = match named {
            None => lock::folder()?,
            Some(folder) => {
                make_private(folder).map_err(|error| Unavailable::new(lock::WHAT, error))?;
                folder.to_owned()
            }
        };
        Ok(Claims { folder })
    }

    /// Where they lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All claims that stand; those of this process only where it may look at them.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn found(&self) -> Result<Vec<Found>, StoreError> {
        let read = || StoreError::io("read", &self.folder);
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(read())? {
            let file_name = entry.map_err(read())?.file_name();
            let name = file_name.to_str().and_then(|text| text.strip_prefix(PREFIX));
            let name = name.and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let name = name.filter(|name| lock::MAY_LOOK_AT_OWN || !own().contains(name));
            all.extend(name.and_then(|name| found(&self.folder.join(&file_name), name)));
        }
        Ok(all)
    }

    /// Shows a claim to all others; it is not held yet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(&self, claim: &Claim) -> Result<Shown, StoreError> {
        for _ in 0..TRIES_MAX {
            let shown = self.make()?;
            if shown.show(claim).map_err(StoreError::io("write", &shown.path))? {
                return Ok(shown);
            }
        }
        Err(StoreError::unfit(&self.folder, "loses what is written to it"))
    }

    /// A new file that nobody else may read yet.
    fn make(&self) -> Result<Shown, StoreError> {
        let drawn = entropy::bytes().map_err(std::io::Error::other);
        let random = drawn.map_err(StoreError::io("create a file in", &self.folder))?;
        let name = u64::from_ne_bytes(random);
        let path = self.folder.join(format!("{PREFIX}{name:016x}"));
        let mut options = OpenOptions::new();
        let options = disk::private(options.read(true).write(true).create_new(true));
        // Before there is a file that another thread could look at.
        own().insert(name);
        match options.open(&path) {
            Ok(file) => Ok(Shown { name, file, path }),
            Err(error) => {
                own().remove(&name);
                Err(StoreError::io("create", &path)(error))
            }
        }
    }
}

impl Shown {
    /// The name under which others see it.
    pub fn name(&self) -> u64 {
        self.name
    }

    /// It is held from now on.
    ///
    /// # Errors
    /// If the file system takes no lock.
    pub fn hold(&self) -> Result<(), StoreError> {
        // Nobody else may lock it, so that it is ours then.
        lock::take(&self.file, HELD).map(|_| ()).map_err(StoreError::io("lock", &self.path))
    }

    /// Keeps its file from being taken for a forgotten one, which whoever clears the folders of all
    /// users goes by when it was touched last (tmpfiles.d(5)). `false` if it is gone all the same.
    pub fn keep(&self) -> bool {
        let now = UNIX_EPOCH + Duration::from_nanos(clock::wall_ns());
        // Since when it stands is told by when it was written.
        let _ = self.file.set_times(FileTimes::new().set_accessed(now));
        !self.file.metadata().is_ok_and(|found| !lock::is_named(&found))
    }

    /// Writes the claim and lets others see it; `false` if it was cleared away meanwhile.
    fn show(&self, claim: &Claim) -> std::io::Result<bool> {
        (&self.file).write_all(claim.text().as_bytes())?;
        // Until it is locked, another program of this user may take it for a leftover.
        if !lock::take(&self.file, STANDS)? || !lock::is_named(&self.file.metadata()?) {
            return Ok(false);
        }
        lock::show(&self.file)?;
        Ok(true)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // If it cannot be, it stands no longer all the same.
        let _ = fs::remove_file(&self.path);
        own().remove(&self.name);
    }
}

/// Names of the claims of this process.
fn own() -> MutexGuard<'static, BTreeSet<u64>> {
    // A set of names is whole whatever became of who changed it.
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The claim in a file, if one stands there; a leftover is cleared away.
fn found(path: &Path, name: u64) -> Option<Found> {
    let mut options = OpenOptions::new();
    let file = disk::wary(options.read(true), false).open(path).ok()?;
    let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
    // Where the kernel does not tell, it is better taken for one.
    if !lock::is_taken(&file, STANDS).unwrap_or(true) {
        clear(path);
        return None;
    }
    let holds = lock::is_taken(&file, HELD).unwrap_or(true);
    let mut text = String::new();
    let read = (&file).take(TEXT_BYTES_MAX as u64).read_to_string(&mut text);
    let claim = read.ok().and_then(|_| Claim::parse(&text));
    let since = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let since_ns = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    let age_ns = clock::wall_ns().saturating_sub(since_ns);
    Some(Found { seen: Seen { name, claim, holds }, user: lock::owner(&about), age_ns })
}

/// Removes what a process left that was killed. Only its owner may, and only who has locked it does
/// so, lest it be a claim that is just being made.
fn clear(path: &Path) {
    let mut options = OpenOptions::new();
    let opened = disk::wary(options.write(true), false).open(path);
    if let Ok(file) = opened
        && lock::take(&file, STANDS).unwrap_or(false)
    {
        let _ = fs::remove_file(path);
    }
}
