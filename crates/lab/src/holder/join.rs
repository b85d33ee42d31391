//! A lab that another process holds, to measure in.

use super::client::{ask, ask_at};
use super::message::Request;
use super::{HeldStatus, PATIENCE, address};
use crate::lab::Node;
use crate::layout::Layout;
use crate::{Lab, LabError, Lateness};
use std::os::unix::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, Sender};
use v6gap_sys::netns;

/// What can be asked of the holder while measuring.
enum Errand {
    /// How late the wire was.
    Lateness(Sender<Option<Lateness>>),
    /// Start its counts anew.
    Reset(Sender<()>),
}

/// A thread that stays where the holder can be reached: the name of its socket belongs to the
/// network namespace that this process came from. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    errands: Sender<Errand>,
}

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

impl Held {
    fn start(name: String, socket: SocketAddr) -> Result<Self, LabError> {
        let (errands, asked) = mpsc::channel();
        let thread = std::thread::Builder::new().name("v6gap-asker".to_owned());
        thread
            .spawn(move || run(&name, &socket, &asked))
            .map_err(LabError::system("start a thread that asks the lab's holder"))?;
        Ok(Held { errands })
    }

    /// What the wire did since its counts were started anew; `None` if the holder is gone.
    pub fn lateness(&self) -> Option<Lateness> {
        let (answer, answered) = mpsc::channel();
        self.errands.send(Errand::Lateness(answer)).ok()?;
        answered.recv().ok()?
    }

    /// Starts its counts anew.
    pub fn reset(&self) {
        let (done, finished) = mpsc::channel();
        if self.errands.send(Errand::Reset(done)).is_ok() {
            // A holder that is gone has no counts.
            let _ = finished.recv();
        }
    }
}

fn run(name: &str, socket: &SocketAddr, asked: &Receiver<Errand>) {
    while let Ok(errand) = asked.recv() {
        // Who asked may have given up.
        let _ = match errand {
            Errand::Lateness(answer) => answer.send(lateness(name, socket)).ok(),
            Errand::Reset(done) => {
                let _ = ask_at(socket, name, &Request::Reset, PATIENCE);
                done.send(()).ok()
            }
        };
    }
}

fn lateness(name: &str, socket: &SocketAddr) -> Option<Lateness> {
    let (text, _) = ask_at(socket, name, &Request::Status, PATIENCE).ok()?;
    serde_json::from_str::<HeldStatus>(&text).ok()?.wire
}
