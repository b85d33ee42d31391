//! What an agent has on its disk: its runs, the log of what it knows and of what the archive has,
//! and what the owner of the host allows.

use super::log::{Held, Log};
use crate::error::FleetError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use v6gap_core::fleet::agent::limits::Limits;
use v6gap_core::fleet::agent::{Kept, Known};
use v6gap_core::record::RunId;
use v6gap_store::{PlanFileError, Store, read_limits};
use v6gap_sys::{clock, disk};

/// The files of an agent. While they are open no other agent has them.
#[derive(Debug)]
pub struct Files {
    store: Store,
    log: Arc<Mutex<Log>>,
}

/// Writes down which runs are the fleet's, from whatever measures.
#[derive(Debug, Clone)]
pub struct Runs(Arc<Mutex<Log>>);

impl Files {
    /// Those beside the runs of `store`.
    ///
    /// # Errors
    /// If another agent has them, or they cannot be read.
    pub fn open(store: &Store) -> Result<Self, FleetError> {
        let log = Log::open(store)?;
        Ok(Files { store: store.clone(), log: Arc::new(Mutex::new(log)) })
    }

    /// What the agent knew.
    pub fn known(&self) -> Known {
        locked(&self.log).known()
    }

    /// Runs of the fleet that are on the disk.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn kept(&self) -> Result<Vec<Kept>, FleetError> {
        let log = locked(&self.log);
        let there = log.runs().iter().filter(|(run, _)| self.store.has(run));
        let kept = |(run, held): (&RunId, &Held)| -> Result<Kept, FleetError> {
            // Years of runs need not be read: the archive has most of them to their end.
            let bytes = match self.store.grown_bytes(run)? > held.bytes {
                true => Store::whole_bytes(&self.store.journal_path(run))?,
                false => held.bytes,
            };
            let (run, since_unix_ns) = (run.clone(), held.unix_ns);
            Ok(Kept { run, bytes, held: held.bytes, since_unix_ns })
        };
        there.map(kept).collect()
    }

    /// Has `known` on the disk.
    ///
    /// # Errors
    /// If it is full or gone.
    pub fn remember(&mut self, known: Known) -> Result<(), FleetError> {
        locked(&self.log).remember(known)
    }

    /// Has on the disk that the archive holds so much of a run.
    ///
    /// # Errors
    /// If the disk is full or gone.
    pub fn held(&mut self, run: &RunId, bytes: u64) -> Result<(), FleetError> {
        locked(&self.log).held(run, Held { bytes, unix_ns: clock::wall_ns() })
    }

    /// Removes a run, and whether it is not here any more: one of which the archive lacks a byte,
    /// as when somebody went on with it by hand, or which is open, stays.
    pub fn remove(&mut self, run: &RunId) -> bool {
        let journal = self.journal(run);
        if Store::exists(&journal) {
            let held = locked(&self.log).runs().get(run).copied().unwrap_or_default();
            let all = Store::whole_bytes(&journal).is_ok_and(|bytes| bytes <= held.bytes);
            if !all || self.store.remove(run).is_err() {
                return false;
            }
        }
        locked(&self.log).forget(run);
        true
    }

    /// Where the journal of a run is.
    pub fn journal(&self, run: &RunId) -> PathBuf {
        self.store.journal_path(run)
    }

    /// Bytes that may still be written here; none if the system does not tell.
    pub fn free_bytes(&self) -> u64 {
        disk::free_bytes(self.store.data()).unwrap_or(0)
    }

    /// What the file at `path` allows; everything if there is no such file to be looked at.
    ///
    /// # Errors
    /// In words, if it cannot be read: then nothing is allowed.
    pub fn limits(&self, path: Option<&Path>) -> Result<Box<Limits>, String> {
        let Some(path) = path else { return Ok(Box::default()) };
        read_limits(path).map(Box::new).map_err(|error| match error {
            PlanFileError::Store(error) => error.to_string(),
            PlanFileError::Wrong { path, problems, .. } => {
                let first =
                    problems.first().map(|first| format!(", line {}: {}", first.line, first.what));
                format!("{path}{}", first.unwrap_or_default())
            }
        })
    }

    /// For whatever measures.
    pub fn runs(&self) -> Runs {
        Runs(Arc::clone(&self.log))
    }
}

impl Runs {
    /// Has on the disk that this run is the fleet's, before it measures anything.
    ///
    /// # Errors
    /// If the disk is full or gone.
    pub fn add(&self, run: &RunId) -> Result<(), FleetError> {
        locked(&self.0).add(run)
    }
}

fn locked(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::fleet::id::Token;

    /// What was written is known again by the next agent, and no two have the files at once.
    #[test]
    fn an_agent_that_begins_anew_knows_what_the_last_one_knew() {
        let folder = std::env::temp_dir().join(format!("v6gap-files-{}", std::process::id()));
        let store = Store::at(&folder);
        let run = RunId::from_bits(5);
        let mut files = Files::open(&store).unwrap();
        assert_eq!(files.known(), Known::default());
        files.remember(Known { highest: Token(7), day: 1, bytes: 2 }).unwrap();
        files.runs().add(&run).unwrap();
        files.held(&run, 12).unwrap();
        assert!(Files::open(&store).is_err());
        drop(files);
        let files = Files::open(&store).unwrap();
        assert_eq!(files.known(), Known { highest: Token(7), day: 1, bytes: 2 });
        // Its journal is not there any more, so there is nothing to send.
        assert_eq!(files.kept().unwrap(), []);
        store.clear().unwrap();
    }

    /// What the archive has to the last byte may go, and nothing else.
    #[test]
    fn a_run_of_which_the_archive_lacks_a_byte_stays() {
        let folder = std::env::temp_dir().join(format!("v6gap-keep-{}", std::process::id()));
        let store = Store::at(&folder);
        let run = RunId::from_bits(5);
        let mut files = Files::open(&store).unwrap();
        let line = "{\"v6gap\":1}\n";
        store.grow(&run, 0, line.as_bytes()).unwrap();
        files.runs().add(&run).unwrap();
        let bytes = line.len() as u64;
        for held in [0, bytes - 1] {
            files.held(&run, held).unwrap();
            assert!(!files.remove(&run) && Store::exists(&files.journal(&run)), "{held}");
        }
        files.held(&run, bytes).unwrap();
        assert!(files.remove(&run) && !Store::exists(&files.journal(&run)));
        // It is gone, which is what was wanted.
        assert!(files.remove(&run));
        store.clear().unwrap();
    }
}
