//! Other platforms: no machine-wide figures.

use super::MachineTicks;
use crate::Unavailable;

const BECAUSE: &str = "this program can read it on Linux only";

pub(super) fn machine() -> Result<MachineTicks, Unavailable> {
    Err(Unavailable::new("processor use of the machine", BECAUSE))
}

pub(super) fn machine_number() -> Result<u64, Unavailable> {
    Err(Unavailable::new("the identity of the machine", BECAUSE))
}

pub(super) fn pressure_cpu_us() -> Result<u64, Unavailable> {
    Err(Unavailable::new("processor pressure", BECAUSE))
}
