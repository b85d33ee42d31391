//! A lab that another process holds, asked over its local socket.

mod client;
pub(crate) mod message;
mod name;

pub(crate) use client::ask;
use client::ask_at;
pub use client::{down, list, status};
pub(crate) use name::Name;

use crate::{LabError, Lateness};
use message::Request;
use rustix::process::geteuid;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;
use v6gap_core::world::World;
use v6gap_sys::netns;

/// Longest name of a lab, in bytes.
const NAME_BYTES_MAX: usize = 32;
/// A peer that says nothing for this long is left.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the peer is a process of this user. Both numbers are seen from this user namespace,
/// where a stranger's is the overflow number.
pub(crate) fn is_own(peer: &UnixStream) -> bool {
    netns::peer_user(peer).is_ok_and(|user| user == geteuid().as_raw())
}

/// What is needed of it to measure in a lab.
#[derive(Deserialize)]
pub(crate) struct HeldStatus {
    pub world: World,
    pub wire: Option<Lateness>,
    pub facts: BTreeMap<String, String>,
}

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

impl Held {
    pub fn start(name: String, socket: SocketAddr) -> Result<Self, LabError> {
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

/// What all of a user's sockets begin with, without the leading zero of an abstract name.
fn prefix() -> String {
    format!("v6gap-lab-{}-", geteuid().as_raw())
}

/// The socket of the lab called `name`.
pub(crate) fn address(name: &str) -> Result<SocketAddr, LabError> {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(usual) {
        return Err(LabError::Name(name.to_owned()));
    }
    SocketAddr::from_abstract_name(prefix() + name)
        .map_err(LabError::system("name the lab's socket"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_plain() {
        for name in ["a", "first-look", "lab_2", &"x".repeat(32)] {
            let socket = address(name).expect("a good name");
            let bytes = socket.as_abstract_name().expect("an abstract name");
            assert!(bytes.starts_with(b"v6gap-lab-") && bytes.ends_with(name.as_bytes()));
        }
        for name in ["", "a b", "../x", "é", "a\n", &"x".repeat(33)] {
            assert!(matches!(address(name), Err(LabError::Name(_))), "{name}");
        }
    }
}
