//! What came of a batch.

use super::lead::Lead;
use super::{Coordinator, Flight, Out};
use crate::fleet::grant::{Committed, Key};
use crate::fleet::id::Token;

impl Coordinator {
    /// The broker answered.
    pub(super) fn committed(&mut self, number: u64, came: Committed, out: &mut Out<'_>) {
        if self.flight.as_ref().is_none_or(|flight| flight.number != number) {
            return;
        }
        match came {
            Ok(last) => self.came_true(last, out),
            // Refused or not known: what the broker has is not what was expected, or may not be.
            Err(_) => self.not_committed(out),
        }
    }

    fn came_true(&mut self, last: u64, out: &mut Out<'_>) {
        let Some(Flight { batch, grants, asked_ns, .. }) = self.flight.take() else { return };
        match self.lead {
            Lead::Taking => {
                let since_ns = asked_ns;
                self.lead = Lead::Learning { number: 0, ask_ns: 0, first: true, since_ns };
            }
            Lead::Leading => {}
            // It went while the batch was on its way.
            Lead::Standby { .. } | Lead::Learning { .. } => return,
        }
        for (at, put) in batch.puts.iter().enumerate() {
            self.revisions.insert(put.key.clone(), batch.revision(at, last));
        }
        self.renewed_ns = asked_ns;
        for (at, id, work) in grants {
            self.granted(&id, Token(batch.revision(at, last)), work, asked_ns, out);
        }
        // Records of which it is written that they are over are compared no more.
        let (jobs, over) = (&self.jobs, &self.over);
        self.revisions.retain(|key, _| match key {
            Key::Job(id) => jobs.contains_key(id) || over.contains_key(id),
            Key::Leader | Key::Host(_) | Key::Link(_) => true,
        });
    }

    /// The batch came true or not: what there is must be read again.
    pub(super) fn not_committed(&mut self, out: &mut Out<'_>) {
        let Some(Flight { grants, over, asked_ns, .. }) = self.flight.take() else { return };
        match self.lead {
            Lead::Taking => {
                self.lead = Lead::Standby { seen: None, look_ns: out.now.ns };
            }
            Lead::Leading => {
                let unknown = grants.into_iter().map(|(_, id, work)| (id, work, asked_ns));
                self.unknown.extend(unknown);
                self.over.extend(over);
                let since_ns = asked_ns;
                self.lead = Lead::Learning { number: 0, ask_ns: 0, first: false, since_ns };
            }
            Lead::Standby { .. } | Lead::Learning { .. } => {}
        }
    }
}
