//! Modes, flags of open(2) and poll(2).

use crate::socket::wait;
use rustix::event::PollFlags;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};

pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

pub(super) fn private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(0o700)
}

pub(super) fn wary(options: &mut OpenOptions, follow: bool) -> &mut OpenOptions {
    let end = if follow { 0 } else { libc::O_NOFOLLOW };
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | end)
}

pub(super) fn is_pipe(found: &Metadata) -> bool {
    found.file_type().is_fifo()
}

pub(super) fn readable(pipe: &File, timeout_ns: u64) -> io::Result<bool> {
    wait::ready(pipe, PollFlags::IN, Some(timeout_ns))
}
