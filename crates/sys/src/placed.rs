//! Buffers at a place within a page that is drawn: the system puts large ones at the start of a
//! page, where each process has them alike, and how fast they are copied depends on the place.

use crate::{Unavailable, entropy};
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// A page, in bytes; places in a larger one are among those of its parts.
const PAGE_BYTES: usize = 4096;

/// Places are so many bytes apart: a line of the cache.
const LINE_BYTES: usize = 64;

/// Where buffers of this process begin in their page.
static PLACE: OnceLock<usize> = OnceLock::new();

/// Draws the place of all buffers that this process makes from now on; only once.
///
/// # Errors
/// If the system has no random bytes; buffers lie where the system puts them then.
pub fn draw() -> Result<(), Unavailable> {
    let [byte] = entropy::bytes()?;
    let _ = PLACE.set(usize::from(byte) % (PAGE_BYTES / LINE_BYTES) * LINE_BYTES);
    Ok(())
}

/// A buffer of a fixed length, at the drawn place if one was drawn.
#[derive(Debug)]
pub struct Bytes {
    all: Vec<u8>,
    from: usize,
}

impl Bytes {
    /// So many zeros.
    pub fn zeroed(length: usize) -> Self {
        Bytes::at(PLACE.get().copied(), length)
    }

    fn at(place: Option<usize>, length: usize) -> Self {
        let Some(place) = place else {
            return vec![0; length].into();
        };
        let mut all = vec![0; length + PAGE_BYTES];
        // What is behind is of no use.
        let from = place.wrapping_sub(all.as_ptr().addr()) % PAGE_BYTES;
        all.truncate(from + length);
        Bytes { all, from }
    }
}

impl Clone for Bytes {
    /// The same bytes at the drawn place.
    fn clone(&self) -> Self {
        let mut other = Bytes::zeroed(self.len());
        other.copy_from_slice(self);
        other
    }
}

impl From<Vec<u8>> for Bytes {
    /// These bytes where they are.
    fn from(all: Vec<u8>) -> Self {
        Bytes { all, from: 0 }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.all[self.from..]
    }
}

impl DerefMut for Bytes {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.all[self.from..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_its_place_and_is_as_long_as_was_asked_for() {
        for length in [0, 1, 64, 4_095, 70_000, 1 << 20] {
            for place in [0, 64, 2_048, 4_032] {
                let mut bytes = Bytes::at(Some(place), length);
                assert_eq!(bytes.len(), length);
                assert_eq!(bytes.as_ptr().addr() % PAGE_BYTES, place);
                bytes.fill(7);
                let moved = bytes;
                assert!(moved.iter().all(|&byte| byte == 7));
                assert_eq!(moved.as_ptr().addr() % PAGE_BYTES, place);
            }
            assert_eq!(Bytes::at(None, length).len(), length);
        }
    }
}
