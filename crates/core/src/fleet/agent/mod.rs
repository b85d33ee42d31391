//! The agent of a host: takes part in one job at a time, only in what its owner allows, and keeps
//! what it measured until the archive has it.
//!
//! It is ready for a job once it was asked, for [`READY_NS`](super::READY_NS) by its own clock, and
//! begins if *start* comes within that time and repeats its number: an order that was held up
//! anywhere begins nothing. What was begun is killed after the job's longest time. Any order for a
//! job stands behind a token, and none is obeyed twice, or after one with a later token.

mod event;
mod job;
pub mod limits;
mod orders;
mod outbox;
#[cfg(test)]
mod tests;

pub use event::{Action, Ended, Event, Kept, Known, Trouble};

use super::HEARTBEAT_NS;
use super::id::Token;
use super::message::{Answer, Heartbeat, Reply, SPOKEN, State};
use super::names::HostName;
use super::work::Now;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use job::Stage;
use limits::Limits;
use outbox::Outbox;
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

/// Who an agent is and what it knows when it begins.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What it is called.
    pub me: HostName,
    /// What the program can do, by name.
    pub features: Vec<String>,
    /// What it had on its disk.
    pub known: Known,
    /// Runs on its disk of which the archive may not have all.
    pub kept: Vec<Kept>,
    /// Random bytes that nobody used before.
    pub seed: [u8; 32],
}

/// How the last job came out, to be said again if its order comes again.
#[derive(Debug)]
struct Last {
    token: Token,
    answer: Answer,
}

/// An agent. Until it was told what is free on the disk and what its owner allows, it takes no job.
#[derive(Debug)]
pub struct Agent {
    me: HostName,
    features: Vec<String>,
    random: ChaCha12Rng,
    known: Known,
    /// Whether that could not be had on the disk.
    unwritten: bool,
    stage: Stage,
    last: Option<Last>,
    taken: bool,
    free_bytes: u64,
    limits: Result<Box<Limits>, String>,
    outbox: Outbox,
    /// What was said last, and when the next heartbeat is due.
    said: Option<(State, Token, u64)>,
    beat_ns: u64,
}

impl Agent {
    /// An agent that begins. Nothing of an earlier one is under way: it died with that.
    pub fn new(setup: Setup) -> Agent {
        Agent {
            me: setup.me,
            features: setup.features,
            random: ChaCha12Rng::from_seed(setup.seed),
            known: setup.known,
            unwritten: false,
            stage: Stage::Idle,
            last: None,
            taken: false,
            free_bytes: 0,
            limits: Err("they were not read yet".to_string()),
            outbox: Outbox::new(setup.kept),
            said: None,
            beat_ns: 0,
        }
    }

    /// Takes note of what happened, and says what is to be done.
    pub fn step(&mut self, event: Event, now: Now) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Time => {}
            Event::Command { command, asked } => self.obey(*command, asked, now, &mut actions),
            Event::Listens => self.listens(now, &mut actions),
            Event::Ended(ended) => self.ended(*ended, now, &mut actions),
            Event::Taken(taken) => self.taken = taken,
            Event::Disk(free_bytes) => self.disk(free_bytes, &mut actions),
            Event::Limits(limits) => self.limits = limits,
            Event::Published { run, end, taken } => {
                self.outbox.published(&run, end, taken, now.ns);
            }
            Event::Ack(ack) if ack.to == self.me => self.outbox.ack(&ack, now, &mut actions),
            Event::Ack(_) => {}
            Event::Removed(run) => self.outbox.removed(&run),
            // Whatever was said meanwhile was heard by nobody.
            Event::Back => self.said = None,
            Event::Abandoned => self.end("the hub was gone", now, &mut actions),
        }
        self.deadlines(now, &mut actions);
        if self.may_send() {
            self.outbox.send(now.ns, &mut actions);
            let keep_ns = self.limits.as_ref().ok().and_then(|limits| limits.keep_ns());
            self.outbox.tidy(keep_ns, now, &mut actions);
        }
        self.beat(now, &mut actions);
        actions
    }

    /// When it wants to be told the time next, in ns.
    pub fn wake_ns(&self) -> u64 {
        let outbox = self.may_send().then(|| self.outbox.wake_ns()).flatten();
        [self.stage.deadline_ns(), outbox].into_iter().flatten().fold(self.beat_ns, u64::min)
    }

    /// What it does.
    pub fn state(&self) -> State {
        match self.stage.state() {
            Some(state) => state,
            None if self.taken => State::Taken,
            None if self.trouble().is_some() => State::Closed,
            None => State::Idle,
        }
    }

    /// Runs of which the archive does not have all.
    pub fn unarchived(&self) -> u64 {
        self.outbox.unarchived()
    }

    /// Whether nothing is measured here or about to be, so that other traffic does no harm.
    fn may_send(&self) -> bool {
        matches!(self.stage, Stage::Idle) && !self.taken
    }

    /// Why it takes no jobs at all.
    fn trouble(&self) -> Option<String> {
        match &self.limits {
            Err(why) => Some(why.clone()),
            Ok(_) if self.free_bytes < super::DISK_BYTES_MIN => Some("the disk is full".into()),
            Ok(_) => None,
        }
    }

    fn reply(&self, version: u8, number: u64, token: Token, answer: Answer) -> Action {
        let from = self.me.clone();
        Action::Reply(Box::new(Reply { version, from, number, token, answer }))
    }

    /// Says that it is there, if that is due or something is another than was said.
    fn beat(&mut self, now: Now, actions: &mut Vec<Action>) {
        let says = (self.state(), self.known.highest, self.outbox.unarchived());
        if now.ns < self.beat_ns && self.said == Some(says) {
            return;
        }
        self.said = Some(says);
        self.beat_ns = now.ns.saturating_add(HEARTBEAT_NS);
        let (state, highest, unarchived) = says;
        actions.push(Action::Beat(Box::new(Heartbeat {
            from: self.me.clone(),
            version_lowest: SPOKEN.lowest(),
            version_highest: SPOKEN.highest(),
            program: String::new(),
            features: self.features.clone(),
            addresses: Vec::new(),
            unix_ns: now.wall.unix_ns,
            clock: None,
            state,
            highest,
            free_bytes: self.free_bytes,
            unarchived,
            trouble: self.trouble(),
        })));
    }
}
