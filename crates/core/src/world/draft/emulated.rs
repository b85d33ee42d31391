//! An emulated system as a person writes it.

use crate::problem::Problems;
use crate::world::Node;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A host that is another system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatedDraft {
    /// The host.
    #[serde(default)]
    pub at: Option<String>,
}

impl EmulatedDraft {
    /// Marks the node; whether it can be one is found out with the world.
    pub(super) fn mark(&self, nodes: &mut [Node], problems: &mut Problems) {
        let Some(name) = &self.at else {
            return problems.add("emulated", "which host? as at = \"server\"");
        };
        match nodes.iter_mut().find(|node| node.name == *name) {
            Some(node) => node.emulated = true,
            None => {
                let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
                problems.one_of("emulated.at", name, &known);
            }
        }
    }
}
