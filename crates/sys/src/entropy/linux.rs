//! Linux: `getrandom`, which may give fewer bytes than asked or be interrupted.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

pub(super) fn fill(mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match getrandom(&mut *bytes, GetRandomFlags::empty()) {
            Ok(count) => bytes = &mut bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
