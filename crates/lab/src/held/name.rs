//! The name of a lab: taken as soon as it is being built, answered at only once it is up.

use super::{address, prefix};
use crate::LabError;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixListener;

/// Who has asked and is not heard yet.
const BACKLOG: i32 = 128;
/// Flags of a socket that listens (`__SO_ACCEPTCON`), and state of one that has no peer
/// (`SS_UNCONNECTED`), in `/proc/net/unix`.
const LISTENS: &str = "00010000";
const WITHOUT_PEER: &str = "01";

/// How far the holder of a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It builds its lab.
    Building,
    /// Its lab is up.
    Up,
}

/// A name that is taken and that nobody is answered at: connecting to it is refused.
pub(crate) struct Name {
    socket: OwnedFd,
}

impl Name {
    /// Takes the name of the lab called `name`.
    ///
    /// # Errors
    /// If it is none, or is taken.
    pub fn take(name: &str) -> Result<Self, LabError> {
        let address = address(name)?;
        let bytes = address.as_abstract_name().unwrap_or_default();
        let bound = || {
            let address = SocketAddrUnix::new_abstract_name(bytes)?;
            let flags = SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            bind(&socket, &address)?;
            Ok::<_, io::Error>(socket)
        };
        let socket = bound().map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => match stage(name) {
                Some(Stage::Building) => LabError::Building(name.to_owned()),
                Some(Stage::Up) | None => LabError::Exists(name.to_owned()),
            },
            _ => LabError::system("open the lab's socket")(error),
        })?;
        Ok(Name { socket })
    }

    /// From now on who connects is heard.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn answer(self) -> Result<UnixListener, LabError> {
        let refused = LabError::system("listen at the lab's socket");
        listen(&self.socket, BACKLOG).map_err(|error| refused(error.into()))?;
        Ok(self.socket.into())
    }
}

/// Local sockets of the network namespace that the calling thread is in.
pub(super) fn sockets() -> io::Result<String> {
    std::fs::read_to_string("/proc/thread-self/net/unix")
}

/// How far the holder of the lab called `name` is; `None` if there is none, or the kernel does not
/// tell.
pub(super) fn stage(name: &str) -> Option<Stage> {
    stage_in(&sockets().ok()?, &(prefix() + name))
}

/// How far the holder of an abstract name is, by a `/proc/net/unix`.
fn stage_in(sockets: &str, name: &str) -> Option<Stage> {
    sockets.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, _, flags, _, state, _, path] = fields[..] else { return None };
        // Connections to a holder have its name as well.
        let is_own = path.strip_prefix('@') == Some(name) && state == WITHOUT_PEER;
        is_own.then_some(if flags == LISTENS { Stage::Up } else { Stage::Building })
    })
}

#[cfg(test)]
mod tests;
