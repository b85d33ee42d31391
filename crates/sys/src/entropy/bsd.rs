//! macOS and FreeBSD: `getentropy`, which gives at most 256 bytes at a time.

use std::io;

pub(super) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    for part in bytes.chunks_mut(256) {
        // SAFETY: the pointer and the length are those of one valid slice.
        if unsafe { libc::getentropy(part.as_mut_ptr().cast(), part.len()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
