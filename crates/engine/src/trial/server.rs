//! The server's half of a task.

use super::sockets::congestion_at_hand;
use super::{TrialError, check, halves};
use crate::hot::Watch;
use crate::hot::answer::Arrival;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, SyncSender};
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::session::access::Access;
use v6gap_core::task::{Task, TaskArm};
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::preamble::Data;
use v6gap_core::workload::{Purpose, StreamSettings, Wait, Workload};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener, Loan, Stream, Waker};

/// Longest time in which a client may be silent in the middle of a task, in ns. With the time to
/// answer [the question](v6gap_core::session::timeout::PONG_NS) that follows it is less than 15 s.
const SILENCE_NS_MAX: u64 = 10_000_000_000;

/// Time for an exchange or a connection of a slow path, in ns; a task that takes longer than all of
/// its parts would is broken off.
const EVENT_NS_MAX: u64 = 4_000_000_000;

/// Most connections that wait for whoever looks after those of others; one more is closed.
const STRANGERS_MAX: usize = 64;

/// Most data connections that wait for a task of any kind to collect them.
const UNCOLLECTED_MAX: u64 = 256;

/// The family in which the server's half of `task` accepts connections itself once it is ready.
/// Nobody else should until it is over.
pub fn accepts(task: &Task) -> Option<Family> {
    let Workload::Connect(workload) = &task.workload else {
        return None;
    };
    let arrives = |arm: &TaskArm| *task.arrives.get(arm.family);
    task.arms.first().filter(|_| workload.purpose != Purpose::Open).map(arrives)
}

/// Most data connections that may wait for a task to collect them; one more is closed.
pub(crate) fn uncollected_max(task: &Task) -> usize {
    // Others come as fast as they can be opened, and those of a load beside those of probes.
    let each = task.workload.connections_collected().unwrap_or(UNCOLLECTED_MAX);
    each.saturating_mul(task.arms.len() as u64).clamp(1, UNCOLLECTED_MAX) as usize
}

/// Where connections go that a task has accepted and that are not its own.
#[derive(Debug, Clone)]
pub struct Strangers {
    to: SyncSender<Arrival>,
    waker: Arc<Waker>,
}

impl Strangers {
    /// A way to whoever has the other end and waits for `waker`.
    pub fn new(waker: Arc<Waker>) -> (Self, Receiver<Arrival>) {
        let (to, arrivals) = mpsc::sync_channel(STRANGERS_MAX);
        (Strangers { to, waker }, arrivals)
    }

    /// Passes one on, and never waits.
    pub(crate) fn pass(&self, arrival: Arrival) {
        // Where too many wait the last one goes, as from a queue of the system's.
        let _ = self.to.try_send(arrival);
        self.waker.wake();
    }
}

/// Where the data flows of a task come from and what may end it from outside.
#[derive(Debug)]
pub struct DataFlows<'a> {
    /// Connections whose preamble named the task's token.
    pub streams: Receiver<(Data, Stream)>,
    /// Where connections go that are of no task, from one that [`accepts`] itself.
    pub strangers: &'a Strangers,
    /// The service's listening sockets, whose connections come from `streams`.
    pub listeners: &'a PerFamily<Option<Listener>>,
    /// The service's UDP sockets; nobody else receives from them while the task lasts.
    pub datagrams: &'a PerFamily<Option<Datagram>>,
    /// Whose datagrams are answered.
    pub access: &'a Access,
    /// Set to give the task up.
    pub abort: &'a AtomicBool,
    /// Set when the client has done its half.
    pub finish: &'a AtomicBool,
    /// The processor to measure on.
    pub processor: Option<usize>,
    /// What this server allows: TCP data keep to it, whatever the client does.
    pub limits: Limits,
}

impl<'a> DataFlows<'a> {
    /// The service's UDP socket for what the client sends over `family`, in the family in which
    /// that arrives.
    pub(super) fn datagram(&self, task: &Task, family: Family) -> Result<&'a Datagram, TrialError> {
        let missing = TrialError::Missing { family, what: "UDP socket" };
        self.datagrams.get(*task.arrives.get(family)).as_ref().ok_or(missing)
    }

    /// The service's listening socket for the same.
    pub(super) fn listener(&self, task: &Task, family: Family) -> Option<&'a Listener> {
        self.listeners.get(*task.arrives.get(family)).as_ref()
    }

    /// Has the connections that come over `family` begin with the congestion control that is asked
    /// for, if the system lets them; otherwise they change to it once they are accepted.
    pub(super) fn lend_congestion(
        &self,
        task: &Task,
        family: Family,
        settings: &StreamSettings,
    ) -> Option<Loan> {
        self.listener(task, family)?.lend_congestion(congestion_at_hand(settings)?).ok()
    }

    /// The bounds of every wait of `task`.
    pub(super) fn watch(&self, task: &Task, wait: Wait) -> Watch<'_> {
        Watch {
            wait,
            asks: false,
            silence_ns: SILENCE_NS_MAX,
            deadline_ns: clock::now_ns().saturating_add(longest_ns(&task.workload)),
            abort: self.abort,
            finish: self.finish,
        }
    }
}

/// Takes part in `task` on the calling thread, which it holds on `flows.processor` from then on,
/// and returns one report for each arm. Calls `ready` once data flows may come.
///
/// # Errors
/// A task that cannot be done, trouble with sockets, or a client that does not do as agreed. It
/// returns in bounded time whatever the client does.
pub fn run(
    task: &Task,
    flows: DataFlows<'_>,
    ready: impl FnOnce(),
) -> Result<Vec<(Arm, EndReport)>, TrialError> {
    check(task)?;
    halves::server(task, &flows, ready)
}

/// Longest time that a workload can take if the client does as agreed, in ns.
pub(crate) fn longest_ns(workload: &Workload) -> u64 {
    let each_ns = workload.exchanges_in_all().saturating_mul(EVENT_NS_MAX);
    let part_ns = workload.longest_ns().unwrap_or(each_ns);
    part_ns.saturating_add(3 * SILENCE_NS_MAX)
}
