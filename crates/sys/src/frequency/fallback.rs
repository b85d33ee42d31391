//! Other platforms: not told.

use super::Frequency;

const BECAUSE: &str = "this program can read it on Linux only";

pub(super) fn of(_cpu: usize) -> Result<Frequency, &'static str> {
    Err(BECAUSE)
}

pub(super) fn boosts() -> Result<bool, &'static str> {
    Err(BECAUSE)
}
