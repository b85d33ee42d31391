//! What systems differ in where files are made and opened: who else may read them, whether a name
//! may lead elsewhere, and how long a pipe is waited for. Opening itself is left to the caller.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "fallback.rs")]
mod platform;
#[cfg(all(test, unix))]
mod tests;

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;

/// Files that `options` make may be read and written by their owner alone. A system that does not
/// know modes gives them what the folder says.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    platform::private(options)
}

/// Folders that `builder` makes may be looked into by their owner alone.
pub fn private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    platform::private_folder(builder)
}

/// Opening neither waits for the other end of a pipe nor takes a terminal, and fails where the last
/// part of the name is a symbolic link if `follow` is false.
pub fn wary(options: &mut OpenOptions, follow: bool) -> &mut OpenOptions {
    platform::wary(options, follow)
}

/// Whether it is a pipe, with a name or without.
pub fn is_pipe(found: &Metadata) -> bool {
    platform::is_pipe(found)
}

/// Waits until `pipe` can be read or has ended; `false` if `timeout_ns` passed before.
///
/// # Errors
/// If the system does not let it be waited for.
pub fn readable(pipe: &File, timeout_ns: u64) -> io::Result<bool> {
    platform::readable(pipe, timeout_ns)
}
