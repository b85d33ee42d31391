//! The name server that this system asks.

use std::net::{IpAddr, SocketAddr};
use v6gap_sys::host::resolver;

/// Port of DNS.
const PORT: u16 = 53;

/// The first one, where the system tells.
pub(crate) fn of_system() -> Option<SocketAddr> {
    let first: IpAddr = resolver::servers().ok()?.into_iter().next()?;
    Some(SocketAddr::new(first, PORT))
}
