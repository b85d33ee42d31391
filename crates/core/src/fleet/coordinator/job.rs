//! A job from its grant to its end.

use super::ready::UNANSWERED_NS;
use super::{Coordinator, Out};
use crate::fleet::grant::{JobRecord, Stage};
use crate::fleet::id::{JobId, Nonce, Token, Word};
use crate::fleet::message::{Order, Role};
use crate::fleet::names::HostName;
use crate::fleet::work::{Outcome, Work};
use crate::fleet::{ATTEMPTS, PREPARE_NS, SECOND_NS, hold_ns};
use crate::record::RunId;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::replace;
use rand_core::Rng;

/// How long the second attempt waits after the first one failed, in ns; the third waits twice as
/// long. Longer than an agent stays ready for what nobody starts.
const AGAIN_NS: u64 = 15 * SECOND_NS;

/// The same where an agent was gone: nothing was found that has to pass.
const GONE_NS: u64 = SECOND_NS;

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

/// How a job failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Another attempt would come out the same.
    Lasting,
    /// Another one may come out otherwise after a while.
    Passing,
    /// An agent was gone: nothing is known of the path.
    Gone,
    /// It was granted so late that nobody could answer: this is no attempt.
    Late,
}

impl How {
    pub(super) fn of(lasting: bool) -> How {
        if lasting { How::Lasting } else { How::Passing }
    }
}

/// A job whose hosts and links are held.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) record: JobRecord,
    pub(super) token: Token,
    /// What it is for; `None` for one of an earlier lead, of which only the end is waited for.
    pub(super) work: Option<Work>,
    /// The word that its two ends know.
    pub(super) word: Word,
    pub(super) from: End,
    pub(super) to: End,
    /// Since when it is held, in ns.
    pub(super) since_ns: u64,
    /// Whether *start* was said, or may have been.
    pub(super) started: bool,
    /// Whether its server's agent was gone when it was heard, after *start*.
    pub(super) server_gone: bool,
    /// Whether the agents were told to stop.
    pub(super) stopped: bool,
    /// When whoever has not answered by then is asked again, in ns.
    pub(super) ask_ns: u64,
    /// Until when *start* may be said, in ns.
    pub(super) start_by_ns: u64,
    /// Whether the client said that it is done.
    pub(super) done: bool,
    /// The run that the client measured into.
    pub(super) run: Option<RunId>,
    /// Why it does not come out well.
    pub(super) failure: Option<(String, How)>,
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

    /// It failed, if it has not before.
    pub(super) fn fail(&mut self, why: String, how: How) {
        // Without its server it could not go on.
        let how = if self.server_gone && how == How::Passing { How::Gone } else { how };
        self.failure.get_or_insert((why, how));
    }

    /// When it must be over, or started, in ns: in the end it is over whatever is heard.
    pub(super) fn late_ns(&self) -> u64 {
        let over_ns = || self.since_ns.saturating_add(hold_ns(self.record.longest_ns));
        if self.started { over_ns() } else { self.start_by_ns }
    }

    /// Both ends: the server first, which takes longer to be ready.
    fn ends(&self) -> [(End, &HostName); 2] {
        [(self.to, &self.record.to), (self.from, &self.record.from)]
    }

    /// Hosts that were asked to make ready, and have not answered.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = &HostName> {
        let asked = |(end, host)| (!self.started && end == End::Asked).then_some(host);
        self.ends().into_iter().filter_map(asked)
    }

    /// Hosts that may do something for it still, as far as was heard.
    fn at_work(&self) -> impl Iterator<Item = &HostName> {
        let is_there = |(end, host)| (end != End::Over).then_some(host);
        self.ends().into_iter().filter_map(is_there)
    }

    /// When whoever has not answered is asked again, in ns; nothing if nobody is.
    pub(super) fn asks_ns(&self) -> Option<u64> {
        let waits = self.failure.is_none() && self.unanswered().next().is_some();
        waits.then_some(self.ask_ns)
    }

    /// When something is to be done with it, in ns.
    pub(super) fn wake_ns(&self) -> u64 {
        self.asks_ns().into_iter().fold(self.late_ns(), u64::min)
    }
}

impl Coordinator {
    /// A job that is granted, as was asked for at `asked_ns`: its hosts are to make ready.
    pub(super) fn granted(
        &mut self,
        id: &JobId,
        token: Token,
        work: Work,
        asked_ns: u64,
        out: &mut Out<'_>,
    ) {
        let [a, b, c] = [(); 3].map(|()| self.random.next_u64());
        let job = Job {
            record: self.record(&work, out.now),
            token,
            word: if work.to_is_agent { Word::from_bits([a, b, c]) } else { Word::none() },
            from: End::Asked,
            to: if work.to_is_agent { End::Asked } else { End::Over },
            since_ns: out.now.ns,
            started: false,
            server_gone: false,
            stopped: false,
            ask_ns: out.now.ns,
            start_by_ns: asked_ns.saturating_add(PREPARE_NS),
            done: false,
            run: None,
            failure: None,
            work: Some(work),
        };
        self.hold(id, job);
        self.prepare(id, out);
    }

    /// A job of an earlier lead that may still run.
    pub(super) fn held(&mut self, id: &JobId, token: Token, record: JobRecord, out: &mut Out<'_>) {
        let job = Job {
            token,
            from: End::Asked,
            to: if record.to_is_agent { End::Asked } else { End::Over },
            word: Word::none(),
            since_ns: out.now.ns,
            started: true,
            server_gone: false,
            stopped: false,
            ask_ns: 0,
            start_by_ns: 0,
            done: false,
            run: None,
            failure: None,
            work: None,
            record,
        };
        let agents: Vec<HostName> = job.at_work().cloned().collect();
        self.hold(id, job);
        for host in agents {
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

    /// Ends jobs of which nothing more can come, and what is of no use any more.
    pub(super) fn end_jobs(&mut self, out: &mut Out<'_>) {
        let now_ns = out.now.ns;
        let due = |job: &Job| job.is_over() || job.failure.is_some() || now_ns >= job.late_ns();
        let ids: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| due(job)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            let late = now_ns >= job.late_ns() && !job.is_over();
            // What was never started cannot run, whatever is heard of it.
            let free = job.is_over() || late || !job.started;
            if late {
                let why = if job.started { "nothing was heard of it" } else { "not ready in time" };
                job.fail(why.to_string(), How::Gone);
            }
            self.stop(&id, out);
            if free {
                self.blame(&id, now_ns);
                self.free(&id, out);
            }
        }
    }

    /// Why a job failed of which nothing more is waited for: whoever had time to answer and did not
    /// is to blame, whatever the other one says of its waiting.
    fn blame(&mut self, id: &JobId, now_ns: u64) {
        let Some(job) = self.jobs.get(id) else { return };
        // A server that takes long says that it has the order.
        let silent = job.unanswered().filter(|host| !self.is_at(host, job.token));
        // Of one of an earlier lead a host may know nothing, and be well.
        let is_lost = job.started && job.work.is_some() && now_ns >= job.late_ns();
        let lost = job.at_work().filter(|_| is_lost);
        let silent: Vec<HostName> = silent.chain(lost).cloned().collect();
        let Some(host) = silent.first() else { return };
        let (why, how) = if job.started {
            (format!("{host}: nothing was heard of it"), How::Gone)
        } else if now_ns >= job.since_ns.saturating_add(UNANSWERED_NS) {
            (format!("{host}: it did not answer"), How::Gone)
        } else if now_ns >= job.start_by_ns {
            ("it was granted too late".to_string(), How::Late)
        } else {
            return;
        };
        if how == How::Gone {
            silent.iter().for_each(|host| self.falls_silent(host));
        }
        if let Some(job) = self.jobs.get_mut(id)
            && job.failure.as_ref().is_none_or(|(_, how)| *how != How::Lasting)
        {
            job.failure = Some((why, how));
        }
    }

    /// Has agents stop what belongs to a job that failed.
    fn stop(&mut self, id: &JobId, out: &mut Out<'_>) {
        let Some(job) = self.jobs.get_mut(id) else { return };
        if job.failure.is_none() || job.work.is_none() || replace(&mut job.stopped, true) {
            return;
        }
        let token = job.token;
        for host in job.at_work().cloned().collect::<Vec<HostName>>() {
            self.send(&host, Order::Stop { token }, out);
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
        let Some(work) = job.work else { return };
        let (why, how) = match (failure, job.done) {
            (_, true) => return out.came(id, work, Outcome::Measured { run: job.run }),
            (Some(failure), false) => failure,
            (None, false) => ("the client ended without a word".to_string(), How::Gone),
        };
        let pause_ns = match how {
            How::Late => return out.came(id, work, Outcome::Lost { began: false }),
            How::Gone => GONE_NS,
            How::Passing | How::Lasting => AGAIN_NS,
        };
        let (lasting, began, run) = (how == How::Lasting, job.started, job.run);
        let outcome = if lasting || attempts >= ATTEMPTS {
            Outcome::GivenUp { why, attempts, lasting, began, run }
        } else {
            let again_ns = pause_ns * u64::from(attempts);
            // What was measured is continued.
            Outcome::Failed { why, again_ns, began, run: run.or(work.continued.clone()) }
        };
        out.came(id, work, outcome);
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
}
