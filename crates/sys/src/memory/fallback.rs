//! Other platforms: not told.

use crate::Unavailable;
use crate::socket::Domain;

const BECAUSE: &str = "this program can read it on Linux only";

pub(super) fn tcp_slab_bytes(_domain: Domain) -> Result<u64, Unavailable> {
    Err(Unavailable::new("memory of kernel objects", BECAUSE))
}

pub(super) fn tcp_page_bytes() -> Result<u64, Unavailable> {
    Err(Unavailable::new("memory of socket data", BECAUSE))
}
