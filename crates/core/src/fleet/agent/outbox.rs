//! What an agent has measured and the archive may not have yet: sent part by part, and sent again
//! until the archive itself says that it has it. That the stream has it is no proof.

use super::{Action, Kept};
use crate::fleet::id::JobId;
use crate::fleet::message::Ack;
use crate::fleet::{REQUEST_NS, SECOND_NS};
use crate::record::RunId;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Most bytes of a journal in one message.
pub(super) const PART_BYTES: u64 = 512 * 1024;

/// How long is waited for the archive before a run is sent again, in ns: longer than the stream
/// takes the same message for the same, 2 min. Doubles up to [`DOUBLINGS`] times.
const AGAIN_NS: u64 = 150 * SECOND_NS;

const DOUBLINGS: u32 = 5;

/// How long is waited before a part is sent again that the stream did not take, in ns.
const REFUSED_NS: u64 = 10 * SECOND_NS;

/// A run.
#[derive(Debug)]
struct Out {
    /// Bytes of its journal on the disk.
    bytes: u64,
    /// Bytes that the archive has.
    held: u64,
    /// Bytes that the stream has.
    sent: u64,
    job: Option<JobId>,
    /// How often it was sent again.
    times: u32,
    /// When something is to be done, in ns.
    next_ns: u64,
}

/// Runs that are not in the archive.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    runs: BTreeMap<RunId, Out>,
    /// The part that is on its way, and until when its answer is waited for.
    flight: Option<(RunId, u64)>,
}

impl Outbox {
    pub(super) fn new(kept: Vec<Kept>) -> Outbox {
        let missing = kept.into_iter().filter(|kept| kept.held < kept.bytes);
        let out = |Kept { run, bytes, held }| {
            (run, Out { bytes, held, sent: held, job: None, times: 0, next_ns: 0 })
        };
        Outbox { runs: missing.map(out).collect(), flight: None }
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
            out.bytes = bytes;
            out.job = Some(job.clone());
            out.next_ns = now_ns;
        }
    }

    /// The stream has a part, or not.
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
    pub(super) fn ack(&mut self, ack: &Ack, now_ns: u64, actions: &mut Vec<Action>) {
        for held in &ack.runs {
            let Some(out) = self.runs.get_mut(&held.run) else { continue };
            let bytes = held.bytes.min(out.bytes);
            if bytes <= out.held {
                continue;
            }
            (out.held, out.sent, out.times) = (bytes, out.sent.max(bytes), 0);
            if out.sent == out.bytes {
                out.next_ns = now_ns.saturating_add(AGAIN_NS);
            }
            actions.push(Action::Held { run: held.run.clone(), bytes });
            if out.held == out.bytes {
                self.runs.remove(&held.run);
            }
        }
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
        let bytes = (out.bytes - out.sent).min(PART_BYTES);
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
