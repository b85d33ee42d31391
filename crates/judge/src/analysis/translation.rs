//! Arms whose packets are translated into the other family on the way: they are never called by the
//! name of a family alone, and every answer about them says so.
//!
//! They are known by addresses that are for translation alone. A translator with a prefix of its
//! network is not seen here.

use super::collect::Collected;
use core::net::IpAddr;
use v6gap_core::family::Family;

/// A translated arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Translated {
    /// The address that tells it.
    pub address: IpAddr,
    /// What that is an address of.
    pub by: &'static str,
}

/// What an address says of itself: 464XLAT's own IPv4 addresses (RFC 7335), and the prefixes of
/// NAT64 (RFC 6052 section 2.1, RFC 8215).
pub(super) fn kind(address: &IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) if v4.octets()[..3] == [192, 0, 0] && v4.octets()[3] < 8 => Some("464XLAT"),
        IpAddr::V6(_) if Family::arriving(address) == Some(Family::V4) => Some("NAT64"),
        _ => None,
    }
}

/// Whether what the client sent over `family` was translated.
pub(super) fn of(found: &Collected<'_>, family: Family) -> Option<Translated> {
    let trials = found.trials.iter().filter(|trial| trial.family == family);
    let ends = trials.filter_map(|trial| trial.ends.client.endpoints);
    let sockets = ends.flat_map(|ends| [ends.peer.ip(), ends.local.ip()]);
    let named = (*found.run.addresses.get(family)).into_iter();
    named.chain(sockets).find_map(|address| Some(Translated { address, by: kind(&address)? }))
}
