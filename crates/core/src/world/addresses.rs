//! Which address every end has: the same in every lab of the same world.

use super::{End, NodeKind, Subnet, Topology, World};
use crate::family::{Family, PerFamily};
use core::net::IpAddr;

impl World {
    /// The subnet of a segment: that which its links name, or else number n (from 1) of
    /// 10.46.n.0/24 (RFC 1918) and fd46:n::/64 (RFC 4193).
    pub fn subnet(&self, topology: &Topology, segment: usize, family: Family) -> Subnet {
        let links = topology.segments().get(segment).map(|s| s.links.as_slice());
        let links = links.unwrap_or_default().iter().filter_map(|&link| self.links.get(link));
        let named = links.filter_map(|link| *link.subnets.get(family)).next();
        named.unwrap_or_else(|| Subnet::numbered(family, segment + 1))
    }

    /// The address of an end, whose host number is its place among the members of its segment from
    /// 1; `None` at a switch and for a family that is absent.
    pub fn address(&self, topology: &Topology, end: End, family: Family) -> Option<IpAddr> {
        let segment = topology.segment_of(end.link);
        let members = &topology.segments().get(segment)?.members;
        let place = members.iter().position(|member| *member == end)?;
        let has = *self.families.get(family);
        has.then(|| self.subnet(topology, segment, family).host(place as u32 + 1))
    }

    /// The addresses that a node is known by: those of its end nearest to the client, and the
    /// client's own nearest to the server; of a family that a tunnel carries which ends at this
    /// host, the address inside; of one that is translated, the address that the client sends to
    /// or from.
    pub fn addresses(&self, topology: &Topology, node: usize) -> PerFamily<Option<IpAddr>> {
        let end = if node == self.client {
            topology.ends_towards(node, self.server).map(|(out, _)| out)
        } else {
            topology.ends_towards(self.client, node).map(|(_, via)| via)
        };
        PerFamily::from_fn(|family| {
            self.address_inside(node, family)
                .or_else(|| self.address_translated(topology, node, family))
                .or_else(|| self.address(topology, end?, family))
        })
    }

    /// Whether a node has addresses.
    pub fn is_addressed(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.kind != NodeKind::Switch)
    }
}
