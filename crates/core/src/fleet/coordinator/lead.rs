//! Who leads: taking the lead, keeping it, and standing by.

use super::{Action, Coordinator, Flight, Out};
use crate::fleet::grant::{Batch, Entry, JobRecord, Key, Leader, Put, Value};
use crate::fleet::id::{Epoch, JobId};
use crate::fleet::work::{Outcome, Work};
use crate::fleet::{COMMIT_NS, LEADER_NS, REQUEST_NS, SECOND_NS};
use alloc::string::String;
use alloc::vec::Vec;

/// How often one that stands by looks, in ns.
const LOOK_NS: u64 = SECOND_NS / 2;

/// After how long without another batch the leader's key is written, in ns.
const RENEW_NS: u64 = LEADER_NS / 4;

// One that was lost costs nobody the lead: what there is is read, in a second or two, and it is
// written again.
const _: () = assert!(RENEW_NS + COMMIT_NS + 2 * SECOND_NS < LEADER_NS);

/// How long after a broker that did not answer it is asked again, in ns.
const RETRY_NS: u64 = SECOND_NS;

/// How long an answer is waited for that must come within [`COMMIT_NS`], in ns.
const COMMITTED_NS: u64 = 2 * COMMIT_NS;

/// How long an answer is waited for that must come within [`REQUEST_NS`], in ns.
const LISTED_NS: u64 = 2 * REQUEST_NS;

/// How often the timetable is asked if nothing happens, in ns.
const ASK_NS: u64 = SECOND_NS;

/// Where a coordinator stands.
#[derive(Debug)]
pub(super) enum Lead {
    /// Another one leads, or nobody.
    Standby {
        /// The leader's key as it was seen last, and since when it has been so, in ns.
        seen: Option<(u64, u64)>,
        /// When to look again, in ns.
        look_ns: u64,
    },
    /// It writes its name, and waits for what comes of that.
    Taking,
    /// It has the lead, and must read what there is before it changes anything.
    Learning {
        /// The question whose answer is waited for; 0 is none.
        number: u64,
        /// When to ask again, in ns.
        ask_ns: u64,
        /// Whether it is still to be told that it leads.
        first: bool,
        /// Since when the broker may have said nothing, in ns.
        since_ns: u64,
    },
    /// It leads.
    Leading,
}

impl Lead {
    pub(super) fn standby() -> Lead {
        Lead::Standby { seen: None, look_ns: 0 }
    }
}

impl Coordinator {
    /// When it wants to be told the time next, in ns.
    pub fn wake_ns(&self) -> u64 {
        let flight = self.flight.as_ref().map(|f| f.asked_ns.saturating_add(COMMITTED_NS));
        let lead = match &self.lead {
            Lead::Standby { .. } if self.retired => u64::MAX,
            Lead::Standby { look_ns, .. } => *look_ns,
            Lead::Taking => u64::MAX,
            Lead::Learning { ask_ns, .. } => *ask_ns,
            Lead::Leading if self.flight.is_some() => u64::MAX,
            Lead::Leading => self.ask_ns.min(self.renewed_ns.saturating_add(RENEW_NS)),
        };
        let leads = self.leads();
        let jobs = self.jobs.values().map(|job| if leads { job.wake_ns() } else { job.late_ns() });
        jobs.chain(flight).fold(lead, u64::min)
    }

    /// The leader's key is so.
    pub(super) fn looked(&mut self, entry: Option<Entry>, out: &mut Out<'_>) {
        let now_ns = out.now.ns;
        let Lead::Standby { seen, .. } = &mut self.lead else { return };
        let Some(entry) = entry.filter(|_| !self.retired) else {
            // A broker that does not answer here may not take the leader's word either: its silence
            // begins when this one would hear it.
            *seen = None;
            return;
        };
        if seen.is_none_or(|(revision, _)| revision != entry.revision) {
            *seen = Some((entry.revision, now_ns));
        }
        let leader = match &entry.value {
            Some(Value::Leader(leader)) => Some(leader),
            Some(Value::Taken { .. } | Value::Job(_)) | None => None,
        };
        let gone = leader.is_none_or(|leader| leader.who.is_empty() || leader.who == self.who);
        let silent = seen.is_some_and(|(_, since)| now_ns.saturating_sub(since) >= LEADER_NS);
        if gone || silent {
            let before = leader.map_or(entry.revision, |leader| leader.epoch.0);
            self.epoch = Epoch(before.saturating_add(1));
            self.revisions = [(Key::Leader, entry.revision)].into();
            self.lead = Lead::Taking;
            let lead = self.leader_put(self.who.clone());
            self.commit([lead].into(), Vec::new(), Vec::new(), out);
        }
    }

    /// That the leader's key has this name from now on.
    pub(super) fn leader_put(&self, who: String) -> Put {
        let value = Value::Leader(Leader { who, epoch: self.epoch });
        let expected = self.revisions.get(&Key::Leader).copied().unwrap_or(0);
        Put { key: Key::Leader, value, expected, ttl_ns: None }
    }

    /// Has the broker take a batch.
    pub(super) fn commit(
        &mut self,
        puts: Vec<Put>,
        grants: Vec<(usize, JobId, Work)>,
        over: Vec<(JobId, JobRecord)>,
        out: &mut Out<'_>,
    ) {
        let (number, batch, asked_ns) = (self.next_number(), Batch { puts }, out.now.ns);
        out.actions.push(Action::Commit { number, batch: batch.clone() });
        self.flight = Some(Flight { number, batch, grants, over, asked_ns });
    }

    /// Asks for whatever is due.
    pub(super) fn ask(&mut self, out: &mut Out<'_>) {
        let now_ns = out.now.ns;
        if let Some(flight) = &self.flight {
            if now_ns >= flight.asked_ns.saturating_add(COMMITTED_NS) {
                self.not_committed(out);
            } else {
                return;
            }
        }
        match self.lead {
            Lead::Standby { look_ns, .. } if now_ns >= look_ns && !self.retired => self.look(out),
            Lead::Learning { ask_ns, .. } if now_ns >= ask_ns => self.list(out),
            Lead::Standby { .. } | Lead::Taking | Lead::Learning { .. } => {}
            Lead::Leading if self.retired => {
                let gone = self.leader_put(String::new());
                self.commit([gone].into(), Vec::new(), Vec::new(), out);
                // Whatever comes of it: the next one holds what runs.
                self.step_down(out);
            }
            Lead::Leading => {
                self.ask_ns = now_ns.saturating_add(ASK_NS);
                let renew = now_ns >= self.renewed_ns.saturating_add(RENEW_NS);
                self.grant(renew, out);
            }
        }
    }

    fn look(&mut self, out: &mut Out<'_>) {
        if let Lead::Standby { look_ns, .. } = &mut self.lead {
            *look_ns = out.now.ns.saturating_add(LOOK_NS);
            out.actions.push(Action::Look);
        }
    }

    /// Reads what there is.
    fn list(&mut self, out: &mut Out<'_>) {
        let asked = self.next_number();
        if let Lead::Learning { number, ask_ns, .. } = &mut self.lead {
            *number = asked;
            *ask_ns = out.now.ns.saturating_add(LISTED_NS);
            out.actions.push(Action::List { number: asked });
        }
    }

    /// The broker did not answer: it is asked again in a while. After a time it leads no more for
    /// whoever looks, as another one may.
    pub(super) fn list_later(&mut self, out: &mut Out<'_>) {
        let now_ns = out.now.ns;
        if let Lead::Learning { number, ask_ns, first, since_ns } = &mut self.lead {
            *number = 0;
            *ask_ns = now_ns.saturating_add(RETRY_NS);
            if !*first && now_ns.saturating_sub(*since_ns) >= LEADER_NS {
                *first = true;
                out.actions.push(Action::Leads(false));
            }
        }
    }

    /// It leads no more. Whoever does holds what may still run.
    pub(super) fn step_down(&mut self, out: &mut Out<'_>) {
        self.lead = Lead::standby();
        self.by_token.clear();
        self.busy_hosts.clear();
        self.busy_links.clear();
        self.revisions.clear();
        self.over.clear();
        for (id, job) in core::mem::take(&mut self.jobs) {
            if let Some(work) = job.work {
                out.came(&id, work, Outcome::Lost { began: job.started });
            }
        }
        for (id, work, _) in core::mem::take(&mut self.unknown) {
            out.came(&id, work, Outcome::Lost { began: false });
        }
        out.actions.push(Action::Leads(false));
    }
}
