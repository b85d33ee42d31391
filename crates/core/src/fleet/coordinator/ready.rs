//! Asking the hosts of a job to make ready, and having them start.

use super::job::{End, Job};
use super::{Coordinator, Out};
use crate::fleet::SECOND_NS;
use crate::fleet::id::{JobId, Token};
use crate::fleet::message::{Order, Peer, Prepare, Role, Start};
use crate::fleet::names::HostName;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// After how long an order to make ready that was not answered is given again, in ns: the broker
/// keeps none for an agent that is not there. An agent that has it does nothing else for another.
pub(super) const UNANSWERED_NS: u64 = 3 * SECOND_NS;

impl Coordinator {
    /// Whoever has not answered is asked again, where it is time for that; while the broker does
    /// not answer nobody is.
    pub(super) fn prepare_again(&mut self, out: &mut Out<'_>) {
        if !self.leads() {
            return;
        }
        let now_ns = out.now.ns;
        let is_due = |job: &Job| job.asks_ns().is_some_and(|ns| now_ns >= ns);
        let due = self.jobs.iter().filter(|(_, job)| is_due(job)).map(|(id, _)| id.clone());
        for id in due.collect::<Vec<JobId>>() {
            self.prepare(&id, out);
        }
    }

    /// A host has seen no order with a token above `highest`: what it was asked for since did not
    /// get there, or it is on its way.
    pub(super) fn has_not_seen(&mut self, host: &HostName, highest: Token, now_ns: u64) {
        for job in self.jobs.values_mut().filter(|job| job.token > highest) {
            // One that was just asked has it soon.
            let is_old = now_ns.saturating_sub(job.since_ns) >= SECOND_NS;
            if is_old && job.unanswered().any(|of| of == host) {
                job.ask_ns = now_ns;
            }
        }
    }

    /// Asks whoever has not answered to make ready.
    pub(super) fn prepare(&mut self, id: &JobId, out: &mut Out<'_>) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        let Some(work) = job.work.clone() else { return };
        job.ask_ns = out.now.ns.saturating_add(UNANSWERED_NS);
        let (token, word) = (job.token, job.word.clone());
        for host in job.unanswered().cloned().collect::<Vec<HostName>>() {
            let (role, peer) = match host == work.to {
                true => (Role::Server, &work.from),
                false => (Role::Client, &work.to),
            };
            let prepare = Prepare {
                job: id.clone(),
                token,
                attempt: work.failed,
                role,
                peer: Peer { name: peer.clone(), addresses: self.addresses_of(peer, out) },
                port: work.port,
                word: word.clone(),
                longest_ns: work.longest_ns,
                plan: work.plan.text.clone(),
                needs: work.plan.needs.clone(),
                continued: work.continued.clone().filter(|_| role == Role::Client),
            };
            self.send(&host, Order::Prepare(Box::new(prepare)), out);
        }
    }

    /// Says start, once every agent is ready and in time.
    pub(super) fn start_if_ready(&mut self, id: &JobId, out: &mut Out<'_>) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        let ready = [job.to, job.from].iter().all(|end| match end {
            End::Ready(_) => true,
            End::Asked => false,
            End::Over => !job.record.to_is_agent,
        });
        if job.started || !ready || job.failure.is_some() || out.now.ns >= job.start_by_ns {
            return;
        }
        job.started = true;
        let (token, unix_ns) = (job.token, Some(out.now.wall.unix_ns));
        let ends = [(job.to, job.record.to.clone()), (job.from, job.record.from.clone())];
        for (end, host) in ends {
            if let End::Ready(nonce) = end {
                self.send(&host, Order::Start(Start { token, nonce, unix_ns }), out);
            }
        }
    }

    /// Those of a mesh plan before what the agent says: whoever uses them takes the first of each
    /// family.
    fn addresses_of(&self, host: &HostName, out: &Out<'_>) -> Vec<String> {
        let mut all = self.addresses.get(host).cloned().unwrap_or_default();
        if let Some((said, _)) = self.last_heard(host, out.now) {
            let others = said.addresses.iter().filter(|address| !all.contains(address));
            let others: Vec<String> = others.cloned().collect();
            all.extend(others);
        }
        all
    }
}
