//! The client's half of a task.

use super::{TrialError, check, halves, processor};
use crate::stamp::StampKey;
use std::net::SocketAddr;
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::task::{Task, arriving};
use v6gap_core::wire::control::Limits;
use v6gap_sys::network::Network;
use v6gap_sys::{files, thread};

/// Where the server is and how to measure.
#[derive(Debug, Clone)]
pub struct ClientContext {
    /// The server's address and port in each family.
    pub server: PerFamily<Option<SocketAddr>>,
    /// The processors to measure on, of which each draw has one; without any the system chooses.
    pub processors: Vec<usize>,
    /// Longest time for a connection to be made and for the server to be silent, in ns.
    pub timeout_ns: u64,
    /// The address of this host that data go from in each family, where the system is not to
    /// choose; its port means nothing.
    pub local: PerFamily<Option<SocketAddr>>,
    /// What the server allows: TCP data that this end sends keep to it.
    pub limits: Limits,
    /// The server is a reflector of STAMP, which answers exchanges over UDP.
    pub reflector: Option<Reflector>,
    /// The server's network, where this process may open sockets in it: that of a lab.
    pub far: Option<Network>,
}

/// How a reflector of STAMP is spoken to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reflector {
    /// By which packets are authenticated, if they are.
    pub key: Option<StampKey>,
    /// Pause before each packet, in ns: those in routers answer few in a second.
    pub pause_ns: u64,
}

impl ClientContext {
    /// A client that runs on any processor and lets the system choose its addresses.
    pub fn new(server: PerFamily<Option<SocketAddr>>, timeout_ns: u64) -> Self {
        let (local, limits) = (PerFamily::default(), Limits::default());
        let (processors, reflector, far) = (Vec::new(), None, None);
        ClientContext { server, processors, timeout_ns, local, limits, reflector, far }
    }

    /// This client for the tasks of one draw.
    pub(crate) fn of_draw(&self, draw: u32) -> Self {
        let processors = processor(&self.processors, Some(draw)).into_iter().collect();
        ClientContext { processors, ..self.clone() }
    }

    /// The processor to measure on.
    pub(super) fn processor(&self) -> Option<usize> {
        self.processors.first().copied()
    }

    /// The address in `family` that sockets are bound to, with no port yet.
    pub(super) fn local(&self, family: Family) -> SocketAddr {
        let any = SocketAddr::new(family.unspecified(), 0);
        let mut local = self.local.get(family).unwrap_or(any);
        local.set_port(0);
        local
    }

    /// In which family what is sent over each arrives at the server, as far as its addresses tell.
    pub(crate) fn arrives(&self) -> PerFamily<Family> {
        arriving(self.server.map(|address| address.map(|address| address.ip())))
    }

    /// The server's address in `family`.
    pub(super) fn remote(&self, family: Family) -> Result<SocketAddr, TrialError> {
        let missing = TrialError::Missing { family, what: "address of the server" };
        self.server.get(family).ok_or(missing)
    }
}

/// Takes part in `task` after the server said that it is ready, and returns one report for each
/// arm. Measures on a thread of its own, so that the caller's is not held on a processor.
///
/// # Errors
/// A task that cannot be done, trouble with sockets, or a server that does not do as agreed.
pub fn run(task: &Task, context: &ClientContext) -> Result<Vec<(Arm, EndReport)>, TrialError> {
    check(task)?;
    let measure = || {
        files::keep_apart();
        halves::client(task, context)
    };
    thread::aside(measure).map_err(TrialError::thread)?
}
