//! Windows: `ProcessPrng`, which the standard library uses too.

use std::io;

#[link(name = "bcryptprimitives", kind = "raw-dylib")]
unsafe extern "system" {
    fn ProcessPrng(data: *mut u8, length: usize) -> i32;
}

pub(super) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of one valid slice.
    match unsafe { ProcessPrng(bytes.as_mut_ptr(), bytes.len()) } {
        0 => Err(io::Error::other("ProcessPrng failed")),
        _ => Ok(()),
    }
}
