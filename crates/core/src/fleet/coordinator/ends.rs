//! What agents say of jobs.

use super::job::{End, How};
use super::{Coordinator, Out};
use crate::fleet::id::{JobId, Token};
use crate::fleet::message::{Answer, Measured, Refusal, Reply, Role};
use crate::fleet::names::HostName;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most that is kept of what an agent says of a failure.
const WORDS_CHARS_MAX: usize = 500;

impl Coordinator {
    /// An agent answers.
    pub(super) fn replied(&mut self, reply: Reply, out: &mut Out<'_>) {
        let Reply { from, token, answer, .. } = reply;
        let over = !matches!(answer, Answer::Ready { .. } | Answer::Started);
        self.answers(&from);
        if over {
            self.is_done_with(&from, token);
        }
        let Some((id, role)) = self.job_at(&from, token) else { return };
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match answer {
            Answer::Ready { nonce } => {
                if *job.end(role) == End::Asked && !job.started {
                    *job.end(role) = End::Ready(nonce);
                    self.start_if_ready(&id, out);
                }
                return;
            }
            Answer::Started => return,
            Answer::Done(measured) => {
                job.done |= role == Role::Client;
                job.measured(role, measured);
            }
            Answer::Failed(failure) => {
                job.measured(role, failure.measured);
                let why = format!("{from}: {}", shortened(&failure.why));
                job.fail(why, How::of(failure.lasting));
            }
            Answer::Refused { why } => {
                let how = How::of(why.is_lasting());
                let why = format!("{from}: {}", shortened(&words(&why)));
                job.fail(why, how);
            }
        }
        *job.end(role) = End::Over;
    }

    /// Everything that is over at a host for good.
    pub(super) fn over_at(&mut self, host: &HostName, is_over: impl Fn(Token) -> bool) {
        let of_host = |id: &&JobId| {
            let job = self.jobs.get(*id);
            job.is_some_and(|job| job.record.from == *host || job.record.to == *host)
        };
        let over = self.by_token.iter().filter(|(token, _)| is_over(**token));
        let ids: Vec<JobId> = over.map(|(_, id)| id).filter(of_host).cloned().collect();
        for id in ids {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            let role = if job.record.from == *host { Role::Client } else { Role::Server };
            let was = core::mem::replace(job.end(role), End::Over);
            // What it answered was lost, or it began anew. A server that was used may have been
            // enough.
            if was != End::Over && (role == Role::Client || !job.started) && job.work.is_some() {
                job.fail(format!("{host}: it ended without a word"), How::Gone);
            } else if was != End::Over {
                // That is why the other one could not go on, if it did not.
                job.server_gone = true;
                if let Some((_, how @ How::Passing)) = &mut job.failure {
                    *how = How::Gone;
                }
            }
        }
    }

    /// The job of that token, if that host takes part in it.
    fn job_at(&self, host: &HostName, token: Token) -> Option<(JobId, Role)> {
        let id = self.by_token.get(&token)?;
        let record = &self.jobs.get(id)?.record;
        if record.from == *host {
            return Some((id.clone(), Role::Client));
        }
        (record.to == *host && record.to_is_agent).then(|| (id.clone(), Role::Server))
    }
}

impl super::job::Job {
    fn measured(&mut self, role: Role, measured: Measured) {
        if role == Role::Client {
            self.run = measured.run.or(self.run.take());
        }
    }
}

/// Words of an agent as long as a record bears: one that is longer than a message may be would
/// never be written, nor would anything with it.
fn shortened(words: &str) -> String {
    words.chars().take(WORDS_CHARS_MAX).collect()
}

/// A refusal in words.
fn words(why: &Refusal) -> String {
    match why {
        Refusal::Busy => "something else is measured there".into(),
        Refusal::Old { highest } => format!("it has seen {highest}, a later order"),
        Refusal::NotReady => "it was not ready any more".into(),
        Refusal::Disk { free_bytes } => format!("only {free_bytes} B are free on its disk"),
        Refusal::Limits { what } => format!("its owner does not allow it: {what}"),
        Refusal::NoLimits { what } => format!("its owner's limits cannot be read: {what}"),
        Refusal::Version { lowest, highest } => {
            format!("it speaks versions {lowest} to {highest} of the fleet's messages")
        }
        Refusal::Feature { name } => format!("its program cannot do \"{name}\""),
        Refusal::Plan { what } => format!("the plan cannot be performed there: {what}"),
        Refusal::Clock => "its clock is more than a minute off the hub's".into(),
    }
}
