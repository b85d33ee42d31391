//! The server's side of a session.

use super::pulse::{Beat, Pulse};
use super::watch::Watch;
use super::{Ending, agree, timeout};
use crate::arm::Arm;
use crate::host::Host;
use crate::host::names;
use crate::observation::EndReport;
use crate::task::Task;
use crate::wire::control::{
    Hello, Limits, Message, Queued, RefusalCode, Refused, Report, TaskFailure, Welcome,
};
use crate::wire::foreign;
use crate::wire::whereabouts::{Addresses, QUESTIONS_MAX};
use crate::workload::Feature;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What the server's machine wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerAction {
    /// Send this to the client.
    Send(Message),
    /// Ask the queue for the session's turn and tell the answer with [`Server::admit`],
    /// [`Server::queued`], [`Server::soon`] or [`Server::busy`]. Comes again from time to time
    /// while the client waits.
    Ask {
        /// Name of the client's host.
        by: String,
        /// Whether the client waits if it must.
        wait: bool,
        /// The measurement for which the client's host has its turn, as the client names it.
        measurement: Option<String>,
    },
    /// The client asks where else this server is. Tell it with [`Server::located`].
    Locate,
    /// Start this half of the task. Call [`Server::ready`] once data may come, and
    /// [`Server::ended`] exactly once when it is over.
    Start(Task),
    /// The client's half is over: let the task end.
    Finish,
    /// Stop the task at once; [`Server::ended`] may then be called, without effect.
    Abort,
    /// Close the connection. Nothing follows.
    Close(Ending),
}

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerFacts {
    /// Program and version, as in `v6gap 0.1.0`.
    pub tool: String,
    /// Facts of the server's host.
    pub host: Host,
    /// Limits of what the server allows.
    pub limits: Limits,
    /// How far what it tells of its clock is ahead of it, in ns.
    pub clock_ahead_ns: u64,
}

impl ServerFacts {
    /// What a stranger is told: what a comparison needs, and nothing of use to who looks for a way
    /// in. The clock is ahead by some random time, so that it does not tell how long the host runs.
    #[must_use]
    pub fn to_strangers(&self, clock_ahead_ns: u64) -> ServerFacts {
        let told = |name: &&String| TOLD_TO_STRANGERS.contains(&name.as_str());
        let facts = self.host.facts.iter().filter(|(name, _)| told(name));
        let facts = facts.map(|(name, fact)| (name.clone(), fact.clone())).collect();
        let host = Host { name: self.host.name.clone(), facts };
        ServerFacts { tool: self.tool.clone(), host, limits: self.limits, clock_ahead_ns }
    }
}

/// Names of the facts that everybody may know.
const TOLD_TO_STRANGERS: [&str; 5] =
    ["system", "architecture", names::PROCESSORS, names::CONGESTION, "clock-step"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Hello,
    Waiting,
    Idle,
    Preparing,
    Running,
    /// The task has ended, but the client still measures; the report waits so as not to disturb it.
    Ended,
    /// The client has finished, but the task has not ended.
    Ending,
    Closed,
}

/// The server's machine for one session.
#[derive(Debug)]
pub struct Server {
    facts: ServerFacts,
    phase: Phase,
    watch: Watch,
    pulse: Pulse,
    actions: VecDeque<ServerAction>,
    /// What the client asked the queue for.
    ask: Option<ServerAction>,
    /// When the waiting, or else the whole session, must be over.
    session_end: Option<u64>,
    /// The task at hand, or the one before.
    number: Option<u32>,
    /// Longest time that the task at hand may take, in ns.
    task_ns: u64,
    /// The outcome of a task in phase `Ended`.
    outcome: Option<Message>,
    /// How often the client has asked where else the server is.
    asked: u32,
}

impl Server {
    /// Awaits a client's greeting.
    pub fn new(facts: ServerFacts, now: u64) -> Self {
        Server {
            facts,
            phase: Phase::Hello,
            watch: Watch::new(now, timeout::HELLO_NS),
            pulse: Pulse::new(now),
            actions: VecDeque::new(),
            ask: None,
            session_end: None,
            number: None,
            task_ns: 0,
            outcome: None,
            asked: 0,
        }
    }

    /// What is to be done next.
    pub fn poll(&mut self) -> Option<ServerAction> {
        self.actions.pop_front()
    }

    /// When [`Server::on_timer`] is to be called.
    pub fn deadline(&self) -> Option<u64> {
        let pulse = self.listens().then(|| self.pulse.deadline());
        [self.watch.deadline(), self.session_end, pulse].into_iter().flatten().min()
    }

    /// True after `Close`.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// The deadline may have come.
    pub fn on_timer(&mut self, now: u64) {
        self.watch.tick(now);
        if self.session_end.is_some_and(|end| self.watch.now() >= end) {
            return self.over();
        }
        if self.listens() {
            match self.pulse.beat(self.watch.now()) {
                Beat::Ask => self.send(Message::Ping),
                Beat::Gone => return self.end_late(),
                Beat::Rest => {}
            }
        }
        if !self.watch.expired() {
            return;
        }
        match self.phase {
            Phase::Waiting => self.ask_queue(),
            Phase::Idle => self.end(Ending::OverLimit),
            _ => self.end_late(),
        }
    }

    /// The connection is lost.
    pub fn on_lost(&mut self, now: u64) {
        self.watch.tick(now);
        self.end(Ending::Lost { during: self.phase.name() });
    }

    /// The client takes what it was sent before it can answer.
    pub fn on_taken(&mut self, now: u64) {
        self.watch.tick(now);
        self.pulse.taking(self.watch.now());
    }

    /// The client said something. Afterwards the time is looked at too, so that nobody puts it off
    /// by saying much.
    pub fn on_message(&mut self, message: Message, now: u64) {
        self.watch.tick(now);
        self.pulse.heard(self.watch.now());
        self.understand(foreign::clean(message), now);
        if !self.is_closed() {
            self.on_timer(now);
        }
    }

    fn understand(&mut self, message: Message, now: u64) {
        match message {
            Message::Unknown | Message::Pong => {}
            Message::Bye => self.end(Ending::PeerLeft),
            Message::Hello(hello) if self.phase == Phase::Hello => self.on_hello(hello),
            Message::Clock { asked_ns } if self.phase == Phase::Idle => {
                let server_ns = now.saturating_add(self.facts.clock_ahead_ns);
                self.send(Message::ClockReply { asked_ns, server_ns });
            }
            Message::Whereabouts if self.phase == Phase::Idle && self.asked < QUESTIONS_MAX => {
                self.asked += 1;
                self.actions.push_back(ServerAction::Locate);
            }
            Message::Prepare(task) if self.phase == Phase::Idle => self.on_prepare(task),
            Message::Finish { number } if self.number == Some(number) => self.on_finish(),
            _ => self.end(Ending::Broken { during: self.phase.name() }),
        }
    }

    /// It is the session's turn.
    pub fn admit(&mut self, now: u64) {
        self.watch.tick(now);
        if self.phase != Phase::Waiting {
            return;
        }
        self.send(Message::Welcome(Box::new(Welcome {
            tool: self.facts.tool.clone(),
            features: Feature::ALL.iter().map(|feature| feature.name().to_string()).collect(),
            limits: self.facts.limits,
            host: self.facts.host.clone(),
        })));
        self.session_end = Some(self.watch.now().saturating_add(self.facts.limits.session_ns));
        self.idle();
    }

    /// The queue has moved: ask it again.
    pub fn ask_again(&mut self, now: u64) {
        self.watch.tick(now);
        if self.phase == Phase::Waiting {
            self.ask_queue();
        }
    }

    /// It is not the session's turn yet.
    pub fn queued(&mut self, queued: Queued, now: u64) {
        self.watch.tick(now);
        if self.phase == Phase::Waiting {
            self.send(Message::Queued(queued));
            self.watch.set(timeout::QUEUE_REPEAT_NS);
        }
    }

    /// Whether it is the session's turn will be known at `at`.
    pub fn soon(&mut self, at: u64, now: u64) {
        self.watch.tick(now);
        if self.phase == Phase::Waiting {
            self.watch.set(at.saturating_sub(self.watch.now()).min(timeout::QUEUE_REPEAT_NS));
        }
    }

    /// Others wait, and this session has not said a word since it was welcomed.
    pub fn give_way(&mut self, now: u64) {
        self.watch.tick(now);
        self.end_late();
    }

    /// It will not be the session's turn.
    pub fn busy(&mut self, queued: &Queued, now: u64) {
        self.watch.tick(now);
        if self.phase == Phase::Waiting {
            let why = format!("busy: measuring for {} since {} s", queued.by, queued.seconds);
            self.refuse(Refused { code: RefusalCode::Busy, why });
        }
    }

    /// Where else this server is, and what it can prove; no more is told than may be.
    pub fn located(&mut self, addresses: Addresses, now: u64) {
        self.watch.tick(now);
        if self.phase == Phase::Idle {
            self.send(Message::Addresses(addresses.bounded()));
        }
    }

    /// Data flows of the task may come.
    pub fn ready(&mut self, now: u64) {
        self.watch.tick(now);
        if let (Phase::Preparing, Some(number)) = (self.phase, self.number) {
            self.send(Message::Ready { number });
            self.enter(Phase::Running, self.task_ns.saturating_add(timeout::RUN_GRACE_NS));
        }
    }

    /// The task is over, with what it saw or the reason why it failed.
    pub fn ended(&mut self, outcome: Result<Vec<(Arm, EndReport)>, TaskFailure>, now: u64) {
        self.watch.tick(now);
        let Some(number) = self.number else {
            return;
        };
        let message = match outcome {
            Ok(ends) => Message::Report(Report { number, ends }),
            Err(failure) => Message::Failed { number, failure },
        };
        match (self.phase, &message) {
            (Phase::Running, Message::Report(_)) => {
                // The deadline of the run still stands: the client has to finish by then.
                self.phase = Phase::Ended;
                self.outcome = Some(message);
                self.pulse.heard(self.watch.now());
            }
            (Phase::Preparing, Message::Report(_)) => {
                let failure = TaskFailure::passing("the server's half ended before it was ready");
                self.conclude(Message::Failed { number, failure });
            }
            (Phase::Running, Message::Failed { .. }) => {
                self.conclude(message);
                // Perhaps because the client is gone.
                self.pulse.doubt();
            }
            (Phase::Preparing | Phase::Running | Phase::Ending, _) => self.conclude(message),
            _ => {}
        }
    }

    /// The server itself stops.
    pub fn shut_down(&mut self, now: u64) {
        self.watch.tick(now);
        if !self.is_closed() {
            self.send(Message::Bye);
            self.end(Ending::Complete);
        }
    }

    fn on_hello(&mut self, hello: Hello) {
        let known = |want: &str| Feature::ALL.iter().any(|feature| feature.name() == want);
        let lacking = hello.want.iter().find(|want| !known(want));
        if let Some(feature) = lacking {
            let why = format!("this server does not know {feature:?}");
            return self.refuse(Refused { code: RefusalCode::TooOld, why });
        }
        let measurement = hello.host.facts.get(names::CLAIM).cloned();
        let (by, wait) = (hello.host.name, hello.wait);
        self.ask = Some(ServerAction::Ask { by, wait, measurement });
        self.session_end = Some(self.watch.now().saturating_add(timeout::WAITING_NS));
        self.ask_queue();
    }

    fn ask_queue(&mut self) {
        if let Some(ask) = self.ask.clone() {
            self.actions.push_back(ask);
            self.enter(Phase::Waiting, timeout::QUEUE_REPEAT_NS);
        }
    }

    fn on_prepare(&mut self, task: Task) {
        let number = task.number;
        if self.number.is_some_and(|last| number <= last) {
            return self.end(Ending::Broken { during: "by using a task number again" });
        }
        self.number = Some(number);
        if let Err(objection) = agree::check(&task, &self.facts.limits) {
            let failure = TaskFailure::lasting(objection.to_string());
            return self.conclude(Message::Failed { number, failure });
        }
        self.task_ns = agree::bound_ns(&task.workload, &self.facts.limits);
        self.actions.push_back(ServerAction::Start(task));
        self.enter(Phase::Preparing, timeout::PREPARE_NS);
    }

    fn on_finish(&mut self) {
        match self.phase {
            Phase::Running => {
                self.actions.push_back(ServerAction::Finish);
                self.enter(Phase::Ending, timeout::END_NS);
            }
            Phase::Ended => {
                if let Some(outcome) = self.outcome.take() {
                    self.conclude(outcome);
                }
            }
            // The task failed while this was under way.
            Phase::Idle => {}
            _ => self.end(Ending::Broken { during: self.phase.name() }),
        }
    }

    fn conclude(&mut self, message: Message) {
        self.send(message);
        self.idle();
    }

    fn idle(&mut self) {
        self.enter(Phase::Idle, self.facts.limits.idle_ns);
        self.pulse.heard(self.watch.now());
    }

    /// Whether the client has time to answer, and nothing is measured that an answer would disturb.
    fn listens(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Idle | Phase::Ended)
    }

    /// The waiting or the session is over.
    fn over(&mut self) {
        match self.phase {
            Phase::Waiting => {
                let minutes = timeout::WAITING_NS / (60 * super::SECOND_NS);
                let why = format!("busy: nobody waits longer than {minutes} min here");
                self.refuse(Refused { code: RefusalCode::Busy, why });
            }
            _ => self.end(Ending::OverLimit),
        }
    }

    fn end_late(&mut self) {
        self.end(Ending::TimedOut { during: self.phase.name() });
    }

    fn refuse(&mut self, refused: Refused) {
        self.send(Message::Refused(refused.clone()));
        self.end(Ending::Refused(refused));
    }

    fn send(&mut self, message: Message) {
        self.actions.push_back(ServerAction::Send(message));
    }

    fn enter(&mut self, phase: Phase, after_ns: u64) {
        self.phase = phase;
        self.watch.set(after_ns);
    }

    fn end(&mut self, ending: Ending) {
        if self.is_closed() {
            return;
        }
        if let Phase::Preparing | Phase::Running | Phase::Ending = self.phase {
            self.actions.push_back(ServerAction::Abort);
        }
        self.actions.push_back(ServerAction::Close(ending));
        self.phase = Phase::Closed;
        self.watch.clear();
        self.session_end = None;
    }
}

impl Phase {
    /// The phase in words that complete "lost …".
    fn name(self) -> &'static str {
        match self {
            Phase::Hello => "while greeting",
            Phase::Waiting => "while waiting for its turn",
            Phase::Idle => "between two tasks",
            Phase::Preparing => "while preparing a task",
            Phase::Running | Phase::Ended => "during a task",
            Phase::Ending => "while ending a task",
            Phase::Closed => "after the end",
        }
    }
}
