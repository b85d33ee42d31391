//! The lab as its users see it: nodes to go to, and what the links did.

use crate::agent::{Agent, AgentOptions};
use crate::build;
use crate::emulated::Machine;
use crate::equip::settings::WIRE_CPU;
use crate::held::Held;
use crate::lateness::Lateness;
use crate::layout::{self, Layout};
use crate::netlink::Netlink;
use crate::node::Node;
use crate::provided;
use crate::shape::shape;
use crate::tunnel::translate::{self, Translating};
use crate::tunnel::{self, Running};
use crate::wire::Wire;
use crate::{LabError, LabOptions};
use std::collections::BTreeMap;
use v6gap_core::family::PerFamily;
use v6gap_core::world::{Conditions, Link, LinkModel, Side, Topology, World};

/// A world made real. Everything is gone when it is dropped.
#[derive(Debug)]
pub struct Lab {
    // First, so that these and the thread have ended before the namespaces go.
    agents: Vec<Agent>,
    machine: Option<Machine>,
    tunnels: Vec<Running>,
    translating: Option<Translating>,
    wire: Option<Wire>,
    /// The wire of a lab that another process holds.
    held: Option<Held>,
    world: World,
    nodes: Vec<Node>,
    facts: BTreeMap<String, String>,
}

/// What an interface has sent since the lab was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceCount {
    /// Name of the node.
    pub node: String,
    /// Name of the interface.
    pub interface: String,
    /// Its link, by its place among the world's.
    pub link: usize,
    /// Longest frame that the link may carry, in bytes: its MTU and the Ethernet header.
    pub frame_bytes_limit: u64,
    /// Bytes sent, counted from the destination address on.
    pub bytes: u64,
    /// Packets sent, as many as were handed to the interface.
    pub packets: u64,
}

impl Lab {
    /// Makes `world` real with the default options. As [`build_with`](Self::build_with).
    ///
    /// # Errors
    /// As [`build_with`](Self::build_with).
    pub fn build(world: &World) -> Result<Self, LabError> {
        Self::build_with(world, &LabOptions::default())
    }

    /// Makes `world` real: namespaces, links, addresses, routes and shaping, all ready to use.
    /// Needs [`enter_user_namespace`](v6gap_sys::netns::enter_user_namespace) before. Takes well
    /// under a second on Linux 6.8 and later and up to about two seconds before.
    ///
    /// # Errors
    /// If the world cannot be built, the kernel lacks something or interfaces do not come up in 3
    /// s. Nothing is left behind then either.
    pub fn build_with(world: &World, options: &LabOptions) -> Result<Self, LabError> {
        build::check(world)?;
        provided::needed(world, options)?;
        let built = build::build(world, options)?;
        let layout = Layout::of(world);
        let nodes = world.nodes.iter().zip(built.namespaces).enumerate();
        let nodes = nodes.map(|(index, (node, namespace))| Node {
            name: node.name.clone(),
            kind: node.kind,
            addresses: world.addresses(&layout.topology, index),
            namespace: Some(namespace).filter(|_| !node.emulated),
        });
        let nodes = nodes.collect();
        let (wire, facts) = (built.wire, built.facts);
        let copy = world.clone();
        let mut lab = Self {
            agents: Vec::new(),
            machine: built.machine,
            tunnels: Vec::new(),
            translating: None,
            wire,
            held: None,
            world: copy,
            nodes,
            facts,
        };
        for number in 0..world.tunnels.len() {
            lab.tunnels.push(tunnel::lay(world, &lab.nodes, number)?);
        }
        if let Some(translation) = &world.translation {
            lab.translating = Some(translate::start(world, &lab.nodes, translation)?);
        }
        let usual = AgentOptions { community: "public".to_owned(), user: None };
        for node in world.nodes.iter().filter(|node| node.snmp) {
            lab.agents.push(lab.start_agent(&node.name, &usual)?);
        }
        Ok(lab)
    }

    /// A lab of another process.
    pub(crate) fn held(
        world: World,
        nodes: Vec<Node>,
        facts: BTreeMap<String, String>,
        held: Option<Held>,
    ) -> Self {
        let (agents, tunnels) = (Vec::new(), Vec::new());
        Self {
            agents,
            machine: None,
            tunnels,
            translating: None,
            wire: None,
            held,
            world,
            nodes,
            facts,
        }
    }

    /// This lab, measured between two other nodes, which must be in it and have addresses: the
    /// addresses that nodes are known by are those on the way between them.
    #[must_use]
    pub fn measured(mut self, client: usize, server: usize) -> Self {
        self.world = self.world.measured(client, server);
        let topology = Topology::of(&self.world);
        for (index, node) in self.nodes.iter_mut().enumerate() {
            node.addresses = self.world.addresses(&topology, index);
        }
        self
    }

    /// The world that this lab is.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// All nodes in the order of the world's.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that measures.
    pub fn client(&self) -> &Node {
        &self.nodes[self.world.client]
    }

    /// The node that it measures to.
    pub fn server(&self) -> &Node {
        &self.nodes[self.world.server]
    }

    /// The node called `name`.
    ///
    /// # Errors
    /// If the world has none of that name.
    pub fn node(&self, name: &str) -> Result<&Node, LabError> {
        let found = self.nodes.iter().find(|node| node.name == name);
        found.ok_or_else(|| LabError::NoNode(name.to_owned()))
    }

    /// Gives link `link` (from 0) other conditions, the same both ways, while traffic flows over
    /// it: what the tests of doubt need. [`world`](Self::world) stays what was built.
    ///
    /// In the `shaped` model only rates change; families that had one rate must keep one, and a
    /// family without a rate stays without. In the `wire` model the line changes and the bucket at
    /// the hosts does not, so a rate below the one that was built lets packets queue on the line.
    ///
    /// # Errors
    /// If there is no such link, the conditions contradict themselves or are none of the model's,
    /// the kernel refuses, or the model is `bare`, which has no conditions.
    pub fn alter(&self, link: usize, conditions: PerFamily<Conditions>) -> Result<(), LabError> {
        self.alter_ways(link, [conditions; 2])
    }

    /// As [`alter`](Self::alter), with conditions of what the link's first end sends, and of what
    /// its second one sends.
    ///
    /// # Errors
    /// As [`alter`](Self::alter).
    pub fn alter_ways(
        &self,
        link: usize,
        ways: [PerFamily<Conditions>; 2],
    ) -> Result<(), LabError> {
        let [conditions, back] = ways;
        let changed = Link { conditions, back: Some(back), ..*self.link(link)? };
        let mut world = self.world.clone();
        world.links[link] = changed;
        build::check(&world)?;
        if let Some(wire) = &self.wire {
            wire.alter(link, ways);
            return Ok(());
        }
        if self.held.is_some() {
            let what = "the links of a lab that another process holds stay as they are";
            return Err(LabError::World(what.to_owned()));
        }
        let fixed = match self.world.model {
            LinkModel::Bare => Some("a bare link has no conditions to change"),
            LinkModel::Netem => Some("a netem link stays as it was built"),
            LinkModel::Shaped | LinkModel::Wire => None,
        };
        if let Some(what) = fixed {
            return Err(LabError::World(what.to_owned()));
        }
        self.at_ends(link, |netlink, index, side| match shape(&self.world, &changed, side) {
            Some(shape) => netlink.reshape(index, &shape),
            None => Ok(()),
        })
    }

    /// Sets the MTU of the interfaces at both ends of link `link` (from 0), in bytes, while traffic
    /// flows over it; [`world`](Self::world) stays what was built.
    ///
    /// # Errors
    /// If there is no such link, if a family has an MTU of its own there, or if the kernel refuses.
    pub fn set_mtu(&self, link: usize, mtu: u32) -> Result<(), LabError> {
        if self.link(link)?.mtus != (PerFamily { v4: None, v6: None }) {
            let what = format!("link {} has an MTU for each family, which stays", link + 1);
            return Err(LabError::World(what));
        }
        self.at_ends(link, |netlink, index, _| netlink.set_mtu(index, mtu))
    }

    fn link(&self, link: usize) -> Result<&Link, LabError> {
        let found = self.world.links.get(link);
        found.ok_or_else(|| LabError::World(format!("there is no link {link}")))
    }

    /// Does `work` at both nodes of a link, with the number of the interface there.
    fn at_ends(
        &self,
        link: usize,
        work: impl Fn(&mut Netlink, u32, Side) -> Result<(), LabError> + Sync,
    ) -> Result<(), LabError> {
        let name = layout::interface(link);
        for side in Side::BOTH {
            self.nodes[self.link(link)?.node(side)].run(|| {
                let mut netlink = Netlink::new();
                let index = netlink.interface(&name)?.index;
                work(&mut netlink, index, side)
            })??;
        }
        Ok(())
    }

    /// Whether other programs are part of it: a system at a node, agents, and what carries tunnels
    /// and translates.
    pub fn has_programs(&self) -> bool {
        let tunnels = self.tunnels.iter().any(Running::has_programs);
        tunnels || !self.agents.is_empty() || self.machine.is_some() || self.translating.is_some()
    }

    /// How the lab was built, to store with the results: link model, interfaces, shaping, offloads
    /// and settings. The same world gives the same facts on the same kernel.
    pub fn describe(&self) -> &BTreeMap<String, String> {
        &self.facts
    }

    /// What the user-space link did since [`reset_wire`](Self::reset_wire); `None` in other models.
    pub fn wire_lateness(&self) -> Option<Lateness> {
        match &self.held {
            Some(held) => held.lateness(),
            None => self.wire.as_ref().map(Wire::lateness),
        }
    }

    /// Largest frame that was on a link between client and server, or the mean length where that
    /// alone is known, in bytes; `None` if nothing is known.
    pub fn largest_frame(&self) -> Option<u64> {
        let path: Vec<usize> = self.world.path().iter().map(|hop| hop.link).collect();
        match self.world.model {
            LinkModel::Wire => self.wire_lateness().map(|seen| seen.frame_bytes_on(&path)),
            LinkModel::Bare | LinkModel::Shaped | LinkModel::Netem => {
                mean_frame_max(&self.interface_counts().ok()?, &path)
            }
        }
    }

    /// Processor time that the user-space link of this process has taken until now, in ns, at most
    /// 10 ms old while it is busy; `None` in other models.
    pub fn wire_used_ns(&self) -> Option<u64> {
        self.wire.as_ref().map(Wire::used_ns)
    }

    /// The processor that the user-space link is held on; `None` without one.
    pub fn wire_cpu(&self) -> Option<usize> {
        let told = self.facts.get(WIRE_CPU).filter(|_| self.world.model == LinkModel::Wire);
        told?.parse().ok()
    }

    /// Starts the counts of [`wire_lateness`](Self::wire_lateness) anew, as before each trial.
    pub fn reset_wire(&self) {
        if let Some(wire) = &self.wire {
            wire.reset();
        }
        if let Some(held) = &self.held {
            held.reset();
        }
    }

    /// What every node's interfaces have sent until now, but for those of another system.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub fn interface_counts(&self) -> Result<Vec<InterfaceCount>, LabError> {
        let mut counts = Vec::new();
        let layout = Layout::of(&self.world);
        let here = self.nodes.iter().enumerate().filter(|(_, node)| node.namespace.is_some());
        for (index, node) in here {
            let links: Vec<usize> = layout.topology.ends_of(index).map(|end| end.link).collect();
            let read = node.run(|| {
                let mut netlink = Netlink::new();
                let names = links.iter().map(|&link| layout::interface(link));
                names.map(|name| netlink.interface(&name)).collect::<Result<Vec<_>, _>>()
            })??;
            for (link, found) in links.into_iter().zip(read) {
                counts.push(InterfaceCount {
                    node: node.name.clone(),
                    interface: layout::interface(link),
                    link,
                    frame_bytes_limit: u64::from(self.world.links[link].mtu)
                        + crate::clock::HEADER_BYTES as u64,
                    bytes: found.tx_bytes,
                    packets: found.tx_packets,
                });
            }
        }
        Ok(counts)
    }
}

/// The largest of the mean lengths of what was sent on these links, in bytes.
fn mean_frame_max(counts: &[InterfaceCount], links: &[usize]) -> Option<u64> {
    let on_links = counts.iter().filter(|count| links.contains(&count.link));
    on_links.filter_map(|count| count.bytes.checked_div(count.packets)).max()
}

impl InterfaceCount {
    /// Mean length in bytes of the packets sent since `earlier`, rounded up; `None` if there were
    /// none.
    ///
    /// In a stream of full packets a mean above [`frame_bytes_limit`](Self::frame_bytes_limit)
    /// means that the host handed over super-packets, which no Ethernet carries: the trial's rate
    /// is wrong.
    pub fn mean_frame_bytes_since(&self, earlier: &Self) -> Option<u64> {
        let packets = self.packets.checked_sub(earlier.packets).filter(|&packets| packets > 0)?;
        Some(self.bytes.saturating_sub(earlier.bytes).div_ceil(packets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_other_links_are_not_looked_at() {
        let count = |link, bytes, packets| InterfaceCount {
            node: "router".to_owned(),
            interface: layout::interface(link),
            link,
            frame_bytes_limit: 1514,
            bytes,
            packets,
        };
        let counts = [count(0, 3000, 2), count(1, 65_000, 1), count(2, 9, 0), count(2, 400, 4)];
        assert_eq!(mean_frame_max(&counts, &[0, 2]), Some(1500));
        assert_eq!(mean_frame_max(&counts, &[1]), Some(65_000));
        assert_eq!(mean_frame_max(&counts, &[]), None);
    }
}
