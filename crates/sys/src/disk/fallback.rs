//! Where files have no modes and pipes are no files.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;

pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(super) fn private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

pub(super) fn wary(options: &mut OpenOptions, _follow: bool) -> &mut OpenOptions {
    options
}

pub(super) fn is_pipe(_found: &Metadata) -> bool {
    false
}

pub(super) fn readable(_pipe: &File, _timeout_ns: u64) -> io::Result<bool> {
    Ok(true)
}
