//! Platforms without `getrusage`.

use super::Usage;
use crate::Unavailable;

const BECAUSE: &str = "this platform has no getrusage";

pub(super) fn thread() -> Result<Usage, Unavailable> {
    Err(Unavailable::new("processor use of a thread", BECAUSE))
}

pub(super) fn process() -> Result<Usage, Unavailable> {
    Err(Unavailable::new("processor use of the process", BECAUSE))
}
