//! Other platforms: no counters.

use crate::Unavailable;
use std::collections::BTreeMap;

pub(super) fn refresh(_values: &mut BTreeMap<String, u64>) -> Result<(), Unavailable> {
    Err(Unavailable::new("kernel network counters", "this program can read them on Linux only"))
}

pub(super) fn queues_told() -> Result<(), Unavailable> {
    Err(Unavailable::new(
        "counters of the interfaces' queues",
        "this program can read them on Linux only",
    ))
}
