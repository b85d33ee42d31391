//! Other platforms: the width stays unknown and no keys are read.

use super::Output;
use crate::Unavailable;
use std::time::Duration;

/// Nothing is changed, so nothing is put back.
pub(super) type Before = ();

pub(super) fn width(_output: Output) -> Option<u16> {
    None
}

pub(super) fn input_is_over() -> bool {
    false
}

pub(super) fn begin() -> Result<Before, Unavailable> {
    Err(Unavailable::new("keys", "this program reads them on Unix only"))
}

pub(super) fn next(_wait: Duration) -> Option<u8> {
    None
}

pub(super) fn end((): &Before) {}
