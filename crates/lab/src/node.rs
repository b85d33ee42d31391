//! The nodes of a lab, to go to.

use crate::LabError;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use v6gap_core::family::PerFamily;
use v6gap_core::world::NodeKind;
use v6gap_sys::netns;

/// A host, router or switch of the lab.
#[derive(Debug)]
pub struct Node {
    /// Name of the node in the world.
    pub name: String,
    /// What the node does with packets of others.
    pub kind: NodeKind,
    /// The addresses that others reach it by, on its interface nearest to the client; a switch has
    /// none.
    pub addresses: PerFamily<Option<IpAddr>>,
    /// `None` where it is another system.
    pub(crate) namespace: Option<OwnedFd>,
}

impl Node {
    pub(crate) fn new(
        name: String,
        kind: NodeKind,
        addresses: PerFamily<Option<IpAddr>>,
        namespace: Option<OwnedFd>,
    ) -> Self {
        Self { name, kind, addresses, namespace }
    }

    /// Moves the calling thread to this node: sockets that it opens from now on are the node's.
    ///
    /// # Errors
    /// If it is another system, or the kernel refuses.
    pub fn enter(&self) -> Result<(), LabError> {
        let operation = || format!("enter the namespace of {}", self.name);
        netns::enter(self.namespace()?).map_err(LabError::system(operation()))
    }

    /// Runs `work` at this node in a thread of its own and returns what it returned; sockets may be
    /// among it and stay the node's.
    ///
    /// # Errors
    /// If it is another system, or the thread cannot be started or cannot enter the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
        let operation = format!("run something at {}", self.name);
        netns::run_in(self.namespace()?, work).map_err(LabError::system(operation))
    }

    /// The node's network namespace.
    ///
    /// # Errors
    /// If it is another system, which has none of this one's.
    pub fn namespace(&self) -> Result<BorrowedFd<'_>, LabError> {
        let own = self.namespace.as_ref().map(AsFd::as_fd);
        own.ok_or_else(|| LabError::OtherSystem(self.name.clone()))
    }
}
