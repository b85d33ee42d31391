//! Asking the holders of labs.

use super::message::{self, Reply, Request};
use super::name::{sockets, stage};
use super::{PATIENCE, address, is_own, prefix};
use crate::LabError;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;
use v6gap_sys::clock;

/// Taking a lab down may take this long.
const DOWN_PATIENCE: Duration = Duration::from_secs(10);

/// How soon a lab that is being built is asked again.
const AGAIN: Duration = Duration::from_millis(50);

/// Names of this user's labs that are up or being built, sorted.
///
/// # Errors
/// If the kernel's list of local sockets cannot be read.
pub fn list() -> Result<Vec<String>, LabError> {
    let sockets = sockets().map_err(LabError::system("read the list of local sockets"))?;
    Ok(names(&sockets, &prefix()))
}

/// What the lab called `name` is and how it is doing, as JSON text.
///
/// # Errors
/// If there is no such lab, it is being built, or it does not answer.
pub fn status(name: &str) -> Result<String, LabError> {
    ask(name, &Request::Status, PATIENCE).map(|(text, _)| text)
}

/// Takes the lab called `name` down; it is gone when this returns.
///
/// # Errors
/// If there is no such lab, it is being built, or it does not answer.
pub fn down(name: &str) -> Result<(), LabError> {
    ask(name, &Request::Down, DOWN_PATIENCE).map(drop)
}

pub(crate) fn ask(
    name: &str,
    request: &Request,
    patience: Duration,
) -> Result<(String, Reply), LabError> {
    ask_at(&address(name)?, name, request, patience)
}

/// Asks the holder at a socket of the network namespace that the calling thread is in.
pub(super) fn ask_at(
    socket: &SocketAddr,
    name: &str,
    request: &Request,
    patience: Duration,
) -> Result<(String, Reply), LabError> {
    let holder = reach(socket, name, patience)?;
    // Names are free to all users, and another's lab is none of this one.
    if !is_own(&holder) {
        return Err(LabError::NoLab(name.to_owned()));
    }
    let failed = || LabError::system(format!("ask the lab called {name}"));
    holder.set_read_timeout(Some(patience)).map_err(failed())?;
    holder.set_write_timeout(Some(patience)).map_err(failed())?;
    let mut reply = message::ask(holder, request).map_err(failed())?;
    match std::mem::replace(&mut reply.answer, Ok(String::new())) {
        Ok(text) => Ok((text, reply)),
        Err(reason) => Err(LabError::Holder { name: name.to_owned(), reason }),
    }
}

/// Connects to a holder, which may take so long if it builds its lab still.
fn reach(socket: &SocketAddr, name: &str, patience: Duration) -> Result<UnixStream, LabError> {
    let begun_ns = clock::now_ns();
    loop {
        let error = match UnixStream::connect_addr(socket) {
            Ok(holder) => return Ok(holder),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::NotFound => {}
            _ => return Err(LabError::system(format!("reach the lab called {name}"))(error)),
        }
        if stage(name).is_none() {
            return Err(LabError::NoLab(name.to_owned()));
        }
        if u128::from(clock::now_ns() - begun_ns) >= patience.as_nanos() {
            return Err(LabError::Building(name.to_owned()));
        }
        clock::rest(AGAIN);
    }
}

/// The names behind `prefix` among the abstract sockets of a `/proc/net/unix`.
fn names(sockets: &str, prefix: &str) -> Vec<String> {
    let paths = sockets.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(7));
    let labs = paths.filter_map(|path| path.strip_prefix('@')?.strip_prefix(prefix));
    // Connections to a holder are listed by its name as well.
    labs.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labs_are_found_among_the_sockets_of_the_host() {
        let sockets = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000: 00000002 00000000 00010000 0001 01 111 @v6gap-lab-1000-two\n\
            0000: 00000003 00000000 00000000 0001 03 112 @v6gap-lab-1000-two\n\
            0000: 00000002 00000000 00010000 0001 01 113 @v6gap-lab-1000-first-look\n\
            0000: 00000002 00000000 00010000 0001 01 114 @v6gap-lab-100-other\n\
            0000: 00000002 00000000 00010000 0001 01 115 /run/v6gap-lab-1000-path\n\
            0000: 00000002 00000000 00000000 0002 01 116\n";
        assert_eq!(names(sockets, "v6gap-lab-1000-"), ["first-look", "two"]);
        assert_eq!(names("", "v6gap-lab-1000-"), Vec::<String>::new());
    }
}
