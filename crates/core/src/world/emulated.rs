//! Nodes that are other systems: which ones can be, and why others cannot.
//!
//! Such a node has a kernel of its own, in which nothing can be done from outside but to ask the
//! server that runs there. So it is the server, with one link, and has nothing else to do.

use super::{NodeKind, Place, Problem, Topology, World};
use alloc::vec::Vec;

impl World {
    /// The node that is another system, if there is one.
    pub fn emulated(&self) -> Option<usize> {
        self.nodes.iter().position(|node| node.emulated)
    }

    /// Why the emulated system of a world that is right otherwise cannot be had.
    pub(super) fn emulated_problems(&self) -> Vec<Problem> {
        let topology = Topology::of(self);
        let mut found = Vec::new();
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.emulated) {
            let of_tunnels = || self.tunnels.iter().flat_map(|laid| laid.ends);
            let reasons = [
                (node.kind != NodeKind::Host, "is no host, and only hosts are emulated"),
                (index != self.server, "is emulated and is not the server, which alone can be"),
                (
                    index == self.client,
                    "is emulated and cannot measure: it can only be measured to",
                ),
                (topology.ends_of(index).count() != 1, "is emulated and has more than one link"),
                (node.snmp, "is emulated and has no SNMP agent"),
                (of_tunnels().any(|end| end == index), "is emulated and ends no tunnel"),
            ];
            let reasons = reasons.into_iter().filter(|(applies, _)| *applies);
            found.extend(reasons.map(|(_, why)| Problem {
                place: Place::Node(index),
                what: alloc::format!("({}) {why}", node.name),
            }));
        }
        found
    }
}
