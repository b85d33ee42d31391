//! A worker as its parent sees it: started, told what to do, and ended, whatever it does.

use super::frame::{self, Reports, Tells};
use super::{PROGRAM, WORD};
use crate::trial::server::{Strangers, longest_ns};
use crate::trial::{ClientContext, TrialError};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, scope};
use std::time::Duration;
use v6gap_core::family::PerFamily;
use v6gap_core::session::access::Access;
use v6gap_core::task::Task;
use v6gap_core::wire::control::Limits;
use v6gap_core::wire::preamble::Data;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, Listener, Stream};
use v6gap_sys::worker::{Conduit, Process};

/// Longest time in which a worker takes nothing of what it is told, in ns.
const DEAF_NS_MAX: u64 = 5_000_000_000;

/// How much longer than its task takes at most a worker may live without telling of its end, in ns.
const OVERTIME_NS: u64 = 30_000_000_000;

/// How long a worker may go on whose task was given up, in ns: hot loops look every 50 ms.
const GIVING_UP: Duration = Duration::from_secs(5);

/// A worker of this process. Dropped, it is no more.
#[derive(Debug)]
pub(crate) struct Worker {
    process: Mutex<Process>,
    conduit: Conduit,
    lost: AtomicBool,
}

/// What is said to a worker in the middle of the server's half of a task.
pub(crate) enum Order {
    /// A data connection of the task, and the place that it has on the way.
    Stream(Data, Stream, Arc<()>),
    /// The client's half is over.
    Finish,
    /// Nobody wants the result any more.
    Abort,
    /// The half is over: there is nobody to say anything to.
    Over,
}

/// The server's half of a task.
pub(crate) struct Half<'a> {
    /// The task.
    pub task: &'a Task,
    /// Whose datagrams and connections are answered.
    pub access: &'a Access,
    /// The processor to measure on.
    pub processor: Option<usize>,
    /// What this server allows.
    pub limits: Limits,
    /// The service's listening sockets.
    pub listeners: &'a PerFamily<Option<Listener>>,
    /// UDP sockets of the service.
    pub datagrams: &'a PerFamily<Option<Datagram>>,
    /// Where connections go that are not the task's.
    pub strangers: &'a Strangers,
}

impl Worker {
    /// A new worker, in the calling thread's network namespace; it ends with that thread. `None` if
    /// this program has none, or the system refuses to start one now.
    pub fn start() -> Option<Self> {
        let (process, conduit) = PROGRAM.get()?.start(WORD).ok()?;
        conduit.set_send_timeout(DEAF_NS_MAX).ok()?;
        Some(Worker { process: Mutex::new(process), conduit, lost: AtomicBool::new(false) })
    }

    /// Whether it can be told anything.
    pub fn lives(&self) -> bool {
        !self.lost.load(Ordering::Acquire)
    }

    /// Has it do the client's half of `task`.
    ///
    /// # Errors
    /// What it tells, or that it ended.
    pub fn measure(&self, task: &Task, context: &ClientContext) -> Result<Reports, TrialError> {
        let deadline_ns = deadline_ns(task);
        frame::measure(&self.conduit, task, context).map_err(|error| self.over(&error))?;
        match self.hear(deadline_ns)? {
            Tells::Done(reports) => Ok(reports),
            Tells::Failed(error) => Err(error),
            Tells::Ready | Tells::Stranger(_) => Err(self.over(&io::ErrorKind::InvalidData.into())),
        }
    }

    /// Has it do the server's half of a task; calls `ready` once data flows may come. What is to
    /// be said meanwhile comes from `orders`, which it is told by `say` when to leave.
    ///
    /// # Errors
    /// What it tells, or that it ended.
    pub fn serve(
        &self,
        half: Half<'_>,
        (say, orders): (&Sender<Order>, Receiver<Order>),
        ready: impl FnOnce(),
    ) -> Result<Reports, TrialError> {
        let deadline_ns = deadline_ns(half.task);
        frame::serve(&self.conduit, &half).map_err(|error| self.over(&error))?;
        scope(|scope| {
            let forwarding = move || self.forward(&orders);
            let started = Builder::new().name("orders".to_owned()).spawn_scoped(scope, forwarding);
            if let Err(error) = started {
                return Err(self.over(&error));
            }
            let _over = Over(say);
            let mut ready = Some(ready);
            loop {
                match self.hear(deadline_ns) {
                    Ok(Tells::Ready) => ready.take().into_iter().for_each(|ready| ready()),
                    Ok(Tells::Stranger(arrival)) => half.strangers.pass(arrival),
                    Ok(Tells::Done(reports)) => return Ok(reports),
                    Ok(Tells::Failed(error)) | Err(error) => return Err(error),
                }
            }
        })
    }

    /// Says what there is to say until the half is over. One whose task was given up and which goes
    /// on all the same is ended.
    fn forward(&self, orders: &Receiver<Order>) {
        let mut given_up = false;
        loop {
            let order = match given_up {
                true => orders.recv_timeout(GIVING_UP),
                false => orders.recv().map_err(RecvTimeoutError::from),
            };
            let said = match order {
                Ok(Order::Stream(data, stream, place)) => {
                    let said = frame::stream(&self.conduit, &data, &stream);
                    drop(place);
                    said
                }
                Ok(Order::Finish) => frame::finish(&self.conduit),
                Ok(Order::Abort) => {
                    given_up = true;
                    frame::abort(&self.conduit)
                }
                Ok(Order::Over) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            };
            if said.is_err() {
                // Who listens to it hears that it has ended.
                self.end();
            }
        }
    }

    /// The next that it tells.
    fn hear(&self, deadline_ns: u64) -> Result<Tells, TrialError> {
        match self.conduit.receive(deadline_ns) {
            Ok(Some((frame, sockets))) => frame::tells(&frame, sockets)
                .ok_or_else(|| self.over(&io::ErrorKind::InvalidData.into())),
            Ok(None) => Err(self.over(&io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(self.over(&error)),
        }
    }

    /// Ends it and says how it ended.
    fn end(&self) -> String {
        self.lost.store(true, Ordering::Release);
        self.process.lock().unwrap_or_else(PoisonError::into_inner).end()
    }

    /// It cannot be used any more, because of this.
    fn over(&self, error: &io::Error) -> TrialError {
        let how = self.end();
        TrialError::of_worker(match error.kind() {
            // The last of them where it had not read what it was told.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => {
                format!("the process that measured ended ({how})")
            }
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                "the process that measured did not come to an end in time".to_owned()
            }
            _ => format!("the process that measured cannot be talked to: {error}"),
        })
    }
}

/// Tells the thread that has the other end, when it is dropped, that the half is over: whatever
/// happens here, that thread must not wait for ever.
struct Over<'a>(&'a Sender<Order>);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(Order::Over);
    }
}

/// When a worker must have told of the end of `task`.
fn deadline_ns(task: &Task) -> u64 {
    let longest_ns = longest_ns(&task.workload).saturating_add(OVERTIME_NS);
    clock::now_ns().saturating_add(longest_ns)
}
