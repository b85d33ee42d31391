//! Addresses that others may reach this host by.

use crate::nats::connect::host_of;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_sys::interface;
use v6gap_sys::socket::Datagram;

/// Most addresses of a family that are told: a heartbeat is none if it is too long.
const OF_FAMILY_MAX: usize = 8;

/// Longest that names of the hub are looked up.
const PATIENCE: Duration = Duration::from_secs(5);

/// A port to ask for a route with. Nothing is sent to it.
const PORT: u16 = 9;

/// Where the hub is, so far as its names are known here at once.
pub(super) async fn of_hubs(hubs: &[String]) -> Vec<SocketAddr> {
    let mut all = Vec::new();
    let looked_up = async {
        for hub in hubs {
            // A name that is not known says nothing of the way to the others.
            if let Ok(found) = tokio::net::lookup_host((host_of(hub), PORT)).await {
                all.extend(found);
            }
        }
    };
    // Those that were found until then will do.
    let _ = tokio::time::timeout(PATIENCE, looked_up).await;
    all
}

/// What others are told, the best of each family first: those that are `named`, or what this host
/// has if none is.
pub(super) fn told(named: &[IpAddr], hubs: &[SocketAddr]) -> Vec<String> {
    let told = match named {
        // Where the system does not tell, they have to be named.
        [] => ordered(&interface::addresses().unwrap_or_default(), &usual(hubs)),
        named => named.iter().copied().take(2 * OF_FAMILY_MAX).collect(),
    };
    told.iter().map(IpAddr::to_string).collect()
}

/// The addresses `found` that others can use, those that this host itself uses first, then those
/// for all the world.
fn ordered(found: &[IpAddr], usual: &[IpAddr]) -> Vec<IpAddr> {
    let is_own = |address: &IpAddr| match address {
        IpAddr::V4(v4) => v4.is_private(),
        IpAddr::V6(v6) => v6.is_unique_local(),
    };
    // In the order of their numbers, each once.
    let found: BTreeSet<IpAddr> = found.iter().copied().filter(is_usable).collect();
    let mut found: Vec<IpAddr> = found.into_iter().collect();
    found.sort_by_key(|address| (!usual.contains(address), is_own(address)));
    let of = |family: Family| {
        let of = found.iter().copied().filter(move |address| Family::of(address) == Some(family));
        of.take(OF_FAMILY_MAX)
    };
    Family::BOTH.into_iter().flat_map(of).collect()
}

fn is_usable(address: &IpAddr) -> bool {
    let is_near = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    !is_near && !address.is_loopback() && !address.is_unspecified()
}

/// The address of each family that this host uses towards the hub, or, where the hub has none of
/// that family or is on this host, towards the world.
pub(super) fn usual(hubs: &[SocketAddr]) -> Vec<IpAddr> {
    let of = |family: Family| {
        let hubs = hubs.iter().copied().filter(|hub| Family::of(&hub.ip()) == Some(family));
        hubs.chain([world(family)]).filter_map(towards).find(is_usable)
    };
    Family::BOTH.into_iter().filter_map(of).collect()
}

/// An address for documentation, which goes where all goes for which there is no other route
/// (RFC 5737, RFC 3849).
fn world(family: Family) -> SocketAddr {
    let address: IpAddr = match family {
        Family::V4 => Ipv4Addr::new(192, 0, 2, 1).into(),
        Family::V6 => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    SocketAddr::new(address, PORT)
}

/// The address that this host uses towards `remote`, if it has a route: its system chooses it when
/// a socket for datagrams is connected, which sends nothing.
fn towards(remote: SocketAddr) -> Option<IpAddr> {
    let any = Family::of(&remote.ip())?.unspecified();
    let socket = Datagram::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(remote).ok()?;
    Some(socket.local().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn what_the_host_itself_uses_comes_before_bridges_of_its_own() {
        let found = list(&[
            "127.0.0.1",
            "::1",
            "172.17.0.1",
            "192.168.1.5",
            "fe80::1",
            "169.254.1.1",
            "fd00::1",
            "2001:db8::5",
            "192.168.1.5",
        ]);
        let usual = list(&["192.168.1.5", "fd00::1"]);
        let first = ["192.168.1.5", "172.17.0.1", "fd00::1", "2001:db8::5"];
        assert_eq!(ordered(&found, &usual), list(&first));
        // Where nothing tells, those for all the world come first.
        let first = ["172.17.0.1", "192.168.1.5", "2001:db8::5", "fd00::1"];
        assert_eq!(ordered(&found, &[]), list(&first));
        // What is gone again is told to nobody.
        assert!(ordered(&[], &usual).is_empty());
    }

    #[test]
    fn however_many_there_are_those_that_are_used_are_told_and_few_others() {
        let many = |end: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, end]);
        let mut found: Vec<IpAddr> = (1..1_000).map(many).collect();
        found.extend(list(&["10.0.0.1"]));
        let told = ordered(&found, &[many(999)]);
        assert_eq!(told.len(), 1 + OF_FAMILY_MAX);
        assert_eq!(told[..2], [list(&["10.0.0.1"])[0], many(999)]);
        assert_eq!(super::told(&found, &[]).len(), 2 * OF_FAMILY_MAX);
    }

    /// Nothing but loopback need be there.
    #[test]
    fn the_system_says_which_address_it_uses() {
        let loopback = Family::V4.loopback();
        assert_eq!(towards(SocketAddr::new(loopback, PORT)), Some(loopback));
        // That of a hub on this host is of use to nobody else.
        assert!(!usual(&[SocketAddr::new(loopback, PORT)]).contains(&loopback));
    }
}
