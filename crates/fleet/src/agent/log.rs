//! The log of an agent: what it must know again when it begins anew, which runs are the fleet's,
//! and how much of each the archive has. What counts is written anew now and then, so that the file
//! grows with the runs that are here and not with the time.

use crate::error::FleetError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use v6gap_core::fleet::agent::Known;
use v6gap_core::record::RunId;
use v6gap_store::{KeptLines, Store};

/// The file, in the folder of the program's data.
const LOG: &str = "fleet/outbox.jsonl";

/// Lines that may stand there beyond twice as many as count.
const LINES_SPARE: usize = 200;

/// A line of the log. The last one of each kind and run counts.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// What must be known again.
    Known(Known),
    /// A run that was measured for the fleet.
    Run(RunId),
    /// How much of a run the archive has, and since when, in ns since the Unix epoch.
    Held {
        run: RunId,
        bytes: u64,
        #[serde(default)]
        unix_ns: u64,
    },
}

/// How much of a run the archive has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Held {
    pub bytes: u64,
    /// When it was said, in ns since the Unix epoch.
    pub unix_ns: u64,
}

/// The log, which no other agent has as long as it is open.
#[derive(Debug)]
pub(super) struct Log {
    lines: KeptLines,
    known: Known,
    runs: BTreeMap<RunId, Held>,
    /// Lines in the file, and how many there may be.
    count: usize,
    most: usize,
}

impl Log {
    /// That of the agent whose runs are in `store`.
    pub(super) fn open(store: &Store) -> Result<Self, FleetError> {
        let mut known = Known::default();
        let mut runs: BTreeMap<RunId, Held> = BTreeMap::new();
        let mut count = 0;
        let mut take = |line: &str| {
            count += 1;
            match serde_json::from_str(line) {
                Ok(Line::Known(found)) => known = found,
                Ok(Line::Run(run)) => {
                    runs.entry(run).or_default();
                }
                Ok(Line::Held { run, bytes, unix_ns }) => {
                    runs.insert(run, Held { bytes, unix_ns });
                }
                // Of a later program, which knows more than this one.
                Err(_) => {}
            }
        };
        let lines = KeptLines::open(&store.data().join(LOG), &mut take)?;
        // What is not here any more cannot be sent, and nothing is under way yet.
        runs.retain(|run, _| store.has(run));
        let most = most(runs.len());
        let mut log = Log { lines, known, runs, count, most };
        log.compact();
        Ok(log)
    }

    pub(super) fn known(&self) -> Known {
        self.known
    }

    pub(super) fn runs(&self) -> &BTreeMap<RunId, Held> {
        &self.runs
    }

    pub(super) fn remember(&mut self, known: Known) -> Result<(), FleetError> {
        self.known = known;
        self.write(&Line::Known(known))
    }

    /// A run is the fleet's.
    pub(super) fn add(&mut self, run: &RunId) -> Result<(), FleetError> {
        self.runs.entry(run.clone()).or_default();
        self.write(&Line::Run(run.clone()))
    }

    /// The archive has so much of a run.
    pub(super) fn held(&mut self, run: &RunId, held: Held) -> Result<(), FleetError> {
        self.runs.insert(run.clone(), held);
        let Held { bytes, unix_ns } = held;
        self.write(&Line::Held { run: run.clone(), bytes, unix_ns })
    }

    /// A run is not here any more.
    pub(super) fn forget(&mut self, run: &RunId) {
        self.runs.remove(run);
    }

    fn write(&mut self, line: &Line) -> Result<(), FleetError> {
        self.lines.append(&text(line)?)?;
        self.count += 1;
        self.compact();
        Ok(())
    }

    /// Has what counts alone in the file, once that is worth it.
    fn compact(&mut self) {
        if self.count <= self.most {
            return;
        }
        let of_run = |(run, held): (&RunId, &Held)| match *held {
            Held { bytes: 0, .. } => Line::Run(run.clone()),
            Held { bytes, unix_ns } => Line::Held { run: run.clone(), bytes, unix_ns },
        };
        let all = std::iter::once(Line::Known(self.known)).chain(self.runs.iter().map(of_run));
        let texts: Result<Vec<String>, FleetError> = all.map(|line| text(&line)).collect();
        let written = texts.and_then(|texts| Ok(self.lines.replace(&texts)?));
        match written {
            Ok(()) => {
                self.count = 1 + self.runs.len();
                self.most = most(self.runs.len());
            }
            // Everything is still there, and it is tried again after as many lines more.
            Err(_) => self.most = self.count + LINES_SPARE,
        }
    }
}

/// How many lines are not too many for so many runs.
fn most(runs: usize) -> usize {
    2 * runs + LINES_SPARE
}

fn text(line: &Line) -> Result<String, FleetError> {
    serde_json::to_string(line).map_err(|error| FleetError::refused("a line", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::fleet::id::Token;

    fn lines(store: &Store) -> usize {
        Store::read_list(&store.data().join(LOG)).unwrap().lines().count()
    }

    /// However long an agent goes on, what it knew last is there, and little else.
    #[test]
    fn the_log_does_not_grow_with_the_time() {
        let folder = std::env::temp_dir().join(format!("v6gap-log-{}", std::process::id()));
        let store = Store::at(&folder);
        let run = RunId::from_bits(5);
        let mut log = Log::open(&store).unwrap();
        log.add(&run).unwrap();
        let at = |number: u64| Known { highest: Token(number), ..Known::default() };
        for number in 1..=LINES_SPARE as u64 {
            log.remember(at(number)).unwrap();
        }
        // Nothing but what counts: what must be known, and the run.
        assert_eq!((lines(&store), log.known()), (2, at(LINES_SPARE as u64)));
        // What comes after is behind it.
        let held = Held { bytes: 7, unix_ns: 3 };
        log.held(&run, held).unwrap();
        assert_eq!(lines(&store), 3);
        assert!(Log::open(&store).is_err(), "two agents have it");
        drop(log);
        let log = Log::open(&store).unwrap();
        assert_eq!(log.known(), at(LINES_SPARE as u64));
        // Its journal is not there, so that there is nothing to send.
        assert!(log.runs().is_empty());
        drop(log);
        store.clear().unwrap();
    }
}
