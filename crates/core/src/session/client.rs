//! The client's side of a session.

use super::clock::{self, Offset, Sample};
use super::watch::Watch;
use super::{Ending, NotNow, agree, timeout};
use crate::task::Task;
use crate::wire::control::{
    Hello, Limits, Message, Queued, RefusalCode, Refused, Report, TaskFailure, Welcome,
};
use crate::wire::foreign;
use crate::wire::whereabouts::Addresses;
use crate::workload::Feature;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What the client's machine wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientAction {
    /// Send this to the server.
    Send(Message),
    /// Others are before us; tell the person who waits.
    Waiting(Queued),
    /// The session is open: [`Client::prepare`] may be called.
    Opened(Box<Opened>),
    /// Where else the server is, as it says; a task may be prepared.
    Told(Addresses),
    /// Both ends are ready: do this half of the task, then call [`Client::finish`].
    Start(Task),
    /// The server's half of the task; the next one may be prepared.
    Report(Report),
    /// The server did not do the task, for the reason given. If it had been started, give it up.
    /// The next one may be prepared.
    Failed {
        /// Number of the task.
        number: u32,
        /// Why.
        failure: TaskFailure,
    },
    /// Close the connection. Nothing follows.
    Close(Ending),
}

/// What an open session began with.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// What the server said of itself.
    pub welcome: Welcome,
    /// The server's clock against ours; `None` if our clock went backwards at every question.
    pub offset: Option<Offset>,
}

#[derive(Debug)]
enum Phase {
    Hello,
    Waiting,
    Clock { welcome: Welcome, asked_ns: u64, samples: Vec<Sample> },
    Idle,
    Asking,
    Preparing(Task),
    Running { number: u32 },
    Reporting { number: u32 },
    Closed,
}

/// The client's machine.
#[derive(Debug)]
pub struct Client {
    phase: Phase,
    limits: Limits,
    /// Names of features that the session is of no use without.
    want: Vec<String>,
    /// Names of the features that the server announced.
    known: Vec<String>,
    watch: Watch,
    actions: VecDeque<ClientAction>,
}

impl Client {
    /// Starts a session with a greeting.
    pub fn new(hello: Hello, now: u64) -> Self {
        Client {
            phase: Phase::Hello,
            limits: Limits::default(),
            want: hello.want.clone(),
            known: Vec::new(),
            watch: Watch::new(now, timeout::HELLO_NS),
            actions: VecDeque::from([ClientAction::Send(Message::Hello(hello))]),
        }
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<ClientAction> {
        self.actions.pop_front()
    }

    /// When [`Client::on_timer`] is to be called.
    pub fn deadline(&self) -> Option<u64> {
        self.watch.deadline()
    }

    /// True after `Close`.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// The deadline may have come.
    pub fn on_timer(&mut self, now: u64) {
        self.watch.tick(now);
        if self.watch.expired() {
            self.end(Ending::TimedOut { during: self.phase.name() });
        }
    }

    /// The connection is lost.
    pub fn on_lost(&mut self, now: u64) {
        self.watch.tick(now);
        self.end(Ending::Lost { during: self.phase.name() });
    }

    /// The server said something. Afterwards the time is looked at too, so that nobody puts it off
    /// by saying much.
    pub fn on_message(&mut self, message: Message, now: u64) {
        if self.is_closed() {
            return;
        }
        self.watch.tick(now);
        self.understand(foreign::clean(message), now);
        self.on_timer(now);
    }

    fn understand(&mut self, message: Message, now: u64) {
        match message {
            Message::Unknown => {}
            Message::Ping => self.actions.push_back(ClientAction::Send(Message::Pong)),
            Message::Bye => self.end(Ending::PeerLeft),
            Message::Refused(refused) => self.end(Ending::Refused(refused)),
            Message::Queued(queued) => self.on_queued(queued),
            Message::Welcome(welcome) => self.on_welcome(*welcome, now),
            Message::ClockReply { asked_ns, server_ns } => {
                self.on_clock_reply(asked_ns, server_ns, now);
            }
            Message::Addresses(addresses) => self.on_addresses(addresses),
            Message::Ready { number } => self.on_ready(number),
            Message::Report(report) => self.on_report(report),
            Message::Failed { number, failure } => self.on_failed(number, failure),
            Message::Hello(_)
            | Message::Clock { .. }
            | Message::Whereabouts
            | Message::Prepare(_)
            | Message::Pong
            | Message::Finish { .. } => self.end_broken(),
        }
    }

    /// Asks the server where else it is. Whether it knows that question is for
    /// [`Hello::want`](crate::wire::control::Hello::want) to see to.
    ///
    /// # Errors
    /// If the session is not open or a task is not over.
    pub fn ask_addresses(&mut self, now: u64) -> Result<(), NotNow> {
        self.watch.tick(now);
        let Phase::Idle = self.phase else {
            return Err(NotNow { what: "ask for addresses" });
        };
        self.actions.push_back(ClientAction::Send(Message::Whereabouts));
        self.enter(Phase::Asking, timeout::WHEREABOUTS_NS);
        Ok(())
    }

    /// Proposes the next task. One that the server does not know all of fails at once, because the
    /// server would do something else without a word.
    ///
    /// # Errors
    /// If the session is not open or another task is not over.
    pub fn prepare(&mut self, task: Task, now: u64) -> Result<(), NotNow> {
        self.watch.tick(now);
        let Phase::Idle = self.phase else {
            return Err(NotNow { what: "prepare a task" });
        };
        let needed = task.features().into_iter().map(Feature::name);
        if let Some(name) = lacking(&self.known, needed) {
            let why = format!("it does not know {name:?}; update v6gap there");
            let number = task.number;
            let failure = TaskFailure::lasting(why);
            self.actions.push_back(ClientAction::Failed { number, failure });
            return Ok(());
        }
        self.actions.push_back(ClientAction::Send(Message::Prepare(task.clone())));
        self.enter(Phase::Preparing(task), timeout::READY_NS);
        Ok(())
    }

    /// This half of the task is over, well or not.
    ///
    /// # Errors
    /// If no task was running.
    pub fn finish(&mut self, now: u64) -> Result<(), NotNow> {
        self.watch.tick(now);
        let Phase::Running { number } = self.phase else {
            return Err(NotNow { what: "finish a task" });
        };
        self.actions.push_back(ClientAction::Send(Message::Finish { number }));
        self.enter(Phase::Reporting { number }, timeout::REPORT_NS);
        Ok(())
    }

    /// Leaves, in any phase.
    pub fn close(&mut self, now: u64) {
        self.watch.tick(now);
        if !self.is_closed() {
            self.actions.push_back(ClientAction::Send(Message::Bye));
            self.end(Ending::Complete);
        }
    }

    fn on_queued(&mut self, queued: Queued) {
        let (Phase::Hello | Phase::Waiting) = self.phase else {
            return self.end_broken();
        };
        self.actions.push_back(ClientAction::Waiting(queued));
        self.enter(Phase::Waiting, timeout::QUEUE_SILENCE_NS);
    }

    fn on_welcome(&mut self, welcome: Welcome, now: u64) {
        let (Phase::Hello | Phase::Waiting) = self.phase else {
            return self.end_broken();
        };
        if let Some(name) = lacking(&welcome.features, self.want.iter().map(String::as_str)) {
            let why = format!("{} there does not know {name:?}", welcome.tool);
            self.actions.push_back(ClientAction::Send(Message::Bye));
            return self.end(Ending::Refused(Refused { code: RefusalCode::TooOld, why }));
        }
        self.limits = welcome.limits;
        self.known = welcome.features.clone();
        self.ask_clock(welcome, Vec::with_capacity(clock::QUESTIONS), now);
    }

    fn ask_clock(&mut self, welcome: Welcome, samples: Vec<Sample>, now: u64) {
        self.actions.push_back(ClientAction::Send(Message::Clock { asked_ns: now }));
        self.enter(Phase::Clock { welcome, asked_ns: now, samples }, timeout::CLOCK_NS);
    }

    fn on_clock_reply(&mut self, echoed_ns: u64, server_ns: u64, now: u64) {
        match core::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Clock { welcome, asked_ns, mut samples } if asked_ns == echoed_ns => {
                samples.push(Sample { asked_ns, server_ns, answered_ns: now });
                if samples.len() < clock::QUESTIONS {
                    return self.ask_clock(welcome, samples, now);
                }
                let opened = Opened { welcome, offset: clock::estimate(&samples) };
                self.actions.push_back(ClientAction::Opened(Box::new(opened)));
                self.idle();
            }
            other => {
                self.phase = other;
                self.end_broken();
            }
        }
    }

    fn on_addresses(&mut self, addresses: Addresses) {
        let Phase::Asking = self.phase else {
            return self.end_broken();
        };
        self.actions.push_back(ClientAction::Told(addresses));
        self.idle();
    }

    fn on_ready(&mut self, number: u32) {
        match core::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::Preparing(task) if task.number == number => {
                let longest = agree::bound_ns(&task.workload, &self.limits);
                self.actions.push_back(ClientAction::Start(task));
                let after = longest.saturating_add(timeout::RUN_GRACE_NS);
                self.enter(Phase::Running { number }, after);
            }
            other => {
                self.phase = other;
                self.end_broken();
            }
        }
    }

    fn on_report(&mut self, report: Report) {
        match self.phase {
            Phase::Reporting { number } if number == report.number => {
                self.actions.push_back(ClientAction::Report(report));
                self.idle();
            }
            _ => self.end_broken(),
        }
    }

    fn on_failed(&mut self, failed: u32, failure: TaskFailure) {
        let current = match &self.phase {
            Phase::Preparing(task) => task.number,
            Phase::Running { number } | Phase::Reporting { number } => *number,
            _ => return self.end_broken(),
        };
        if failed != current {
            return self.end_broken();
        }
        self.actions.push_back(ClientAction::Failed { number: failed, failure });
        self.idle();
    }

    /// Between tasks nothing is awaited from the server, so nothing can be late.
    fn idle(&mut self) {
        self.phase = Phase::Idle;
        self.watch.clear();
    }

    fn enter(&mut self, phase: Phase, after_ns: u64) {
        self.phase = phase;
        self.watch.set(after_ns);
    }

    fn end_broken(&mut self) {
        self.end(Ending::Broken { during: self.phase.name() });
    }

    fn end(&mut self, ending: Ending) {
        if !self.is_closed() {
            self.actions.push_back(ClientAction::Close(ending));
            self.phase = Phase::Closed;
            self.watch.clear();
        }
    }
}

/// The first of the features `needed` that is not `known`.
fn lacking<'a>(known: &[String], mut needed: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    needed.find(|name| !known.iter().any(|known| known == name))
}

impl Phase {
    /// The phase in words that complete "lost …".
    fn name(&self) -> &'static str {
        match self {
            Phase::Hello => "while greeting",
            Phase::Waiting => "while waiting for the server's turn",
            Phase::Clock { .. } => "while comparing clocks",
            Phase::Idle => "between two tasks",
            Phase::Asking => "while asking where else the server is",
            Phase::Preparing(_) => "while preparing a task",
            Phase::Running { .. } => "during a task",
            Phase::Reporting { .. } => "while waiting for the server's report",
            Phase::Closed => "after the end",
        }
    }
}
