//! Which jobs are granted next, and the batch for them.

use super::{Coordinator, Out};
use crate::fleet::grant::{JobRecord, Key, PUTS_MAX, Put, Stage, Value};
use crate::fleet::id::JobId;
use crate::fleet::names::{HostName, LinkName};
use crate::fleet::work::{Now, Work};
use crate::fleet::{SECOND_NS, hold_ns};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use rand_core::Rng;

/// Most jobs that are granted in one batch.
const GRANTS_MAX: usize = 16;

/// Most records in one batch of jobs that are over.
const OVER_MAX: usize = 64;

/// How long after a host or a link must be free the broker removes its key, in ns.
const TIDY_NS: u64 = 86_400 * SECOND_NS;

/// How long the broker keeps the record of a job that is over, in ns: for people who look. All
/// records are read by whoever takes the lead, and that must not take long.
const KEPT_NS: u64 = 10 * SECOND_NS;

/// What the jobs of a batch that is being made take.
#[derive(Default)]
struct Takes {
    hosts: BTreeSet<HostName>,
    links: BTreeSet<LinkName>,
}

impl Takes {
    fn is_free(&self, work: &Work) -> bool {
        let host = self.hosts.contains(&work.from) || self.hosts.contains(&work.to);
        !host && !work.links.iter().any(|link| self.links.contains(link))
    }

    fn take(&mut self, work: &Work) {
        self.hosts.extend([work.from.clone(), work.to.clone()]);
        self.links.extend(work.links.iter().cloned());
    }
}

impl Coordinator {
    /// Grants what is due and free, writes down what is over, and keeps the lead.
    pub(super) fn grant(&mut self, renew: bool, out: &mut Out<'_>) {
        let chosen = self.choose(out);
        if chosen.is_empty() && !renew && self.over.len() < OVER_MAX {
            return;
        }
        let mut puts = Vec::from([self.leader_put(self.who.clone())]);
        let mut over = Vec::new();
        while over.len() < OVER_MAX
            && let Some((id, record)) = self.over.pop_first()
        {
            let key = Key::Job(id.clone());
            // Without one it is not there any more.
            let Some(expected) = self.revisions.get(&key).copied() else { continue };
            let value = Value::Job(record.clone());
            puts.push(Put { key, value, expected, ttl_ns: Some(KEPT_NS) });
            over.push((id, record));
        }
        let mut grants = Vec::new();
        for work in chosen {
            let id = self.new_job();
            self.put_grant(&id, &work, out.now, &mut puts);
            grants.push((puts.len() - 1, id, work));
        }
        self.commit(puts, grants, over, out);
    }

    /// What a job takes, its own record last.
    fn put_grant(&self, id: &JobId, work: &Work, now: Now, puts: &mut Vec<Put>) {
        let ends = [work.from.clone(), work.to.clone()].map(Key::Host).into_iter();
        let links = work.links.iter().cloned().map(Key::Link);
        let ttl_ns = Some(hold_ns(work.longest_ns).saturating_add(TIDY_NS));
        for key in ends.chain(links) {
            let expected = self.revisions.get(&key).copied().unwrap_or(0);
            let value = Value::Taken { job: id.clone(), epoch: self.epoch };
            puts.push(Put { key, value, expected, ttl_ns });
        }
        let (key, value) = (Key::Job(id.clone()), Value::Job(self.record(work, now)));
        puts.push(Put { key, value, expected: 0, ttl_ns: None });
    }

    /// The record of a job that is granted.
    pub(super) fn record(&self, work: &Work, now: Now) -> JobRecord {
        JobRecord {
            stage: Stage::Granted,
            epoch: self.epoch,
            attempt: work.failed,
            from: work.from.clone(),
            to: work.to.clone(),
            to_is_agent: work.to_is_agent,
            class: work.class,
            links: work.links.clone(),
            longest_ns: work.longest_ns,
            plan: work.plan.name.clone(),
            plan_hash: work.plan.hash.clone(),
            unix_ns: now.wall.unix_ns,
            came: None,
        }
    }

    /// What begins now.
    fn choose(&self, out: &mut Out<'_>) -> Vec<Work> {
        let (now, mut takes) = (out.now, Takes::default());
        let mut chosen: Vec<Work> = Vec::new();
        let mut room = PUTS_MAX - OVER_MAX - 1;
        while chosen.len() < GRANTS_MAX {
            let is_free = |work: &Work| {
                puts_of(work) <= room && takes.is_free(work) && self.is_free(work, now)
            };
            let Some(work) = out.timetable.next(now, &is_free) else { break };
            takes.take(&work);
            room = room.saturating_sub(puts_of(&work));
            chosen.push(work);
        }
        chosen
    }

    fn is_free(&self, work: &Work, now: Now) -> bool {
        let link = work.links.iter().any(|link| self.busy_links.contains(link));
        !link && self.obstacle(work, now).is_none()
    }

    /// A job that was not there before.
    pub(super) fn new_job(&mut self) -> JobId {
        JobId::from_bits(self.random.next_u64())
    }
}

/// How many keys a job takes.
fn puts_of(work: &Work) -> usize {
    work.links.len() + 3
}
