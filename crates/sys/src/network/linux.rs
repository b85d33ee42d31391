//! Linux: a network namespace.

use crate::netns;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A network namespace, which lives at least as long as this.
#[derive(Debug, Clone)]
pub struct Network(Arc<OwnedFd>);

impl Network {
    /// That of an open descriptor.
    pub fn of(namespace: OwnedFd) -> Self {
        Network(Arc::new(namespace))
    }

    /// That of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is not mounted or no descriptor is free.
    pub fn here() -> io::Result<Self> {
        netns::network_namespace().map(Network::of)
    }

    /// Does `work` there, on a thread of its own. Sockets that it opens stay there.
    ///
    /// # Errors
    /// If the thread cannot be started, or this process has no rights there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        netns::run_in(&*self.0, work)
    }
}

impl AsFd for Network {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
