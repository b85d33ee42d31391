//! Linux namespaces without privilege: a user namespace of one's own and network namespaces in it.
//!
//! Namespaces are held by file descriptor only, so they vanish with the last process that holds
//! one, however it ends. Nothing is mounted and no name is left in the file system.

mod refusal;
mod steps;

pub use refusal::{Refusal, Step};

use crate::cpu::priority;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Moves this process into a user namespace and a network namespace of its own, in which it is
/// root.
///
/// The user is mapped to root and to nobody else, so the process gains nothing outside; of what it
/// had it keeps the right to real-time priority, for which it has one more thread then. The
/// loopback interface of the new network namespace is up afterwards.
///
/// # Errors
/// [`Refusal`] says why the kernel said no; the process may then be left in a user namespace
/// without rights, so it should only tell the user and end. Fails with [`Refusal::Threads`],
/// changing nothing, when the process already has other threads.
pub fn enter_user_namespace() -> Result<(), Refusal> {
    let identity = steps::Identity::current();
    priority::keeping_the_right(|| steps::enter(&identity)).map_err(refusal::classify)
}

/// Tries in a child process whether [`enter_user_namespace`] would work and whether virtual cables
/// (veth) can be made there; this process stays as it is. May be called with other threads running.
///
/// # Errors
/// As [`enter_user_namespace`], and [`Refusal::NoVeth`].
pub fn probe() -> Result<(), Refusal> {
    steps::in_child(&steps::Identity::current()).map_err(refusal::classify)
}

/// Makes an empty network namespace, which lives as long as the descriptor or something in it does.
///
/// # Errors
/// If the kernel refuses: without [`enter_user_namespace`] that takes real root rights.
pub fn new_network_namespace() -> io::Result<OwnedFd> {
    // A thread of its own, because unshare moves its caller.
    let thread = std::thread::Builder::new().name("netns".to_owned()).spawn(|| {
        steps::unshare_network()?;
        network_namespace()
    })?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The network namespace of the calling thread.
///
/// # Errors
/// If `/proc` is not mounted or no descriptor is free.
pub fn network_namespace() -> io::Result<OwnedFd> {
    File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
}

/// The user namespace of the calling thread.
///
/// # Errors
/// If `/proc` is not mounted or no descriptor is free.
pub fn user_namespace() -> io::Result<OwnedFd> {
    File::open("/proc/thread-self/ns/user").map(OwnedFd::from)
}

/// Moves the calling thread, and only it, into a network namespace. Sockets that a thread opened
/// before stay where they were.
///
/// # Errors
/// If `namespace` is something else, or the caller has no rights in it.
pub fn enter(namespace: impl AsFd) -> io::Result<()> {
    steps::join(namespace.as_fd().as_raw_fd(), libc::CLONE_NEWNET)
}

/// Moves this process into an existing user namespace, which needs to be its owner's process and to
/// have one thread only.
///
/// # Errors
/// If `namespace` is something else, belongs to another user, is the present one already, or the
/// process has other threads.
pub fn join_user(namespace: impl AsFd) -> io::Result<()> {
    steps::join(namespace.as_fd().as_raw_fd(), libc::CLONE_NEWUSER)
}

/// The effective user of the process at the other end of a connected local socket, by its number in
/// this process's user namespace; 65534 for a user who has none there, and `u32::MAX` if the socket
/// is not a local one.
///
/// # Errors
/// If the descriptor is no socket.
pub fn peer_user(socket: impl AsFd) -> io::Result<u32> {
    steps::peer_user(socket.as_fd().as_raw_fd())
}

/// Runs `work` inside a network namespace, in a thread of its own, and returns what it returned.
///
/// # Errors
/// If the thread cannot be started or cannot enter the namespace.
pub fn run_in<T: Send>(namespace: impl AsFd, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let namespace = namespace.as_fd();
    std::thread::scope(|scope| {
        let inside = move || enter(namespace).map(|()| work());
        let thread =
            std::thread::Builder::new().name("netns".to_owned()).spawn_scoped(scope, inside)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
