//! Tunnels of a world: which packets they carry over which links, by which addresses their ends are
//! known, and whether they can be laid.

use super::check::MTU_MIN;
use super::{Hop, NodeKind, Place, Problem, Subnet, Topology, World};
use crate::family::{Family, PerFamily};
use crate::tunnel::Tunnel;
use crate::wiremodel::Encapsulation;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// A tunnel between two nodes. Packets of the families that it carries, which come to one end and
/// go on behind the other, are put into packets of another kind between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaidTunnel {
    /// The nodes at its ends, by their place in [`World::nodes`].
    pub ends: [usize; 2],
    /// What packets are put into.
    #[serde(flatten)]
    pub tunnel: Tunnel,
    /// Families whose packets are put into it.
    pub carries: PerFamily<bool>,
}

impl LaidTunnel {
    /// The end at this node and the other one; `None` if it does not end here.
    pub fn ends_from(&self, node: usize) -> Option<[usize; 2]> {
        match self.ends {
            [own, far] | [far, own] if own == node => Some([own, far]),
            _ => None,
        }
    }

    /// Exchanges the families, that outside only where the kind allows it.
    pub(super) fn swap(&mut self) {
        self.carries = self.carries.swapped();
        let other = self.tunnel.outer.other();
        if self.tunnel.kind.outer().any(|family| family == other) {
            self.tunnel.outer = other;
        }
    }
}

/// Addresses inside of tunnel `number` (from 1) at its end `host` (1 or 2): 10.47.n.0/24 (RFC 1918)
/// and fd47:n::/64 (RFC 4193).
const fn inside(number: usize, host: usize) -> PerFamily<IpAddr> {
    PerFamily {
        v4: IpAddr::V4(Ipv4Addr::new(10, 47, number as u8, host as u8)),
        v6: IpAddr::V6(Ipv6Addr::new(0xfd47, number as u16, 0, 0, 0, 0, 0, host as u16)),
    }
}

/// All addresses inside of tunnels.
fn reserved(family: Family) -> Option<Subnet> {
    let (first, bits) = match family {
        Family::V4 => (IpAddr::V4(Ipv4Addr::new(10, 47, 0, 0)), 16),
        Family::V6 => (IpAddr::V6(Ipv6Addr::new(0xfd47, 0, 0, 0, 0, 0, 0, 0)), 16),
    };
    Subnet::new(first, bits).ok()
}

impl World {
    /// The links under tunnel `number` (from 0) in turn, from its first end to its second.
    pub fn links_under(&self, topology: &Topology, number: usize) -> Vec<Hop> {
        let laid = self.tunnels.get(number);
        laid.and_then(|t| topology.path(t.ends[0], t.ends[1])).unwrap_or_default()
    }

    /// Addresses inside of tunnel `number` (from 0), in the order of its ends.
    pub fn addresses_inside(&self, number: usize) -> [PerFamily<IpAddr>; 2] {
        [1, 2].map(|host| inside(number + 1, host))
    }

    /// The address by which a host is known that is the end of a tunnel which carries `family`.
    pub fn address_inside(&self, node: usize, family: Family) -> Option<IpAddr> {
        if self.nodes.get(node)?.kind != NodeKind::Host {
            return None;
        }
        self.tunnels.iter().enumerate().find_map(|(number, laid)| {
            let side = laid.ends.iter().position(|&end| end == node)?;
            let carried = *laid.carries.get(family);
            carried.then(|| *self.addresses_inside(number)[side].get(family))
        })
    }

    /// Smallest MTU of the links under a tunnel for the packets outside, in bytes.
    fn mtu_under(&self, topology: &Topology, laid: &LaidTunnel) -> u32 {
        let path = topology.path(laid.ends[0], laid.ends[1]).unwrap_or_default();
        let outer = laid.tunnel.outer;
        path.iter().map(|hop| self.links[hop.link].mtu_of(outer)).min().unwrap_or(0)
    }

    /// What a tunnel does to a packet.
    pub fn encapsulation(&self, laid: &LaidTunnel) -> Encapsulation {
        laid.tunnel.encapsulation(self.mtu_under(&Topology::of(self), laid))
    }

    /// Largest packet inside of a tunnel, in bytes.
    pub fn mtu_inside(&self, laid: &LaidTunnel) -> u32 {
        laid.tunnel.inner_mtu(self.mtu_under(&Topology::of(self), laid))
    }

    /// For each link of [`path`](Self::path) in turn the tunnel that packets of `family` between
    /// client and server are in.
    ///
    /// A router that is itself the client or the server is reached by an address outside of its
    /// tunnels, and a host by the one inside.
    pub fn tunnels_on_path(&self, family: Family) -> Vec<Option<&LaidTunnel>> {
        let path = self.path_nodes();
        let mut over = alloc::vec![None; path.len().saturating_sub(1)];
        let place = |node: usize| {
            let place = path.iter().position(|&other| other == node)?;
            let inner = place > 0 && place + 1 < path.len();
            (inner || self.nodes[node].kind == NodeKind::Host).then_some(place)
        };
        for laid in self.tunnels.iter().filter(|laid| *laid.carries.get(family)) {
            let [Some(first), Some(second)] = laid.ends.map(place) else { continue };
            over[first.min(second)..first.max(second)].fill(Some(laid));
        }
        over
    }

    /// Why the tunnels of a world whose links are right cannot be laid.
    pub(super) fn tunnel_problems(&self) -> Vec<Problem> {
        let topology = Topology::of(self);
        let mut found = Vec::new();
        let mut add = |place, what: String| found.push(Problem { place, what });
        let mut taken: Vec<(usize, usize)> = Vec::new();
        for (number, laid) in self.tunnels.iter().enumerate() {
            let place = Place::Tunnel(number);
            if let Some(what) = self.ends_problem(number).or_else(|| self.kind_problem(laid)) {
                add(place, what);
                continue;
            }
            for hop in self.links_under(&topology, number) {
                if let Some((_, other)) = taken.iter().find(|(link, _)| *link == hop.link) {
                    let link = hop.link + 1;
                    add(place, format!("tunnel {} is over link {link} already", other + 1));
                }
                taken.push((hop.link, number));
            }
            let left = self.mtu_inside(laid);
            for family in Family::BOTH.into_iter().filter(|family| *laid.carries.get(*family)) {
                let least = *MTU_MIN.get(family);
                if left < least {
                    add(place, format!("it leaves {left} bytes, and {family} needs {least}"));
                }
            }
        }
        for (number, laid) in self.tunnels.iter().enumerate() {
            if let Some(what) = self.own_end_problem(laid) {
                add(Place::Tunnel(number), what);
            }
        }
        if !self.tunnels.is_empty() {
            if !self.priority.is_empty() {
                let what = "it has tunnels and priorities, and no packet outside has a mark";
                add(Place::World, what.into());
            }
            for (number, segment) in topology.segments().iter().enumerate() {
                let own = Family::BOTH.map(|f| (self.subnet(&topology, number, f), reserved(f)));
                for (subnet, inside) in own {
                    if inside.is_some_and(|inside| inside.overlaps(&subnet)) {
                        let link = segment.links.first().copied().unwrap_or(0);
                        let what = format!("{subnet} holds addresses that tunnels have inside");
                        add(Place::Link(link), what);
                    }
                }
            }
        }
        found
    }

    fn ends_problem(&self, number: usize) -> Option<String> {
        let laid = &self.tunnels[number];
        if laid.ends[0] == laid.ends[1] {
            return Some("both its ends are at the same node".into());
        }
        for end in laid.ends {
            let Some(node) = self.nodes.get(end) else {
                return Some("one of its ends is at no node".into());
            };
            let name = &node.name;
            let earlier = self.tunnels[..number].iter().filter(|t| t.ends.contains(&end));
            let same = |other: &LaidTunnel| {
                Family::BOTH.iter().any(|f| *other.carries.get(*f) && *laid.carries.get(*f))
            };
            match node.kind {
                NodeKind::Switch => return Some(format!("{name} is a switch and has no address")),
                NodeKind::Host if earlier.into_iter().any(same) => {
                    return Some(format!("another tunnel of {name} carries the same family"));
                }
                NodeKind::Host | NodeKind::Router => {}
            }
        }
        None
    }

    /// What a router sends itself into its tunnel has an address inside, to which nothing leads
    /// back.
    fn own_end_problem(&self, laid: &LaidTunnel) -> Option<String> {
        let path = self.path_nodes();
        let measures = [self.client, self.server].into_iter().find(|&node| {
            let ends = laid.ends_from(node).filter(|[_, far]| path.contains(far));
            ends.is_some() && self.nodes.get(node).is_some_and(|n| n.kind == NodeKind::Router)
        })?;
        let name = &self.nodes[measures].name;
        Some(format!("{name} is a router and its end, and measures: let a host behind it do so"))
    }

    fn kind_problem(&self, laid: &LaidTunnel) -> Option<String> {
        let Tunnel { kind, outer } = laid.tunnel;
        if !kind.outer().any(|family| family == outer) {
            return Some(format!("{kind} is not made over {outer}"));
        }
        if !*self.families.get(outer) {
            return Some(format!("it is over {outer}, which the world does not have"));
        }
        let mut carried = Family::BOTH.into_iter().filter(|family| *laid.carries.get(*family));
        if let Some(absent) = carried.clone().find(|family| !*self.families.get(*family)) {
            return Some(format!("it carries {absent}, which the world does not have"));
        }
        carried.next().is_none().then(|| "it carries no family".into())
    }
}
