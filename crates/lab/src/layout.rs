//! From a world to names, addresses and routes: pure arithmetic, so that every lab of the same
//! world looks the same.
//!
//! Subnets and addresses are [`World::subnet`] and [`World::address`]; here is what only a kernel
//! needs: names of interfaces, Ethernet addresses, neighbours and routes.

use std::net::{IpAddr, Ipv6Addr};
use v6gap_core::family::Family;
use v6gap_core::world::{End, NodeKind, Side, Topology, World};

/// Name of the bridge of a switch.
pub(crate) const BRIDGE: &str = "bridge";

/// A world and who is next to whom in it.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub world: &'a World,
    pub topology: Topology,
}

/// A way to a subnet that is not a node's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The subnet's first address.
    pub subnet: IpAddr,
    pub prefix_bits: u8,
    /// The neighbour to send to.
    pub via: IpAddr,
}

/// Another end in the same subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub address: IpAddr,
    pub mac: [u8; 6],
}

/// Name of the interface of a node on link `link` (from 0).
pub(crate) fn interface(link: usize) -> String {
    format!("link{}", link + 1)
}

/// Name of the user-space link's interface towards one end of link `link` (from 0).
pub(crate) fn wire_interface(end: End) -> String {
    let letter = match end.side {
        Side::First => 'a',
        Side::Second => 'b',
    };
    format!("link{}{letter}", end.link + 1)
}

/// Ethernet address of a link's end: locally administered (IEEE 802 section 8.4), the same every
/// time.
pub(crate) fn mac(end: End) -> [u8; 6] {
    let side = match end.side {
        Side::First => 1,
        Side::Second => 2,
    };
    // Fits, because worlds with more links are refused.
    [0x02, 0x46, 0, 0, (end.link + 1) as u8, side]
}

/// The link-local address that the kernel derives from [`mac`] (RFC 4291 appendix A).
pub(crate) fn link_local(end: End) -> IpAddr {
    let [a, b, c, d, e, f] = mac(end);
    let tail = [a ^ 0x02, b, c, 0xff, 0xfe, d, e, f];
    IpAddr::V6(Ipv6Addr::from_bits((0xfe80 << 112) | u128::from(u64::from_be_bytes(tail))))
}

impl<'a> Layout<'a> {
    pub fn of(world: &'a World) -> Self {
        Layout { world, topology: Topology::of(world) }
    }

    /// Whether a node passes frames on as a switch.
    pub fn is_switch(&self, node: usize) -> bool {
        self.world.nodes[node].kind == NodeKind::Switch
    }

    /// The families that nodes have addresses for.
    pub fn families(&self) -> impl Iterator<Item = Family> {
        let families = self.world.families;
        Family::BOTH.into_iter().filter(move |family| *families.get(*family))
    }

    /// The address of an end, with the length of its prefix.
    pub fn address(&self, end: End, family: Family) -> Option<(IpAddr, u8)> {
        let address = self.world.address(&self.topology, end, family)?;
        let segment = self.topology.segment_of(end.link);
        Some((address, self.world.subnet(&self.topology, segment, family).prefix_bits()))
    }

    /// All ends in the same subnet but `end` itself, by each of their addresses.
    pub fn neighbours(&self, end: End) -> Vec<Neighbour> {
        let segment = self.topology.segment_of(end.link);
        let members = self.topology.segments()[segment].members.iter();
        let mut neighbours = Vec::new();
        for &other in members.filter(|&&other| other != end) {
            for family in self.families() {
                let address = self.world.address(&self.topology, other, family);
                let local = (family == Family::V6).then(|| link_local(other));
                let addresses = address.into_iter().chain(local);
                let mac = mac(other);
                neighbours.extend(addresses.map(|address| Neighbour { address, mac }));
            }
        }
        neighbours
    }

    /// Routes of a node to all subnets that it is not in.
    pub fn routes(&self, node: usize) -> Vec<Route> {
        let mut routes = Vec::new();
        for (segment, hop) in self.topology.routes(node) {
            for family in self.families() {
                let subnet = self.world.subnet(&self.topology, segment, family);
                let via = self.world.address(&self.topology, hop.via, family);
                routes.extend(via.map(|via| Route {
                    subnet: subnet.first(),
                    prefix_bits: subnet.prefix_bits(),
                    via,
                }));
            }
        }
        routes
    }
}

#[cfg(test)]
mod tests;
