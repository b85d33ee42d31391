//! A world: hosts, routers, switches, links and what each family meets on them, as plain data.
//!
//! The simulator, the kernel lab and the user-space link all interpret this one value, so a test's
//! known truth and the network that it runs on cannot differ.

mod addresses;
mod check;
mod conditions;
pub mod draft;
mod emulated;
pub mod model;
mod on_link;
mod paths;
mod stored;
mod subnet;
mod translation;
mod tunnels;

pub use check::{LINKS_MAX, Place, Problem};
pub use conditions::{Bursts, Conditions, Jitter, NORMAL_REACH, Reordering, Spread};
pub use on_link::OnLink;
pub use paths::{End, Hop, NextHop, Segment, Topology};
pub use subnet::Subnet;
pub use translation::{Translation, TranslationKind};
pub use tunnels::LaidTunnel;

use crate::family::{Family, PerFamily};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use stored::Stored;

/// How the lab makes a link, always named with a figure taken on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkModel {
    /// A virtual cable as the kernel gives it, without rate: what the protocol stack costs.
    Bare,
    /// A token bucket in the kernel with exact Ethernet framing: true rates and queues, false round
    /// trips.
    Shaped,
    /// A token bucket for back-pressure and a user-space link that serialises each frame: true
    /// rates and true round trips.
    Wire,
    /// As `shaped`, with delay, loss and doubling by the kernel's netem, where it has that.
    Netem,
}

impl LinkModel {
    /// All of them.
    pub const ALL: [LinkModel; 4] =
        [LinkModel::Bare, LinkModel::Shaped, LinkModel::Wire, LinkModel::Netem];

    /// Name of the link model in a world file.
    pub const fn name(self) -> &'static str {
        match self {
            LinkModel::Bare => "bare",
            LinkModel::Shaped => "shaped",
            LinkModel::Wire => "wire",
            LinkModel::Netem => "netem",
        }
    }
}

/// What a node does with packets that are not for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// Nothing: it is an end of paths only.
    Host,
    /// Forwards IP packets of both families, each with one hop less.
    Router,
    /// Forwards Ethernet frames as they are, a learning bridge; it has no address itself.
    Switch,
}

/// A host, router or switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Name of the node, different from all others.
    pub name: String,
    /// What it does with packets of others.
    pub kind: NodeKind,
    /// Whether an SNMP agent answers there.
    pub snmp: bool,
    /// Whether it is another system, with a kernel of its own under emulation.
    pub emulated: bool,
}

impl Node {
    /// A node of this kind.
    pub fn new(name: impl Into<String>, kind: NodeKind) -> Self {
        Node { name: name.into(), kind, snmp: false, emulated: false }
    }
}

/// One of the two ends of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The end named first.
    First,
    /// The end named second.
    Second,
}

impl Side {
    /// Both ends, the first one first.
    pub const BOTH: [Side; 2] = [Side::First, Side::Second];

    /// The end at the other side.
    pub const fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }
}

/// Frames that may wait for the line of a link that says nothing of it.
pub const QUEUE_FRAMES: u32 = 100;

/// A link between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The nodes at its ends, by their place in [`World::nodes`].
    #[serde(default = "stored::unplaced", skip_serializing_if = "stored::is_unplaced")]
    pub ends: [usize; 2],
    /// Conditions for each family of what the first end sends, and of what the second one sends
    /// if [`back`](Self::back) says nothing else.
    pub conditions: PerFamily<Conditions>,
    /// Conditions of what the second end sends, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<PerFamily<Conditions>>,
    /// Maximum transmission unit of the interfaces at its ends, in bytes; the larger one where the
    /// families differ.
    pub mtu: u32,
    /// MTU of one family where it is smaller: what its packets on the link may have, in bytes.
    #[serde(default, skip_serializing_if = "stored::are_absent")]
    pub mtus: PerFamily<Option<u32>>,
    /// Frames that may wait for the line in each direction; where some have priority, so many of
    /// these and so many others.
    pub queue_frames: u32,
    /// Whether its interfaces merge, split and checksum packets for the hosts; `None` is as the
    /// link model has it: on for `bare`, off otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offloads: Option<bool>,
    /// Subnets in place of those that the lab gives it. All links of a switch are one subnet.
    #[serde(default, skip_serializing_if = "stored::are_given")]
    pub subnets: PerFamily<Option<Subnet>>,
}

impl Link {
    /// A link with one rate for both families, MTU 1500 and a queue of [`QUEUE_FRAMES`], between
    /// the first two nodes.
    pub const fn ethernet(rate_bps: Option<u64>) -> Self {
        let conditions =
            PerFamily { v4: Conditions::rate(rate_bps), v6: Conditions::rate(rate_bps) };
        Link {
            ends: [0, 1],
            conditions,
            back: None,
            mtu: 1500,
            mtus: PerFamily { v4: None, v6: None },
            queue_frames: QUEUE_FRAMES,
            offloads: None,
            subnets: PerFamily { v4: None, v6: None },
        }
    }

    /// This link between two other nodes.
    #[must_use]
    pub const fn between(self, first: usize, second: usize) -> Self {
        Link { ends: [first, second], ..self }
    }

    /// Largest packet of one family, in bytes.
    pub fn mtu_of(&self, family: Family) -> u32 {
        self.mtus.get(family).unwrap_or(self.mtu)
    }

    /// The node at one end.
    pub const fn node(&self, side: Side) -> usize {
        match side {
            Side::First => self.ends[0],
            Side::Second => self.ends[1],
        }
    }

    /// What frames meet that are sent from this end.
    pub const fn met(&self, from: Side) -> &PerFamily<Conditions> {
        match (from, &self.back) {
            (Side::Second, Some(back)) => back,
            _ => &self.conditions,
        }
    }
}

/// Nodes and the links between them. What is measured is the path from `client` to `server`.
///
/// Read from a record it is sound as far as numbers of nodes go; [`World::problems`] tells whether
/// it can be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct World {
    /// How its links are made.
    pub model: LinkModel,
    /// All nodes; in a chain in the order of the path.
    pub nodes: Vec<Node>,
    /// All links, each with the nodes at its ends.
    pub links: Vec<Link>,
    /// Families that the nodes have addresses for.
    pub families: PerFamily<bool>,
    /// Where the client is, by its place among the nodes.
    pub client: usize,
    /// Where the server is, by its place among the nodes.
    pub server: usize,
    /// Differentiated services code points (RFC 2474, 0 to 63) whose packets every link sends
    /// before all others, without cutting a frame short; none is one queue for all.
    pub priority: Vec<u8>,
    /// IEEE 802.1Q tags that every frame is counted with, 4 bytes each.
    pub vlan_tags: u32,
    /// Tunnels between nodes, over the links that lead from one to the other.
    pub tunnels: Vec<LaidTunnel>,
    /// Translation between the families on the way from client to server.
    pub translation: Option<Translation>,
}

impl World {
    /// The first-look world: client – router – server, two subnets, one rate, both families.
    pub fn client_router_server(model: LinkModel, rate_bps: Option<u64>) -> Self {
        World::chain(model, [Link::ethernet(rate_bps); 2].to_vec())
    }

    /// Client and server with these links between them in turn and a router between each two.
    pub fn chain(model: LinkModel, links: Vec<Link>) -> Self {
        let routers = links.len().saturating_sub(1);
        let router = |i: usize| match routers {
            1 => "router".to_string(),
            _ => format!("router{}", i + 1),
        };
        let mut nodes = [Node::new("client", NodeKind::Host)].to_vec();
        nodes.extend((0..routers).map(|i| Node::new(router(i), NodeKind::Router)));
        nodes.push(Node::new("server", NodeKind::Host));
        let links = links.into_iter().enumerate().map(|(i, link)| link.between(i, i + 1));
        World {
            model,
            server: nodes.len() - 1,
            nodes,
            links: links.collect(),
            families: PerFamily { v4: true, v6: true },
            client: 0,
            priority: Vec::new(),
            vlan_tags: 0,
            tunnels: Vec::new(),
            translation: None,
        }
    }

    /// Whether its hosts are of this system and joined by virtual cables alone, with no program on
    /// the way, so that what is sent is delivered at once.
    pub fn is_of_cables(&self) -> bool {
        let programs = !self.tunnels.is_empty() || self.translation.is_some();
        self.model == LinkModel::Bare && !programs && self.emulated().is_none()
    }

    /// This world with the two families' conditions, addresses and tunnels exchanged; subnets and
    /// translation stay, and so does what is outside of a tunnel of a kind that has one family
    /// only.
    #[must_use]
    pub fn swapped(mut self) -> Self {
        self.families = self.families.swapped();
        self.tunnels.iter_mut().for_each(LaidTunnel::swap);
        for link in &mut self.links {
            link.conditions = link.conditions.swapped();
            link.back = link.back.map(PerFamily::swapped);
            link.mtus = link.mtus.swapped();
        }
        self
    }

    /// The place of the node called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// This world measured between two other nodes.
    #[must_use]
    pub fn measured(self, client: usize, server: usize) -> Self {
        World { client, server, ..self }
    }

    /// Whether a node does nothing but forward: no trial begins or ends there.
    pub fn only_forwards(&self, node: usize) -> bool {
        let measures = node == self.client || node == self.server;
        !measures && self.nodes.get(node).is_some_and(|node| node.kind != NodeKind::Host)
    }

    /// The links from client to server in turn, each with the end that the client's packets are
    /// sent from; empty if there is no way.
    pub fn path(&self) -> Vec<Hop> {
        Topology::of(self).path(self.client, self.server).unwrap_or_default()
    }

    /// What packets of one family meet on the links from client to server in turn, and on those
    /// back in turn: what packets of the family meet that the link sees, under a tunnel of that
    /// outside.
    pub fn ways(&self, family: Family) -> [Vec<Conditions>; 2] {
        let path = self.path();
        let on_path = self.on_path(family);
        let path = || path.iter().zip(&on_path);
        let met = |hop: &Hop, on: &OnLink<'_>, from| {
            Some(*self.links.get(hop.link)?.met(from).get(on.family))
        };
        let there = path().filter_map(|(hop, on)| met(hop, on, hop.from));
        let back = path().rev().filter_map(|(hop, on)| met(hop, on, hop.from.other()));
        [there.collect(), back.collect()]
    }

    /// The nodes from client to server, both included; empty if there is no way.
    pub fn path_nodes(&self) -> Vec<usize> {
        let far = |hop: &Hop| Some(self.links.get(hop.link)?.node(hop.from.other()));
        let path = self.path();
        let first = (!path.is_empty()).then_some(self.client);
        first.into_iter().chain(path.iter().filter_map(far)).collect()
    }

    /// [`priority`](Self::priority) with one bit for each code point.
    pub fn priority_bits(&self) -> u64 {
        let bits = self.priority.iter().filter_map(|class| 1_u64.checked_shl((*class).into()));
        bits.fold(0, |all, bit| all | bit)
    }

    /// How many nodes of the path forward packets with one hop less.
    pub fn routers(&self) -> usize {
        let inner = self.path_nodes();
        let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
        inner.iter().filter(|&&node| self.nodes[node].kind == NodeKind::Router).count()
    }
}

#[cfg(test)]
mod tests;
