//! Other platforms: no placement, which the caller states beside its results.

use crate::Unavailable;

const BECAUSE: &str = "this program can place threads on Linux only";

pub(super) fn allowed() -> Result<Vec<usize>, Unavailable> {
    Err(Unavailable::new("the list of processors", BECAUSE))
}

pub(super) fn pin_thread(_cpu: usize) -> Result<(), Unavailable> {
    Err(Unavailable::new("processor pinning", BECAUSE))
}

pub(super) fn current() -> Option<usize> {
    None
}
