//! Files that are written: whole or not at all, under a name that nobody could have prepared, and
//! within the store readable by their owner alone.

use crate::held::Held;
use crate::source::Source;
use crate::{Store, StoreError};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use v6gap_sys::{disk, entropy};

/// The page that leads a browser to the pages of this program.
const DOOR: &str = "open.html";

/// How a file ends that is not whole yet.
pub(crate) const PARTIAL: &str = ".partial";

/// So many bytes of a long file are written at once.
const PIECES_BYTES: usize = 1 << 20;

impl Store {
    /// Makes a new file to be written bit by bit, which its owner alone may read, and the folders
    /// that it needs.
    ///
    /// # Errors
    /// If it exists or cannot be made.
    pub fn new_file(path: &Path) -> Result<File, StoreError> {
        make_parent(path)?;
        private_file(path).map_err(StoreError::io("create", path))
    }

    /// Writes a page that leads a browser somewhere into the data folder, where its owner alone may
    /// read it, and says where.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write_door(&self, page: &str) -> Result<PathBuf, StoreError> {
        make_private(self.data())?;
        let path = self.data().join(DOOR);
        write_stored(&path, page.as_bytes())?;
        Ok(std::path::absolute(&path).unwrap_or(path))
    }

    /// Removes that page; there may be none.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn remove_door(&self) -> Result<(), StoreError> {
        remove_file(&self.data().join(DOOR))
    }

    /// Whether there is something at `path`.
    pub fn exists(path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    /// Writes a file that a person named, whole or not at all, behind a link where it leads to one;
    /// what exists and is no regular file, as `/dev/stdout`, is written to and not replaced.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), StoreError> {
        make_parent(path)?;
        let new = |partial: &Path| File::create_new(partial);
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => replace(path, content.as_ref(), new),
            Ok(_) => match behind_link(path) {
                Some(behind) => replace(&behind, content.as_ref(), new),
                None => fs::write(path, &content).map_err(StoreError::io("write", path)),
            },
            Err(_) => replace(path, content.as_ref(), new),
        }
    }

    /// The same, for a file that its owner alone may read.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write_secret(path: &Path, content: impl AsRef<[u8]>) -> Result<(), StoreError> {
        make_parent(path)?;
        write_stored(path, content.as_ref())
    }
}

/// The file that a link leads to. Those of the system lead to what a program has open, as
/// `/dev/stdout` does, which whoever opened it goes on writing.
fn behind_link(path: &Path) -> Option<PathBuf> {
    let of_system = ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder));
    let behind = fs::canonicalize(path).ok().filter(|_| !of_system)?;
    behind.is_file().then_some(behind)
}

/// Writes a file whose name a person did not choose, beside one that was named: whatever stands
/// under that name is replaced and never followed.
pub(crate) fn write_beside(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    replace(path, content, |partial: &Path| File::create_new(partial))
}

/// Writes a file of the store, which its owner alone may read.
pub(crate) fn write_stored(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    replace(path, content, private_file)
}

/// The same for one that must not be there yet: whether it was not.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> Result<bool, StoreError> {
    let partial = partial(path)?;
    let mut file = private_file(&partial).map_err(StoreError::io("write", &partial))?;
    disk::leave_to_owner(&file, path);
    let written = file.write_all(content).and_then(|()| file.sync_all());
    drop(file);
    let placed = written.and_then(|()| match fs::hard_link(&partial, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some file systems have one name for a file.
        Err(error) if has_one_name(error.kind()) => fs::rename(&partial, path).map(|()| true),
        Err(error) => Err(error),
    });
    // The other name of it, or what was written for nothing; it may have moved.
    let _ = fs::remove_file(&partial);
    placed.map_err(StoreError::io("write", path))
}

/// Whether an error says that a file cannot have another name here.
fn has_one_name(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Writes a file of the store piece by piece, for one that is too long to be made twice.
pub(crate) fn write_pieces<'a>(
    path: &Path,
    pieces: impl Iterator<Item = &'a str>,
) -> Result<(), StoreError> {
    replace_by(path, private_file, |file| {
        let mut file = BufWriter::with_capacity(PIECES_BYTES, file);
        for piece in pieces {
            file.write_all(piece.as_bytes())?;
        }
        file.flush()
    })
}

/// Opens a file of the store to go on writing it; it is made if it is not there.
pub(crate) fn open_or_make(path: &Path) -> Result<File, StoreError> {
    match Source::open_stored(path) {
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let mut options = OpenOptions::new();
            match disk::private(options.read(true).write(true).create_new(true)).open(path) {
                // Another process was quicker.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Source::open_stored(path),
                made => {
                    let made = made.map_err(StoreError::io("create", path))?;
                    disk::leave_to_owner(&made, path);
                    Ok(made)
                }
            }
        }
        opened => opened,
    }
}

/// Keeps other processes from what the file at `path` stands for; nothing if another one keeps it.
pub(crate) fn lock(path: &Path) -> Result<Option<Held>, StoreError> {
    Held::take(open_or_make(path)?, path)
}

/// Puts a file of the store with that content in the place of the one at `path`, and gives it open
/// and locked, which it is before it has the name. Whoever calls syncs the folder.
pub(crate) fn replace_locked(path: &Path, content: &[u8]) -> Result<Held, StoreError> {
    let partial = partial(path)?;
    let mut options = OpenOptions::new();
    let made = disk::private(options.read(true).write(true).create_new(true)).open(&partial);
    let file = made.map_err(StoreError::io("write", &partial))?;
    let mut file = Held::take_or_fail(file, &partial)?;
    let written = file
        .write_all(content)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&partial, path));
    if let Err(error) = written {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
        return Err(StoreError::io("write", path)(error));
    }
    Ok(file)
}

/// Removes the name, not what it may lead to; there may be none.
pub(crate) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Makes a folder and those above it; those that were not there can be looked into by their owner
/// alone.
pub(crate) fn make_private(folder: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    let made = disk::private_folder(builder.recursive(true)).create(folder);
    made.map_err(StoreError::io("create", folder))
}

/// A new name in a folder is safe only when the folder is synced. A system that does not let
/// folders be opened keeps its names safe by itself.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    match File::open(folder) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(e) => Err(StoreError::io("open", folder)(e)),
        Ok(open) => open.sync_all().map_err(StoreError::io("sync", folder)),
    }
}

fn make_parent(path: &Path) -> Result<(), StoreError> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => fs::create_dir_all(folder).map_err(StoreError::io("create", folder)),
        None => Ok(()),
    }
}

fn private_file(path: &Path) -> io::Result<File> {
    disk::private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Writes `content` to a new file beside `path` and puts that in its place.
fn replace(
    path: &Path,
    content: &[u8],
    new: impl Fn(&Path) -> io::Result<File>,
) -> Result<(), StoreError> {
    replace_by(path, new, |file| file.write_all(content))
}

/// Has a new file beside `path` written and puts that in its place.
fn replace_by(
    path: &Path,
    new: impl Fn(&Path) -> io::Result<File>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let partial = partial(path)?;
    let mut file = new(&partial).map_err(StoreError::io("write", &partial))?;
    disk::leave_to_owner(&file, path);
    let written = write(&mut file).and_then(|()| file.sync_all());
    drop(file);
    let written = written
        .map_err(StoreError::io("write", &partial))
        .and_then(|()| fs::rename(&partial, path).map_err(StoreError::io("write", path)));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// A name beside `path` that cannot be foreseen.
fn partial(path: &Path) -> Result<PathBuf, StoreError> {
    let mut name = OsString::from(path);
    name.push(format!(".{}{PARTIAL}", drawn(path)?));
    Ok(PathBuf::from(name))
}

/// Letters that cannot be foreseen, for the name of what is written at `path`.
pub(crate) fn drawn(path: &Path) -> Result<String, StoreError> {
    let random =
        entropy::bytes().map_err(|error| StoreError::io("write", path)(io::Error::other(error)))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(random)))
}
