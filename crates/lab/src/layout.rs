//! From a world to names, addresses and routes: pure arithmetic, so that every lab of the same
//! world looks the same.
//!
//! Subnets and addresses are [`World::subnet`] and [`World::address`]; here is what only a kernel
//! needs: names of interfaces, Ethernet addresses, neighbours and routes.

use std::net::{IpAddr, Ipv6Addr};
use v6gap_core::family::Family;
use v6gap_core::world::{
    End, LaidTunnel, NextHop, NodeKind, Side, Topology, Translation, TranslationKind, World,
};

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
    /// Largest packet, in bytes, where it is not that of the interface.
    pub mtu: Option<u32>,
}

/// First address and length of the prefix of what a route is to.
pub(crate) type Destination = (IpAddr, u8);

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

    /// Routes of a node to all subnets that it is not in, and to hosts by their addresses inside of
    /// tunnels, but for what it sends into a tunnel itself.
    pub fn routes(&self, node: usize) -> Vec<Route> {
        let tunnels = 0..self.world.tunnels.len();
        let mut own: Vec<Destination> = tunnels.flat_map(|n| self.tunnelled(node, n)).collect();
        own.extend(self.translated(node));
        let mut routes = Vec::new();
        let mut add = |to: Destination, hop: Option<NextHop>, most: Option<u32>| {
            let Some(hop) = hop.filter(|_| !own.contains(&to)) else { return };
            let via = self.world.address(&self.topology, hop.via, family(&to));
            let of_link = *self.world.links[hop.out.link].mtus.get(family(&to));
            let mtu = most.into_iter().chain(of_link).min();
            routes.extend(via.map(|via| Route { subnet: to.0, prefix_bits: to.1, via, mtu }));
        };
        for (segment, hop) in self.topology.routes(node) {
            for family in self.families() {
                add(self.subnet(segment, family), Some(hop), None);
            }
        }
        for (host, router, addresses) in self.hosts_inside() {
            let step = self.topology.steps(node, router).first().copied();
            for to in addresses.into_iter().filter(|_| node != host) {
                add(to, step, None);
            }
        }
        for (to, bits, at) in self.world.translation.iter().flat_map(Translation::ways) {
            let family = family(&(to, bits));
            let step = self.topology.steps(node, at).first().copied();
            add((to, bits), step, Some(self.world.mtu_translated(family)));
        }
        routes
    }

    /// What a client translates before it sends it: all IPv4 that is behind the router which
    /// translates it back.
    pub fn translated(&self, node: usize) -> Vec<Destination> {
        let here = |t: &&Translation| t.kind == TranslationKind::Xlat464 && t.client == node;
        let Some(translation) = self.world.translation.as_ref().filter(here) else {
            return Vec::new();
        };
        let behind = self.topology.routers_to(node).into_iter();
        let behind = behind.filter(|(_, routers)| routers.contains(&translation.at));
        behind.map(|(segment, _)| self.subnet(segment, translation.kind.translates())).collect()
    }

    /// What a node at one end of tunnel `number` sends into it: all that is behind the other end.
    pub fn tunnelled(&self, node: usize, number: usize) -> Vec<Destination> {
        let laid = &self.world.tunnels[number];
        let Some([_, far]) = laid.ends_from(node) else { return Vec::new() };
        let mut found = Vec::new();
        for (segment, routers) in self.topology.routers_to(node) {
            if routers.contains(&far) {
                found.extend(self.families().map(|family| self.subnet(segment, family)));
            }
        }
        for (host, router, addresses) in self.hosts_inside() {
            let behind = || self.topology.steps(node, router).into_iter().map(|step| step.via);
            if host == far || (host != node && behind().any(|at| self.topology.node(at) == far)) {
                found.extend(addresses);
            }
        }
        found.retain(|to| *laid.carries.get(family(to)));
        found
    }

    /// Hosts that are known by addresses inside of tunnels, each with the other end of its tunnel
    /// and these addresses.
    fn hosts_inside(&self) -> Vec<(usize, usize, Vec<Destination>)> {
        let ends = self.world.tunnels.iter().flat_map(|laid| {
            let [first, second] = laid.ends;
            [(laid, first, second), (laid, second, first)]
        });
        let host = |(laid, host, far): (&LaidTunnel, usize, usize)| {
            let carried = self.families().filter(|family| *laid.carries.get(*family));
            let inside = carried.filter_map(|f| self.world.address_inside(host, f));
            let whole = |address: IpAddr| (address, if address.is_ipv4() { 32 } else { 128 });
            let addresses: Vec<Destination> = inside.map(whole).collect();
            (!addresses.is_empty()).then_some((host, far, addresses))
        };
        ends.filter_map(host).collect()
    }

    /// The subnet of a segment.
    pub fn subnet(&self, segment: usize, family: Family) -> Destination {
        let subnet = self.world.subnet(&self.topology, segment, family);
        (subnet.first(), subnet.prefix_bits())
    }
}

fn family(to: &Destination) -> Family {
    if to.0.is_ipv4() { Family::V4 } else { Family::V6 }
}

#[cfg(test)]
mod tests;
