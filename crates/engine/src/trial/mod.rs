//! One task at one end: sockets, evidence before and after, the hot loop between, the report.

mod capacity;
pub mod client;
mod connect;
mod echo;
mod evidence;
mod flows;
mod halves;
mod idle;
mod kind;
mod probe;
mod room;
pub mod server;
mod sockets;
mod tcp_bulk;
pub mod times;
mod udp_bulk;
mod validation;

pub use client::ClientContext;
pub use evidence::{
    account, datagram_endpoints, datagram_granted, note_queue_drops, stream_endpoints,
    stream_granted,
};
pub use idle::{Idle, idle, needs_idle, watch_once, with_idle};
pub use kind::Kind;
pub use sockets::stream_options;
pub use tcp_bulk::add_sent;
pub(crate) use validation::discard_strays;

use crate::hot::{Broken, Cause};
use std::io;
use std::net::SocketAddr;
use v6gap_core::arm::Arm;
use v6gap_core::family::Family;
use v6gap_core::observation::EndReport;
use v6gap_core::task::Task;
use v6gap_core::wire::control::TaskFailure;
use v6gap_core::wiremodel::fragments;
use v6gap_core::workload::Impossible;
use v6gap_sys::Unavailable;
use v6gap_sys::socket::{Datagram, ErrorClass, SocketError};

/// Why a task failed at this end.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The task cannot be done as it stands.
    #[error("task {number} cannot be done: {why}")]
    Unsuitable {
        /// Number of the task.
        number: u32,
        /// What is wrong with it.
        why: Impossible,
    },
    /// There is no address or socket for a family that the task needs.
    #[error("no {family} {what} for the task")]
    Missing {
        /// The family.
        family: Family,
        /// What there is none of.
        what: &'static str,
    },
    /// This host does not have what the task needs.
    #[error("{family}: {missing}")]
    Unavailable {
        /// The family.
        family: Family,
        /// What, and why not.
        missing: Unavailable,
    },
    /// A socket could not be made or asked.
    #[error("{family}: {source}")]
    Socket {
        /// The family.
        family: Family,
        /// The address of the peer, if known.
        address: Option<SocketAddr>,
        /// What the system says.
        source: Box<SocketError>,
    },
    /// Sending or receiving failed.
    #[error("{operation} over {family}{} failed: {source}", at(address))]
    Io {
        /// In the middle of what.
        operation: &'static str,
        /// The family.
        family: Family,
        /// The address of the peer, if known.
        address: Option<SocketAddr>,
        /// What the system says.
        source: io::Error,
    },
    /// The system granted other socket buffers than the plan insists on.
    #[error("{family}: {asked} B were asked for as socket buffers, but the system has {got}")]
    Buffers {
        /// The family.
        family: Family,
        /// What was asked for, in bytes.
        asked: u32,
        /// What there is, in words.
        got: String,
    },
    /// A datagram does not fit the path in one piece, and may not be cut.
    #[error(
        "{operation} over {family}{}: a datagram does not fit the path MTU{} in one piece",
        at(address),
        of_bytes(path_mtu)
    )]
    TooBig {
        /// In the middle of what.
        operation: &'static str,
        /// The family.
        family: Family,
        /// The address of the peer, if known.
        address: Option<SocketAddr>,
        /// The path MTU that the kernel knows of, in bytes.
        path_mtu: Option<u32>,
    },
    /// No datagram was answered that travels in fragments.
    #[error(
        "{operation} over {family} with {address}: nothing came in time; {payload_bytes} B travel \
         in fragments on this path MTU of {path_mtu} B, and a host whose memory for datagrams \
         that came in part is full takes no others until it gives them up, 30 to 60 s later. \
         Datagrams of at most {} B need none",
        path_mtu.saturating_sub(family.header_bytes() + 8)
    )]
    Fragments {
        /// In the middle of what.
        operation: &'static str,
        /// The family.
        family: Family,
        /// The address of the peer.
        address: SocketAddr,
        /// Payload of the datagrams, in bytes.
        payload_bytes: u32,
        /// The path MTU that the kernel knows of, in bytes.
        path_mtu: u32,
    },
    /// No datagram of the server comes to this host, not even the answer to the shortest one.
    #[error(
        "UDP over {family} is blocked on the way to {address} or there: no answer within \
         {patience_ms} ms{}. Let UDP port {} pass",
        of_system(why),
        address.port()
    )]
    Blocked {
        /// The family.
        family: Family,
        /// The address of the server.
        address: SocketAddr,
        /// How long an answer was waited for, in ms.
        patience_ms: u64,
        /// What the system said meanwhile, if anything.
        why: Option<String>,
    },
    /// The peer did not behave as agreed.
    #[error("{operation} over {family}{}: {what}", at(address))]
    Peer {
        /// In the middle of what.
        operation: &'static str,
        /// The family.
        family: Family,
        /// The address of the peer, if known.
        address: Option<SocketAddr>,
        /// What the peer did or failed to do.
        what: &'static str,
    },
    /// The task was given up from outside.
    #[error("{operation} over {family} was given up")]
    Aborted {
        /// In the middle of what.
        operation: &'static str,
        /// The family.
        family: Family,
    },
    /// A worker told of any of these, or ended without a word.
    #[error("{why}")]
    Told {
        /// Which of them.
        kind: Kind,
        /// The family, where it has one.
        family: Option<Family>,
        /// The address of the peer, where it has one.
        address: Option<SocketAddr>,
        /// Its words.
        why: String,
    },
}

fn at(address: &Option<SocketAddr>) -> String {
    address.map(|address| format!(" with {address}")).unwrap_or_default()
}

fn of_bytes(path_mtu: &Option<u32>) -> String {
    path_mtu.map(|bytes| format!(" of {bytes} B")).unwrap_or_default()
}

fn of_system(why: &Option<String>) -> String {
    why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default()
}

/// What the kernel assumes of the path to `address`; asking sends nothing.
fn path_mtu(address: SocketAddr) -> Option<u32> {
    let family = Family::of(&address.ip())?;
    let socket = Datagram::bind(SocketAddr::new(family.unspecified(), 0)).ok()?;
    socket.connect(address).ok()?;
    socket.path_mtu().ok()
}

impl TrialError {
    /// Which of them it is; a worker's is that of what it told of.
    pub fn kind(&self) -> Kind {
        match self {
            TrialError::Unsuitable { .. } => Kind::Unsuitable,
            TrialError::Missing { .. } => Kind::Missing,
            TrialError::Unavailable { .. } => Kind::Unavailable,
            TrialError::Socket { .. } => Kind::Socket,
            TrialError::Io { .. } => Kind::Io,
            TrialError::Buffers { .. } => Kind::Buffers,
            TrialError::TooBig { .. } => Kind::TooBig,
            TrialError::Fragments { .. } => Kind::Fragments,
            TrialError::Blocked { .. } => Kind::Blocked,
            TrialError::Peer { .. } => Kind::Peer,
            TrialError::Aborted { .. } => Kind::Aborted,
            TrialError::Told { kind, .. } => *kind,
        }
    }

    /// The family that it is about, where it is about one.
    pub fn family(&self) -> Option<Family> {
        match self {
            TrialError::Unsuitable { .. } => None,
            TrialError::Missing { family, .. }
            | TrialError::Unavailable { family, .. }
            | TrialError::Socket { family, .. }
            | TrialError::Io { family, .. }
            | TrialError::Buffers { family, .. }
            | TrialError::TooBig { family, .. }
            | TrialError::Fragments { family, .. }
            | TrialError::Blocked { family, .. }
            | TrialError::Peer { family, .. }
            | TrialError::Aborted { family, .. } => Some(*family),
            TrialError::Told { family, .. } => *family,
        }
    }

    /// What a client is told of it.
    pub fn told(&self) -> TaskFailure {
        let (lasting, family) = (self.is_lasting(), self.family());
        TaskFailure { why: self.to_string(), lasting, family }
    }

    /// The address of the peer, where it is known.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            TrialError::Unsuitable { .. }
            | TrialError::Missing { .. }
            | TrialError::Unavailable { .. }
            | TrialError::Buffers { .. }
            | TrialError::Aborted { .. } => None,
            TrialError::Socket { address, .. }
            | TrialError::Io { address, .. }
            | TrialError::TooBig { address, .. }
            | TrialError::Peer { address, .. }
            | TrialError::Told { address, .. } => *address,
            TrialError::Fragments { address, .. } | TrialError::Blocked { address, .. } => {
                Some(*address)
            }
        }
    }

    /// What a host that is a stranger's did, or failed to do.
    pub fn of_stranger(family: Family, address: SocketAddr, why: String) -> Self {
        TrialError::Told { kind: Kind::Peer, family: Some(family), address: Some(address), why }
    }

    /// The half of a task panicked.
    pub(crate) fn panicked() -> Self {
        TrialError::of_worker("its half of the task panicked".to_owned())
    }

    /// A worker has ended without telling of an error.
    pub(crate) fn of_worker(why: String) -> Self {
        TrialError::of_host(Kind::Worker, why)
    }

    /// The error of a hot loop on a socket of `family` whose peer is at `address`.
    pub fn of(broken: Broken, family: Family, address: Option<SocketAddr>) -> Self {
        let operation = broken.operation;
        let peer = |what| TrialError::Peer { operation, family, address, what };
        match broken.cause {
            Cause::Io(source) if ErrorClass::of(&source) == ErrorClass::TooBig => {
                let path_mtu = address.and_then(path_mtu);
                TrialError::TooBig { operation, family, address, path_mtu }
            }
            Cause::Io(source) => TrialError::Io { operation, family, address, source },
            Cause::Closed => peer("the other end closed the connection"),
            Cause::Silent => peer("nothing came in time"),
            Cause::TooLong => peer("the other end did not come to an end in time"),
            Cause::Foreign => peer("a message came that does not belong to the task"),
            Cause::Finished => peer("the other end gave up"),
            Cause::Aborted => TrialError::Aborted { operation, family },
        }
    }

    /// As [`of`](Self::of) for datagrams of `payload_bytes` to `address`: if none was answered and
    /// they travel in fragments, that is said.
    fn of_datagrams(
        broken: Broken,
        family: Family,
        address: SocketAddr,
        payload_bytes: u32,
    ) -> Self {
        let operation = broken.operation;
        let silent = matches!(broken.cause, Cause::Silent);
        let path_mtu = silent.then(|| path_mtu(address)).flatten();
        let packets = |mtu| fragments(payload_bytes, family, mtu).unwrap_or(1);
        match path_mtu.filter(|&mtu| packets(mtu) > 1) {
            Some(path_mtu) => {
                TrialError::Fragments { operation, family, address, payload_bytes, path_mtu }
            }
            None => TrialError::of(broken, family, Some(address)),
        }
    }

    /// What this host lacks or failed at, whatever the family.
    fn of_host(kind: Kind, why: String) -> TrialError {
        TrialError::Told { kind, family: None, address: None, why }
    }

    /// No thread could be started for the task.
    fn thread(source: io::Error) -> TrialError {
        TrialError::of_host(Kind::Io, format!("starting a thread failed: {source}"))
    }

    fn socket(family: Family, address: Option<SocketAddr>) -> impl Fn(SocketError) -> TrialError {
        move |source| TrialError::Socket { family, address, source: Box::new(source) }
    }

    /// Whether the same task would fail again for the same reason, because of what this host has or
    /// grants, or the way lets pass.
    pub fn is_lasting(&self) -> bool {
        self.kind().is_lasting()
    }
}

/// Does `work` on the calling thread, held on `processor` if one is named, with this host looked at
/// before and after it.
pub fn watched<T>(processor: Option<usize>, work: impl FnOnce() -> T) -> (T, EndReport) {
    let before = evidence::Before::look(processor);
    let outcome = work();
    (outcome, before.report())
}

/// The family of an arm of the task; that of its first where it does not take part.
fn family(task: &Task, arm: Arm) -> Family {
    task.arms.iter().find(|a| a.arm == arm).map_or(only_arm(task).1, |a| a.family)
}

/// The only arm of a task that is interleaved by whole trials, or the first one; [`check`] has seen
/// that there is one.
fn only_arm(task: &Task) -> (Arm, Family) {
    task.arms.first().map_or((Arm::A, Family::V4), |a| (a.arm, a.family))
}

/// Refuses what the loops could not do or would do wrongly. Tasks may come from anyone.
fn check(task: &Task) -> Result<(), TrialError> {
    let number = task.number;
    task.check().map_err(|why| TrialError::Unsuitable { number, why })?;
    room::check(task)
}

/// The processor of a draw: one of those that an end may measure on, so that both ends on one
/// computer are on the same one. `None` where it is held on none.
pub(crate) fn processor(among: &[usize], draw: Option<u32>) -> Option<usize> {
    let place = draw.unwrap_or(0) as usize % among.len().max(1);
    among.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_has_one_of_the_processors_that_may_be() {
        assert_eq!(processor(&[], Some(7)), None);
        assert_eq!(processor(&[4], Some(7)), Some(4));
        assert_eq!([0, 1, 2].map(|draw| processor(&[4, 6], Some(draw))), [4, 6, 4].map(Some));
        assert_eq!(processor(&[4, 6], None), Some(4));
    }

    /// Loopback takes 65,536 bytes in one piece, a little less than the longest datagram of IPv6.
    #[test]
    fn silence_about_fragments_names_them() {
        let address: SocketAddr = "[::1]:9".parse().unwrap();
        let silent = |payload_bytes| {
            let broken = Broken { arm: Arm::B, operation: "knocking", cause: Cause::Silent };
            TrialError::of_datagrams(broken, Family::V6, address, payload_bytes)
        };
        assert!(matches!(silent(1_000), TrialError::Peer { .. }));
        if path_mtu(address).is_none() {
            return; // This system does not tell.
        }
        let error = silent(65_527);
        assert!(matches!(error, TrialError::Fragments { path_mtu: 65_536, .. }), "{error}");
        assert!(error.to_string().contains("at most 65488 B need none"), "{error}");
    }
}
