//! Locks on bytes of files, which the kernel drops when their holder ends, however that happens,
//! and the folder in which the users of a host find those of each other.
//!
//! On Linux a lock belongs to the open file, elsewhere on Unix to the process: there one process
//! must not look at its own files, because closing such a file again would drop its locks.

use crate::Unavailable;
use std::fs::{File, Metadata};
use std::io;
use std::path::PathBuf;

/// Whether a process may look at files on which it has locks itself. Elsewhere it loses them.
pub const MAY_LOOK_AT_OWN: bool = cfg!(target_os = "linux");

/// What is not to be had where locks are not.
pub const WHAT: &str = "one measurement at a time on a host";

/// Folders that may be all users': the first that is. The one for locks is in memory, and nobody
/// clears it while the system runs; not every system has it open to all.
#[cfg(target_os = "linux")]
const FOLDERS: [&str; 2] = ["/run/lock", "/tmp"];
#[cfg(all(unix, not(target_os = "linux")))]
const FOLDERS: [&str; 2] = ["/private/tmp", "/tmp"];

/// Set on a folder in which all may list, make and enter, and nobody removes what is another's.
#[cfg(unix)]
const EVERYBODYS: u32 = 0o1007;

/// List of the users and their numbers.
#[cfg(unix)]
const USERS: &str = "/etc/passwd";

/// How a lock is asked for, and how it is found out whether there is one.
#[cfg(target_os = "linux")]
const COMMANDS: (libc::c_int, libc::c_int) = (libc::F_OFD_SETLK, libc::F_OFD_GETLK);
#[cfg(all(unix, not(target_os = "linux")))]
const COMMANDS: (libc::c_int, libc::c_int) = (libc::F_SETLK, libc::F_GETLK);

/// Fails where there are no such locks.
///
/// # Errors
/// Everywhere but on Unix.
pub fn supported() -> Result<(), Unavailable> {
    match cfg!(unix) {
        true => Ok(()),
        false => Err(Unavailable::new(WHAT, "this program has it on Unix only")),
    }
}

/// The folder in which all users of this host may make files and nobody removes those of others.
///
/// Which it is follows from the folders alone, so that all users come to the same one.
///
/// # Errors
/// If there is none.
pub fn folder() -> Result<PathBuf, Unavailable> {
    supported()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let is_everybodys = |path: &&&str| {
            let found = std::fs::symlink_metadata(path);
            let open = |mode: u32| mode & EVERYBODYS == EVERYBODYS;
            found.is_ok_and(|found| found.is_dir() && open(found.permissions().mode()))
        };
        match FOLDERS.iter().find(is_everybodys) {
            Some(path) => Ok(PathBuf::from(path)),
            None => {
                let because = format!("none of {} is open to all users", FOLDERS.join(" and "));
                Err(Unavailable::new(WHAT, because))
            }
        }
    }
    #[cfg(not(unix))]
    {
        Ok(PathBuf::new())
    }
}

/// Locks that byte of a file that is open for writing, until `file` is closed or the process ends;
/// `false` if somebody else has a lock on it.
///
/// # Errors
/// If the file system has no locks, or the file is not open for writing.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such locks"))]
pub fn take(file: &File, byte: u8) -> io::Result<bool> {
    #[cfg(unix)]
    {
        let refused = |code: Option<i32>| matches!(code, Some(libc::EAGAIN | libc::EACCES));
        match ask(file, COMMANDS.0, libc::F_WRLCK as libc::c_short, byte) {
            Ok(_) => Ok(true),
            Err(error) if refused(error.raw_os_error()) => Ok(false),
            Err(error) => Err(error),
        }
    }
    #[cfg(not(unix))]
    {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether somebody else has locked that byte with [`take`]. Who may only read the file cannot
/// feign that: locks that readers may have do not count.
///
/// # Errors
/// If the file system has no locks.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such locks"))]
pub fn is_taken(file: &File, byte: u8) -> io::Result<bool> {
    #[cfg(unix)]
    {
        let found = ask(file, COMMANDS.1, libc::F_RDLCK as libc::c_short, byte)?;
        Ok(found != libc::F_UNLCK as libc::c_short)
    }
    #[cfg(not(unix))]
    {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Asks the kernel about a lock on a byte; the kind that it answers with.
#[cfg(unix)]
fn ask(
    file: &File,
    command: libc::c_int,
    kind: libc::c_short,
    byte: u8,
) -> io::Result<libc::c_short> {
    use std::os::fd::AsRawFd;
    // SAFETY: a structure of plain numbers, each of which may be zero.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte.into();
    lock.l_len = 1;
    // SAFETY: the descriptor is open as long as `file` is, and of memory the kernel reads and
    // writes only the structure, which outlives the call.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } {
        0 => Ok(lock.l_type),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets everybody read a file that its owner alone may write.
///
/// # Errors
/// If it belongs to somebody else.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such locks"))]
pub fn show(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))
    }
    #[cfg(not(unix))]
    {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether the file still has a name.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such locks"))]
pub fn is_named(found: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        found.nlink() > 0
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// The user whose file it is: a name of the system's list, or else the number.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such locks"))]
pub fn owner(found: &Metadata) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let users = std::fs::read_to_string(USERS).unwrap_or_default();
        Some(name_in(&users, found.uid()).unwrap_or_else(|| format!("user {}", found.uid())))
    }
    #[cfg(not(unix))]
    {
        None
    }
}

/// The name of the user of that number, in the form of passwd(5).
#[cfg(unix)]
fn name_in(users: &str, number: u32) -> Option<String> {
    let number = number.to_string();
    let is = |line: &&str| line.split(':').nth(2) == Some(number.as_str());
    let name = users.lines().find(is)?.split(':').next()?;
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn a_lock_needs_the_right_to_write_and_goes_with_the_file() {
        let path = std::env::temp_dir().join(format!("v6gap-lock-{}", std::process::id()));
        let open = |write| OpenOptions::new().read(true).write(write).open(&path).unwrap();
        std::fs::write(&path, "claim").unwrap();
        let (own, other, reader) = (open(true), open(true), open(false));
        assert!(take(&own, 0).unwrap());
        assert!(!take(&other, 0).unwrap() && take(&other, 1).unwrap());
        assert!(take(&reader, 2).is_err());
        assert!(is_taken(&reader, 0).unwrap() && is_taken(&reader, 1).unwrap());
        assert!(!is_taken(&reader, 2).unwrap());
        // What a reader may lock is no lock here.
        ask(&reader, COMMANDS.0, libc::F_RDLCK as libc::c_short, 3).unwrap();
        assert!(!is_taken(&other, 3).unwrap());
        drop(own);
        // Programs that other tests start have all files until they begin, and then none: waits
        // for these.
        ask(&reader, libc::F_OFD_SETLKW, libc::F_RDLCK as libc::c_short, 0).unwrap();
        assert!(!is_taken(&other, 0).unwrap());
        show(&other).unwrap();
        assert!(is_named(&other.metadata().unwrap()));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_named(&other.metadata().unwrap()));
    }

    #[test]
    fn a_user_has_a_name_or_a_number() {
        let users = "root:x:0:0:root:/:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n:x:7:7::/:\n";
        assert_eq!(name_in(users, 1000).as_deref(), Some("alice"));
        assert_eq!([name_in(users, 7), name_in(users, 1)], [None, None]);
    }

    #[test]
    fn this_system_has_a_folder_for_all() {
        let folder = folder().unwrap();
        assert!(FOLDERS.iter().any(|known| folder == PathBuf::from(known)));
    }
}
