//! A lab that another process holds, to measure in.

use crate::held::message::Request;
use crate::held::{Held, HeldStatus, PATIENCE, address, ask};
use crate::layout::Layout;
use crate::{Lab, LabError, Node};
use v6gap_sys::netns;

/// Joins the lab called `name`: its nodes and its wire can be used as if this process had built
/// them, but for changes to links. The process must have a single thread.
///
/// # Errors
/// If there is no such lab, it is of another version, or the process has other threads.
pub fn lab(name: &str) -> Result<Lab, LabError> {
    // Before the user's number changes, which is part of it.
    let socket = address(name)?;
    let (text, _) = ask(name, &Request::Status, PATIENCE)?;
    let status: HeldStatus = serde_json::from_str(&text).map_err(|error| LabError::Holder {
        name: name.to_owned(),
        reason: format!("something that is no status ({error})"),
    })?;
    let world = status.world;
    let problems = world.problems();
    if let Some(problem) = problems.first() {
        return Err(LabError::World(problem.to_string()));
    }
    let layout = Layout::of(&world);
    let mut nodes = Vec::new();
    let mut user = None;
    for (index, node) in world.nodes.iter().enumerate() {
        let addresses = world.addresses(&layout.topology, index);
        if node.emulated {
            nodes.push(Node::new(node.name.clone(), node.kind, addresses, None));
            continue;
        }
        let (_, reply) = ask(name, &Request::Join(node.name.clone()), PATIENCE)?;
        let mut descriptors = reply.descriptors.into_iter();
        let (Some(of_user), Some(namespace)) = (descriptors.next(), descriptors.next()) else {
            let reason = "fewer than 2 namespaces".to_owned();
            return Err(LabError::Holder { name: name.to_owned(), reason });
        };
        user.get_or_insert(of_user);
        nodes.push(Node::new(node.name.clone(), node.kind, addresses, Some(namespace)));
    }
    let user = user.ok_or_else(|| LabError::World("it has no nodes".to_owned()))?;
    netns::join_user(user).map_err(LabError::system("join the lab's user namespace"))?;
    let held = status.wire.map(|_| Held::start(name.to_owned(), socket)).transpose()?;
    Ok(Lab::held(world, nodes, status.facts, held))
}
