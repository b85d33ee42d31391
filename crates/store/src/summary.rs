//! The summary of a run: one line of JSON in its folder, and the same line in the index of all
//! runs.
//!
//! What a list says of a run stands first and is known here. What the run was judged to say stands
//! behind it and is text that whoever judges hands in: the store neither makes nor reads it, so
//! that nothing that is stored can depend on what it is taken for. A line has a sum of its bytes,
//! so that one that a crash tore is known by itself.

use crate::{Entry, Note};
use serde::{Deserialize, Serialize};
use v6gap_core::record::{Ending, RunId};
use v6gap_core::world::World;

/// How a line begins; a line of another form is none, and is made again from its run.
const BEGIN: &str = "{\"v\":1,\"sum\":\"";

/// Digits of the sum, which follow.
const SUM_DIGITS: usize = 16;

/// What stands before what a list says.
const RUN: &str = "\",\"run\":";

/// What stands before what whoever judges said. No text in JSON holds it: a quotation mark inside
/// a string has a backslash in front.
const JUDGED: &str = ",\"judged\":";

/// What a list says of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Identifier of the run.
    pub id: RunId,
    /// Start, in ns since the Unix epoch.
    pub started_unix_ns: u64,
    /// What the far end was called.
    pub target: String,
    /// Name of the plan.
    pub plan: String,
    /// The names of both hosts in their fleet, the client's first; none outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[String; 2]>,
    /// Fingerprint of the lab's world ([`fingerprint`]); none on a real path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// How the last session ended; none if it broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Length of the journal that this was made from, in bytes.
    pub journal_bytes: u64,
    /// What a person wrote on the run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The same at length.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// A word that runs of one set-up share and no others, by whoever judges; none if it was not
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_up: Option<String>,
}

/// How a session of measuring ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The stopping rule was met.
    Complete,
    /// A person stopped it.
    Stopped,
    /// Something failed.
    Failed,
}

/// What whoever judges says of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// A word that runs of one set-up share and no others.
    pub set_up: Option<String>,
    /// What the run says: JSON in one line; nothing if it cannot be judged.
    pub text: Option<String>,
}

impl Head {
    /// What a list says of a run that was looked at.
    pub(crate) fn of(entry: &Entry, note: Note) -> Self {
        let header = &entry.header;
        Head {
            id: header.id.clone(),
            started_unix_ns: header.started_unix_ns,
            target: header.target.clone(),
            plan: header.plan.name.clone(),
            between: header.between.clone(),
            world: header.plan.world.as_ref().map(fingerprint),
            ended: entry.ending.as_ref().map(Ended::of),
            journal_bytes: entry.bytes,
            title: note.title,
            note: note.note,
            set_up: None,
        }
    }

    /// The line of a run with what whoever judges says of it, as JSON; with its newline.
    pub fn line(&self, judged: Option<&str>) -> String {
        // Plain data with string keys always becomes JSON.
        let head = serde_json::to_string(self).unwrap_or_default();
        let rest = format!("{RUN}{head}{JUDGED}{}}}", judged.unwrap_or("null"));
        format!("{BEGIN}{:0SUM_DIGITS$x}{rest}\n", digest(rest.as_bytes()))
    }

    /// Where a run stands in the index: by its start, and by its identifier among those that began
    /// at once.
    pub(crate) fn place(&self) -> (u64, &RunId) {
        (self.started_unix_ns, &self.id)
    }
}

impl Ended {
    fn of(ending: &Ending) -> Self {
        match ending {
            Ending::Complete => Ended::Complete,
            Ending::Stopped => Ended::Stopped,
            Ending::Failed { .. } => Ended::Failed,
        }
    }
}

/// A line that is whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Whole<'a> {
    /// What a list says of the run.
    pub(crate) head: Head,
    /// What whoever judges said.
    pub(crate) judged: &'a str,
    /// The sum of the line: two that differ have different ones.
    pub(crate) sum: u64,
}

/// What a line says, if it is whole. It has no newline.
pub(crate) fn read(line: &[u8]) -> Option<Whole<'_>> {
    let rest = line.strip_prefix(BEGIN.as_bytes())?;
    let (sum, rest) = rest.split_at_checked(SUM_DIGITS)?;
    let sum = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    if sum != digest(rest) {
        return None;
    }
    let text = std::str::from_utf8(rest).ok()?.strip_prefix(RUN)?;
    let (head, judged) = parts(text)?;
    Some(Whole { head: serde_json::from_str(head).ok()?, judged, sum })
}

/// What a line of an index says of its run, and what whoever judges said, if it is whole. It has no
/// newline.
pub fn read_summary(line: &[u8]) -> Option<(Head, String)> {
    read(line).map(|whole| (whole.head, whole.judged.to_owned()))
}

/// What whoever judges said in a line that was found to be whole.
pub(crate) fn judged(line: &str) -> Option<&str> {
    parts(line).map(|(_, judged)| judged)
}

fn parts(text: &str) -> Option<(&str, &str)> {
    let (before, judged) = text.split_once(JUDGED)?;
    // A file has its newline, too.
    Some((before, judged.trim_end_matches('\n').strip_suffix('}')?))
}

/// A word that stands for a world: two that differ have different ones.
pub fn fingerprint(world: &World) -> String {
    // Plain data with string keys always becomes JSON.
    let text = serde_json::to_string(world).unwrap_or_default();
    format!("{:0SUM_DIGITS$x}", digest(text.as_bytes()))
}

/// A sum of bytes, eight at a time, since an index of many runs is summed at every look. It tells
/// accidents and no attacks.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    // The golden ratio: odd, and its bits follow no rule.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |sum: u64, word: [u8; 8]| {
        let product = (sum ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        product ^ (product >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| add(sum, *word));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(add(sum, last), [0; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            id: "7k2f9q".parse().unwrap(),
            started_unix_ns: u64::MAX,
            target: "a\",\"judged\":\"b\n".into(),
            plan: "first-look".into(),
            between: Some(["a/b".into(), "\"\n".into()]),
            world: Some("0".into()),
            ended: Some(Ended::Complete),
            journal_bytes: 1,
            title: "é".into(),
            note: "two\nlines".into(),
            set_up: None,
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let plain = Head { title: String::new(), note: String::new(), ended: None, ..head() };
        for head in [head(), Head { world: None, set_up: Some("x".into()), ..plain }] {
            for judged in [None, Some(r#"{"judged":{"a":",\"judged\":"}}"#)] {
                let line = head.line(judged);
                let (whole, newline) = line.split_at(line.len() - 1);
                assert!(newline == "\n" && !whole.contains('\n'), "{line}");
                let found = read(whole.as_bytes()).unwrap();
                let judged = judged.unwrap_or("null");
                assert_eq!((&found.head, found.judged), (&head, judged));
                assert_eq!(super::judged(whole), Some(judged));
                let document: serde_json::Value = serde_json::from_str(&line).unwrap();
                assert_eq!(document["run"]["id"], "7k2f9q");
            }
        }
    }

    #[test]
    fn a_line_that_differs_in_a_byte_is_none() {
        let line = head().line(Some("{}"));
        let line = line.trim_end().as_bytes();
        for at in 0..line.len() {
            let mut changed = line.to_vec();
            changed[at] ^= 1;
            assert_eq!(read(&changed), None, "{at}");
            assert_eq!(read(&line[..at]), None, "{at}");
        }
    }

    #[test]
    fn sums_tell_lengths_and_places() {
        let zeros = [0; 20];
        let mut sums: Vec<u64> = (0..20).map(|n| digest(&zeros[..n])).collect();
        for at in 0..20 {
            let mut one = zeros;
            one[at] = 1;
            sums.push(digest(&one));
        }
        let count = sums.len();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!(sums.len(), count);
    }
}
