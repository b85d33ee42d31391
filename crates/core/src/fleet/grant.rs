//! What the bucket of grants holds, and how it is changed: in batches of which all or nothing comes
//! true, each message only if its key is still as it was.

use super::id::{Epoch, JobId, Token};
use super::names::{HostName, LinkName};
use super::work::Class;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A key of the bucket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Who leads.
    Leader,
    /// Who has a host.
    Host(HostName),
    /// Who has a link.
    Link(LinkName),
    /// How a job stands.
    Job(JobId),
}

impl Key {
    /// As the broker has it.
    pub fn text(&self) -> String {
        match self {
            Key::Leader => "leader".into(),
            Key::Host(name) => format!("host.{}.{}", name.site(), name.host()),
            Key::Link(name) => format!("link.{name}"),
            Key::Job(id) => format!("job.{id}"),
        }
    }

    /// The key that the broker has so; `None` if it is none of ours.
    pub fn parse(text: &str) -> Option<Key> {
        if text == "leader" {
            return Some(Key::Leader);
        }
        let (kind, rest) = text.split_once('.')?;
        match kind {
            "host" => {
                let (site, host) = rest.split_once('.')?;
                HostName::new(site, host).ok().map(Key::Host)
            }
            "link" => rest.parse().ok().map(Key::Link),
            "job" => rest.parse().ok().map(Key::Job),
            _ => None,
        }
    }
}

/// What a key holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Value {
    /// Of `leader`.
    Leader(Leader),
    /// Of a host or a link.
    Taken {
        /// By that job.
        job: JobId,
        /// In that lead.
        epoch: Epoch,
    },
    /// Of a job.
    Job(JobRecord),
}

/// Who leads. It never expires: another one takes the lead when this was not written for
/// [`LEADER_NS`](super::LEADER_NS) by its own clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leader {
    /// The coordinator, by a name that it made up when it began; empty if it went.
    pub who: String,
    /// Its lead.
    pub epoch: Epoch,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It may be measured. Such a record lives until another one takes its place.
    Granted,
    /// It is not measured any more; whatever it had is free.
    Over,
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// How far it is.
    pub stage: Stage,
    /// The lead that it was granted in.
    pub epoch: Epoch,
    /// How many attempts there were before.
    pub attempt: u32,
    /// The host that measures.
    pub from: HostName,
    /// The host that is measured to.
    pub to: HostName,
    /// Whether an agent runs at the far end.
    pub to_is_agent: bool,
    /// What it takes for itself.
    pub class: Class,
    /// The links that it has.
    pub links: Vec<LinkName>,
    /// Its longest time, in ns.
    pub longest_ns: u64,
    /// The plan's name and its hash.
    pub plan: String,
    /// See [`JobRecord::plan`].
    pub plan_hash: String,
    /// When it was written by the coordinator's wall clock, in ns since the Unix epoch; for people.
    pub unix_ns: u64,
    /// How it came out, in words, once it is over.
    #[serde(default)]
    pub came: Option<String>,
}

/// A key as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// What it holds; `None` if it was removed or has expired and left a mark.
    pub value: Option<Value>,
    /// Sequence number of the last message of its subject, 0 if there is none. That of a job's
    /// grant is the job's token.
    pub revision: u64,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// The key.
    pub key: Key,
    /// What it is to hold.
    pub value: Value,
    /// Sequence number that the last message of its subject must have, 0 for none.
    pub expected: u64,
    /// After how long the broker removes it, in ns; at least 1 s. Tidies up: nothing relies on it.
    pub ttl_ns: Option<u64>,
}

/// Changes of which all come true or none. The first is that of the leader's key, so that nobody
/// who was replaced changes anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The changes, in order, at most [`PUTS_MAX`].
    pub puts: Vec<Put>,
}

/// Most changes of a batch; the broker takes 1,000.
pub const PUTS_MAX: usize = 200;

/// Why a batch did not come true, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCommitted {
    /// The broker refused it: a key is not as expected. Whoever reads the broker's answer looks for
    /// its error first: a refusal has a sequence number as well.
    Refused,
    /// Nobody knows: no answer came, or one that says nothing. It may still come true.
    Unknown,
}

/// What came of a batch: the sequence number of its last message, which stands `n - 1` above that
/// of the first of `n`.
pub type Committed = Result<u64, NotCommitted>;

impl Batch {
    /// The sequence number of the change at `at`, once the last one has `last`.
    pub fn revision(&self, at: usize, last: u64) -> u64 {
        last.saturating_sub((self.puts.len().saturating_sub(at + 1)) as u64)
    }

    /// How many jobs it grants.
    pub fn grants(&self) -> usize {
        let is_grant = |put: &&Put| match &put.value {
            Value::Job(record) => record.stage == Stage::Granted,
            Value::Leader(_) | Value::Taken { .. } => false,
        };
        self.puts.iter().filter(is_grant).count()
    }
}

impl JobRecord {
    /// The token of its grant, which stands in the bucket at `revision`.
    pub fn token(&self, revision: u64) -> Option<Token> {
        match self.stage {
            Stage::Granted => Some(Token(revision)),
            Stage::Over => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let host = HostName::new("rome", "lab-a").unwrap();
        let link = "rome-uplink".parse().unwrap();
        let keys = [Key::Leader, Key::Host(host), Key::Link(link), Key::Job(JobId::from_bits(3))];
        for key in keys {
            assert_eq!(Key::parse(&key.text()), Some(key));
        }
        for text in ["", "leader.x", "host.rome", "host.rome.a.b", "link.", "job.1", "other.x"] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
    }

    #[test]
    fn changes_of_a_batch_have_numbers_in_order() {
        let value = Value::Leader(Leader { who: "a".into(), epoch: Epoch(1) });
        let put = Put { key: Key::Leader, value, expected: 0, ttl_ns: None };
        let batch = Batch { puts: [put.clone(), put.clone(), put].into() };
        assert_eq!([0, 1, 2].map(|at| batch.revision(at, 9)), [7, 8, 9]);
    }
}
