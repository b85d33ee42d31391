//! Inside an emulated system: what its first program does before it serves.

use super::{Facts, READY};
use crate::netlink::Netlink;
use crate::{LabError, equip, layout};
use rustix::mount::{MountFlags, mount};
use rustix::system::init_module;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use v6gap_core::world::{Topology, World};

/// Where the task stands in the archive.
pub(super) const TASK: &str = "task.json";
/// Name that the kernel gives to the only interface.
const INTERFACE: &str = "eth0";

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub world: World,
    /// The node that this system is.
    pub node: usize,
    /// Modules to load, in turn.
    pub modules: Vec<String>,
}

/// A system that is set up.
#[derive(Debug)]
pub struct Guest {
    /// The world that it is in.
    pub world: World,
    /// Number of the node in the world.
    pub node: usize,
    facts: Facts,
}

/// Makes of a system that has just started the node that it is to be. Only for the first process of
/// such a system.
///
/// # Errors
/// If anything cannot be set up.
pub fn start() -> Result<Guest, LabError> {
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount(kind, place, kind, MountFlags::empty(), None)
            .map_err(|e| LabError::system(format!("mount {place}"))(e.into()))?;
    }
    let read = fs::read(format!("/{TASK}")).and_then(|text| Ok(serde_json::from_slice(&text)?));
    let task: Task = read.map_err(LabError::system("read what is to be done"))?;
    for name in &task.modules {
        let load = |bytes: Vec<u8>| init_module(&bytes, c"").map_err(io::Error::from);
        let loaded = fs::read(format!("/modules/{name}.ko")).and_then(load);
        loaded.map_err(LabError::system(format!("load the module {name}")))?;
    }
    let Task { world, node, .. } = task;
    let topology = Topology::of(&world);
    if let Some(end) = topology.ends_of(node).next() {
        let mut netlink = Netlink::new();
        let index = netlink.interface(INTERFACE)?.index;
        netlink.rename(index, &layout::interface(end.link))?;
        netlink.set_mtu(index, world.links[end.link].mtu)?;
    }
    let facts = equip::set_up_alone(&world, node)?;
    Ok(Guest { world, node, facts })
}

impl Guest {
    /// What is to be printed once it serves.
    pub fn ready(&self) -> String {
        // Only maps with keys that are no strings can fail, and these are strings.
        format!("{READY}{}", serde_json::to_string(&self.facts).unwrap_or_default())
    }
}
