//! A job from its grant to its end.

use super::{Again, Coordinator, Out};
use crate::fleet::grant::{JobRecord, Stage};
use crate::fleet::id::{JobId, Nonce, Token, Word};
use crate::fleet::message::{Order, Peer, Prepare, Role, Start};
use crate::fleet::names::HostName;
use crate::fleet::work::{Outcome, Work};
use crate::fleet::{ATTEMPTS, PREPARE_NS, SECOND_NS, hold_ns};
use crate::record::RunId;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rand_core::Rng;

/// How long the second attempt waits after the first one failed, in ns; the third waits twice as
/// long. Longer than an agent stays ready for what nobody starts.
const AGAIN_NS: u64 = 15 * SECOND_NS;

/// What one of the hosts of a job does for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It was asked, or may have been.
    Asked,
    /// It is ready; once *start* was said, it may measure.
    Ready(Nonce),
    /// It will do nothing for it any more, or has no agent.
    Over,
}

/// A job whose hosts and links are held.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) token: Token,
    /// What it is for; `None` for one of an earlier lead, of which only the end is waited for.
    pub(super) work: Option<Work>,
    pub(super) from: End,
    pub(super) to: End,
    /// Whether *start* was said, or may have been.
    pub(super) started: bool,
    /// Whether the agents were told to stop.
    pub(super) stopped: bool,
    /// Until when *start* may be said, in ns.
    pub(super) start_by_ns: u64,
    /// When it is over whatever is heard, in ns.
    pub(super) over_ns: u64,
    /// Whether the client said that it is done.
    pub(super) done: bool,
    /// The run that the client measured into.
    pub(super) run: Option<RunId>,
    /// Why it does not come out well, and whether another attempt would come out the same.
    pub(super) failure: Option<(String, bool)>,
}

impl Job {
    pub(super) fn end(&mut self, role: Role) -> &mut End {
        match role {
            Role::Client => &mut self.from,
            Role::Server => &mut self.to,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.from == End::Over && self.to == End::Over
    }

    /// When something is to be done with it, in ns.
    pub(super) fn next_ns(&self) -> u64 {
        if self.started { self.over_ns } else { self.start_by_ns }
    }
}

impl Coordinator {
    /// A job that is granted, as was asked for at `asked_ns`: its hosts are to make ready.
    pub(super) fn granted(
        &mut self,
        id: &JobId,
        token: Token,
        again: Again,
        asked_ns: u64,
        out: &mut Out<'_>,
    ) {
        let record = self.record(&again.work, again.attempt, out.now);
        let work = again.work;
        let to = if work.to_is_agent { End::Asked } else { End::Over };
        let job = Job {
            token,
            from: End::Asked,
            to,
            started: false,
            stopped: false,
            start_by_ns: asked_ns.saturating_add(PREPARE_NS),
            over_ns: out.now.ns.saturating_add(hold_ns(work.longest_ns)),
            done: false,
            run: None,
            failure: None,
            record,
            work: Some(work.clone()),
        };
        self.hold(id, job);
        let [a, b, c] = [(); 3].map(|()| self.random.next_u64());
        let word = if work.to_is_agent { Word::from_bits([a, b, c]) } else { Word::none() };
        // The server first: it takes longer to be ready.
        let ends = [(Role::Server, &work.to, &work.from), (Role::Client, &work.from, &work.to)];
        for (role, host, peer) in ends {
            if role == Role::Server && !work.to_is_agent {
                continue;
            }
            let prepare = Prepare {
                job: id.clone(),
                token,
                attempt: again.attempt,
                role,
                peer: Peer { name: peer.clone(), addresses: self.addresses_of(peer, out) },
                port: work.port,
                word: word.clone(),
                longest_ns: work.longest_ns,
                plan: work.plan.text.clone(),
                needs: work.plan.needs.clone(),
                continued: work.continued.clone().filter(|_| role == Role::Client),
            };
            self.send(host, Order::Prepare(Box::new(prepare)), out);
        }
    }

    /// A job of an earlier lead that may still run.
    pub(super) fn held(&mut self, id: &JobId, token: Token, record: JobRecord, out: &mut Out<'_>) {
        let job = Job {
            token,
            from: End::Asked,
            to: if record.to_is_agent { End::Asked } else { End::Over },
            started: true,
            stopped: false,
            start_by_ns: 0,
            over_ns: out.now.ns.saturating_add(hold_ns(record.longest_ns)),
            done: false,
            run: None,
            failure: None,
            work: None,
            record,
        };
        let hosts = [(&job.from, job.record.from.clone()), (&job.to, job.record.to.clone())];
        let agents = hosts.map(|(end, host)| (*end != End::Over).then_some(host));
        self.hold(id, job);
        for host in agents.into_iter().flatten() {
            self.send(&host, Order::Status, out);
        }
    }

    fn hold(&mut self, id: &JobId, job: Job) {
        let record = &job.record;
        self.busy_hosts.extend([record.from.clone(), record.to.clone()]);
        self.busy_links.extend(record.links.iter().cloned());
        self.by_token.insert(job.token, id.clone());
        self.jobs.insert(id.clone(), job);
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

    /// Ends jobs of which nothing more can come, and what is of no use any more.
    pub(super) fn end_jobs(&mut self, out: &mut Out<'_>) {
        let now_ns = out.now.ns;
        let due = |job: &Job| job.is_over() || job.failure.is_some() || now_ns >= job.next_ns();
        let ids: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| due(job)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            let late = now_ns >= job.next_ns() && !job.is_over();
            if late {
                let why = if job.started { "nothing was heard of it" } else { "not ready in time" };
                job.failure.get_or_insert((why.to_string(), false));
            }
            let stop = job.failure.is_some() && !job.stopped && job.work.is_some();
            let asked = if stop { [job.from, job.to] } else { [End::Over; 2] };
            job.stopped |= stop;
            // What was never started cannot run, whatever is heard of it.
            let free = job.is_over() || late || !job.started;
            let (token, record) = (job.token, &job.record);
            let hosts = [record.from.clone(), record.to.clone()];
            for (end, host) in asked.into_iter().zip(hosts) {
                if end != End::Over {
                    self.send(&host, Order::Stop { token }, out);
                }
            }
            if free {
                self.free(&id, out);
            }
        }
    }

    /// Gives back what a job had.
    fn free(&mut self, id: &JobId, out: &mut Out<'_>) {
        let Some(mut job) = self.jobs.remove(id) else { return };
        self.by_token.remove(&job.token);
        self.give_back(&job.record);
        let failure = job.failure.take();
        let came = match (&failure, job.done) {
            (_, true) => "measured".to_string(),
            (Some((why, _)), false) => why.clone(),
            (None, false) => "over".to_string(),
        };
        let unix_ns = out.now.wall.unix_ns;
        let record = JobRecord { stage: Stage::Over, unix_ns, came: Some(came), ..job.record };
        let attempts = record.attempt.saturating_add(1);
        self.over.insert(id.clone(), record);
        let Some(mut work) = job.work else { return };
        let (why, lasting) = match (failure, job.done) {
            (_, true) => return out.came(id, work, Outcome::Measured { run: job.run }),
            (Some(failure), false) => failure,
            (None, false) => ("the client ended without a word".to_string(), false),
        };
        if lasting || attempts >= ATTEMPTS {
            let outcome = Outcome::GivenUp { why, attempts, lasting, run: job.run };
            return out.came(id, work, outcome);
        }
        // What was measured is continued.
        work.continued = job.run.or(work.continued);
        let due_ns = out.now.ns.saturating_add(AGAIN_NS * u64::from(attempts));
        self.again.push(Again { work, attempt: attempts, due_ns });
    }

    /// What a job had is free, unless another one has it, too: a coordinator that was replaced may
    /// have freed one and granted the next, and not have written the first.
    fn give_back(&mut self, record: &JobRecord) {
        for host in [&record.from, &record.to] {
            let has = |job: &Job| job.record.from == *host || job.record.to == *host;
            if !self.jobs.values().any(has) {
                self.busy_hosts.remove(host);
            }
        }
        for link in &record.links {
            if !self.jobs.values().any(|job| job.record.links.contains(link)) {
                self.busy_links.remove(link);
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
