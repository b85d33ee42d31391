//! The server's half of one task, by a worker where there is one, and a thread that waits for it.

use crate::hot::answer::Arrival;
use crate::trial::server::{DataFlows, Strangers, uncollected_max};
use crate::trial::{self, TrialError, needs_idle, with_idle};
use crate::worker::{Half, Order, Worker};
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
use v6gap_core::session::agree;
use v6gap_core::task::{Task, Token};
use v6gap_core::wire::control::{Limits, TaskFailure};
use v6gap_core::wire::preamble::Data;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener, Stream, Waker};

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
    datagrams: Arc<PerFamily<Option<Datagram>>>,
    access: Arc<Access>,
    processors: Vec<usize>,
    pub(super) waker: Arc<Waker>,
    limits: Limits,
    /// Before this time by the clock no task begins, in ns: the exchanges of the one before it went
    /// faster than the limit of the rate.
    rest_until_ns: Arc<AtomicU64>,
    /// What this machine does when nothing is measured, as seen in the session of that number.
    idle: Arc<Mutex<Option<(u64, trial::Idle)>>>,
    drawn: Option<Drawn>,
    events: (Sender<Happened>, Receiver<Happened>),
    strangers: (Strangers, Receiver<Arrival>),
}

/// What was drawn for the tasks of a session with the same number of the draw.
struct Drawn {
    of: (u64, Option<u32>),
    /// Who measures; a thread does where there is none.
    worker: Option<Arc<Worker>>,
}

/// A task whose thread has not ended.
pub(super) struct Running {
    /// The session that it belongs to.
    pub(super) session: u64,
    token: Token,
    /// Where it accepts connections itself once it is ready.
    accepts: Option<Family>,
    /// Whether it is ready.
    pub(super) ready: bool,
    abort: Arc<AtomicBool>,
    way: Way,
    thread: JoinHandle<()>,
}

/// The way to whoever measures.
enum Way {
    /// A thread of this process.
    Thread { streams: SyncSender<(Data, Stream)>, finish: Arc<AtomicBool> },
    /// A worker: each connection on the way to it holds one of the `places`.
    Worker { orders: Sender<Order>, places: Arc<()>, most: usize },
}

/// The other end of it.
enum Measuring {
    Thread { streams: Receiver<(Data, Stream)>, finish: Arc<AtomicBool> },
    Worker { worker: Arc<Worker>, orders: (Sender<Order>, Receiver<Order>) },
}

impl Workshop {
    /// Without any task yet.
    pub(super) fn new(
        listeners: Arc<PerFamily<Option<Listener>>>,
        datagrams: PerFamily<Option<Datagram>>,
        access: Access,
        (processors, limits): (Vec<usize>, Limits),
    ) -> io::Result<Self> {
        let waker = Arc::new(Waker::new()?);
        Ok(Workshop {
            listeners,
            datagrams: Arc::new(datagrams),
            access: Arc::new(access),
            processors,
            strangers: Strangers::new(Arc::clone(&waker)),
            waker,
            limits,
            rest_until_ns: Arc::default(),
            idle: Arc::default(),
            drawn: None,
            events: mpsc::channel(),
        })
    }

    /// Starts a task. Its thread wakes the front when there is something in [`Workshop::happened`].
    pub(super) fn start(&mut self, task: Task, session: u64) -> io::Result<Running> {
        let (token, accepts) = (task.token, trial::server::accepts(&task));
        let (way, measuring) = self.way(&task, session);
        let abort = Arc::new(AtomicBool::new(false));
        let aborting = Arc::clone(&abort);
        let (events, waker) = (self.events.0.clone(), Arc::clone(&self.waker));
        let tell = move |happened| {
            // The front outlives the thread, or else nobody wants to know.
            let _ = events.send(happened);
            waker.wake();
        };
        let (listeners, datagrams) = (Arc::clone(&self.listeners), Arc::clone(&self.datagrams));
        let (access, strangers) = (Arc::clone(&self.access), self.strangers.0.clone());
        let (idle, rest_until_ns) = (Arc::clone(&self.idle), Arc::clone(&self.rest_until_ns));
        let processor = trial::processor(&self.processors, task.draw);
        let limits = self.limits;
        let body = move || {
            rest(&rest_until_ns, &aborting);
            let begun_ns = clock::now_ns();
            // Only while the client waits for us to be ready is nothing measured.
            let idle = needs_idle(&task.workload).then(|| idle_of(&idle, session));
            discard_strays(&datagrams);
            let half = Half {
                task: &task,
                access: &access,
                processor,
                limits,
                listeners: &listeners,
                datagrams: &datagrams,
                strangers: &strangers,
            };
            let measure = || measuring.measure(half, &aborting, || tell(Happened::Ready));
            // A defect in one trial must not take the server's turn away for ever.
            let outcome = catch_unwind(AssertUnwindSafe(measure));
            let outcome = outcome.unwrap_or_else(|_| Err(TrialError::panicked()));
            let outcome =
                outcome.map(|reports| with_idle(reports, idle)).map_err(|error| error.told());
            let until_ns = begun_ns.saturating_add(agree::rest_ns(&task.workload, &limits));
            // A task that was given up while it waited leaves what it waited for.
            rest_until_ns.fetch_max(until_ns, Ordering::AcqRel);
            tell(Happened::Ended(outcome));
        };
        let thread = thread::Builder::new().name("trial".to_string()).spawn(body)?;
        Ok(Running { session, token, accepts, ready: false, abort, way, thread })
    }

    /// Who does the server's half of a task, and how to speak with them meanwhile.
    fn way(&mut self, task: &Task, session: u64) -> (Way, Measuring) {
        let most = uncollected_max(task);
        match self.worker((session, task.draw)) {
            Some(worker) => {
                let (orders, to_say) = mpsc::channel();
                let way = Way::Worker { orders: orders.clone(), places: Arc::default(), most };
                (way, Measuring::Worker { worker, orders: (orders, to_say) })
            }
            None => {
                let (streams, collected) = mpsc::sync_channel(most);
                let finish = Arc::new(AtomicBool::new(false));
                let finishing = Arc::clone(&finish);
                let measuring = Measuring::Thread { streams: collected, finish: finishing };
                (Way::Thread { streams, finish }, measuring)
            }
        }
    }

    /// The worker of a draw, a new one with new UDP sockets where the draw is new, or where the one
    /// that there was has ended. Started on the front's thread, with which it ends.
    fn worker(&mut self, of: (u64, Option<u32>)) -> Option<Arc<Worker>> {
        let lives = |drawn: &Drawn| drawn.worker.as_ref().is_none_or(|worker| worker.lives());
        if let Some(drawn) = self.drawn.as_ref().filter(|drawn| drawn.of == of && lives(drawn)) {
            return drawn.worker.clone();
        }
        // One that died has left the sockets as it had set them.
        let died = self.drawn.as_ref().is_some_and(|drawn| drawn.of == of && !lives(drawn));
        // One at a time: the last ends before the next begins.
        self.drawn = None;
        let worker = Worker::start().map(Arc::new);
        // Threads that measure have tables of open files of their own, in which the old sockets
        // would live on and be told what the new ones should hear.
        if worker.is_some() || died {
            self.draw_sockets();
        }
        self.drawn = Some(Drawn { of, worker: worker.clone() });
        worker
    }

    /// Replaces the UDP sockets by new ones on their ports, as far as the system lets it. No task
    /// runs, and what comes between tasks is thrown away.
    fn draw_sockets(&mut self) {
        let mut drawn = PerFamily::default();
        for family in Family::BOTH {
            let Some(socket) = self.datagrams.get(family) else { continue };
            match socket.anew() {
                Ok(Ok(anew)) => *drawn.get_mut(family) = Some(anew),
                // Both or none, so that the families stay alike.
                Ok(Err(_)) | Err(_) => return,
            }
        }
        self.datagrams = Arc::new(drawn);
    }

    /// Forgets what was drawn for a session, which is over.
    pub(super) fn dismiss(&mut self, session: u64) {
        if self.drawn.as_ref().is_some_and(|drawn| drawn.of.0 == session) {
            self.drawn = None;
        }
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
        if data.token != self.token || stream.set_nonblocking(false).is_err() {
            return;
        }
        // A task that has as many as it is for, or that has just ended has no use for it.
        match &self.way {
            Way::Thread { streams, .. } => drop(streams.try_send((data, stream))),
            Way::Worker { orders, places, most } if Arc::strong_count(places) <= *most => {
                drop(orders.send(Order::Stream(data, stream, Arc::clone(places))));
            }
            Way::Worker { .. } => {}
        }
    }

    /// The family whose connections the task accepts itself.
    pub(super) fn accepts(&self) -> Option<Family> {
        self.accepts.filter(|_| self.ready)
    }

    /// The client's half is over.
    pub(super) fn finish(&self) {
        match &self.way {
            Way::Thread { finish, .. } => finish.store(true, Ordering::Release),
            Way::Worker { orders, .. } => drop(orders.send(Order::Finish)),
        }
    }

    /// Nobody wants the result any more.
    pub(super) fn abort(&self) {
        self.abort.store(true, Ordering::Release);
        if let Way::Worker { orders, .. } = &self.way {
            drop(orders.send(Order::Abort));
        }
    }

    /// Waits for the end of the thread.
    pub(super) fn join(self) {
        // Panics have been caught inside.
        let _ = self.thread.join();
    }
}

impl Measuring {
    /// Does the server's half.
    fn measure(
        self,
        half: Half<'_>,
        abort: &AtomicBool,
        ready: impl FnOnce(),
    ) -> Result<Vec<(Arm, EndReport)>, TrialError> {
        match self {
            Measuring::Worker { worker, orders: (say, to_say) } => {
                let listeners = half.listeners;
                let settings = listeners.as_ref().map(|l| l.as_ref().map(Listener::settings));
                let outcome = worker.serve(half, (&say, to_say), ready);
                if !worker.lives() {
                    // What it had lent of them nobody else gives back.
                    for family in Family::BOTH {
                        let settings = settings.get(family).as_ref();
                        let lent = listeners.get(family).as_ref().zip(settings);
                        lent.into_iter().for_each(|(listener, was)| listener.restore(was));
                    }
                }
                outcome
            }
            Measuring::Thread { streams, finish } => {
                let Half { task, access, processor, limits, listeners, datagrams, strangers } =
                    half;
                let finish = &*finish;
                let flows = DataFlows {
                    streams,
                    strangers,
                    listeners,
                    datagrams,
                    access,
                    abort,
                    finish,
                    processor,
                    limits,
                };
                trial::server::run(task, flows, ready)
            }
        }
    }
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
    for socket in [&datagrams.v4, &datagrams.v6].into_iter().flatten() {
        // As a worker left it that was ended.
        let _ = socket.keep_nothing(false);
        if socket.set_nonblocking(true).is_ok() {
            trial::discard_strays(socket);
        }
        // If a mode cannot be set, the task itself meets the same socket and says so.
        let _ = socket.set_nonblocking(false);
        let _ = socket.set_read_timeout(None);
    }
}
