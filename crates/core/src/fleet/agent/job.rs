//! How far the job is that an agent takes part in, and how it ends.

use super::{Action, Agent, Ended, Last};
use crate::fleet::id::Nonce;
use crate::fleet::message::{Answer, Failure, Measured, Prepare, Role, State};
use crate::fleet::work::Now;
use crate::fleet::{KILL_NS, READY_NS};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::replace;
use rand_core::Rng;

/// How far it is.
#[derive(Debug)]
pub(super) enum Stage {
    /// There is none.
    Idle,
    /// The server was begun and does not listen yet; it has until then, in ns.
    Readying(Job, u64),
    /// It can begin, with that number and until then, in ns.
    Ready(Job, Nonce, u64),
    /// It runs, at most until then, in ns.
    Running(Job, Nonce, u64),
    /// It was killed for that reason, and will be again at that time, in ns.
    Ending(Job, String, u64),
}

/// What it is about.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) prepare: Box<Prepare>,
    /// Of the order that is answered.
    pub(super) version: u8,
    pub(super) number: u64,
    /// What it was expected to take, in bytes.
    pub(super) reserved: u64,
}

impl Stage {
    pub(super) fn job(&self) -> Option<&Job> {
        match self {
            Stage::Idle => None,
            Stage::Readying(job, _)
            | Stage::Ready(job, ..)
            | Stage::Running(job, ..)
            | Stage::Ending(job, ..) => Some(job),
        }
    }

    pub(super) fn state(&self) -> Option<State> {
        let token = self.job()?.prepare.token;
        Some(match self {
            Stage::Idle | Stage::Readying(..) | Stage::Ready(..) => State::Ready { token },
            Stage::Running(..) | Stage::Ending(..) => State::Measuring { token },
        })
    }

    pub(super) fn deadline_ns(&self) -> Option<u64> {
        match self {
            Stage::Idle => None,
            Stage::Readying(_, ns)
            | Stage::Ready(_, _, ns)
            | Stage::Running(_, _, ns)
            | Stage::Ending(_, _, ns) => Some(*ns),
        }
    }
}

impl Agent {
    /// Makes ready for a job that was found good.
    pub(super) fn begin(&mut self, job: Job, now: Now, actions: &mut Vec<Action>) {
        match job.prepare.role {
            Role::Server => {
                actions.push(Action::Serve(job.prepare.clone()));
                self.stage = Stage::Readying(job, now.ns.saturating_add(READY_NS));
            }
            Role::Client => self.ready(job, now, actions),
        }
    }

    /// The server listens.
    pub(super) fn listens(&mut self, now: Now, actions: &mut Vec<Action>) {
        match replace(&mut self.stage, Stage::Idle) {
            Stage::Readying(job, _) => self.ready(job, now, actions),
            other => self.stage = other,
        }
    }

    fn ready(&mut self, job: Job, now: Now, actions: &mut Vec<Action>) {
        let nonce = Nonce(self.random.next_u64());
        let token = job.prepare.token;
        actions.push(self.reply(job.version, job.number, token, Answer::Ready { nonce }));
        self.stage = Stage::Ready(job, nonce, now.ns.saturating_add(READY_NS));
    }

    /// What was begun is over.
    pub(super) fn ended(&mut self, ended: Ended, now: Now, actions: &mut Vec<Action>) {
        let (job, why, started) = match replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => return,
            Stage::Readying(job, _) | Stage::Ready(job, ..) => (job, None, false),
            Stage::Running(job, ..) => (job, None, true),
            Stage::Ending(job, why, _) => (job, Some(why), true),
        };
        let Ended { measured, bytes, failure } = ended;
        // What it really took counts from now on, and is written down with the next order.
        self.known.bytes = self.known.bytes.saturating_sub(job.reserved).saturating_add(bytes);
        if let Some(run) = &measured.run {
            self.outbox.add(run, measured.bytes, &job.prepare.job, now.ns);
        }
        let lasting = failure.as_ref().is_some_and(|failure| failure.lasting);
        let why = why.or(failure.map(|failure| failure.why));
        let early = || (!started).then(|| "the server ended before it was used".to_string());
        let answer = match why.or_else(early) {
            None => Answer::Done(measured),
            Some(why) => Answer::Failed(Failure { why, lasting, measured }),
        };
        self.over(&job, answer, actions);
    }

    /// A job is over here and came out so.
    pub(super) fn over(&mut self, job: &Job, answer: Answer, actions: &mut Vec<Action>) {
        let token = job.prepare.token;
        actions.push(self.reply(job.version, job.number, token, answer.clone()));
        self.last = Some(Last { token, answer });
        self.stage = Stage::Idle;
    }

    /// Ends the job, which was not to begin or not to go on.
    pub(super) fn end(&mut self, why: &str, now: Now, actions: &mut Vec<Action>) {
        match replace(&mut self.stage, Stage::Idle) {
            Stage::Idle => {}
            Stage::Ready(job, ..) if job.prepare.role == Role::Client => {
                // Nothing of it was begun, and nothing was spent.
                self.known.bytes = self.known.bytes.saturating_sub(job.reserved);
                let (why, measured) = (why.to_string(), Measured::default());
                let failure = Failure { why, lasting: false, measured };
                self.over(&job, Answer::Failed(failure), actions);
            }
            Stage::Readying(job, _) | Stage::Ready(job, ..) | Stage::Running(job, ..) => {
                actions.push(Action::Kill);
                let again_ns = now.ns.saturating_add(KILL_NS);
                self.stage = Stage::Ending(job, why.to_string(), again_ns);
            }
            ending @ Stage::Ending(..) => self.stage = ending,
        }
    }

    /// Ends what has lasted too long.
    pub(super) fn deadlines(&mut self, now: Now, actions: &mut Vec<Action>) {
        if self.stage.deadline_ns().is_none_or(|ns| now.ns < ns) {
            return;
        }
        let why = match &mut self.stage {
            Stage::Idle => return,
            Stage::Readying(..) => "the server did not begin in time",
            Stage::Ready(..) => "nobody said start in time",
            Stage::Running(..) => "it took longer than it may",
            Stage::Ending(_, _, again_ns) => {
                *again_ns = now.ns.saturating_add(KILL_NS);
                actions.push(Action::Kill);
                return;
            }
        };
        self.end(why, now, actions);
    }
}
