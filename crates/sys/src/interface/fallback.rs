//! Other platforms: not told.

use std::collections::BTreeMap;
use std::net::IpAddr;

const BECAUSE: &str = "this program has it on Linux only";

pub(super) fn up() -> Result<Vec<String>, &'static str> {
    Err(BECAUSE)
}

pub(super) fn features(_: &str) -> Result<BTreeMap<String, bool>, &'static str> {
    Err(BECAUSE)
}

pub(super) fn with_address(_: IpAddr) -> Result<String, &'static str> {
    Err(BECAUSE)
}

pub(super) fn addresses() -> Result<Vec<IpAddr>, &'static str> {
    Err(BECAUSE)
}

pub(super) fn speed_bps(_: &str) -> Result<u64, &'static str> {
    Err(BECAUSE)
}
