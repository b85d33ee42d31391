//! Arms whose packets are translated into the other family on the way: they are never called by the
//! name of a family alone, and every answer about them says so.
//!
//! They are known by addresses that are for translation alone. A translator with a prefix of its
//! network is known where a probe was told of it (RFC 7050).

use super::collect::Collected;
use core::net::IpAddr;
use v6gap_core::family::Family;
use v6gap_core::host::names;

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
        IpAddr::V6(_) if Family::arriving(address) == Some(Family::V4) => Some(names::NAT64),
        _ => None,
    }
}

/// Whether what the client sent over `family` was translated.
pub(super) fn of(found: &Collected<'_>, family: Family) -> Option<Translated> {
    let trials = found.trials.iter().filter(|trial| trial.family == family);
    let ends = trials.filter_map(|trial| trial.ends.client.endpoints);
    let sockets = ends.flat_map(|ends| [ends.peer.ip(), ends.local.ip()]);
    let named = (*found.run.addresses.get(family)).into_iter();
    let by_address =
        named.chain(sockets).find_map(|address| Some(Translated { address, by: kind(&address)? }));
    by_address.or_else(|| told(found, family))
}

/// What the network has told.
fn told(found: &Collected<'_>, family: Family) -> Option<Translated> {
    let by = found.run.hosts.server.facts.get(names::translated(family))?;
    let address = (*found.run.addresses.get(family))?;
    (by == names::NAT64).then_some(Translated { address, by: names::NAT64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::analysis::tests::{EVEN, plan, run};
    use alloc::string::ToString;
    use v6gap_core::arm::PerArm;
    use v6gap_core::record::Line;

    #[test]
    fn a_translator_with_a_prefix_of_its_network_is_known_where_that_has_told() {
        let mut lines = run(&plan(PerArm::FAMILIES, 1), 6, &EVEN);
        let name = |lines: &[Line]| analyse(lines).unwrap().arm_names.b;
        if let Line::Run(header) = &mut lines[0] {
            header.addresses.v6 = Some("2001:db8:64::10.46.2.2".parse().unwrap());
        }
        assert_eq!(name(&lines), "IPv6");
        if let Line::Run(header) = &mut lines[0] {
            let fact = names::translated(Family::V6).to_string();
            header.hosts.server.facts.insert(fact, names::NAT64.to_string());
        }
        assert_eq!(name(&lines), "IPv6 by NAT64");
    }
}
