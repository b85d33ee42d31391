//! What an agent does with orders, and which it refuses.

use super::job::{Job, Stage};
use super::limits::Asked;
use super::{Action, Agent};
use crate::fleet::id::Token;
use crate::fleet::message::{Answer, Command, Order, Prepare, Refusal, Role, SPOKEN, Start};
use crate::fleet::work::Now;
use crate::fleet::{CLOCK_NS_MAX, DISK_BYTES_MIN, READY_NS};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::{replace, take};

/// Whether the clock of the wall is too far from that of whoever said *start*, which was within
/// [`READY_NS`] before `now`.
fn is_off(start: Start, now: Now) -> bool {
    let off_ns = |unix_ns: u64| unix_ns.abs_diff(now.wall.unix_ns);
    start.unix_ns.is_some_and(|unix_ns| off_ns(unix_ns) > CLOCK_NS_MAX + READY_NS)
}

/// Whether it begins something for a job, or says that this host is ready for one.
fn is_promise(action: &Action) -> bool {
    match action {
        Action::Serve(_) | Action::Measure { .. } | Action::Beat(_) => true,
        Action::Reply(reply) => matches!(reply.answer, Answer::Ready { .. }),
        Action::Remember(_)
        | Action::Kill
        | Action::Publish { .. }
        | Action::Held { .. }
        | Action::Remove(_) => false,
    }
}

impl Agent {
    /// So much is free on the disk. What could not be written there before is tried again: what is
    /// refused is refused for ever, also after a new beginning.
    pub(super) fn disk(&mut self, free_bytes: u64, actions: &mut Vec<Action>) {
        self.free_bytes = free_bytes;
        if free_bytes >= DISK_BYTES_MIN && take(&mut self.unwritten) {
            actions.push(Action::Remember(self.known));
        }
    }

    pub(super) fn obey(
        &mut self,
        command: Command,
        asked: Option<Result<Asked, String>>,
        now: Now,
        actions: &mut Vec<Action>,
    ) {
        // Another one's order, whoever delivered it here.
        if command.to != self.me {
            return;
        }
        let (version, number) = (command.version, command.number);
        match command.order {
            Order::Prepare(prepare) => {
                let job = Job { prepare, version, number, reserved: 0 };
                self.prepare(job, asked, now, actions);
            }
            Order::Start(start) => self.start(version, number, start, now, actions),
            Order::Stop { token } => {
                if self.stage.job().is_some_and(|job| job.prepare.token == token) {
                    self.end("it was stopped", now, actions);
                }
            }
            // The heartbeat that follows is the answer.
            Order::Status => self.said = None,
        }
    }

    fn prepare(
        &mut self,
        mut job: Job,
        asked: Option<Result<Asked, String>>,
        now: Now,
        actions: &mut Vec<Action>,
    ) {
        let token = job.prepare.token;
        if self.repeat(&job, token, actions) {
            return;
        }
        let asked = asked.unwrap_or_else(|| Err("it was not read".to_string()));
        let day = now.wall.day();
        let spent = self.known.spent_on(day);
        let refusal = self.refusal(&job, asked.as_ref(), spent, now);
        // What was refused once is refused for ever, whatever of it comes again later.
        if token > self.known.highest {
            self.known.highest = token;
            if let (None, Ok(asked)) = (&refusal, &asked) {
                // Without a limit nobody need know.
                job.reserved = asked.bytes.unwrap_or(0);
                self.known.spend(day, job.reserved);
            }
            self.unwritten = false;
            actions.push(Action::Remember(self.known));
        }
        match refusal {
            None => self.begin(job, now, actions),
            Some(why) => {
                let version = job.version.clamp(SPOKEN.lowest(), SPOKEN.highest());
                actions.push(self.reply(version, job.number, token, Answer::Refused { why }));
            }
        }
    }

    /// Why an order is not obeyed.
    fn refusal(
        &self,
        job: &Job,
        asked: Result<&Asked, &String>,
        spent: u64,
        now: Now,
    ) -> Option<Refusal> {
        let Prepare { token, peer, needs, longest_ns, .. } = &*job.prepare;
        let highest = self.known.highest;
        let (lowest, newest) = (SPOKEN.lowest(), SPOKEN.highest());
        if !(lowest..=newest).contains(&job.version) {
            return Some(Refusal::Version { lowest, highest: newest });
        }
        if *token <= highest {
            return Some(Refusal::Old { highest });
        }
        if let Some(name) = needs.iter().find(|name| !self.features.contains(name)) {
            return Some(Refusal::Feature { name: name.clone() });
        }
        let asked = match asked {
            Ok(asked) if asked.time_ns < *longest_ns => asked,
            Ok(_) => {
                let what = "it may take longer than the job".to_string();
                return Some(Refusal::Plan { what });
            }
            Err(what) => return Some(Refusal::Plan { what: what.clone() }),
        };
        match &self.limits {
            Err(what) => return Some(Refusal::NoLimits { what: what.clone() }),
            Ok(limits) => {
                if let Err(what) = limits.allow(&peer.name, asked, *longest_ns, spent, now.wall) {
                    return Some(Refusal::Limits { what });
                }
            }
        }
        // First what passes: a disk is looked at again only where nothing is measured.
        if self.taken || !matches!(self.stage, Stage::Idle) {
            return Some(Refusal::Busy);
        }
        let is_full = self.free_bytes < DISK_BYTES_MIN;
        is_full.then_some(Refusal::Disk { free_bytes: self.free_bytes })
    }

    fn start(
        &mut self,
        version: u8,
        number: u64,
        start: Start,
        now: Now,
        actions: &mut Vec<Action>,
    ) {
        match replace(&mut self.stage, Stage::Idle) {
            Stage::Ready(job, nonce, until_ns)
                if (job.prepare.token, nonce) == (start.token, start.nonce)
                    && now.ns < until_ns =>
            {
                let job = Job { version, number, ..job };
                // The run is the client's, and it alone would stand in a wrong hour.
                if job.prepare.role == Role::Client && is_off(start, now) {
                    return self.refuse(&job, Refusal::Clock, actions);
                }
                self.run(job, start, now, actions);
            }
            stage => {
                self.stage = stage;
                self.not_started(version, number, start, actions);
            }
        }
    }

    /// Refuses a job that this host was ready for, and of which nothing was begun.
    fn refuse(&mut self, job: &Job, why: Refusal, actions: &mut Vec<Action>) {
        self.known.bytes = self.known.bytes.saturating_sub(job.reserved);
        self.over(job, Answer::Refused { why }, actions);
    }

    /// What is to be done in place of `rest`, which was to follow an [`Action::Remember`] that
    /// failed. Nobody is promised what only memory knows of: the next agent here would obey the
    /// same order once more.
    pub fn unremembered(&mut self, rest: Vec<Action>, now: Now) -> Vec<Action> {
        self.unwritten = true;
        // Nothing can be written there, however much is said to be free.
        self.free_bytes = 0;
        let (mut actions, newest) = (rest, self.known.highest);
        actions.retain(|action| !is_promise(action));
        match replace(&mut self.stage, Stage::Idle) {
            Stage::Readying(job, _) | Stage::Ready(job, ..) if job.prepare.token == newest => {
                self.refuse(&job, Refusal::Disk { free_bytes: 0 }, &mut actions);
            }
            // The order was refused anyway.
            stage => self.stage = stage,
        }
        self.said = None;
        self.beat(now, &mut actions);
        actions
    }

    fn run(&mut self, job: Job, start: Start, now: Now, actions: &mut Vec<Action>) {
        let until_ns = now.ns.saturating_add(job.prepare.longest_ns);
        actions.push(self.reply(job.version, job.number, start.token, Answer::Started));
        if job.prepare.role == Role::Client {
            actions.push(Action::Measure { prepare: job.prepare.clone(), until_ns });
        }
        self.stage = Stage::Running(job, start.nonce, until_ns);
    }

    /// Answers a start that begins nothing. One for the job that is there is the same one again, or
    /// came when it had to be ended anyway, which is said then.
    fn not_started(&self, version: u8, number: u64, start: Start, actions: &mut Vec<Action>) {
        let answer = match &self.stage {
            Stage::Running(job, nonce, _) if job.prepare.token == start.token => {
                (*nonce == start.nonce).then_some(Answer::Started)
            }
            stage if stage.job().is_some_and(|job| job.prepare.token == start.token) => None,
            _ => Some(
                self.outcome(start.token).unwrap_or(Answer::Refused { why: Refusal::NotReady }),
            ),
        };
        actions.extend(answer.map(|answer| self.reply(version, number, start.token, answer)));
    }

    /// Answers an order again that came again.
    fn repeat(&self, job: &Job, token: Token, actions: &mut Vec<Action>) -> bool {
        let answer = match &self.stage {
            stage if stage.job().is_none_or(|now| now.prepare.token != token) => {
                match self.outcome(token) {
                    Some(answer) => Some(answer),
                    None => return false,
                }
            }
            Stage::Ready(_, nonce, _) => Some(Answer::Ready { nonce: *nonce }),
            Stage::Running(..) => Some(Answer::Started),
            Stage::Idle | Stage::Readying(..) | Stage::Ending(..) => None,
        };
        actions.extend(answer.map(|answer| self.reply(job.version, job.number, token, answer)));
        true
    }

    /// How the job of that token came out here, if it was the last one.
    fn outcome(&self, token: Token) -> Option<Answer> {
        let last = self.last.as_ref().filter(|last| last.token == token);
        last.map(|last| last.answer.clone())
    }
}
