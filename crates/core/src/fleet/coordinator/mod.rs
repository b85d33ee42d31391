//! The coordinator: gives jobs to pairs of hosts, so that no host and no link has two.
//!
//! It leads while every one of its batches finds the leader's key as it left it: one that was
//! replaced changes nothing, whatever it believes. A grant takes both hosts, all links and the
//! job's own record at once. They are held until both agents say that the job is over, or until it
//! must be ([`hold_ns`](super::hold_ns)). *Start* is said only within
//! [`PREPARE_NS`](super::PREPARE_NS) of when the grant was *asked for*, so that an answer that was
//! held up starts nothing. One that takes the lead reads all records and holds what may still run,
//! from then on, as long as it may.
//!
//! That keys expire, early or late, changes nothing but the numbers that are compared.

mod commit;
mod ends;
mod event;
mod grants;
mod hosts;
mod job;
mod lead;
mod learn;
mod ready;
#[cfg(test)]
mod tests;

pub use event::{Action, Event};
pub use hosts::{Obstacle, unfit};

use super::grant::{Batch, JobRecord, Key};
use super::id::{Epoch, JobId, Token};
use super::message::{Command, Order, SPOKEN};
use super::names::{HostName, LinkName};
use super::work::{Now, Outcome, Timetable, Work};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use hosts::Heard;
use job::Job;
use lead::Lead;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// Who a coordinator is and what it knows when it begins.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What it calls itself; nobody else has that name, not even this one before it began anew.
    pub who: String,
    /// Addresses of hosts by which others reach them before those that their agents say.
    pub addresses: BTreeMap<HostName, Vec<String>>,
    /// Random bytes that nobody used before.
    pub seed: [u8; 32],
}

/// A batch whose answer is waited for.
#[derive(Debug)]
struct Flight {
    number: u64,
    batch: Batch,
    /// Jobs in there, by the place of their records.
    grants: Vec<(usize, JobId, Work)>,
    /// Records in there of jobs that are over.
    over: Vec<(JobId, JobRecord)>,
    asked_ns: u64,
}

/// A coordinator.
#[derive(Debug)]
pub struct Coordinator {
    who: String,
    addresses: BTreeMap<HostName, Vec<String>>,
    random: ChaCha12Rng,
    lead: Lead,
    retired: bool,
    epoch: Epoch,
    /// Number of the next request or order.
    number: u64,
    /// What the broker has, as far as is known.
    revisions: BTreeMap<Key, u64>,
    flight: Option<Flight>,
    /// Grants that came true or not, nobody knows; with when they were asked for.
    unknown: Vec<(JobId, Work, u64)>,
    /// When the leader's key was written last, in ns.
    renewed_ns: u64,
    jobs: BTreeMap<JobId, Job>,
    by_token: BTreeMap<Token, JobId>,
    busy_hosts: BTreeSet<HostName>,
    busy_links: BTreeSet<LinkName>,
    /// Records of jobs that are over and not yet written.
    over: BTreeMap<JobId, JobRecord>,
    hosts: BTreeMap<HostName, Heard>,
    /// When the timetable is asked next if nothing happens, in ns.
    ask_ns: u64,
}

impl Coordinator {
    /// A coordinator that begins: it stands by.
    pub fn new(setup: Setup) -> Coordinator {
        let mut random = ChaCha12Rng::from_seed(setup.seed);
        // Orders of two coordinators have other numbers. No number is above 2^53, the largest that
        // every reader of JSON has.
        let number = random.next_u64() >> 16;
        Coordinator {
            who: setup.who,
            addresses: setup.addresses,
            random,
            lead: Lead::standby(),
            retired: false,
            epoch: Epoch(0),
            number,
            revisions: BTreeMap::new(),
            flight: None,
            unknown: Vec::new(),
            renewed_ns: 0,
            jobs: BTreeMap::new(),
            by_token: BTreeMap::new(),
            busy_hosts: BTreeSet::new(),
            busy_links: BTreeSet::new(),
            over: BTreeMap::new(),
            hosts: BTreeMap::new(),
            ask_ns: 0,
        }
    }

    /// Takes note of what happened, and says what is to be done.
    pub fn step(&mut self, event: Event, now: Now, timetable: &mut dyn Timetable) -> Vec<Action> {
        let mut out = Out { now, timetable, actions: Vec::new() };
        match event {
            Event::Time => {}
            Event::Looked(entry) => self.looked(entry, &mut out),
            Event::Listed { number, entries } => self.listed(number, entries, &mut out),
            Event::Committed { number, came } => self.committed(number, came, &mut out),
            Event::Reply(reply) => self.replied(*reply, &mut out),
            Event::Heartbeat(heartbeat) => self.heard(*heartbeat, &mut out),
            Event::Retire => self.retired = true,
        }
        self.end_jobs(&mut out);
        self.prepare_again(&mut out);
        self.ask(&mut out);
        out.actions
    }

    /// Hosts have these addresses from now on, before those that their agents say.
    pub fn set_addresses(&mut self, addresses: BTreeMap<HostName, Vec<String>>) {
        self.addresses = addresses;
    }

    /// Whether it leads, as far as it knows.
    pub fn leads(&self) -> bool {
        matches!(self.lead, Lead::Leading)
    }

    /// Its lead, or the last one that it knows of.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Jobs that may be under way: their hosts and links are held.
    pub fn jobs(&self) -> impl Iterator<Item = (&JobId, &JobRecord)> {
        self.jobs.iter().map(|(id, job)| (id, &job.record))
    }

    fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn send(&mut self, to: &HostName, order: Order, out: &mut Out<'_>) {
        let (version, number) = (SPOKEN.highest(), self.next_number());
        let command = Command { version, to: to.clone(), number, order };
        out.actions.push(Action::Send(Box::new(command)));
    }
}

/// What a step works with.
struct Out<'a> {
    now: Now,
    timetable: &'a mut dyn Timetable,
    actions: Vec<Action>,
}

impl Out<'_> {
    fn came(&mut self, job: &JobId, work: Work, outcome: Outcome) {
        self.timetable.came(&work, job, &outcome, self.now);
        self.actions.push(Action::Came { job: job.clone(), work: Box::new(work), outcome });
    }
}
