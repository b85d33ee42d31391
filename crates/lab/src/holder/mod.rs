//! A lab kept up for other processes: one process holds it, others ask it over a local socket.
//!
//! The socket's name is abstract, `@v6gap-lab-UID-NAME` (unix(7)), so nothing is on disk and
//! nothing is left when the holder ends, even by kill -9. Only processes of the same user are
//! answered. The name is taken before the lab is built, and nobody can connect until it is up.

mod join;

pub use crate::held::{down, list, status};
pub use join::lab;

use crate::held::message::{self, Request};
use crate::held::{Name, PATIENCE, is_own};
use crate::{Lab, LabError, LabOptions, Lateness, Node};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use v6gap_core::family::PerFamily;
use v6gap_core::world::World;
use v6gap_sys::netns;

/// Name and version of the form of what a holder tells of itself.
const STATUS_SCHEMA: &str = "v6gap.lab.status/1";

/// What a holder tells of itself, as JSON text.
#[derive(Serialize)]
struct Status<'a> {
    schema: &'static str,
    name: &'a str,
    pid: u32,
    world: &'a World,
    nodes: Vec<NodeStatus<'a>>,
    wire: Option<Lateness>,
    facts: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct NodeStatus<'a> {
    name: &'a str,
    addresses: PerFamily<Option<IpAddr>>,
}

/// Builds `world` as the lab called `name` and holds it until [`down`] is asked for; returns then,
/// with everything gone. Calls `ready` once it is up. The process must have a single thread.
///
/// # Errors
/// If the name is taken or none, and as
/// [`netns::enter_user_namespace`] and [`Lab::build_with`].
pub fn hold(
    name: &str,
    world: &World,
    options: &LabOptions,
    ready: impl FnOnce(&Lab),
) -> Result<(), LabError> {
    // Before entering, because abstract names belong to a network namespace.
    let taken = Name::take(name)?;
    netns::enter_user_namespace()?;
    let lab = Lab::build_with(world, options)?;
    let user = netns::user_namespace().map_err(LabError::system("open the user namespace"))?;
    let listener = taken.answer()?;
    ready(&lab);
    let asked = serve(name, &listener, &lab, user.as_fd())?;
    drop((listener, lab));
    // A peer that no longer listens loses only the answer.
    let _ = message::reply(&asked, Ok(""), &[]);
    Ok(())
}

/// Answers until someone asks to take the lab down, and returns who.
fn serve(
    name: &str,
    listener: &UnixListener,
    lab: &Lab,
    user: BorrowedFd<'_>,
) -> Result<UnixStream, LabError> {
    loop {
        let (peer, _) = listener.accept().map_err(LabError::system("accept a connection"))?;
        if !is_heard(&peer) {
            continue;
        }
        // What goes wrong with one peer must not end the lab.
        let Ok(request) = message::read_request(&peer) else { continue };
        let outcome = match request {
            Request::Down => return Ok(peer),
            Request::Status => message::reply(&peer, Ok(&status_text(name, lab)), &[]),
            Request::Reset => {
                lab.reset_wire();
                message::reply(&peer, Ok(""), &[])
            }
            Request::Join(node) => match lab.node(&node).and_then(Node::namespace) {
                Ok(namespace) => message::reply(&peer, Ok(""), &[user, namespace]),
                Err(error) => message::reply(&peer, Err(&error.to_string()), &[]),
            },
            Request::Unknown => message::reply(&peer, Err("unknown request"), &[]),
        };
        drop(outcome);
    }
}

/// Whether the peer is to be heard, and for how long: it is a process of this user.
fn is_heard(peer: &UnixStream) -> bool {
    let patient = peer.set_read_timeout(Some(PATIENCE)).is_ok()
        && peer.set_write_timeout(Some(PATIENCE)).is_ok();
    patient && is_own(peer)
}

fn status_text(name: &str, lab: &Lab) -> String {
    let nodes = lab.nodes().iter();
    let status = Status {
        schema: STATUS_SCHEMA,
        name,
        pid: std::process::id(),
        world: lab.world(),
        nodes: nodes
            .map(|node| NodeStatus { name: &node.name, addresses: node.addresses })
            .collect(),
        wire: lab.wire_lateness(),
        facts: lab.describe(),
    };
    // Only maps with keys that are no strings can fail, and there are none.
    serde_json::to_string(&status).unwrap_or_default()
}
