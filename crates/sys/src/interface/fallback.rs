//! Other platforms: not told.

use std::collections::BTreeMap;

const BECAUSE: &str = "this program has it on Linux only";

pub(super) fn up() -> Result<Vec<String>, &'static str> {
    Err(BECAUSE)
}

pub(super) fn features(_: &str) -> Result<BTreeMap<String, bool>, &'static str> {
    Err(BECAUSE)
}
