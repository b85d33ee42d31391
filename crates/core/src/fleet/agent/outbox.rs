//! What an agent has measured and the archive may not have yet: sent part by part, and sent again
//! until the archive itself says that it has it. That it was sent is no proof.

use super::{Action, Kept};
use crate::fleet::id::JobId;
use crate::fleet::message::Ack;
use crate::fleet::work::Now;
use crate::fleet::{PART_BYTES, REQUEST_NS, SECOND_NS};
use crate::record::RunId;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// How long is waited for the archive before a run is sent again, in ns. Doubles up to
/// [`DOUBLINGS`] times.
const AGAIN_NS: u64 = 30 * SECOND_NS;

const DOUBLINGS: u32 = 7;

/// How long is waited before a part is sent again that could not be sent, in ns.
const REFUSED_NS: u64 = 10 * SECOND_NS;

/// A run.
#[derive(Debug)]
struct Out {
    /// Bytes of its journal on the disk.
    bytes: u64,
    /// Bytes that the archive has.
    held: u64,
    /// Bytes that were sent.
    sent: u64,
    job: Option<JobId>,
    /// How often it was sent again.
    times: u32,
    /// When something is to be done, in ns.
    next_ns: u64,
}

/// How often it is looked which runs were kept long enough, in ns.
const TIDY_NS: u64 = 600 * SECOND_NS;

/// How soon again if there may be more of them, in ns.
const TIDY_ON_NS: u64 = 10 * SECOND_NS;

/// Most runs that are removed at once, so that orders are heard meanwhile.
const TIDIED_MAX: usize = 16;

/// Runs that are not in the archive, and those that are.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    runs: BTreeMap<RunId, Out>,
    /// The part that is being sent, and until when that is waited for.
    flight: Option<(RunId, u64)>,
    /// Runs on the disk of which the archive has all, and since when, in ns since the Unix epoch.
    archived: BTreeMap<RunId, u64>,
    /// When it is looked next which of them were kept long enough, in ns.
    tidy_ns: u64,
}

impl Outbox {
    pub(super) fn new(kept: Vec<Kept>) -> Outbox {
        let mut outbox = Outbox::default();
        for Kept { run, bytes, held, since_unix_ns } in kept {
            if held < bytes {
                let out = Out { bytes, held, sent: held, job: None, times: 0, next_ns: 0 };
                outbox.runs.insert(run, out);
            } else {
                outbox.archived.insert(run, since_unix_ns);
            }
        }
        outbox
    }

    /// How many runs the archive does not have.
    pub(super) fn unarchived(&self) -> u64 {
        self.runs.len() as u64
    }

    /// So much of a run is on the disk now.
    pub(super) fn add(&mut self, run: &RunId, bytes: u64, job: &JobId, now_ns: u64) {
        if bytes == 0 {
            return;
        }
        // What the archive has of a run that is continued is found out when it answers.
        let out = self.runs.entry(run.clone()).or_insert(Out {
            bytes: 0,
            held: 0,
            sent: 0,
            job: None,
            times: 0,
            next_ns: now_ns,
        });
        if bytes > out.bytes {
            self.archived.remove(run);
            out.bytes = bytes;
            out.job = Some(job.clone());
            out.next_ns = now_ns;
        }
    }

    /// A part was sent, or could not be.
    pub(super) fn published(&mut self, run: &RunId, end: u64, taken: bool, now_ns: u64) {
        if self.flight.as_ref().is_some_and(|(flying, _)| flying == run) {
            self.flight = None;
        }
        let Some(out) = self.runs.get_mut(run) else { return };
        if !taken {
            out.next_ns = now_ns.saturating_add(REFUSED_NS);
            return;
        }
        out.sent = out.sent.max(end).min(out.bytes);
        if out.sent == out.bytes {
            out.next_ns = now_ns.saturating_add(AGAIN_NS << out.times.min(DOUBLINGS));
        }
    }

    /// The archive has something.
    pub(super) fn ack(&mut self, ack: &Ack, now: Now, actions: &mut Vec<Action>) {
        for held in &ack.runs {
            let Some(out) = self.runs.get_mut(&held.run) else { continue };
            let bytes = held.bytes.min(out.bytes);
            if bytes <= out.held {
                continue;
            }
            (out.held, out.sent, out.times) = (bytes, out.sent.max(bytes), 0);
            if out.sent == out.bytes {
                out.next_ns = now.ns.saturating_add(AGAIN_NS);
            }
            actions.push(Action::Held { run: held.run.clone(), bytes });
            if out.held == out.bytes {
                self.runs.remove(&held.run);
                self.archived.insert(held.run.clone(), now.wall.unix_ns);
            }
        }
    }

    /// Has runs removed of which the archive has all for longer than they are to be kept.
    pub(super) fn tidy(&mut self, keep_ns: Option<u64>, now: Now, actions: &mut Vec<Action>) {
        let Some(keep_ns) = keep_ns.filter(|_| now.ns >= self.tidy_ns) else { return };
        let is_old = |since_ns: u64| now.wall.unix_ns.saturating_sub(since_ns) > keep_ns;
        let old = self.archived.iter().filter(|(_, since_unix_ns)| is_old(**since_unix_ns));
        let before = actions.len();
        actions.extend(old.take(TIDIED_MAX).map(|(run, _)| Action::Remove(run.clone())));
        let is_more = actions.len() - before == TIDIED_MAX;
        let next_ns = if is_more { TIDY_ON_NS } else { TIDY_NS };
        self.tidy_ns = now.ns.saturating_add(next_ns);
    }

    /// A run is not on the disk any more.
    pub(super) fn removed(&mut self, run: &RunId) {
        self.archived.remove(run);
    }

    /// Sends the next part, if none is on its way.
    pub(super) fn send(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if let Some((_, until_ns)) = &self.flight {
            if now_ns < *until_ns {
                return;
            }
            self.flight = None;
        }
        let Some((run, out)) = self.runs.iter_mut().find(|(_, out)| out.next_ns <= now_ns) else {
            return;
        };
        if out.sent == out.bytes {
            // All was sent, and the archive was silent since.
            out.sent = out.held;
            out.times = out.times.saturating_add(1);
        }
        let bytes = (out.bytes - out.sent).min(PART_BYTES as u64);
        actions.push(Action::Publish {
            run: run.clone(),
            job: out.job.clone(),
            at: out.sent,
            bytes,
        });
        self.flight = Some((run.clone(), now_ns.saturating_add(2 * REQUEST_NS)));
    }

    /// When something is to be sent, in ns.
    pub(super) fn wake_ns(&self) -> Option<u64> {
        let next_ns = self.runs.values().map(|out| out.next_ns).min()?;
        Some(self.flight.as_ref().map_or(next_ns, |(_, until_ns)| next_ns.max(*until_ns)))
    }
}
