//! How a world is written down. A chain is written as it was when there were only chains: names of
//! nodes in turn and links without ends, so that old records are read and new chains are read by
//! older programs.

use super::{LaidTunnel, Link, LinkModel, Node, NodeKind, Subnet, Translation, World};
use crate::family::PerFamily;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Ends of a link that are those of its place in a chain.
const UNPLACED: [usize; 2] = [usize::MAX; 2];

pub(super) const fn unplaced() -> [usize; 2] {
    UNPLACED
}

pub(super) fn is_unplaced(ends: &[usize; 2]) -> bool {
    *ends == UNPLACED
}

/// Whether the lab chooses both subnets.
pub(super) const fn are_given(subnets: &PerFamily<Option<Subnet>>) -> bool {
    subnets.v4.is_none() && subnets.v6.is_none()
}

/// Whether both families have the MTU of the link.
pub(super) const fn are_absent(mtus: &PerFamily<Option<u32>>) -> bool {
    mtus.v4.is_none() && mtus.v6.is_none()
}

/// A world in a record.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    model: LinkModel,
    nodes: Vec<String>,
    /// One for each node; none where the ends are hosts and all between them routers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<NodeKind>,
    links: Vec<Link>,
    families: PerFamily<bool>,
    /// The first node unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<usize>,
    /// The last node unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    priority: Vec<u8>,
    #[serde(default, skip_serializing_if = "is_none")]
    vlan_tags: u32,
    /// Nodes with an SNMP agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    snmp: Vec<usize>,
    /// Nodes that are emulated systems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    emulated: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tunnels: Vec<LaidTunnel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    translation: Option<Translation>,
}

const fn is_none(tags: &u32) -> bool {
    *tags == 0
}

/// The kind of a node of a chain.
fn usual_kind(node: usize, nodes: usize) -> NodeKind {
    if node == 0 || node + 1 == nodes { NodeKind::Host } else { NodeKind::Router }
}

impl From<World> for Stored {
    fn from(world: World) -> Stored {
        let count = world.nodes.len();
        let usual = |(i, node): (usize, &Node)| node.kind == usual_kind(i, count);
        let kinds = match world.nodes.iter().enumerate().all(usual) {
            true => Vec::new(),
            false => world.nodes.iter().map(|node| node.kind).collect(),
        };
        let links = world.links.into_iter().enumerate().map(|(i, link)| {
            let ends = if link.ends == [i, i + 1] { UNPLACED } else { link.ends };
            Link { ends, ..link }
        });
        Stored {
            model: world.model,
            kinds,
            links: links.collect(),
            families: world.families,
            client: (world.client != 0).then_some(world.client),
            server: (world.server + 1 != count).then_some(world.server),
            priority: world.priority,
            vlan_tags: world.vlan_tags,
            snmp: (0..count).filter(|&node| world.nodes[node].snmp).collect(),
            emulated: (0..count).filter(|&node| world.nodes[node].emulated).collect(),
            tunnels: world.tunnels,
            translation: world.translation,
            nodes: world.nodes.into_iter().map(|node| node.name).collect(),
        }
    }
}

impl TryFrom<Stored> for World {
    type Error = String;

    fn try_from(stored: Stored) -> Result<World, String> {
        let count = stored.nodes.len();
        if !stored.kinds.is_empty() && stored.kinds.len() != count {
            return Err(format!("{count} nodes have {} kinds", stored.kinds.len()));
        }
        let within = |node: usize| match node < count {
            true => Ok(node),
            false => Err(format!("there is no node {node} among {count}")),
        };
        let mut links = Vec::new();
        for (i, link) in stored.links.into_iter().enumerate() {
            let ends = if is_unplaced(&link.ends) { [i, i + 1] } else { link.ends };
            links.push(Link { ends: [within(ends[0])?, within(ends[1])?], ..link });
        }
        for laid in &stored.tunnels {
            laid.ends.iter().try_for_each(|&node| within(node).map(drop))?;
        }
        if let Some(Translation { at, client, .. }) = stored.translation {
            [at, client].into_iter().try_for_each(|node| within(node).map(drop))?;
        }
        let kind = |i: usize| stored.kinds.get(i).copied().unwrap_or(usual_kind(i, count));
        Ok(World {
            model: stored.model,
            links,
            families: stored.families,
            client: within(stored.client.unwrap_or(0))?,
            server: within(stored.server.unwrap_or(count.saturating_sub(1)))?,
            priority: stored.priority,
            vlan_tags: stored.vlan_tags,
            tunnels: stored.tunnels,
            translation: stored.translation,
            nodes: stored
                .nodes
                .into_iter()
                .enumerate()
                .map(|(i, name)| Node {
                    name,
                    kind: kind(i),
                    snmp: stored.snmp.contains(&i),
                    emulated: stored.emulated.contains(&i),
                })
                .collect(),
        })
    }
}
