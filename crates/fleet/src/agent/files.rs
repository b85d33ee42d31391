//! What an agent has on its disk beside its runs: a log of what it knows and of what the archive
//! has, and what the owner of the host allows.

use crate::error::FleetError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use v6gap_core::fleet::agent::limits::Limits;
use v6gap_core::fleet::agent::{Kept, Known};
use v6gap_core::record::RunId;
use v6gap_store::{KeptLines, PlanFileError, Store, read_limits};
use v6gap_sys::disk;

/// The log, in the folder of the program's data.
const LOG: &str = "fleet/outbox.jsonl";

/// A line of the log. The last one of each kind and run counts.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// What must be known again.
    Known(Known),
    /// A run that was measured for the fleet.
    Run(RunId),
    /// How much of a run the archive has.
    Held { run: RunId, bytes: u64 },
}

/// The files of an agent. While they are open no other agent has them.
#[derive(Debug)]
pub struct Files {
    store: Store,
    log: Arc<Mutex<KeptLines>>,
    known: Known,
    held: BTreeMap<RunId, u64>,
}

/// Writes down which runs are the fleet's, from whatever measures.
#[derive(Debug, Clone)]
pub struct Runs(Arc<Mutex<KeptLines>>);

impl Files {
    /// Those beside the runs of `store`.
    ///
    /// # Errors
    /// If another agent has them, or they cannot be read.
    pub fn open(store: &Store) -> Result<Self, FleetError> {
        let mut known = Known::default();
        let mut held = BTreeMap::new();
        let mut take = |line: &str| match serde_json::from_str(line) {
            Ok(Line::Known(found)) => known = found,
            Ok(Line::Run(run)) => {
                held.entry(run).or_insert(0);
            }
            Ok(Line::Held { run, bytes }) => {
                held.insert(run, bytes);
            }
            // Of a later program, which knows more than this one.
            Err(_) => {}
        };
        let log = KeptLines::open(&store.data().join(LOG), &mut take)?;
        Ok(Files { store: store.clone(), log: Arc::new(Mutex::new(log)), known, held })
    }

    /// What the agent knew.
    pub fn known(&self) -> Known {
        self.known
    }

    /// Runs of the fleet that are on the disk.
    ///
    /// # Errors
    /// If a journal cannot be read.
    pub fn kept(&self) -> Result<Vec<Kept>, FleetError> {
        let there = self.held.iter().filter(|(run, _)| self.store.has(run));
        let kept = |(run, held): (&RunId, &u64)| -> Result<Kept, FleetError> {
            // Years of runs need not be read: the archive has most of them to their end.
            let bytes = match self.store.grown_bytes(run)? > *held {
                true => Store::whole_bytes(&self.store.journal_path(run))?,
                false => *held,
            };
            Ok(Kept { run: run.clone(), bytes, held: *held })
        };
        there.map(kept).collect()
    }

    /// Has `known` on the disk.
    ///
    /// # Errors
    /// If it is full or gone.
    pub fn remember(&mut self, known: Known) -> Result<(), FleetError> {
        self.known = known;
        write(&self.log, &Line::Known(known))
    }

    /// Has on the disk that the archive holds so much of a run.
    ///
    /// # Errors
    /// If the disk is full or gone.
    pub fn held(&mut self, run: &RunId, bytes: u64) -> Result<(), FleetError> {
        self.held.insert(run.clone(), bytes);
        write(&self.log, &Line::Held { run: run.clone(), bytes })
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
        write(&self.0, &Line::Run(run.clone()))
    }
}

fn write(log: &Mutex<KeptLines>, line: &Line) -> Result<(), FleetError> {
    let text = serde_json::to_string(line).map_err(|e| FleetError::refused("a line", e))?;
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(log.append(&text)?)
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
        assert_eq!(files.held, BTreeMap::from([(run, 12)]));
        // Its journal is not there any more, so there is nothing to send.
        assert_eq!(files.kept().unwrap(), []);
        store.clear().unwrap();
    }
}
