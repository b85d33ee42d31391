//! What must hold, told by who sees everything.

use std::collections::BTreeMap;
use v6gap_core::fleet::names::{HostName, LinkName};
use v6gap_core::record::RunId;

/// A measurement that is going on.
struct Session {
    hosts: [HostName; 2],
    links: Vec<LinkName>,
}

/// What is known of everything.
#[derive(Default)]
pub struct Oracle {
    /// By the number of the client's process.
    sessions: BTreeMap<u64, Session>,
    /// Bytes of completed blocks that a host ever had of a run.
    pub measured: BTreeMap<(HostName, RunId), u64>,
    /// What is on the archive's disk.
    pub archived: BTreeMap<(HostName, RunId), u64>,
    /// The first thing that did not hold.
    pub broken: Option<String>,
}

impl Oracle {
    pub fn broken(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    /// G1, G2: a measurement begins; `others` are hosts on which somebody else measures.
    pub fn begin(
        &mut self,
        process: u64,
        hosts: [HostName; 2],
        links: &[LinkName],
        others: &[HostName],
    ) {
        for other in self.sessions.values() {
            if let Some(host) = hosts.iter().find(|host| other.hosts.contains(host)) {
                self.broken.get_or_insert(format!("G1: {host} is in two measurements"));
            }
            if let Some(link) = links.iter().find(|link| other.links.contains(link)) {
                self.broken.get_or_insert(format!("G2: {link} is in two measurements"));
            }
        }
        if let Some(host) = hosts.iter().find(|host| others.contains(host)) {
            self.broken(format!("G1: {host} is measured, and measures something else"));
        }
        self.sessions.insert(process, Session { hosts, links: links.to_vec() });
    }

    pub fn end(&mut self, process: u64) {
        self.sessions.remove(&process);
    }

    /// Whether a host is in a measurement.
    pub fn is_measured(&self, host: &HostName) -> bool {
        self.sessions.values().any(|session| session.hosts.contains(host))
    }

    /// G4: the archive writes bytes that stand at `at` of a journal behind what it has.
    pub fn append(&mut self, of: (HostName, RunId), at: u64, bytes: u64) {
        let has = self.archived.get(&of).copied().unwrap_or(0);
        if at != has {
            let (host, run) = &of;
            self.broken(format!("G4: {run} of {host} goes on with byte {at}, it has {has}"));
        }
        self.archived.insert(of, has + bytes);
    }

    /// G3: a host may remove the first `bytes` of a journal.
    pub fn may_remove(&mut self, of: &(HostName, RunId), bytes: u64) {
        let has = self.archived.get(of).copied().unwrap_or(0);
        if has < bytes {
            let (host, run) = of;
            self.broken(format!("G3: {run} of {host} may go at {bytes} B, the archive has {has}"));
        }
    }

    /// Whether everything that was measured is in the archive.
    pub fn all_archived(&self) -> bool {
        let has = |of| self.archived.get(of).copied().unwrap_or(0);
        self.measured.iter().all(|(of, bytes)| has(of) >= *bytes)
    }
}
