//! The server's half of one task, on a thread of its own.

use crate::hot::answer::Arrival;
use crate::trial::server::{DataFlows, Strangers};
use crate::trial::{self, needs_idle, with_idle};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use v6gap_core::arm::Arm;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::EndReport;
use v6gap_core::session::access::Access;
use v6gap_core::session::{TaskFailure, agree};
use v6gap_core::task::{Task, Token};
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::preamble::Data;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener, Stream, Waker};

/// Most stray datagrams that are thrown away before a task; a flood must not hold it up.
const STRAYS_MAX: u32 = 10_000;

/// Most data connections that wait for a task of any kind to collect them.
const UNCOLLECTED_MAX: u64 = 256;

/// Longest time in which a task that waits does not look whether it was given up, in ns.
const REST_STEP_NS: u64 = 20_000_000;

/// What the task's thread has to tell.
pub(super) enum Happened {
    /// Data flows may come.
    Ready,
    /// It is over.
    Ended(Result<Vec<(Arm, EndReport)>, TaskFailure>),
}

/// What tasks are run with, one after the other.
pub(super) struct Workshop {
    pub(super) listeners: Arc<PerFamily<Option<Listener>>>,
    pub(super) datagrams: Arc<PerFamily<Option<Datagram>>>,
    access: Arc<Access>,
    pub(super) processor: Option<usize>,
    pub(super) waker: Arc<Waker>,
    limits: Limits,
    /// Before this time by the clock no task begins, in ns: the exchanges of the one before it went
    /// faster than the limit of the rate.
    rest_until_ns: Arc<AtomicU64>,
    /// What this machine does when nothing is measured, as seen in the session of that number.
    idle: Arc<Mutex<Option<(u64, trial::Idle)>>>,
    events: (Sender<Happened>, Receiver<Happened>),
    strangers: (Strangers, Receiver<Arrival>),
}

/// A task whose thread has not ended.
pub(super) struct Running {
    /// The session that it belongs to.
    pub(super) session: u64,
    token: Token,
    streams: SyncSender<(Data, Stream)>,
    /// Where it accepts connections itself once it is ready.
    accepts: Option<Family>,
    /// Whether it is ready.
    pub(super) ready: bool,
    abort: Arc<AtomicBool>,
    finish: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Workshop {
    /// Without any task yet.
    pub(super) fn new(
        listeners: Arc<PerFamily<Option<Listener>>>,
        datagrams: PerFamily<Option<Datagram>>,
        access: Access,
        (processor, limits): (Option<usize>, Limits),
    ) -> io::Result<Self> {
        let waker = Arc::new(Waker::new()?);
        Ok(Workshop {
            listeners,
            datagrams: Arc::new(datagrams),
            access: Arc::new(access),
            processor,
            strangers: Strangers::new(Arc::clone(&waker)),
            waker,
            limits,
            rest_until_ns: Arc::default(),
            idle: Arc::default(),
            events: mpsc::channel(),
        })
    }

    /// Starts a task. Its thread wakes the front when there is something in [`Workshop::happened`].
    pub(super) fn start(&self, task: Task, session: u64) -> io::Result<Running> {
        let (streams, receiver) = mpsc::sync_channel(uncollected_max(&task));
        let (abort, finish) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (token, accepts) = (task.token, trial::server::accepts(&task));
        let (listeners, datagrams) = (Arc::clone(&self.listeners), Arc::clone(&self.datagrams));
        let (access, processor) = (Arc::clone(&self.access), self.processor);
        let (aborting, finishing) = (Arc::clone(&abort), Arc::clone(&finish));
        let (events, waker) = (self.events.0.clone(), Arc::clone(&self.waker));
        let tell = move |happened| {
            // The front outlives the thread, or else nobody wants to know.
            let _ = events.send(happened);
            waker.wake();
        };
        let (idle, strangers) = (Arc::clone(&self.idle), self.strangers.0.clone());
        let (limits, rest_until_ns) = (self.limits, Arc::clone(&self.rest_until_ns));
        let body = move || {
            rest(&rest_until_ns, &aborting);
            let begun_ns = clock::now_ns();
            // Only while the client waits for us to be ready is nothing measured.
            let idle = needs_idle(&task.workload).then(|| idle_of(&idle, session));
            discard_strays(&datagrams);
            let flows = DataFlows {
                streams: receiver,
                strangers: &strangers,
                listeners: &listeners,
                datagrams: &datagrams,
                access: &access,
                abort: &aborting,
                finish: &finishing,
                processor,
                limits,
            };
            let run = || trial::server::run(&task, flows, || tell(Happened::Ready));
            // A defect in one trial must not take the server's turn away for ever.
            let outcome = match catch_unwind(AssertUnwindSafe(run)) {
                Ok(Ok(reports)) => Ok(with_idle(reports, idle)),
                Ok(Err(error)) => {
                    Err(TaskFailure { why: error.to_string(), lasting: error.is_lasting() })
                }
                Err(_) => {
                    let why = "the server's half of the task panicked".to_string();
                    Err(TaskFailure { why, lasting: false })
                }
            };
            let until_ns = begun_ns.saturating_add(agree::rest_ns(&task.workload, &limits));
            rest_until_ns.store(until_ns, Ordering::Release);
            tell(Happened::Ended(outcome));
        };
        let thread = thread::Builder::new().name("trial".to_string()).spawn(body)?;
        let ready = false;
        Ok(Running { session, token, streams, accepts, ready, abort, finish, thread })
    }

    /// The next thing that a task's thread has told.
    pub(super) fn happened(&self) -> Option<Happened> {
        self.events.1.try_recv().ok()
    }

    /// The next connection that a task has accepted and that is not its own.
    pub(super) fn arrived(&self) -> Option<Arrival> {
        self.strangers.1.try_recv().ok()
    }
}

impl Running {
    /// Hands a data connection over if it knows the task's token; otherwise it is closed.
    pub(super) fn offer(&self, data: Data, stream: Stream) {
        if data.token == self.token && stream.set_nonblocking(false).is_ok() {
            // A task that has as many as it is for, or that has just ended has no use for it.
            let _ = self.streams.try_send((data, stream));
        }
    }

    /// The family whose connections the task accepts itself.
    pub(super) fn accepts(&self) -> Option<Family> {
        self.accepts.filter(|_| self.ready)
    }

    /// The client's half is over.
    pub(super) fn finish(&self) {
        self.finish.store(true, Ordering::Release);
    }

    /// Nobody wants the result any more.
    pub(super) fn abort(&self) {
        self.abort.store(true, Ordering::Release);
    }

    /// Waits for the end of the thread.
    pub(super) fn join(self) {
        // Panics have been caught inside.
        let _ = self.thread.join();
    }
}

/// Most data connections that may wait for a task to collect them; one more is closed.
fn uncollected_max(task: &Task) -> usize {
    // Others come as fast as they can be opened, and those of a load beside those of probes.
    let each = task.workload.connections_collected().unwrap_or(UNCOLLECTED_MAX);
    each.saturating_mul(task.arms.len() as u64).clamp(1, UNCOLLECTED_MAX) as usize
}

/// Waits for the time at which a task may begin, or until it is given up.
fn rest(until_ns: &AtomicU64, abort: &AtomicBool) {
    loop {
        let left_ns = until_ns.load(Ordering::Acquire).saturating_sub(clock::now_ns());
        if left_ns == 0 || abort.load(Ordering::Acquire) {
            return;
        }
        clock::rest(Duration::from_nanos(left_ns.min(REST_STEP_NS)));
    }
}

/// What the idle machine does, watched once in a session.
fn idle_of(known: &Mutex<Option<(u64, trial::Idle)>>, session: u64) -> trial::Idle {
    // Tasks run one after the other; a panic in between leaves nothing half done.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    match known.as_ref().filter(|(of, _)| *of == session) {
        Some((_, idle)) => idle.clone(),
        None => {
            let idle = trial::idle();
            *known = Some((session, idle.clone()));
            idle
        }
    }
}

/// Empties the sockets of what came while no task ran, and sets them as tasks expect them:
/// blocking, without a time limit.
fn discard_strays(datagrams: &PerFamily<Option<Datagram>>) {
    let mut bytes = [0; 1];
    for socket in [&datagrams.v4, &datagrams.v6].into_iter().flatten() {
        let strays = 0..STRAYS_MAX;
        if socket.set_nonblocking(true).is_ok() {
            strays.into_iter().take_while(|_| socket.recv_from(&mut bytes).is_ok()).for_each(drop);
        }
        // If a mode cannot be set, the task itself meets the same socket and says so.
        let _ = socket.set_nonblocking(false);
        let _ = socket.set_read_timeout(None);
    }
}
