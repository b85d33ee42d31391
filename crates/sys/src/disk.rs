//! What systems differ in where files are made and opened: who else may read them, whether a name
//! may lead elsewhere, and how long a pipe is waited for. Opening itself is left to the caller.

use crate::Unavailable;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

/// Files that `options` make may be read and written by their owner alone. A system that does not
/// know modes gives them what the folder says.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    options.mode(0o600);
    options
}

/// Folders that `builder` makes may be looked into by their owner alone.
pub fn private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    #[cfg(unix)]
    builder.mode(0o700);
    builder
}

/// Gives a file that was made for `path` to whoever owns its folder: a service that is a user of
/// its own has to read and write what root makes there. Does nothing where that is not allowed.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such owners"))]
pub fn leave_to_owner(file: &File, path: &Path) {
    #[cfg(unix)]
    {
        let folder = path.parent().and_then(|folder| std::fs::symlink_metadata(folder).ok());
        if let (Some(folder), Ok(made)) = (folder, file.metadata())
            && folder.uid() != made.uid()
        {
            // Of the open file, as what its name stands for may be exchanged.
            let _ = fchown(file, Some(folder.uid()), Some(folder.gid()));
        }
    }
}

/// Opening neither waits for the other end of a pipe nor takes a terminal, and fails where the last
/// part of the name is a symbolic link if `follow` is false.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such links and pipes"))]
pub fn wary(options: &mut OpenOptions, follow: bool) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        let end = if follow { 0 } else { libc::O_NOFOLLOW };
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | end);
    }
    options
}

/// Whether it is a pipe, with a name or without. Where pipes are no files, none is.
#[cfg_attr(not(unix), expect(unused_variables, reason = "pipes are no files"))]
pub fn is_pipe(found: &Metadata) -> bool {
    #[cfg(unix)]
    {
        found.file_type().is_fifo()
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// Waits until `pipe` can be read or has ended; `false` if `timeout_ns` passed before.
///
/// # Errors
/// If the system does not let it be waited for.
#[cfg_attr(not(unix), expect(unused_variables, reason = "pipes are no files"))]
pub fn readable(pipe: &File, timeout_ns: u64) -> io::Result<bool> {
    #[cfg(unix)]
    {
        crate::socket::wait::ready(pipe, rustix::event::PollFlags::IN, Some(timeout_ns))
    }
    #[cfg(not(unix))]
    {
        Ok(true)
    }
}

/// Whether nobody else can have written a file: it belongs to this user, or to the one who may do
/// everything, and neither others nor another group may write it. Where a system has no such marks
/// all files are one's own.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such marks"))]
pub fn is_own(found: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        const GROUP_WRITES: u32 = 0o020;
        const ALL_WRITE: u32 = 0o002;
        let us = rustix::process::geteuid().as_raw();
        let of_group = found.mode() & GROUP_WRITES != 0;
        let own_group = found.gid() == rustix::process::getegid().as_raw();
        [us, 0].contains(&found.uid()) && found.mode() & ALL_WRITE == 0 && (!of_group || own_group)
    }
    #[cfg(not(unix))]
    {
        true
    }
}

/// Bytes that this user may still write where `path` is.
///
/// # Errors
/// If the system does not tell.
#[cfg_attr(not(unix), expect(unused_variables, reason = "nothing is asked there"))]
pub fn free_bytes(path: &Path) -> Result<u64, Unavailable> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(path);
        let found = found.map_err(|error| Unavailable::new("free space", error.to_string()))?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        Err(Unavailable::new("free space", "this system is not asked for it"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_told_where_something_is_and_nowhere_else() {
        assert!(free_bytes(Path::new("/")).is_ok());
        assert!(free_bytes(Path::new("/no/such/place")).is_err());
    }
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    /// For root of a folder that is somebody else's, for others of their own.
    #[test]
    fn a_file_is_of_whoever_owns_its_folder() {
        let folder = std::env::temp_dir().join(format!("v6gap-owner-{}", std::process::id()));
        DirBuilder::new().create(&folder).unwrap();
        let is_root = chown(&folder, Some(65_534), Some(65_534)).is_ok();
        let path = folder.join("file");
        let file = private(OpenOptions::new().write(true).create_new(true)).open(&path).unwrap();
        let owner = |path: &Path| path.metadata().unwrap().uid();
        assert_eq!(owner(&path) != owner(&folder), is_root);
        leave_to_owner(&file, &path);
        assert_eq!(owner(&path), owner(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_made_is_its_owners_alone_and_links_are_not_followed() {
        let folder = std::env::temp_dir().join(format!("v6gap-disk-{}", std::process::id()));
        private_folder(&mut DirBuilder::new()).create(&folder).unwrap();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let file = folder.join("file");
        let made = private(OpenOptions::new().write(true).create_new(true)).open(&file);
        assert!(!is_pipe(&made.unwrap().metadata().unwrap()));
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        let link = folder.join("link");
        symlink(&file, &link).unwrap();
        assert!(wary(OpenOptions::new().read(true), true).open(&link).is_ok());
        assert!(wary(OpenOptions::new().read(true), false).open(&link).is_err());
        assert!(wary(OpenOptions::new().read(true), false).open(&file).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
