//! Reading what there is: after taking the lead, and after a batch of which nobody knows.

use super::lead::Lead;
use super::{Action, Coordinator, Out};
use crate::fleet::grant::{Entry, JobRecord, Key, Leader, Stage, Value};
use crate::fleet::id::JobId;
use crate::fleet::work::Outcome;
use alloc::vec::Vec;
use core::mem::take;

impl Coordinator {
    /// This is what there is.
    pub(super) fn listed(&mut self, of: u64, entries: Option<Vec<Entry>>, out: &mut Out<'_>) {
        let Lead::Learning { number, first, .. } = self.lead else { return };
        // An answer to an earlier question may lack what was written since.
        if number != of || of == 0 {
            return;
        }
        let Some(entries) = entries else { return self.list_later(out) };
        if !self.is_mine(&entries) {
            return self.step_down(out);
        }
        self.revisions.clear();
        for Entry { key, value, revision } in entries {
            if let (Key::Job(id), Some(Value::Job(record))) = (&key, value) {
                if record.stage == Stage::Over {
                    continue;
                }
                self.recall(id, record, revision, out);
            }
            self.revisions.insert(key, revision);
        }
        // Those are written already, as it turns out.
        let there = &self.revisions;
        self.over.retain(|id, _| there.contains_key(&Key::Job(id.clone())));
        // What is not in there did not come true, and if it ever does, the leader's key is another
        // one than the next batch expects.
        for (id, work, _) in take(&mut self.unknown) {
            out.came(&id, work, Outcome::Lost { began: false });
        }
        self.lead = Lead::Leading;
        self.renewed_ns = 0;
        if first {
            out.actions.push(Action::Leads(true));
        }
    }

    /// Whether the leader's key is still as this one wrote it.
    fn is_mine(&self, entries: &[Entry]) -> bool {
        let mine = Value::Leader(Leader { who: self.who.clone(), epoch: self.epoch });
        entries.iter().any(|entry| entry.key == Key::Leader && entry.value.as_ref() == Some(&mine))
    }

    /// There is such a record.
    fn recall(&mut self, id: &JobId, record: JobRecord, revision: u64, out: &mut Out<'_>) {
        let Some(token) = record.token(revision) else { return };
        // One that was freed here, and of which that is not written yet, is over.
        if self.jobs.contains_key(id) || self.over.contains_key(id) {
            return;
        }
        match self.unknown.iter().position(|(unknown, ..)| unknown == id) {
            Some(at) => {
                let (id, work, asked_ns) = self.unknown.swap_remove(at);
                self.granted(&id, token, work, asked_ns, out);
            }
            None => self.held(id, token, record, out),
        }
    }
}
