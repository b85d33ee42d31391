//! The server's machine of a session, driven as its shell drives it, by any events in any order.
//!
//! Whatever comes: few actions wait at a time, they come in an order that a shell can follow, only
//! what was agreed to is started, a limit of time that has come wins against whatever else comes,
//! and in the end the session is closed.

use crate::templates::{TASKS, addresses, any_message, hello, queued, server};
use arbitrary::{Result, Unstructured};
use v6gap_core::arm::Arm;
use v6gap_core::observation::EndReport;
use v6gap_core::session::{ACTIONS_MAX, Server, ServerAction, agree, timeout};
use v6gap_core::wire::control::{Limits, Message, TaskFailure};
use v6gap_core::wire::foreign::{NAME_BYTES_MAX, is_unsafe};

/// Most events of a sequence.
const EVENTS_MAX: usize = 256;

/// How often the queue is asked after the last event until it sends the client away.
const PATIENCE: usize = 5;

/// The first bytes are events, each with what it needs.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut shell = Shell::new();
    for _ in 0..EVENTS_MAX {
        if bytes.is_empty() || shell.event(&mut bytes).is_err() {
            break;
        }
    }
    shell.wait_for_the_end();
}

/// The machine, and what a shell would know.
struct Shell {
    machine: Server,
    limits: Limits,
    now: u64,
    /// The latest time that there was.
    latest: u64,
    /// When the phase, and when the whole session, must be over whatever comes.
    limit: u64,
    session_end: Option<u64>,
    welcomed: bool,
    /// The task whose outcome is owed, and whether its half is still at work.
    owed: Option<u32>,
    at_work: bool,
    bound_ns: u64,
    last: Option<u32>,
    closed: bool,
    /// The queue was asked and has not answered.
    asked: bool,
}

impl Shell {
    fn new() -> Self {
        let facts = server();
        let limits = facts.limits;
        let machine = Server::new(facts, 0);
        Shell {
            machine,
            limits,
            now: 0,
            latest: 0,
            limit: timeout::HELLO_NS,
            session_end: None,
            welcomed: false,
            owed: None,
            at_work: false,
            bound_ns: 0,
            last: None,
            closed: false,
            asked: false,
        }
    }

    fn event(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let now = self.now;
        self.latest = self.latest.max(now);
        let kind: u8 = bytes.arbitrary()?;
        match kind % 16 {
            0 => self.now = now.saturating_add(u64::from(bytes.arbitrary::<u32>()?)),
            1 => self.now = now.saturating_add(u64::from(bytes.arbitrary::<u8>()?) << 30),
            2 => self.now = self.machine.deadline().unwrap_or(now).max(now),
            3 => self.machine.on_message(Message::Hello(hello()), now),
            4 => self.machine.admit(now),
            5 => self.machine.queued(queued(), now),
            6 => self.machine.busy(&queued(), now),
            7 => self.prepare(bytes)?,
            8 => self.machine.ready(now),
            9 => self.ended(Ok(vec![(Arm::A, EndReport::default())])),
            10 => {
                let lasting = bytes.arbitrary()?;
                self.ended(Err(TaskFailure { lasting, ..TaskFailure::passing("no") }));
            }
            11 => {
                let number = self.last.unwrap_or(0);
                self.machine.on_message(Message::Finish { number }, now);
            }
            12 => self.machine.on_message(Message::Clock { asked_ns: now }, now),
            13 => self.any_message(bytes)?,
            14 => self.machine.ask_again(now),
            _ => self.rare(bytes.arbitrary()?),
        }
        self.drain(kind % 16);
        self.look_at_the_clock();
        Ok(())
    }

    /// The half of a task is over; told once, and perhaps once more after it was stopped.
    fn ended(&mut self, outcome: core::result::Result<Vec<(Arm, EndReport)>, TaskFailure>) {
        if self.at_work || self.owed.is_none() {
            self.at_work = false;
            self.machine.ended(outcome, self.now);
        }
    }

    fn prepare(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let kind: u8 = bytes.arbitrary()?;
        let mut task = TASKS[usize::from(kind) % TASKS.len()].clone();
        // A number that was used already, now and then.
        let more = u32::from(kind < 240);
        task.number = self.last.map_or(more, |last| last.saturating_add(more));
        self.machine.on_message(Message::Prepare(task), self.now);
        Ok(())
    }

    fn any_message(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        if let Some(message) = any_message(bytes)? {
            self.machine.on_message(message, self.now);
        }
        Ok(())
    }

    fn rare(&mut self, kind: u8) {
        match kind % 10 {
            0 => self.machine.on_lost(self.now),
            1 => self.machine.shut_down(self.now),
            2 => self.machine.on_message(Message::Bye, self.now),
            // A clock that goes backwards.
            3 => self.now /= 2,
            4 => self.machine.on_taken(self.now),
            5 => self.machine.give_way(self.now),
            6 => self.machine.on_message(Message::Pong, self.now),
            7 => self.machine.soon(self.now.saturating_add(800_000_000), self.now),
            8 => self.machine.on_message(Message::Whereabouts, self.now),
            _ => self.machine.on_message(Message::Unknown, self.now),
        }
    }

    /// As a shell does it. However much was said, no phase is longer than it may be.
    fn look_at_the_clock(&mut self) {
        self.latest = self.latest.max(self.now);
        for _ in 0..3 {
            if self.machine.deadline().is_some_and(|at| self.now >= at) {
                self.machine.on_timer(self.now);
                self.drain(u8::MAX);
            }
        }
        let limit = self.session_end.map_or(self.limit, |end| end.min(self.limit));
        assert!(self.latest < limit || self.closed, "open at {} after {limit}", self.latest);
        assert_eq!(self.machine.deadline().is_none(), self.closed, "only the closed have no limit");
    }

    /// From now on it may take so long.
    fn may_take(&mut self, ns: u64) {
        self.limit = self.latest.saturating_add(ns);
    }

    /// Does what the machine wants, and looks whether it may want that.
    fn drain(&mut self, event: u8) {
        let mut count = 0;
        while let Some(action) = self.machine.poll() {
            count += 1;
            assert!(count <= ACTIONS_MAX, "more than {ACTIONS_MAX} actions");
            assert!(!self.closed, "{action:?} after the end");
            self.act(action, event);
        }
        assert_eq!(self.machine.is_closed(), self.closed);
    }

    fn act(&mut self, action: ServerAction, event: u8) {
        match action {
            ServerAction::Send(message) => self.send(&message, event),
            ServerAction::Ask { by, .. } => {
                assert!(!self.welcomed, "asks for a turn that it has");
                assert!(by.len() <= NAME_BYTES_MAX && !by.contains(is_unsafe), "{by:?}");
                if !std::mem::replace(&mut self.asked, true) {
                    self.may_take(timeout::WAITING_NS);
                }
            }
            ServerAction::Locate => {
                assert!(self.welcomed && self.owed.is_none(), "asked out of turn");
                self.machine.located(addresses(), self.now);
            }
            ServerAction::Start(task) => {
                assert!(self.welcomed && self.owed.is_none(), "two tasks at a time");
                assert!(self.last.is_none_or(|last| task.number > last), "a number twice");
                assert_eq!(agree::check(&task, &self.limits), Ok(()));
                (self.owed, self.last) = (Some(task.number), Some(task.number));
                self.at_work = true;
                self.bound_ns = agree::bound_ns(&task.workload, &self.limits);
                self.may_take(timeout::PREPARE_NS);
            }
            ServerAction::Finish => {
                assert!(self.at_work, "nothing to finish");
                self.may_take(timeout::END_NS);
            }
            ServerAction::Abort => {
                assert!(self.at_work, "nothing to stop");
                (self.owed, self.at_work) = (None, false);
            }
            ServerAction::Close(_) => {
                assert!(!self.at_work, "a task outlives its session");
                self.closed = true;
            }
        }
    }

    fn send(&mut self, message: &Message, event: u8) {
        match message {
            Message::Welcome(_) => {
                assert!(self.asked && !self.welcomed, "welcome out of turn");
                self.welcomed = true;
                self.session_end = Some(self.latest.saturating_add(self.limits.session_ns));
                self.may_take(self.limits.idle_ns);
            }
            Message::Queued(_) => assert_eq!(event, 5, "a place that the queue did not tell"),
            Message::Ready { number } => {
                assert_eq!(self.owed, Some(*number));
                self.may_take(self.bound_ns.saturating_add(timeout::RUN_GRACE_NS));
            }
            Message::Report(report) => {
                assert_eq!(self.owed.take(), Some(report.number));
                self.may_take(self.limits.idle_ns);
            }
            Message::Ping => assert!(!self.at_work && self.asked, "a question while measuring"),
            Message::Failed { number, .. } => {
                self.owed = self.owed.filter(|owed| owed != number);
                assert_eq!(self.owed, None, "another task failed");
                assert!(!self.at_work, "failed while at work");
                self.may_take(self.limits.idle_ns);
                self.last = self.last.max(Some(*number));
            }
            Message::Refused(_) => assert!(!self.welcomed, "refused after the welcome"),
            Message::ClockReply { server_ns, .. } => assert!(*server_ns <= self.latest),
            Message::Addresses(_) => assert!(self.welcomed, "told to who is not welcome"),
            Message::Bye => {}
            other => panic!("a server does not say {other:?}"),
        }
    }

    /// However it stands, time alone ends it, once the queue has said no.
    fn wait_for_the_end(&mut self) {
        for round in 0.. {
            let Some(at) = self.machine.deadline() else { break };
            assert!(round < 4 * PATIENCE, "no end in sight");
            self.now = self.latest.max(at);
            self.latest = self.now;
            self.machine.on_timer(self.now);
            self.drain(u8::MAX);
            if round >= PATIENCE {
                self.machine.busy(&queued(), self.now);
                self.drain(6);
            }
        }
        assert!(self.closed);
    }
}
