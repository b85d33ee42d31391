//! The bucket of grants: batches that come true whole or not at all, and keys that expire, also too
//! early.

use std::collections::BTreeMap;
use v6gap_core::fleet::grant::{Batch, Committed, Entry, Key, NotCommitted, Stage, Value};
use v6gap_core::fleet::id::{Epoch, JobId};
use v6gap_core::fleet::names::HostName;

struct Stored {
    value: Option<Value>,
    revision: u64,
    expires_ns: u64,
}

/// A grant that was made, for the oracle.
pub struct Granted {
    pub job: JobId,
    pub hosts: [HostName; 2],
    pub at_ns: u64,
}

pub struct Broker {
    sequence: u64,
    keys: BTreeMap<Key, Stored>,
    /// Whether an expired key leaves a mark, with a number of its own.
    marks: bool,
    /// All grants, by their tokens.
    pub granted: BTreeMap<u64, Granted>,
    /// The highest lead that was written of.
    epoch: Epoch,
}

impl Broker {
    pub fn new(marks: bool) -> Broker {
        let (keys, granted) = (BTreeMap::new(), BTreeMap::new());
        Broker { sequence: 0, keys, marks, granted, epoch: Epoch(0) }
    }

    /// Takes a batch. With `compares` unset it takes every one.
    ///
    /// # Errors
    /// In the second place: what is broken by that.
    pub fn commit(
        &mut self,
        batch: &Batch,
        now_ns: u64,
        compares: bool,
    ) -> (Committed, Result<(), String>) {
        self.expire(now_ns);
        let stands = |key: &Key| self.keys.get(key).map_or(0, |stored| stored.revision);
        if compares && batch.puts.iter().any(|put| stands(&put.key) != put.expected) {
            return (Err(NotCommitted::Refused), Ok(()));
        }
        let mut found = Ok(());
        for put in &batch.puts {
            self.sequence += 1;
            match &put.value {
                Value::Leader(leader) if leader.epoch < self.epoch => {
                    let (old, new) = (leader.epoch.0, self.epoch.0);
                    found = Err(format!("G5: lead {old} wrote after lead {new} began"));
                }
                Value::Leader(leader) => self.epoch = leader.epoch,
                Value::Job(record) if record.stage == Stage::Granted => {
                    let Key::Job(job) = &put.key else { panic!("{put:?}") };
                    let hosts = [record.from.clone(), record.to.clone()];
                    let granted = Granted { job: job.clone(), hosts, at_ns: now_ns };
                    self.granted.insert(self.sequence, granted);
                }
                Value::Job(_) | Value::Taken { .. } => {}
            }
            let expires_ns = put.ttl_ns.map_or(u64::MAX, |ttl| now_ns.saturating_add(ttl));
            let (value, revision) = (Some(put.value.clone()), self.sequence);
            self.keys.insert(put.key.clone(), Stored { value, revision, expires_ns });
        }
        (Ok(self.sequence), found)
    }

    pub fn leader(&mut self, now_ns: u64) -> Entry {
        self.expire(now_ns);
        let (value, revision) = self
            .keys
            .get(&Key::Leader)
            .map_or((None, 0), |stored| (stored.value.clone(), stored.revision));
        Entry { key: Key::Leader, value, revision }
    }

    pub fn list(&mut self, now_ns: u64) -> Vec<Entry> {
        self.expire(now_ns);
        let entry = |(key, stored): (&Key, &Stored)| Entry {
            key: key.clone(),
            value: stored.value.clone(),
            revision: stored.revision,
        };
        self.keys.iter().map(entry).collect()
    }

    /// Everything that may expire does so now.
    pub fn expire_all(&mut self) {
        self.expire(u64::MAX - 1);
    }

    fn expire(&mut self, now_ns: u64) {
        let due = |(_, stored): &(&Key, &Stored)| stored.expires_ns <= now_ns;
        if !self.keys.iter().any(|pair| due(&pair)) {
            return;
        }
        let keys: Vec<Key> = self.keys.iter().filter(due).map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.keys.remove(&key);
            if self.marks {
                self.sequence += 1;
                let (value, revision) = (None, self.sequence);
                self.keys.insert(key, Stored { value, revision, expires_ns: u64::MAX });
            }
        }
    }
}
